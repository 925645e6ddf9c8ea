// If, Loop and Scan: nodes that have graphs of their own. A branch that is not taken is not computed, since the language's bindings wait until they
// are needed; rounds are written one after the other where it is known how many there are, else as a function that calls itself. See node.h.
#include <utility>

#include "driver/import/node.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostRounds = 4096;

bool Alike(const Bound& x, const Bound& y) { return x.element == y.element && x.dims == y.dims && x.width == y.width; }

const Bound& Truth(const Bound& x) {
  if (x.element != Element::Bool || CountOf(x.dims) != 1) throw Fault{"its condition is no single Bool"};
  return x;
}

void If(Node& n) {
  const Bound& condition = Truth(n.In(0));
  if (condition.known) {
    n.out = n.bodies.Body(n.Graph(condition.known->front() != 0 ? "then_branch" : "else_branch"), {});
    return;
  }
  const std::string truth = n.w.Use(n.w.Reshape(condition, {}));
  const std::vector<Bound> yes = n.bodies.Body(n.Graph("then_branch"), {}), no = n.bodies.Body(n.Graph("else_branch"), {});
  if (yes.size() != no.size()) throw Fault{"its branches do not have as many results"};
  for (size_t i = 0; i < yes.size(); ++i) {
    if (!Alike(yes[i], no[i]))
      throw Fault{fmt::format("its branches give a {} and a {}, and the language has one type for both", TypeText(yes[i].element, yes[i].dims), TypeText(no[i].element, no[i].dims))};
    n.out.push_back(n.w.Let(yes[i].element, yes[i].dims, fmt::format("if T.item {} then {} else {}", truth, n.w.Use(yes[i]), n.w.Use(no[i]))));
    n.out.back().width = yes[i].width;
  }
}

// What each round gave, along a new axis.
Bound Stacked(Node& n, const std::vector<Bound>& rounds, size_t axis) {
  std::vector<std::string> names;
  for (const Bound& each : rounds) {
    if (!Alike(each, rounds[0])) throw Fault{"its rounds give results of several shapes"};
    names.push_back(n.w.Use(each));
  }
  Dims dims = rounds[0].dims;
  dims.insert(dims.begin(), static_cast<int64_t>(rounds.size()));
  Bound all = n.w.Let(rounds[0].element, dims, fmt::format("T.stack [{}]", fmt::join(names, ", ")));
  std::vector<size_t> order;
  for (size_t i = 1; i < dims.size(); ++i) order.push_back(i);
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  all = n.w.Permute(all, order);
  all.width = rounds[0].width;
  return all;
}

// Indented by one level more.
std::string Deeper(const std::string& lines) {
  std::string deeper;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at) + 1;
    deeper += "    ";
    deeper.append(lines, at, end - at);
    at = end;
  }
  return deeper;
}

// Rounds of which nobody knows how many: a function of the round, of whether it goes on, and of the states, which calls itself.
void LoopWhile(Node& n, const Bound& condition, const std::vector<Bound>& state) {
  const onnx::GraphProto& body = n.Graph("body");
  if (state.empty() || body.output_size() != static_cast<int>(state.size()) + 1)
    throw Fault{"how often it goes round is computed while the model runs, and so is how many results of rounds there are: the language has a type for each shape"};
  const std::string trips = n.Has(0) ? n.w.Use(n.w.Reshape(n.In(0), {})) : "", start = n.w.Use(n.w.Reshape(condition, {}));
  const std::string function = n.w.Fresh("loop");
  std::vector<Bound> inputs = {{n.w.Fresh("round"), Element::Int, {}, std::nullopt}, {n.w.Fresh("going"), Element::Bool, {}, std::nullopt}};
  std::vector<std::string> starts;
  for (const Bound& each : state) {
    starts.push_back(n.w.Use(each));
    inputs.push_back({n.w.Fresh("state"), each.element, each.dims, std::nullopt, each.width});
  }
  std::string outside = std::exchange(n.w.bindings, "");
  const std::vector<Bound> made = n.bodies.Body(body, inputs);
  std::vector<std::string> types, next = {fmt::format("({} + 1)", inputs[0].variable), n.w.Use(n.w.Reshape(Truth(made[0]), {}))}, now, params;
  for (size_t i = 0; i < state.size(); ++i) {
    if (!Alike(made[1 + i], state[i]))
      throw Fault{fmt::format("how often it goes round is computed while the model runs, and its state {} becomes a {} of a {}", i, TypeText(made[1 + i].element, made[1 + i].dims), TypeText(state[i].element, state[i].dims))};
    next.push_back(n.w.Use(made[1 + i]));
    now.push_back(inputs[2 + i].variable);
    types.push_back(TypeText(state[i].element, state[i].dims));
  }
  n.w.has_loops = true;
  for (const Bound& each : inputs) params.push_back("!" + each.variable);
  const std::string inside = std::exchange(n.w.bindings, std::move(outside));
  const auto tuple = [](const std::vector<std::string>& all) { return all.size() == 1 ? all[0] : fmt::format("({})", fmt::join(all, ", ")); };
  std::string step = fmt::format("if T.item {} then {} {} else {}", inputs[1].variable, function, fmt::join(next, " "), tuple(now));
  if (!trips.empty()) step = fmt::format("if T.item (T.less {} {}) then ({}) else {}", inputs[0].variable, trips, step, tuple(now));
  n.w.bindings += fmt::format("    {0} :: Tensor Int [] -> Tensor Bool [] -> {1} -> {2}\n    {0} {3} = {4}\n", function, fmt::join(types, " -> "), tuple(types), fmt::join(params, " "), step);
  if (!inside.empty()) n.w.bindings += "      where\n" + Deeper(inside);
  const std::string result = n.w.LetOf(tuple(types), fmt::format("{} (T.scalar 0) {} {}", function, start, fmt::join(starts, " ")));
  for (size_t i = 0; i < state.size(); ++i) {
    std::vector<std::string> names(state.size(), "_");
    names[i] = "e";
    n.out.push_back(n.w.Let(state[i].element, state[i].dims, state.size() == 1 ? result : fmt::format("case {} of {} -> e", result, tuple(names))));
    n.out.back().width = state[i].width;
  }
}

