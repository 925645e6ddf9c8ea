// A small lazy evaluator of typed core, with and without Match, FatBar and Fall: what a match means, independently of
// the compiler. Also a program with a few types to write tests with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "typecheck/core/core.h"
#include "typecheck/match/match.h"

namespace df::test {

// The types  Bool, (), [a], (a, b), data T = A | B T T | C Int,  and shorthands to build core with.
class Builder {
 public:
  Builder();

  core::Program program;
  core::ConId a, b, c, pair;
  TypeId type_bool, type_int, type_char, type_t, type_pair, type_string;  // type_pair: (T, Int)

  core::VarId Local(const char* name, TypeId type) { return program.NewLocal(Intern(name), type, {}); }
  const core::Expr* Use(core::VarId var);
  const core::Expr* Number(int64_t value);
  const core::Expr* Truth(bool value);
  const core::Expr* Fall(TypeId type);
  const core::Expr* Let(core::VarId var, const core::Expr* value, const core::Expr* body);
  const core::Expr* FatBar(const core::Expr* first, const core::Expr* second);
  // case scrutinee of { True -> yes; False -> no }
  const core::Expr* If(const core::Expr* scrutinee, const core::Expr* yes, const core::Expr* no);
  // case scrutinee of { value -> yes; _ -> no }
  const core::Expr* IfEqual(const core::Expr* scrutinee, int64_t value, const core::Expr* yes, const core::Expr* no);
  const core::Expr* Match(core::MatchContext context, llvm::ArrayRef<core::VarId> scrutinees,
                          llvm::ArrayRef<core::Row> rows, TypeId type);
  core::Row Row(llvm::ArrayRef<const core::Pat*> pats, const core::Expr* body);

  const core::Pat* Any(TypeId type);
  const core::Pat* Name(core::VarId var);
  const core::Pat* As(core::VarId var, const core::Pat* pat);
  const core::Pat* Bang(const core::Pat* pat);
  const core::Pat* Lazy(const core::Pat* pat);
  const core::Pat* Int(int64_t value);
  const core::Pat* IntByTest(int64_t value);  // as of a type with an `==` of its own
  const core::Pat* String(const char* text);
  const core::Pat* Con(core::ConId con, llvm::ArrayRef<const core::Pat*> args = {});

  // Defines `f = \params -> body`, compiles it and gives the body; the test fails if it does not verify.
  const core::Expr* Compile(llvm::ArrayRef<core::VarId> params, const core::Expr* body, Diagnostics& diags,
                            bool warnings = true);

 private:
  core::ConId AddCon(const char* name, TyConId type, std::vector<TypeId> fields);
  const core::Pat* MakePat(core::PatKind kind, TypeId type);
};

// ---- values

struct Value;
using ValuePtr = std::shared_ptr<Value>;
struct Value {
  enum class Kind { Bottom, Number, Data } kind = Kind::Bottom;
  int64_t number = 0;  // also a character
  core::ConId con;
  std::vector<ValuePtr> fields;
};
ValuePtr Bottom();
ValuePtr Number(int64_t number);
ValuePtr Data(core::ConId con, std::vector<ValuePtr> fields = {});

// What evaluation of a result that is an Int comes to: "7", "bottom", "fail: .." or "fall".
std::string Evaluate(const core::Program& program, const core::Expr* expr,
                     const std::vector<std::pair<core::VarId, ValuePtr>>& inputs);

// Nodes of the expression, as a tree.
size_t Size(const core::Expr* expr);

}  // namespace df::test
