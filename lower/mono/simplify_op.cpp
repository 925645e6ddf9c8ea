// Operations on constants. See simplify.h.
#include "lower/mono/simplify.h"

namespace df::mono {
namespace {

// What `op` makes of two words of one kind, as the kernels have it; nullopt if it fails, or is not for this file.
std::optional<int64_t> FoldWords(ir::Op op, int64_t a, int64_t b) {
  auto wrap = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case ir::Op::Add: return wrap(x + y);
    case ir::Op::Sub: return wrap(x - y);
    case ir::Op::Mul: return wrap(x * y);
    case ir::Op::Eq: return a == b;
    case ir::Op::Ne: return a != b;
    case ir::Op::Lt: return a < b;
    case ir::Op::Le: return a <= b;
    case ir::Op::Gt: return a > b;
    case ir::Op::Ge: return a >= b;
    case ir::Op::BitAnd: return a & b;
    case ir::Op::BitOr: return a | b;
    case ir::Op::BitXor: return a ^ b;
    // Literals of Word8 and its like are numbers of which all but the lowest bits are cut off.
    case ir::Op::ShiftL: return y < 64 ? std::optional(wrap(x << y)) : std::nullopt;
    case ir::Op::ShiftR: return y < 64 ? std::optional(a >> y) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

// Sums, products, comparisons and bits of Int; comparisons of Char and Bool; of Integers that fit into a word.
Expr* Simplifier::FoldBinary(Expr* expr) {
  if (expr->args[0]->kind != Kind::Const || expr->args[1]->kind != Kind::Const) return expr;
  const ir::Constant& a = p_.constants[expr->args[0]->constant];
  const ir::Constant& b = p_.constants[expr->args[1]->constant];
  ir::TypeKind kind = p_.ir_types.Kind(a.type), result = p_.BuiltinOf(expr->type) == df::Builtin::Bool
                                                              ? ir::TypeKind::Bool
                                                              : kind;
  if (p_.ir_types.Kind(b.type) != kind) return expr;
  int64_t x = a.word, y = b.word;
  if (kind == ir::TypeKind::Integer) {
    // Sums and products of 31 bits do not overflow a word.
    auto is_small = [](const std::string& digits, int64_t& word) {
      return !llvm::StringRef(digits).getAsInteger(10, word) && word >= INT32_MIN && word <= INT32_MAX;
    };
    if (!is_small(a.text, x) || !is_small(b.text, y)) return expr;
  } else if (kind != ir::TypeKind::Int && kind != ir::TypeKind::Char && kind != ir::TypeKind::Bool) {
    return expr;
  }
  std::optional<int64_t> word = FoldWords(expr->op, x, y);
  if (!word) return expr;
  changed_ = true;
  bool digits = result == ir::TypeKind::Integer;
  return p_.NewConst({p_.ir_types.Builtin(result), digits ? 0 : *word, digits ? std::to_string(*word) : ""}, expr->type,
                     expr->pos);
}

// `x == Red` of a derived instance compares numbers, that of x by a case; `m /= Nothing` negates what a case gives. An op on the
// constants that a case chooses from is the case of its results.
Expr* Simplifier::FoldCaseOfConstants(Expr* expr) {
  size_t at = 0;
  while (at < expr->args.size() && expr->args[at]->kind == Kind::Const) ++at;
  if (at == expr->args.size() || expr->args[at]->kind != Kind::Case) return expr;
  for (size_t i = at + 1; i < expr->args.size(); ++i)
    if (expr->args[i]->kind != Kind::Const) return expr;
  Expr* choice = expr->args[at];
  std::vector<Expr*> cases = {choice}, results;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (const Alt& alt : cases[i]->alts) {
      if (alt.body->kind == Kind::Case) {
        cases.push_back(alt.body);
        continue;
      }
      if (alt.body->kind != Kind::Const) return expr;
      Expr* op = p_.New(Kind::Op, expr->type, expr->pos);
      op->op = expr->op;
      op->attr = expr->attr;
      op->args = expr->args;
      op->args[at] = alt.body;
      op = FoldConstants(op);
      if (op->kind != Kind::Const) return expr;
      results.push_back(op);
    }
  }
  auto result = results.begin();
  for (Expr* one : cases) {
    one->type = expr->type;
    for (Alt& alt : one->alts)
      if (alt.body->kind != Kind::Case) alt.body = *result++;
  }
  changed_ = true;
  return choice;
}

Expr* Simplifier::SimplifyOp(Expr* expr) {
  for (Expr*& arg : expr->args) arg = Simplify(arg);
  if (!options_.Does(Optimisation::Fold)) return expr;
  expr = FoldConstants(expr);
  return expr->kind == Kind::Op ? FoldCaseOfConstants(expr) : expr;
}

Expr* Simplifier::FoldConstants(Expr* expr) {
  if (expr->args.size() == 2) return FoldBinary(expr);
  if (expr->args.size() != 1) return expr;
  Expr* arg = expr->args[0];
  if (expr->op == ir::Op::Not && arg->kind == Kind::Op && (arg->op == ir::Op::Eq || arg->op == ir::Op::Ne)) {
    changed_ = true;
    arg->op = arg->op == ir::Op::Eq ? ir::Op::Ne : ir::Op::Eq;
    return arg;
  }
  if (arg->kind != Kind::Const) return expr;
  const ir::Constant& constant = p_.constants[arg->constant];
  ir::TypeKind kind = p_.ir_types.Kind(constant.type);
  auto integer = [&](std::string digits) {
    changed_ = true;
    return p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Integer), 0, std::move(digits)}, expr->type, expr->pos);
  };
  auto word = [&](ir::TypeKind of, int64_t bits) {
    changed_ = true;
    return p_.NewConst({p_.ir_types.Builtin(of), bits, ""}, expr->type, expr->pos);
  };
  auto from_double = [&](double value) {
    int64_t bits;
    std::memcpy(&bits, &value, 8);
    return word(ir::TypeKind::Double, bits);
  };
  auto from_float = [&](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return word(ir::TypeKind::Float, bits);
  };
  if (expr->op == ir::Op::Not) return word(ir::TypeKind::Bool, !constant.word);
  if (expr->op == ir::Op::TextSize) return word(ir::TypeKind::Int, static_cast<int64_t>(constant.text.size()));
  if (expr->op == ir::Op::Neg) {
    switch (kind) {
      case ir::TypeKind::Int: return word(kind, static_cast<int64_t>(0 - static_cast<uint64_t>(constant.word)));
      case ir::TypeKind::Integer:
        if (constant.text == "0") return integer("0");
        return integer(constant.text[0] == '-' ? constant.text.substr(1) : "-" + constant.text);
      case ir::TypeKind::Double: return word(kind, constant.word ^ INT64_MIN);
      case ir::TypeKind::Float: return word(kind, constant.word ^ 0x80000000);
      default: return expr;
    }
  }
  if (expr->op == ir::Op::Convert && (kind == ir::TypeKind::Int || kind == ir::TypeKind::Integer)) {
    std::string digits = kind == ir::TypeKind::Int ? std::to_string(constant.word) : constant.text;
    df::Builtin to = p_.BuiltinOf(expr->type);
    // Beyond 64 bits the kernel cuts off what a literal of the type would round.
    int64_t small = 0;
    bool big = llvm::StringRef(digits).getAsInteger(10, small);
    if (big && (to == df::Builtin::Double || to == df::Builtin::Float)) return expr;
    switch (to) {
      case df::Builtin::Integer: return integer(digits);
      case df::Builtin::Double: return from_double(std::strtod(digits.c_str(), nullptr));
      case df::Builtin::Float: return from_float(std::strtof(digits.c_str(), nullptr));
      case df::Builtin::Int: {
        uint64_t value = 0;
        for (char c : digits)
          if (c != '-') value = value * 10 + static_cast<uint64_t>(c - '0');
        return word(ir::TypeKind::Int, static_cast<int64_t>(digits[0] == '-' ? 0 - value : value));
      }
      default: return expr;
    }
  }
  return expr;
}

}  // namespace df::mono
