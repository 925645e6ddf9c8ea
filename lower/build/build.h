// lower/build/build.h
//
// First-order mono::Program -> function graphs. What is surely needed, and what is cheap, becomes nodes that run as soon
// as their operands are there; the rest becomes Delays. Internal to this folder.
//
// Three kinds of assumptions are made at first and checked while building: that what a function is passed for a parameter
// it may not need is evaluated at every call, that each component of a tuple it returns is, and that what a constructor
// application has in a lazy field is. Where that turns out wrong the assumption is dropped, and what was built on it is built
// again. Dropping all of them is right too.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "lower/graph/function_graph.h"
#include "lower/mono/field_flow.h"
#include "lower/mono/runaway.h"
#include "lower/mono/strictness.h"

namespace df::mono {

class Builder {
 public:
  Builder(Program& program, const Strictness& strictness, const FieldFlow& flow, const LowerOptions& options)
      : p_(program), strictness_(strictness), flow_(flow), options_(options), optimize_(options.optimize) {}
  std::optional<fg::Program> Run();

 private:
  using Values = llvm::SmallVector<fg::Value, 4>;

  // What a variable of the mid-level tree is in the function graph: a value, or the parts of a tuple that has not been
  // put together. `whole` is a unit value that fails if the tuple itself does.
  struct Held {
    fg::Value value;
    bool boxed = false;
    bool in_parts = false;
    fg::Value whole;
    Values parts;
    size_t musts = 0;  // of a token of state: so many of musts_ come before it
  };
  // What an expression yields: one value; or a tuple as `whole` followed by its parts; or, `again`, the function's next
  // parameters.
  struct Yield {
    bool again = false;
    ir::PosId pos;
    Values values;
  };
  // Late: in one value, where a failure waits until it is asked for (see IsCheap).
  enum class Shape : uint8_t { Single, Parts, Late };
  using Guards = llvm::SmallVector<fg::Value, 2>;  // what must not have failed for the result to be one

  // An assumption that something is evaluated, by number (build.cpp).
  using Assumption = uint32_t;

  // build.cpp: the program, functions, assumptions
  void MakeAssumptions();
  Assumption ParamOf(FunId fun, size_t i) const { return first_param_[fun.index] + static_cast<uint32_t>(i); }
  Assumption PartOf(FunId fun, size_t i) const { return first_part_[fun.index] + static_cast<uint32_t>(i); }
  Assumption FieldOf(SiteField field) const { return first_field_ + field; }
  bool Holds(Assumption assumption);
  void Drop(Assumption assumption);
  void DropAll();
  bool IsEnumeration(df::TypeId type);
  bool FieldIsEvaluated(VarId var);
  void CheckField(const Expr* con, size_t i, fg::Value value);
  void Reset();
  void BuildFunction(FunId fun);
  void FindTupleFunctions();
  bool EndsInTuples(const Expr* expr) const;
  std::vector<ir::PortType> ResultTypes(FunId fun);
  static std::string ParamName(const fg::Function& function, std::string name);
  fg::FunctionId NewFunction(std::string name, ir::PosId pos);

  // build/expr.cpp
  Yield Build(const Expr* expr, Shape shape, bool tail, Guards guards);
  Yield Leaf(const Expr* expr, Shape shape, bool tail);
  bool FailsWith(fg::Value value, fg::Value guard, int depth) const;
  std::optional<size_t> FirstStrict(FunId fun) const;
  Yield Finish(Yield yield, const Guards& guards, ir::PosId pos);
  fg::Value Eval(const Expr* expr);
  fg::Value Lazy(const Expr* expr, const std::string& name, const std::string& reason);
  std::optional<fg::Value> Selected(const Expr* expr);
  fg::Value LazyValue(VarId var);
  fg::Value Forced(VarId var, ir::PosId pos);
  fg::Value Boxed(VarId var);
  bool IsState(fg::Value value) const { return p_.ir_types.Kind(TypeOf(value).type) == ir::TypeKind::State; }  // a token of state
  bool IsToken(const Held& held) const;
  fg::Value TokenBehind(VarId var);
  std::optional<fg::Value> TokenIn(const Expr* expr) const;
  bool FailsLate(fg::Value value, int depth) const;
  fg::Value Box(fg::Value whole, llvm::ArrayRef<fg::Value> parts, df::TypeId type, ir::PosId pos);
  fg::Value Constant(ir::ConstId constant, ir::PosId pos);
  fg::Value Construct(const Expr* expr);
  fg::Value ConstructorField(const Expr* con, size_t i, const char* name, const std::string& what);
  Values Call(const Expr* expr);
  Values Arguments(FunId fun, llvm::ArrayRef<Expr*> args);
  Values Diff(const Expr* expr);
  Values PartsOf(const Expr* expr);
  bool HasParts(const Expr* expr) const;
  // How an expression may be computed before anybody asks: not at all; at once; or at once but for failures, which wait.
  enum class Early : uint8_t { No, Yes, Late };
  Early WhenCheap(const Expr* expr) const;
  bool IsCheap(const Expr* expr, uint32_t& budget, bool* fails, llvm::SmallVectorImpl<VarId>* lazy = nullptr) const;
  std::string WhatIsLazy(const Expr* expr) const;
  bool IsCheapOp(const Expr* expr) const;
  bool MayFail(const Expr* expr) const;
  bool IsShortConstant(const Expr* expr) const;

