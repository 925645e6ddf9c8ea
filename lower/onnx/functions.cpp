// Calls, nodes, delayed expressions: see functions.h.
#include "lower/onnx/functions.h"

#include <charconv>

#include "fmt/format.h"
#include "lang/budget.h"

namespace df::to_onnx {
namespace {

// What is written out may be many times what the program is.
constexpr size_t kMostNodes = 200'000;
constexpr uint64_t kMostSteps = 5'000'000;
constexpr uint32_t kMostDepth = 100'000;  // of values that wait for each other, within the compiler's stack
constexpr uint64_t kMostConstantBytes = uint64_t{1} << 30;

}  // namespace

void Functions::Refuse(std::string what, std::string why, std::string hint) const {
  throw Refusal{std::move(what), std::move(why), std::move(hint), pos_};
}

const Functions::Facts& Functions::FactsOf(fg::FunctionId id) {
  Facts& facts = facts_[id.index];
  if (facts.found) return facts;
  const fg::Function& function = program_.functions[id];
  facts.found = true;
  facts.home.resize(function.nodes.size());
  for (uint32_t b = 0; b < function.blocks.size(); ++b)
    for (fg::NodeId node : function.blocks[fg::BlockId(b)].nodes) facts.home[node.index] = fg::BlockId(b);
  facts.loops = HasAgain(function, function.body);
  facts.invariant.assign(function.params.size(), facts.loops);
  if (facts.loops) FindInvariants(function, function.body, facts.invariant);
  return facts;
}

bool Functions::MayLoop(fg::FunctionId id) {
  if (facts_[id.index].may_loop >= 0) return facts_[id.index].may_loop != 0;
  facts_[id.index].may_loop = 1;  // it calls itself
  bool loops = FactsOf(id).loops;
  for (const fg::Node& node : program_.functions[id].nodes)
    if (node.kind == fg::NodeKind::Apply || node.kind == fg::NodeKind::Delay) loops = loops || MayLoop(node.callee);
  facts_[id.index].may_loop = loops;
  return loops;
}

Activation& Functions::Enter(fg::FunctionId id, const Activation* caller, std::vector<Argument> params, ir::PosId pos) {
  const fg::Function& function = program_.functions[id];
  for (const Activation* at = caller; at; at = at->caller)
    if (at->id == id) {
      pos_ = pos;
      Refuse(fmt::format("the recursion of `{}`", function.name), "it is no loop, and ONNX has no calls that nest",
             "a function whose last step on each way is its result or a call of itself is a loop: an argument collects what is to be done");
    }
  Activation& made = activations_.emplace_back();
  made.id = id;
  made.function = &function;
  made.caller = caller;
  made.params = std::move(params);
  made.nodes.resize(function.nodes.size());
  made.graphs.assign(function.blocks.size(), nullptr);
  made.graphs[function.body.index] = w_.current();
  return made;
}

// There is no value, only the failure.
Value Functions::Surely(ir::TypeId type) {
  auto made = std::make_shared<Rep>();
  made->kind = RepKind::Plain;
  made->type = type;
  made->none = true;
  made->failed = w_.Bool(true);
  return made;
}

Value Functions::Evaluated(const Value& value) {
  Value out = value;
  while (out->kind == RepKind::Delayed) out = out->force();
  return out;
}

// Nothing in it is delayed any more. What may not be needed is computed all the same, but for loops: these might not end.
Value Functions::Settled(const Value& value, bool loops_too) {
  if (!value) return nullptr;
  if (value->kind == RepKind::Delayed) {
    if (value->may_loop && !loops_too)
      Refuse(fmt::format("what `{}` delays", program_.functions[value->callee].name), "it may not be needed, and has a loop that then might not end",
             "with `seq` or a `!` it is computed where it is bound");
    return Settled(value->force(), loops_too);
  }
  bool has_fields = false;
  for (const auto& fields : value->fields) has_fields |= !fields.empty();
  if (!has_fields) return value;
  auto made = std::make_shared<Rep>(*value);
  for (auto& fields : made->fields)
    for (Value& field : fields) field = Settled(field, loops_too);
  return made;
}

std::vector<Argument> Functions::ArgumentsOf(Activation& at, const fg::Node& node) {
  std::vector<Argument> params;
  for (fg::Value operand : node.operands) params.push_back({nullptr, [this, &at, operand] { return Eval(at, operand); }});
  return params;
}

Value Functions::Delayed(Activation& at, fg::NodeId id) {
  const fg::Node& node = at.function->nodes[id];
  if (node.results.size() > 1) Refuse("the gradient of what is delayed", "it waits for whoever needs its value");
  struct Memo {
    Value value;
    Subgraph* graph = nullptr;
    bool busy = false;
  };
  auto made = std::make_shared<Rep>();
  made->kind = RepKind::Delayed;
  made->type = node.results[0].type;
  made->callee = node.callee;
  made->may_loop = MayLoop(node.callee);
  made->force = [this, &at, id, memo = std::make_shared<Memo>()] {
    const fg::Node& delay = at.function->nodes[id];
    for (const Subgraph* graph = w_.current(); graph && memo->value; graph = graph->outer)
      if (graph == memo->graph) return memo->value;
    Subgraph* here = w_.current();
    if (memo->busy) Refuse("a value that is defined by itself", "ONNX has no cycles but those of a Loop");
    memo->busy = true;
    std::vector<Argument> params = ArgumentsOf(at, delay);
    const Value value = FactsOf(delay.callee).loops ? Loop(delay.callee, &at, std::move(params), delay.pos)[0]
                                                    : [&] {
                                                        Activation& body = Enter(delay.callee, &at, std::move(params), delay.pos);
                                                        return Eval(body, body.function->blocks[body.function->body].yields[0]);
                                                      }();
    *memo = {value, here, false};
    return value;
  };
  return made;
}

Value Functions::Eval(Activation& at, fg::Value value) {
  CheckBudget();
  const fg::Node& node = at.function->nodes[value.node];
  if (node.kind == fg::NodeKind::Param) {
    Argument& param = at.params[node.attr];
    if (!param.value) param.value = param.ask();
    return param.value;
  }
  Activation::NodeState& state = at.nodes[value.node.index];
  state.results.resize(node.results.size());
  state.busy.resize(node.results.size());
  if (const Value& known = state.results[value.result]) return known;
  const ir::PosId outer = pos_;
  if (node.pos.valid()) pos_ = node.pos;
  if (state.busy[value.result]) Refuse("a value that is defined by itself", "ONNX has no cycles but those of a Loop");
  if (++steps_ > kMostSteps || w_.nodes() > kMostNodes || w_.constant_bytes() > kMostConstantBytes)
    Refuse("this program", fmt::format("with each call written out it has more than {} nodes, or a GiB of constants", kMostNodes));
  if (depth_ == kMostDepth) Refuse("this program", fmt::format("more than {} of its values hang on each other", kMostDepth));
  ++depth_;
  state.busy[value.result] = true;
  Subgraph* before = w_.current();
  w_.SetCurrent(at.graphs[FactsOf(at.id).home[value.node.index].index]);
  Value result = EvalNode(at, value.node, value.result);
  w_.SetCurrent(before);
  pos_ = outer;
  --depth_;
  state.busy[value.result] = false;
  return state.results[value.result] = std::move(result);
}

Value Functions::EvalNode(Activation& at, fg::NodeId id, uint32_t result) {
  const fg::Node& node = at.function->nodes[id];
  switch (node.kind) {
    case fg::NodeKind::Op: return EvalOp(at, id);
    case fg::NodeKind::Delay: return Delayed(at, id);
    case fg::NodeKind::Branch:
      // A gradient's branch gives the value first, and other results when the cotangent has come.
      if (at.function->paired) EvalBranchResult(at, id, result);
      else EvalBranch(at, id, std::nullopt);
      return at.nodes[id.index].results[result];
    case fg::NodeKind::Apply: {
      if (FactsOf(node.callee).loops) {
        std::vector<Value> all = Loop(node.callee, &at, ArgumentsOf(at, node), node.pos);
        at.nodes[id.index].results = all;
        return all[result];
      }
      Activation::NodeState& state = at.nodes[id.index];
      if (!state.callee) state.callee = &Enter(node.callee, &at, ArgumentsOf(at, node), node.pos);
      Activation* callee = state.callee;
      return Eval(*callee, callee->function->blocks[callee->function->body].yields[result]);
    }
    case fg::NodeKind::Param:
    case fg::NodeKind::Diff: break;
  }
  Refuse("a derivative", "it was not expanded");
}

Value Functions::EvalConst(ir::ConstId id) {
  const ir::Constant& constant = program_.constants[id];
  auto made = std::make_shared<Rep>();
  made->type = constant.type;
  made->kind = RepKind::Plain;
  const ir::Type& type = program_.types[constant.type];
  if (const std::optional<Element> element = ElementOf(type))
    if (std::optional<Tensor> number = w_.NumberOf(id.index, *element)) {
      made->tensor = *number;
      return made;
    }
  if (w_.IsOpen(DimsOf(type))) Refuse(fmt::format("a constant of type `{}`", type.name), "its size is open");
  auto bytes = [&](const auto& value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  switch (type.kind) {
    case ir::TypeKind::Unit: made->kind = RepKind::Unit; break;
    case ir::TypeKind::Bool: made->tensor = w_.Bool(constant.word != 0); break;
    case ir::TypeKind::Char:
    case ir::TypeKind::Int: made->tensor = w_.Int(constant.word); break;
    case ir::TypeKind::Integer: {
      int64_t number = 0;
      const char* end = constant.text.data() + constant.text.size();
      if (auto [rest, error] = std::from_chars(constant.text.data(), end, number); error != std::errc() || rest != end)
        Refuse(fmt::format("the Integer {}", constant.text), "ONNX's whole numbers have 64 bits");
      made->tensor = w_.Int(number);
      break;
    }
    case ir::TypeKind::Float: made->tensor = w_.Constant(Element::Float, {}, bytes(static_cast<uint32_t>(constant.word))); break;
    case ir::TypeKind::Double: made->tensor = w_.Constant(Element::Double, {}, bytes(constant.word)); break;
    case ir::TypeKind::Tensor: made->tensor = w_.Constant(*ElementOf(type), DimsOf(type), constant.text); break;
    default: Refuse(fmt::format("a value of type `{}`", program_.types.Print({constant.type, false})), "ONNX's tensors hold numbers and Bools");
  }
  return made;
}

Value Functions::EvalConstruct(Activation& at, const fg::Node& node) {
  const ir::Type& type = program_.types[node.results[0].type];
  auto made = std::make_shared<Rep>();
  made->kind = RepKind::Data;
  made->type = node.results[0].type;
  made->constructor = static_cast<int>(node.attr);
  made->fields.resize(type.constructors.size());
  made->possible.assign(type.constructors.size(), false);
  made->possible[node.attr] = true;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    Value field = Eval(at, node.operands[i]);
    if (type.constructors[node.attr].fields[i].strict) made->failed = Or(w_, made->failed, Evaluated(field)->failed);
    made->fields[node.attr].push_back(std::move(field));
  }
  return made;
}

Value Functions::EvalOp(Activation& at, fg::NodeId id) {
  const fg::Node& node = at.function->nodes[id];
  auto operand = [&](size_t i) { return Evaluated(Eval(at, node.operands[i])); };
  switch (node.op) {
    case ir::Op::Const: return EvalConst(ir::ConstId(node.attr));
    case ir::Op::Construct: return EvalConstruct(at, node);
    case ir::Op::Fail: return Surely(node.results[0].type);
    case ir::Op::Force: return operand(0);
    case ir::Op::Seq: return FailedToo(w_, operand(1), operand(0)->failed);
    case ir::Op::Match: {
      const Value data = operand(0);
      auto made = std::make_shared<Rep>(*data);
      made->kind = RepKind::Plain;
      made->type = node.results[0].type;
      made->fields.clear();
      return made;
    }
    case ir::Op::Field: {
      const Value data = operand(0);
      const uint32_t constructor = node.attr >> 16, field = node.attr & 0xffff;
      if (data->none || data->fields[constructor].size() <= field || !data->fields[constructor][field])
        return Surely(node.results[0].type);  // this is never reached, or has failed
      const Value held = data->fields[constructor][field];
      if (!data->failed.valid()) return held;
      return FailedToo(w_, Evaluated(held), data->failed);
    }
    case ir::Op::Offer: {
      auto made = std::make_shared<Rep>();
      made->kind = RepKind::Plain;
      made->type = node.results[0].type;
      made->tensor = w_.Bool(false);
      return made;
    }
    case ir::Op::Accumulate: {
      const ir::Type& type = program_.types[node.results[0].type];
      Tensor wanted;
      wanted.element = *ElementOf(type);
      wanted.dims = DimsOf(type);
      auto made = std::make_shared<Rep>();
      made->kind = RepKind::Plain;
      made->type = node.results[0].type;
      made->tensor = ops_.Sum(Settled(operand(0), false), node.attr, wanted, &made->failed);
      if (!made->tensor.valid()) made->tensor = w_.Zero(wanted.element, wanted.dims);
      return made;
    }
    default: return EvalPlain(at, id);
  }
}

Value Functions::EvalPlain(Activation& at, fg::NodeId id) {
  const fg::Node& node = at.function->nodes[id];
  auto made = std::make_shared<Rep>();
  made->kind = RepKind::Plain;
  made->type = node.results[0].type;
  std::vector<Tensor> operands;
  std::vector<ir::TypeId> types;
  for (fg::Value each : node.operands) {
    const ir::TypeId type = at.function->TypeOf(each).type;
    if (!ElementOf(program_.types[type]) || !ElementOf(program_.types[made->type]))
      Refuse(fmt::format("`{}` of a `{}`", ir::InfoOf(node.op).name, program_.types.Print({ElementOf(program_.types[type]) ? made->type : type, false})),
             "ONNX's tensors hold numbers and Bools");
    const Value value = Evaluated(Eval(at, each));
    made->failed = Or(w_, made->failed, value->failed);
    if (value->none) made->none = true;
    operands.push_back(value->constructor >= 0 ? w_.Int(value->constructor) : value->tensor);
    types.push_back(type);
  }
  if (made->none) return made;
  try {
    const Checked out = ops_.Apply(node.op, node.attr, operands, types, made->type);
    made->tensor = out.value;
    made->failed = Or(w_, made->failed, out.failed);
  } catch (Refusal& refusal) {
    refusal.pos = pos_;
    throw;
  }
  return made;
}

std::vector<Value> Functions::Main(std::vector<Value> inputs) {
  const fg::Function& main = program_.functions[program_.main];
  pos_ = main.pos;
  std::vector<Argument> params;
  for (Value& input : inputs) params.push_back({std::move(input), nullptr});
  std::vector<Value> results;
  if (FactsOf(program_.main).loops) {
    results = Loop(program_.main, nullptr, std::move(params), main.pos);
  } else {
    Activation& at = Enter(program_.main, nullptr, std::move(params), main.pos);
    for (fg::Value value : main.blocks[main.body].yields) results.push_back(Eval(at, value));
  }
  for (Value& result : results) result = Settled(result, true);  // all of it is asked for
  return results;
}

}  // namespace df::to_onnx
