#include "typecheck/match/pattern.h"

#include <cstdlib>
#include <cstring>

namespace df {

using namespace core;

namespace {

// Decimal digits, perhaps after a '-', modulo 2^64.
std::string IntKey(std::string_view text) {
  bool negative = !text.empty() && text[0] == '-';
  uint64_t value = 0;
  for (char c : text.substr(negative ? 1 : 0)) value = value * 10 + static_cast<uint64_t>(c - '0');
  return std::to_string(static_cast<int64_t>(negative ? 0 - value : value));
}

std::string IntegerKey(std::string_view text) {
  bool negative = !text.empty() && text[0] == '-';
  std::string_view digits = text.substr(negative ? 1 : 0);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return (negative && digits != "0" ? "-" : "") + std::string(digits);
}

template <typename Float>
std::string FloatKey(Float value) {
  if (value == 0) value = 0;  // -0 == 0
  std::string key(sizeof(Float), '\0');
  std::memcpy(key.data(), &value, sizeof(Float));
  return key;
}

// The length of the UTF-8 sequence that begins with `byte`.
size_t SequenceLength(unsigned char byte) {
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::string LiteralKey(const core::Program& program, const Pat& literal) {
  std::string text(Text(literal.text));
  bool number = literal.literal == LiteralKind::Integer || literal.literal == LiteralKind::Fractional;
  if (!number || literal.equals) return text;
  switch (program.types.BuiltinOf(literal.type)) {
    case Builtin::Int: return IntKey(text);
    case Builtin::Integer: return IntegerKey(text);
    case Builtin::Float: return FloatKey(std::strtof(text.c_str(), nullptr));
    case Builtin::Double: return FloatKey(std::strtod(text.c_str(), nullptr));
    default: return text;
  }
}

const Pat* ExpandString(core::Program& program, const Pat& literal) {
  TypeId element = program.types.ArgOf(literal.type);
  core::List<TypeId> type_args = program.Copy<TypeId>({element});
  std::string_view text = Text(literal.text);
  llvm::SmallVector<std::string_view> chars;
  for (size_t at = 0; at < text.size();) {
    size_t length = SequenceLength(static_cast<unsigned char>(text[at]));
    chars.push_back(text.substr(at, length));
    at += length;
  }
  Pat list{PatKind::Con, literal.type, literal.span};
  list.con = program.nil_con;
  list.type_args = type_args;
  const Pat* tail = program.NewPat(list);
  for (size_t i = chars.size(); i-- > 0;) {
    Pat head{PatKind::Literal, element, literal.span};
    head.literal = LiteralKind::Char;
    head.text = Intern(chars[i]);
    list.con = program.cons_con;
    list.args = program.Copy<const Pat*>({program.NewPat(head), tail});
    tail = program.NewPat(list);
  }
  return tail;
}

bool IsIrrefutable(const core::Program& program, const Pat* pat) {
  switch (pat->kind) {
    case PatKind::Wildcard:
    case PatKind::Var:
    case PatKind::Lazy: return true;
    case PatKind::As:
    case PatKind::Bang: return IsIrrefutable(program, pat->args[0]);
    case PatKind::Literal:
    case PatKind::View: return false;
    case PatKind::Con: break;
  }
  for (ConId con : program.types.cons[program.constructors[pat->con].tycon].constructors)
    if (con != pat->con && MayBuild(program, con, pat->type)) return false;
  for (const Pat* arg : pat->args)
    if (!IsIrrefutable(program, arg)) return false;
  return true;
}

void BoundVars(const Pat* pat, llvm::SmallVectorImpl<core::VarId>& out) {
  if (pat->kind == PatKind::Var || pat->kind == PatKind::As) out.push_back(pat->var);
  for (const Pat* arg : pat->args) BoundVars(arg, out);
}

const Pat* SelectVar(core::Program& program, const Pat* pat, core::VarId var, core::VarId as) {
  Pat copy = *pat;
  if (pat->kind == PatKind::Var || pat->kind == PatKind::As) {
    if (pat->var == var) copy.var = as;
    else if (pat->kind == PatKind::As) return SelectVar(program, pat->args[0], var, as);
    else copy.kind = PatKind::Wildcard, copy.var = {};
  }
  llvm::SmallVector<const Pat*> args;
  for (const Pat* arg : pat->args) args.push_back(SelectVar(program, arg, var, as));
  copy.args = program.Copy<const Pat*>(args);
  return program.NewPat(copy);
}

size_t PatternSize(const Pat* pat) {
  size_t size = pat->kind == PatKind::Con || pat->kind == PatKind::Literal || pat->kind == PatKind::Bang;
  if (pat->kind == PatKind::Literal && pat->literal == LiteralKind::String && !pat->equals) size += 2 * Text(pat->text).size();
  for (const Pat* arg : pat->args) size += PatternSize(arg);
  return size;
}

namespace {

void AddSize(const Expr* expr, size_t limit, size_t& size) {
  if (++size >= limit) return;
  switch (expr->kind) {
    case ExprKind::App:
      AddSize(llvm::cast<AppExpr>(expr)->fn, limit, size);
      for (const Expr* arg : llvm::cast<AppExpr>(expr)->args)
        if (size < limit) AddSize(arg, limit, size);
      break;
    case ExprKind::Lambda: AddSize(llvm::cast<LambdaExpr>(expr)->body, limit, size); break;
    case ExprKind::Let:
      for (const Binding& binding : llvm::cast<LetExpr>(expr)->bindings)
        if (size < limit) AddSize(binding.value, limit, size);
      if (size < limit) AddSize(llvm::cast<LetExpr>(expr)->body, limit, size);
      break;
    case ExprKind::Case:
      AddSize(llvm::cast<CaseExpr>(expr)->scrutinee, limit, size);
      for (const Alt& alt : llvm::cast<CaseExpr>(expr)->alts)
        if (size < limit) AddSize(alt.body, limit, size);
      break;
    case ExprKind::FatBar:
      AddSize(llvm::cast<FatBarExpr>(expr)->first, limit, size);
      if (size < limit) AddSize(llvm::cast<FatBarExpr>(expr)->second, limit, size);
      break;
    case ExprKind::Match:
      for (const Row& row : llvm::cast<MatchExpr>(expr)->rows) {
        for (const Pat* pat : row.pats) size += PatternSize(pat);
        if (size < limit) AddSize(row.body, limit, size);
      }
      break;
    default: break;
  }
}

}  // namespace

size_t SizeUpTo(const Expr* expr, size_t limit) {
  size_t size = 0;
  AddSize(expr, limit, size);
  return size;
}

}  // namespace df
