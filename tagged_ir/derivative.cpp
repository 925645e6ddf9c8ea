// See derivative.h.
#include "tagged_ir/derivative.h"

#include <map>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace df::ir {
namespace {

class Parser {
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

  // An op on arguments, or an argument.
  DerivativeExpr Expression() {
    text_ = text_.ltrim();
    llvm::StringRef word = text_.take_while([](char c) { return llvm::isAlnum(c); });
    std::optional<Op> op = word == "If" ? std::nullopt : OpNamed(word.str());
    if (!op && word != "If") return Argument();
    text_ = text_.drop_front(word.size());
    DerivativeExpr expr{op ? DerivativeExpr::Kind::Op : DerivativeExpr::Kind::If};
    if (op) expr.op = *op;
    for (text_ = text_.ltrim(); !text_.empty() && text_[0] != ')'; text_ = text_.ltrim()) expr.args.push_back(Argument());
    if (!op && expr.args.size() != 3) Fail();
    return expr;
  }

  DerivativeExpr Argument() {
    text_ = text_.ltrim();
    if (text_.consume_front("(")) {
      DerivativeExpr expr = Expression();
      if (!text_.consume_front(")")) Fail();
      return expr;
    }
    llvm::StringRef word = text_.take_while([](char c) { return llvm::isAlnum(c) || c == '.'; });
    text_ = text_.drop_front(word.size());
    DerivativeExpr expr{DerivativeExpr::Kind::Direction};
    if (word == "d") return expr;
    if (word == "y") {
      expr.kind = DerivativeExpr::Kind::Result;
    } else if (word == "a" || word == "b") {
      expr.kind = DerivativeExpr::Kind::Operand;
      expr.operand = word == "a" ? 0 : 1;
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
  auto add = [&](Op op, std::initializer_list<const char*> texts) {
    Derivative row;
    for (const char* text : texts) row.by_operand.push_back(Parser(text).Run());
    table[op] = std::move(row);
  };
#define DF_DERIVATIVE(op, ...) add(Op::op, {__VA_ARGS__});
#include "tagged_ir/derivative.def"
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
