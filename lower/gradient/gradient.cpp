// Which bodies derivatives need, and the calls that take the place of Diff nodes. See gradient.h.
#include "lower/gradient/gradient.h"

#include "lower/gradient/all.h"
#include "lower/gradient/dual.h"

namespace df::fg {

// Whether what is differentiated has a gradient itself.
static bool DifferentiatesAgain(const Program& program) {
  auto is_request = [](const Node& node) { return node.kind == NodeKind::Diff && DiffMode(node.attr) != DiffMode::Stop; };
  std::set<uint32_t> seen;
  std::vector<FunctionId> work;
  for (const Function& function : program.functions)
    for (const Node& node : function.nodes)
      if (is_request(node)) work.push_back(node.callee);
  while (!work.empty()) {
    FunctionId next = work.back();
    work.pop_back();
    if (!seen.insert(next.index).second) continue;
    for (const Node& node : program.functions[next].nodes) {
      if (is_request(node)) return true;
      if (node.callee.valid()) work.push_back(node.callee);
    }
  }
  return false;
}

bool Gradients::Run() {
  types.flat_records = !DifferentiatesAgain(program);
  types.element_fields = FindElementReads(program);
  uint32_t errors = diags_.error_count();
  for (uint32_t i = 0, count = program.functions.size(); i < count; ++i) Expand(FunctionId(i));
  if (diags_.error_count() == errors) RefuseKnots();
  return diags_.error_count() == errors;
}

std::vector<PairedFunction> Gradients::PairedFunctions() const {
  std::vector<PairedFunction> functions;
  for (const auto& [key, made] : derived_) {
    if (key.second != Mode::Pair) continue;
    const Function& source = program.functions[FunctionId(key.first)];
    functions.push_back({made, static_cast<uint32_t>(source.params.size()), static_cast<uint32_t>(source.results.size())});
  }
  return functions;
}

FunctionId Gradients::Paired(FunctionId function, ir::PosId pos) { return Derived(function, Mode::Pair, pos); }
FunctionId Gradients::Dual(FunctionId function, ir::PosId pos) { return Derived(function, Mode::Dual, pos); }

FunctionId Gradients::Derived(FunctionId function, Mode mode, ir::PosId pos) {
  auto [it, fresh] = derived_.try_emplace({function.index, mode});
  if (!fresh) return it->second;
  const Function source = program.functions[function];
  Function signature =
      mode == Mode::Pair ? PairBuilder::Signature(types, source) : DualBuilder::Signature(types, source);
  if (mode == Mode::Pair && recompute) signature.delayed = false;  // it is called
  FunctionId made = program.functions.Add(std::move(signature));
  derived_[{function.index, mode}] = made;
  NoteChanges(function, mode, made);
  Request request{function, mode, current, pos};
  requests_[{function.index, mode}] = request;
  work_.emplace_back(request, made);
  return made;
}

bool Gradients::MayChange(FunctionId function, uint32_t param, uint32_t result) const {
  auto it = changes_.find(function.index);
  return it == changes_.end() || it->second[param][result];
}

void Gradients::NoteChanges(FunctionId source, Mode mode, FunctionId made) {
  const Function& from = program.functions[source];
  if (mode == Mode::Dual && !changes_.count(source.index)) return;
  // What each parameter and result of the new function was in the old one, and whether it is its cotangent.
  struct Port {
    uint32_t of;
    bool cotangent = false;
  };
  std::vector<Port> params, results;
  auto list = [&](auto& ports, uint32_t count, auto type_of, bool delayed) {
    for (uint32_t i = 0; i < count; ++i) {
      size_t parts = mode == Mode::Pair || (delayed && i == 0) ? 1 : DualBuilder::Parts(types, type_of(i)).size();
      for (size_t part = 0; part < parts; ++part) ports.push_back({i});
    }
  };
  auto param_type = [&](uint32_t i) { return from.params[i].type; };
  auto result_type = [&](uint32_t k) { return from.results[k]; };
  uint32_t num_params = static_cast<uint32_t>(from.params.size()), num_results = static_cast<uint32_t>(from.results.size());
  list(params, num_params, param_type, false);
  list(results, num_results, result_type, from.delayed);
  if (mode == Mode::Pair) {
    for (uint32_t k = 0; k < num_results; ++k)
      if (types.Active(result_type(k).type)) params.push_back({k, true});
    for (uint32_t i = 0; i < num_params; ++i)
      if (types.Active(param_type(i).type)) results.push_back({i, true});
  }
  std::vector<std::vector<bool>>& changes = changes_[made.index];
  for (Port param : params) {
    changes.emplace_back();
    for (Port result : results) {
      bool may = param.cotangent ? result.cotangent && MayChange(source, result.of, param.of)
                                 : result.cotangent || MayChange(source, param.of, result.of);
      changes.back().push_back(may);
    }
  }
}

// Builds what was asked for, and what that asks for.
void Gradients::Drain() {
  FunctionId outer = current;
  Mode outer_mode = mode_;
  while (!work_.empty()) {
    auto [request, made] = work_.front();
    work_.pop_front();
    current = request.function;
    mode_ = request.mode;
    std::string name = program.functions[made].name;
    Function body;
    if (request.mode == Mode::Pair) {
      PairBuilder builder(*this, program.functions[request.function]);
      body = builder.Run();
      for (NodeId fail : builder.failures()) knots_.insert({made, fail});
    } else {
      body = DualBuilder(*this, program.functions[request.function]).Run();
    }
    body.name = name;
    program.functions[made] = std::move(body);
  }
  current = outer;
  mode_ = outer_mode;
}

// ---------------------------------------------------------------- Diff nodes

void Gradients::ExpandReachable(FunctionId id) {
  std::set<uint32_t> seen;
  std::vector<FunctionId> work = {id};
  while (!work.empty()) {
    FunctionId next = work.back();
    work.pop_back();
    if (!seen.insert(next.index).second) continue;
    Expand(next);
    for (const Node& node : program.functions[next].nodes)
      if (node.callee.valid()) work.push_back(node.callee);
  }
}

// The innermost gradients first: what is differentiated has none left.
void Gradients::Expand(FunctionId id) {
  State& state = states_[id.index];
  if (state == State::Done) return;
  const Function& source = program.functions[id];
  auto is_request = [](const Node& node) {
    return node.kind == NodeKind::Diff && DiffMode(node.attr) != DiffMode::Stop;
  };
  if (llvm::none_of(source.nodes, is_request)) {
    state = State::Done;
    return;
  }
  if (state == State::Open) {
    const Node& node = *llvm::find_if(source.nodes, is_request);
    diags_.Report(Diag::EndlessGradient, span_of_(node.pos, false), source.name);
    state = State::Done;
    return;
  }
  state = State::Open;
  std::vector<FunctionId> callees;
  for (const Node& node : source.nodes)
    if (is_request(node)) callees.push_back(node.callee);
  for (FunctionId callee : callees) ExpandReachable(callee);
  if (diags_.has_errors()) return;
  Function function = program.functions[id];
  Writer w(program, function, function.pos);
  current = id;
  for (uint32_t b = 0; b < function.blocks.size(); ++b) {
    std::vector<NodeId> nodes = std::move(function.blocks[BlockId(b)].nodes);
    function.blocks[BlockId(b)].nodes.clear();
    w.block = BlockId(b);
    for (NodeId node : nodes) {
      if (is_request(function.nodes[node])) ExpandNode(w, node);
      else function.blocks[BlockId(b)].nodes.push_back(node);
    }
  }
  program.functions[id] = std::move(function);
  Drain();
  states_[id.index] = State::Done;
}

// Whether somebody uses a result of a node.
static bool IsUsed(const Function& f, Value value) {
  return llvm::any_of(f.nodes, [&](const Node& node) { return llvm::is_contained(node.operands, value); }) ||
         llvm::any_of(f.blocks, [&](const Block& block) { return llvm::is_contained(block.yields, value); });
}

// The node's place is taken by a call; what used its results uses those that stand for them.
void Gradients::ExpandNode(Writer& w, NodeId id) {
  const Node node = w.function().nodes[id];
  w.pos = node.pos;
  Values results;
  if (DiffMode(node.attr) == DiffMode::Vjp) WriteVjp(w, node, IsUsed(w.function(), {id, 1}), results);
  else WriteJvp(w, node, results);
  auto replace = [&](Value& value) {
    if (value.node == id) value = results[value.result];
  };
  for (Node& other : w.function().nodes)
    for (Value& operand : other.operands) replace(operand);
  for (Block& block : w.function().blocks)
    for (Value& yield : block.yields) replace(yield);
}

void Gradients::WriteVjp(Writer& w, const Node& node, bool used, Values& results) {
  Values operands(node.operands.begin(), node.operands.end() - 1);
  Value point = operands.back(), tangent = node.operands.back();
  ir::TypeId type = node.results[0].type;
  bool flows = types.Active(type) && types.Active(w.TypeOf(point).type);
  if (!flows) {
    NodeId call = w.Apply(node.callee, operands);
    Value zero = types.Materialise(w, node.results[1], point, std::nullopt);
    results = {Value{call, 0}, w.Seq({call, 0}, zero)};
    return;
  }
  FunctionId callee = Paired(node.callee, node.pos);
  operands.push_back(*types.Embed(w, program.functions[node.callee].results[0], tangent));
  NodeId call = w.Apply(callee, operands);
  uint32_t last = static_cast<uint32_t>(w.function().nodes[call].results.size()) - 1;
  if (used) asked_.push_back({current, {call, last}, node.pos});
  // Nothing has a gradient where it has no value.
  Value cotangent = w.Seq({call, 0}, {call, last});
  results = {Value{call, 0}, types.Materialise(w, node.results[1], point, cotangent)};
}

void Gradients::WriteJvp(Writer& w, const Node& node, Values& results) {
  Values values(node.operands.begin(), node.operands.end() - 1);
  results = CallDual(*this, w, node, values, node.operands.back());
}

// ---------------------------------------------------------------- errors

void Gradients::Refuse(GradientFault fault) {
  Span span = span_of_(fault.pos, false);
  if (!refused_.insert({std::string(ir::InfoOf(fault.op).name), fault.pos.index}).second) return;
  Diagnostics& report = diags_.Report(Diag::NoDerivative, span, ir::InfoOf(fault.op).name);
  // From the function that uses it out to the gradient that needs it.
  FunctionId at = current;
  Mode mode = mode_;
  for (int depth = 0; depth < 20; ++depth) {
    auto it = requests_.find({at.index, mode});
    if (it == requests_.end()) break;
    const Request& request = it->second;
    bool outermost = !requests_.count({request.by.index, mode});
    report.Note(span_of_(request.pos, false), outermost ? fmt::format("the derivative of `{}` is asked for here",
                                                               program.functions[at].name)
                                                 : fmt::format("needed for that of `{}`, which is called here",
                                                               program.functions[at].name));
    at = request.by;
  }
  if (fault.op == ir::Op::NewStore || fault.op == ir::Op::WriteStore)
    report.Hint("no derivative goes through a reference or an array that changes: hand the number on as an argument or a result");
}

// Gradients that fail wherever they are computed.
void Gradients::RefuseKnots() {
  if (knots_.empty()) return;
  for (const AskedGradient& asked : asked_) {
    std::optional<KnotFail> failure = SureFailure(program, knots_, asked);
    if (!failure) continue;
    const Function& body = program.functions[failure->function];
    diags_.Report(Diag::KnottedGradient, span_of_(body.nodes[failure->fail].pos, true))
        .Note(span_of_(asked.pos, false), "the gradient is asked for here")
        .Hint("build it from what came before, as `foldl (\\t i -> M.insert i (cell t i) t) M.empty [0 .. n]`, or use `jvp`");
  }
}

bool ExpandGradients(Program& program, Diagnostics& diags, PlaceOf span_of, const GradientOptions& options) {
  Gradients gradients(program, diags, span_of, options);
  if (!gradients.Run()) return false;
  if (options.through) PassCotangentsThrough(program, gradients.PairedFunctions());
  // Stop has done its work.
  for (Function& function : program.functions) {
    llvm::DenseMap<uint32_t, Value> stopped;
    for (uint32_t n = 0; n < function.nodes.size(); ++n)
      if (function.nodes[NodeId(n)].kind == NodeKind::Diff) stopped[n] = function.nodes[NodeId(n)].operands[0];
    if (stopped.empty()) continue;
    auto replace = [&](Value& value) {
      for (auto it = stopped.find(value.node.index); it != stopped.end(); it = stopped.find(value.node.index))
        value = it->second;
    };
    for (Node& node : function.nodes)
      for (Value& operand : node.operands) replace(operand);
    for (Block& block : function.blocks) {
      for (Value& yield : block.yields) replace(yield);
      llvm::erase_if(block.nodes, [&](NodeId node) { return stopped.contains(node.index); });
    }
  }
  return true;
}

}  // namespace df::fg