void Loop(Node& n) {
  const onnx::GraphProto& body = n.Graph("body");
  int64_t rounds = INT64_MAX;
  if (n.Has(0) && (n.In(0).element != Element::Int || CountOf(n.In(0).dims) != 1)) throw Fault{"its number of rounds is no single number"};
  if (n.Has(0) && n.In(0).known) rounds = n.In(0).known->front();
  Bound condition = n.Has(1) ? n.In(1) : n.w.Known(Element::Bool, {}, {1});
  std::vector<Bound> state;
  for (size_t i = 2; i < n.in.size(); ++i) state.push_back(n.In(i));
  if (body.output_size() < static_cast<int>(state.size()) + 1) throw Fault{"its graph does not give its states"};
  if (n.Has(0) && !n.In(0).known) return LoopWhile(n, Truth(condition), state);
  const Bound first = condition;
  const std::vector<Bound> start = state;
  const std::string before = n.w.bindings;
  std::vector<std::vector<Bound>> scans(static_cast<size_t>(body.output_size()) - 1 - state.size());
  for (int64_t k = 0; k < rounds && (!Truth(condition).known || condition.known->front() != 0); ++k) {
    if (!condition.known || k == kMostRounds) {
      n.w.bindings = before;
      return LoopWhile(n, first, start);
    }
    std::vector<Bound> inputs = {n.w.Ints({}, {k}), condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Bound> made = n.bodies.Body(body, inputs);
    condition = made[0];
    for (size_t i = 0; i < state.size(); ++i) state[i] = made[1 + i];
    for (size_t i = 0; i < scans.size(); ++i) scans[i].push_back(made[1 + state.size() + i]);
  }
  n.out = std::move(state);
  for (const std::vector<Bound>& each : scans) {
    if (each.empty()) throw Fault{"of no rounds the shape of what they give is not known"};
    n.out.push_back(Stacked(n, each, 0));
  }
}

void Scan(Node& n) {
  if (n.opset < 9) throw Fault{"it is of an opset before 9"};
  const onnx::GraphProto& body = n.Graph("body");
  const int64_t given = n.Int("num_scan_inputs", 0);
  if (given < 1 || given > static_cast<int64_t>(n.in.size()) || body.output_size() < static_cast<int>(n.in.size()) - static_cast<int>(given)) throw Fault{"its sequences are not among its operands"};
  const auto sequences = static_cast<size_t>(given), states = n.in.size() - sequences, results = static_cast<size_t>(body.output_size()) - states;
  const std::vector<int64_t> axes = n.Ints("scan_input_axes", std::vector<int64_t>(sequences, 0)), backwards = n.Ints("scan_input_directions", std::vector<int64_t>(sequences, 0));
  const std::vector<int64_t> out_axes = n.Ints("scan_output_axes", std::vector<int64_t>(results, 0)), turned = n.Ints("scan_output_directions", std::vector<int64_t>(results, 0));
  if (axes.size() != sequences || backwards.size() != sequences || out_axes.size() != results || turned.size() != results) throw Fault{"it does not say of each sequence how it goes"};
  std::vector<Bound> state, whole;
  std::vector<size_t> along;
  for (size_t i = 0; i < states; ++i) state.push_back(n.In(i));
  int64_t rounds = -1;
  for (size_t i = 0; i < sequences; ++i) {
    whole.push_back(n.In(states + i));
    along.push_back(n.Axis(axes[i], whole[i].rank()));
    const int64_t own = whole[i].dims[along[i]];
    if (rounds >= 0 && own != rounds) throw Fault{"its sequences are not as long as each other"};
    rounds = own;
  }
  if (rounds < 1 || rounds > kMostRounds) throw Fault{fmt::format("its sequences are {} long, and may have 1 to {} elements", rounds, kMostRounds)};
  std::vector<std::vector<Bound>> scans(results);
  for (int64_t k = 0; k < rounds; ++k) {
    std::vector<Bound> inputs = state;
    for (size_t i = 0; i < sequences; ++i) {
      Dims dims = whole[i].dims;
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(along[i]));
      inputs.push_back(n.w.Reshape(n.w.Take(whole[i], along[i], {backwards[i] != 0 ? rounds - 1 - k : k}), dims));
      inputs.back().width = whole[i].width;
    }
    std::vector<Bound> made = n.bodies.Body(body, inputs);
    for (size_t i = 0; i < states; ++i) state[i] = made[i];
    for (size_t i = 0; i < results; ++i) scans[i].insert(turned[i] != 0 ? scans[i].begin() : scans[i].end(), made[states + i]);
  }
  n.out = std::move(state);
  for (size_t i = 0; i < results; ++i) n.out.push_back(Stacked(n, scans[i], n.Axis(out_axes[i], scans[i][0].rank() + 1)));
}

}  // namespace

void AddBodies(Handlers& all) {
  all["If"] = If;
  all["Loop"] = Loop;
  all["Scan"] = Scan;
}

}  // namespace df::from_onnx
