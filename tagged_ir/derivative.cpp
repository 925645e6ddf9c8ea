// See derivative.h.
#include "tagged_ir/derivative.h"

#include <map>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace df::ir {
namespace {

class Parser {
  using Kind = DerivativeExpr::Kind;

 public:
  explicit Parser(llvm::StringRef text) : text_(text) {}

  std::optional<DerivativeExpr> Run() {
    if (text_ == "0") return std::nullopt;
    DerivativeExpr expr = Expression();
    if (!text_.trim().empty()) Fail();
    return expr;
  }

 private:
  [[noreturn]] void Fail() const { llvm::report_fatal_error("derivative.def: cannot be read at: " + llvm::Twine(text_)); }

  // An op or a word on arguments, or an argument.
  DerivativeExpr Expression() {
    text_ = text_.ltrim();
    llvm::StringRef word = text_.take_while([](char c) { return llvm::isAlnum(c); });
    std::optional<Op> op = OpNamed(word.str());
    std::optional<Kind> kind = op ? Kind::Op : WordNamed(word);
    if (!kind) return Argument();
    text_ = text_.drop_front(word.size());
    DerivativeExpr expr{*kind};
    if (op) expr.op = *op;
    if (kind == Kind::Change || kind == Kind::Back) expr.operand = static_cast<uint32_t>(word.back() - '0');
    for (text_ = text_.ltrim(); !text_.empty() && text_[0] != ')'; text_ = text_.ltrim()) expr.args.push_back(Argument());
    if (!op && expr.args.size() != (kind == Kind::If ? 3 : 1)) Fail();
    return expr;
  }

  // What stands before an argument, but for ops.
  static std::optional<Kind> WordNamed(llvm::StringRef word) {
    if (llvm::StringRef number = word; number.consume_front("Change") && number.size() == 1) return Kind::Change;
    if (llvm::StringRef number = word; number.consume_front("Back") && number.size() == 1) return Kind::Back;
    return llvm::StringSwitch<std::optional<Kind>>(word)
        .Case("If", Kind::If)
        .Case("Spread", Kind::Spread)
        .Case("Collapse", Kind::Collapse)
        .Case("SliceEnd", Kind::SliceEnd)
        .Case("Pad", Kind::Pad)
        .Case("Restore", Kind::Restore)
        .Case("Scatter", Kind::Scatter)
        .Case("Left", Kind::Left)
        .Case("Right", Kind::Right)
        .Default(std::nullopt);
  }

  DerivativeExpr Argument() {
    text_ = text_.ltrim();
    if (text_.consume_front("(")) {
      DerivativeExpr expr = Expression();
      if (!text_.consume_front(")")) Fail();
      return expr;
    }
    llvm::StringRef word = text_.take_while([](char c) { return llvm::isAlnum(c) || c == '.' || c == '-'; });
    text_ = text_.drop_front(word.size());
    DerivativeExpr expr{DerivativeExpr::Kind::Direction};
    if (word == "d") return expr;
    if (word == "y") {
      expr.kind = DerivativeExpr::Kind::Result;
    } else if (word == "a" || word == "b" || word == "c") {
      expr.kind = DerivativeExpr::Kind::Operand;
      expr.operand = static_cast<uint32_t>(word[0] - 'a');
    } else if (word == "Length") {
      expr.kind = DerivativeExpr::Kind::Length;
    } else {
      expr.kind = DerivativeExpr::Kind::Number;
      if (word.getAsDouble(expr.number)) Fail();
    }
    return expr;
  }

  llvm::StringRef text_;
};

std::map<Op, Derivative> Parse() {
  std::map<Op, Derivative> table;
  auto add = [&](Op op, std::initializer_list<const char*> forward, std::initializer_list<const char*> reverse) {
    Derivative row;
    for (const char* text : forward) row.forward.push_back(Parser(text).Run());
    for (const char* text : reverse) row.reverse.push_back(Parser(text).Run());
    table[op] = std::move(row);
  };
#define DF_LIST(...) {__VA_ARGS__}
#define DF_DERIVATIVE(op, ...) add(Op::op, {__VA_ARGS__}, {__VA_ARGS__});
#define DF_LINEAR_MAP(op, forward, reverse) add(Op::op, DF_LIST forward, DF_LIST reverse);
#include "tagged_ir/derivative.def"
#undef DF_LIST
  return table;
}

}  // namespace

const Derivative* DerivativeOf(Op op) {
  static const std::map<Op, Derivative> table = Parse();
  auto it = table.find(op);
  return it == table.end() ? nullptr : &it->second;
}

bool HidesDerivative(Op op) {
  switch (op) {
#define DF_NO_DERIVATIVE(op) \
  case Op::op: return true;
#include "tagged_ir/derivative.def"
    default: return false;
  }
}

}  // namespace df::ir