  // build/let.cpp
  void BindLet(const Expr* expr);
  void BindGroup(const Expr* expr);
  std::string WhyDelayed(VarId var, const Expr* body) const;
  fg::FunctionId Body(const Expr* expr, const std::string& name, VarId bound, fg::Value at, Values& operands);
  fg::Value Delay(const Expr* expr, const std::string& name, const std::string& reason, fg::NodeId node = {});
  void FreeVars(const Expr* expr, llvm::SetVector<uint32_t>& free, llvm::DenseSet<uint32_t>& bound) const;

  // build/case.cpp
  Yield Case(const Expr* expr, Shape shape, bool tail, Guards guards);
  Yield SingleCase(const Expr* expr, Shape shape, bool tail, Guards guards);
  Yield GuardedCase(const Expr* expr, Shape shape, bool tail, Guards guards);
  Yield DataCase(const Expr* expr, fg::Value scrutinee, Shape shape, bool tail, Guards guards);
  Yield Branch(fg::Value predicate, llvm::ArrayRef<std::function<Yield()>> sides, Shape shape, df::TypeId type, bool tail,
               const Guards& guards, ir::PosId pos);
  // The number of the constructor that a Match gives, and whether it is this one.
  fg::Value NumberOf(fg::Value chosen, ir::PosId pos);
  fg::Value IsNumber(fg::Value number, int64_t index, ir::PosId pos);
  bool GivesNumbers(const Expr* expr) const;
  Yield Impossible(const Expr* expr, Shape shape, bool tail);
  void BindFields(const Alt& alt, fg::Value data, ir::PosId pos);

  // build/literal.cpp
  // One of many: a constant, and what is done where the scrutinee is equal to it.
  struct Choice {
    ir::ConstId constant;
    std::function<Yield()> side;
  };
  // What all choices have in common. `otherwise` may be built in several places; `size` is its number of nodes, up to 11.
  struct Choosing {
    fg::Value scrutinee;
    std::function<Yield()> otherwise;
    uint32_t size;
    Shape shape;
    df::TypeId type;
    bool tail;
    ir::PosId pos;
  };
  Yield LiteralCase(const Expr* expr, fg::Value scrutinee, Shape shape, bool tail, Guards guards);
  Yield ChooseAmong(std::vector<Choice> choices, const Choosing& how, Guards guards);
  Yield OneByOne(llvm::ArrayRef<Choice> choices, const Choosing& how, Guards guards);
  Yield Search(llvm::ArrayRef<Choice> choices, const Choosing& how, bool surely, Guards guards);
  fg::Value IsAmong(llvm::ArrayRef<std::pair<ir::ConstId, ir::ConstId>> runs, const Choosing& how);
  fg::Value Compare(ir::Op op, ir::ConstId constant, const Choosing& how);

  // Emitting nodes into the current block.
  fg::NodeId AddNode(fg::Node node);
  fg::Value Op(ir::Op op, llvm::ArrayRef<fg::Value> operands, ir::PortType type, uint32_t attr, ir::PosId pos);
  fg::Value Seq(fg::Value first, fg::Value second, ir::PosId pos);
  ir::PortType TypeOf(fg::Value value) const { return function_->TypeOf(value); }
  ir::PortType Strict(df::TypeId type) { return {p_.IrType(type), false}; }
  ir::TypeId Builtin(ir::TypeKind kind) const { return p_.ir_types.Builtin(kind); }
  void Name(fg::Value value, const std::string& name);

  // Variables, with an undo log: what a block binds or forces is unknown after it.
  void Bind(VarId var, Held held);
  void BindValue(VarId var, fg::Value value);
  size_t Mark() const { return undo_.size(); }
  void Undo(size_t mark);

  Program& p_;
  const Strictness& strictness_;
  const FieldFlow& flow_;
  const LowerOptions& options_;
  bool optimize_;
  fg::Program out_;
  std::vector<FunId> order_;                        // the functions that main reaches
  llvm::DenseMap<uint32_t, fg::FunctionId> ids_;    // of these
  std::vector<bool> tuples_;                        // by function: its result is returned in parts
  std::vector<bool> runaway_;                       // by function: see runaway.h
  // What has to be there before what comes next is done, the innermost last: a token of state waits for it.
  Values musts_;
  bool has_tokens_ = false;                         // whether the body that is being built has had a token of state
  bool derivatives_ = false;                        // whether the program has gradients or tangents
  // Assumptions: of each function's parameters, of the parts of its result, of the fields of sites.
  std::vector<Assumption> first_param_, first_part_;
  Assumption first_field_ = 0;
  std::vector<bool> holds_;
  llvm::DenseMap<Assumption, llvm::SmallSetVector<uint32_t, 2>> readers_;  // functions that were built on it
  std::vector<bool> stale_;                         // by function: to be built again
  FunId building_;
  llvm::StringMap<uint32_t> names_;                 // of functions, with how often each was asked for
  bool dropped_ = false;                            // some assumption was dropped in this round

  // Of the function that is being built:
  fg::Function* function_ = nullptr;
  FunId self_;                                      // invalid in a delayed expression
  std::string delay_prefix_;
  fg::BlockId block_;
  llvm::DenseMap<uint32_t, Held> env_;
  std::vector<std::pair<uint32_t, std::optional<Held>>> undo_;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, fg::Value> constants_;  // by block and constant
};

}  // namespace df::mono
