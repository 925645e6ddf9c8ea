// If, Loop and Scan: nodes that have graphs of their own. A branch that is not taken is not computed, since the language's bindings wait until they
// are needed; rounds are written one after the other, so how many there are has to be known. See node.h.
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

void Loop(Node& n) {
  const onnx::GraphProto& body = n.Graph("body");
  int64_t rounds = kMostRounds + 1;
  if (n.Has(0)) {
    const std::vector<int64_t>& trips = n.KnownInts(0, "rounds");
    if (trips.size() != 1) throw Fault{"its number of rounds is no single number"};
    rounds = trips[0];
  }
  auto go_on = [](const Bound& truth) {
    if (!Truth(truth).known) throw Fault{"when it ends is computed while the model runs"};
    return truth.known->front() != 0;
  };
  Bound condition = n.Has(1) ? n.In(1) : n.w.Known(Element::Bool, {}, {1});
  std::vector<Bound> state;
  for (size_t i = 2; i < n.in.size(); ++i) state.push_back(n.In(i));
  if (body.output_size() < static_cast<int>(state.size()) + 1) throw Fault{"its graph does not give its states"};
  std::vector<std::vector<Bound>> scans(static_cast<size_t>(body.output_size()) - 1 - state.size());
  for (int64_t k = 0; k < rounds && go_on(condition); ++k) {
    if (k == kMostRounds) throw Fault{fmt::format("it goes round more than {} times", kMostRounds)};
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
