// LSTM, GRU and RNN: a step per element of the sequence, whose length is known. See node.h.
#include <algorithm>

#include "driver/import/node.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostSteps = 4096;

// With layout 1 the batch comes first; here it is the second.
Node& StepsFirst(Node& n) {
  if (n.Int("layout", 0) == 0) return n;
  for (size_t i : {size_t{0}, size_t{5}, size_t{6}}) {
    if (!n.Has(i)) continue;
    if (n.In(i).rank() != 3) throw Fault{"its operands do not have three axes"};
    n.in[i] = n.w.Permute(n.In(i), {1, 0, 2});
  }
  return n;
}

// What the three have in common: sequences [steps, batch, input], a weight for each direction.
struct Layer {
  Node& n;
  int64_t gates, hidden, steps, batch, directions;
  Element element;
  bool backwards = false;  // of the one direction that there is
  std::optional<Bound> lengths;  // [batch, 1], where they are not all

  Layer(Node& node, int64_t gates) : n(StepsFirst(node)), gates(gates) {
    const Bound &x = n.In(0), &r = n.In(2);
    n.Real(x);
    if (x.rank() != 3 || n.In(1).rank() != 3 || r.rank() != 3) throw Fault{"its operands do not have three axes"};
    if (n.HasAttribute("clip") || n.Int("input_forget", 0) != 0) throw Fault{"`clip` and `input_forget` are not known"};
    const bool all = n.Has(4) && n.In(4).known && std::all_of(n.In(4).known->begin(), n.In(4).known->end(), [&](int64_t each) { return each == x.dims[0]; });
    if (n.Has(4) && !all) {
      if (n.In(4).element != Element::Int || n.In(4).dims != Dims{x.dims[1]}) throw Fault{"its lengths do not fit its sequences"};
      lengths = n.w.Reshape(n.In(4), {x.dims[1], 1});
    }
    element = x.element;
    steps = x.dims[0];
    batch = x.dims[1];
    hidden = r.dims[2];
    directions = r.dims[0];
    const std::string direction = n.Text("direction", "forward");
    backwards = direction == "reverse";
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") throw Fault{fmt::format("there is no direction `{}`", direction)};
    if (directions != (direction == "bidirectional" ? 2 : 1)) throw Fault{"it does not have a weight for each direction"};
    if (r.dims[1] != gates * hidden || n.In(1).dims != Dims({directions, gates * hidden, x.dims[2]})) throw Fault{"its weights do not fit each other"};
    if (steps < 1 || steps > kMostSteps) throw Fault{fmt::format("its sequence is {} long, and may have 1 to {} steps", steps, kMostSteps)};
  }

  // A part of an operand [directions, ..], of a direction.
  Bound Of(size_t operand, int64_t direction, const Dims& dims) {
    if (!n.Has(operand)) return n.w.Fill(element, dims, 0);
    return n.w.Reshape(n.w.Take(n.In(operand), 0, {direction}), dims);
  }
  // Rows from..to of a matrix, or elements of a vector.
  Bound Rows(const Bound& x, int64_t from, int64_t to) {
    std::vector<int64_t> at;
    for (int64_t i = from; i < to; ++i) at.push_back(i);
    return n.w.Take(x, 0, at);
  }
  Bound Bias(int64_t direction, int64_t half) {
    if (!n.Has(3)) return n.w.Fill(element, {gates * hidden}, 0);
    return Rows(n.w.Reshape(n.w.Take(n.In(3), 0, {direction}), {2 * gates * hidden}), half * gates * hidden, (half + 1) * gates * hidden);
  }
  std::string State() const { return TypeText(element, {batch, hidden}); }
  // Of all steps x times the weights, with this bias, as rows of steps * batch.
  Bound Inputs(int64_t direction, const Bound& bias) {
    const Bound& x = n.In(0);
    const Bound weight = n.w.Permute(Of(1, direction, {gates * hidden, x.dims[2]}), {1, 0});
    const Bound rows = n.w.MatMul(n.w.Reshape(x, {steps * batch, x.dims[2]}), weight);
    return n.w.Elementwise(element, {rows, bias}, "{0} + {1}");
  }
  Bound RowsOf(const Bound& inputs, int64_t step) { return n.w.Let(element, {batch, gates * hidden}, fmt::format("T.slice {} {}", step * batch, n.w.Use(inputs))); }
  // The gates of a step, each a part of the columns.
  std::vector<Bound> Gates(const Bound& columns, int64_t count) {
    std::vector<Bound> all;
    for (int64_t g = 0; g < count; ++g) {
      std::vector<int64_t> at;
      for (int64_t i = 0; i < hidden; ++i) at.push_back(g * hidden + i);
      all.push_back(n.w.Take(columns, 1, at));
    }
    return all;
  }

  // Y, and the last state of each direction. `step`: of a direction, the rows of a step, the state before, the state behind.
  template <typename Step>
  void Run(size_t states, Step step, const std::vector<Bound>& inputs, const std::vector<size_t>& starts) {
    std::vector<Bound> outputs;
    std::vector<std::vector<Bound>> last(states);
    for (int64_t d = 0; d < directions; ++d) {
      const bool back = backwards || d == 1;
      std::vector<Bound> state;
      for (size_t s = 0; s < states; ++s) state.push_back(Of(starts[s], d, {batch, hidden}));
      std::vector<std::string> shown(static_cast<size_t>(steps));
      for (int64_t k = 0; k < steps; ++k) {
        const int64_t at = back ? steps - 1 - k : k;
        std::vector<Bound> next = step(d, RowsOf(inputs[static_cast<size_t>(d)], at), state);
        Bound seen = next[0];
        if (lengths) {
          // Behind the end of a sequence its state stays, and nothing is seen.
          const Bound within = n.w.Elementwise(Element::Bool, {*lengths}, fmt::format("T.greater {{0}} {}", at));
          for (size_t s = 0; s < states; ++s) next[s] = n.w.Elementwise(element, {within, next[s], state[s]}, "T.select {0} {1} {2}");
          seen = n.w.Elementwise(element, {within, seen}, "T.select {0} {1} 0");
        }
        state = std::move(next);
        shown[static_cast<size_t>(at)] = n.w.Use(seen);
      }
      const Bound all = n.w.Let(element, {steps, batch, hidden}, fmt::format("T.stack [{}]", fmt::join(shown, ", ")));
      outputs.push_back(n.w.Reshape(all, {steps, 1, batch, hidden}));
      for (size_t s = 0; s < states; ++s) last[s].push_back(n.w.Reshape(state[s], {1, batch, hidden}));
    }
    n.out = {n.w.Concat(outputs, 1)};
    for (const auto& each : last) n.out.push_back(n.w.Concat(each, 0));
    if (n.Int("layout", 0) == 0) return;
    n.out[0] = n.w.Permute(n.out[0], {2, 0, 1, 3});
    for (size_t s = 1; s < n.out.size(); ++s) n.out[s] = n.w.Permute(n.out[s], {1, 0, 2});
  }

  void WantActivations(const std::vector<std::string>& usual) {
    const std::vector<std::string> given = n.Texts("activations");
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i] != usual[i % usual.size()]) throw Fault{fmt::format("its activation `{}` is not the usual one", given[i])};
  }
};

void Lstm(Node& n) {
  Layer layer(n, 4);
  layer.WantActivations({"Sigmoid", "Tanh", "Tanh"});
  std::vector<Bound> inputs, recurrent, peepholes;
  const int64_t h = layer.hidden;
  for (int64_t d = 0; d < layer.directions; ++d) {
    const Bound bias = n.w.Elementwise(layer.element, {layer.Bias(d, 0), layer.Bias(d, 1)}, "{0} + {1}");
    inputs.push_back(layer.Inputs(d, bias));
    recurrent.push_back(n.w.Permute(layer.Of(2, d, {4 * h, h}), {1, 0}));
    if (n.Has(7)) peepholes.push_back(layer.Of(7, d, {3 * h}));
  }
  layer.Run(2, [&](int64_t d, const Bound& row, const std::vector<Bound>& state) {
    const auto at = static_cast<size_t>(d);
    const std::vector<Bound> g = layer.Gates(n.w.Elementwise(layer.element, {row, n.w.MatMul(state[0], recurrent[at])}, "{0} + {1}"), 4);
    auto peek = [&](const Bound& gate, int64_t which, const Bound& cell) {
      if (peepholes.empty()) return n.w.Apply("T.sigmoid", gate);
      return n.w.Elementwise(layer.element, {gate, layer.Rows(peepholes[at], which * h, (which + 1) * h), cell}, "T.sigmoid ({0} + {1} * {2})");
    };
    const Bound in = peek(g[0], 0, state[1]), forget = peek(g[2], 2, state[1]);
    const Bound cell = n.w.Elementwise(layer.element, {forget, state[1], in, g[3]}, "{0} * {1} + {2} * tanh {3}");
    const Bound out = peek(g[1], 1, cell);
    return std::vector<Bound>{n.w.Elementwise(layer.element, {out, cell}, "{0} * tanh {1}"), cell};
  }, inputs, {5, 6});
}

void Gru(Node& n) {
  Layer layer(n, 3);
  layer.WantActivations({"Sigmoid", "Tanh"});
  const bool later = n.Int("linear_before_reset", 0) != 0;
  const int64_t h = layer.hidden;
  std::vector<Bound> inputs, gates, last, bias;
  for (int64_t d = 0; d < layer.directions; ++d) {
    const Bound b = layer.Bias(d, 1);
    inputs.push_back(layer.Inputs(d, layer.Bias(d, 0)));
    const Bound r = layer.Of(2, d, {3 * h, h});
    gates.push_back(n.w.Permute(layer.Rows(r, 0, 2 * h), {1, 0}));
    last.push_back(n.w.Permute(layer.Rows(r, 2 * h, 3 * h), {1, 0}));
    bias.push_back(layer.Rows(b, 0, 2 * h));
    bias.push_back(layer.Rows(b, 2 * h, 3 * h));
  }
  layer.Run(1, [&](int64_t d, const Bound& row, const std::vector<Bound>& state) {
    const auto at = static_cast<size_t>(d);
    const std::vector<Bound> x = layer.Gates(row, 3);
    const Bound own = n.w.Elementwise(layer.element, {n.w.MatMul(state[0], gates[at]), bias[2 * at]}, "{0} + {1}");
    const std::vector<Bound> r = layer.Gates(own, 2);
    const Bound update = n.w.Elementwise(layer.element, {x[0], r[0]}, "T.sigmoid ({0} + {1})"), reset = n.w.Elementwise(layer.element, {x[1], r[1]}, "T.sigmoid ({0} + {1})");
    Bound fresh;
    if (later) {
      fresh = n.w.Elementwise(layer.element, {x[2], reset, n.w.MatMul(state[0], last[at]), bias[2 * at + 1]}, "tanh ({0} + {1} * ({2} + {3}))");
    } else {
      const Bound kept = n.w.Elementwise(layer.element, {reset, state[0]}, "{0} * {1}");
      fresh = n.w.Elementwise(layer.element, {x[2], n.w.MatMul(kept, last[at]), bias[2 * at + 1]}, "tanh ({0} + {1} + {2})");
    }
    return std::vector<Bound>{n.w.Elementwise(layer.element, {update, state[0], fresh}, "(1 - {0}) * {2} + {0} * {1}")};
  }, inputs, {5});
}

void Rnn(Node& n) {
  Layer layer(n, 1);
  std::string function = "tanh";
  for (const std::string& name : n.Texts("activations")) {
    if (name != "Tanh" && name != "Relu" && name != "Sigmoid") throw Fault{fmt::format("its activation `{}` is not known", name)};
    function = name == "Tanh" ? "tanh" : name == "Relu" ? "T.relu" : "T.sigmoid";
    if (name != n.Texts("activations")[0]) throw Fault{"its directions have two activations"};
  }
  std::vector<Bound> inputs, recurrent;
  for (int64_t d = 0; d < layer.directions; ++d) {
    inputs.push_back(layer.Inputs(d, n.w.Elementwise(layer.element, {layer.Bias(d, 0), layer.Bias(d, 1)}, "{0} + {1}")));
    recurrent.push_back(n.w.Permute(layer.Of(2, d, {layer.hidden, layer.hidden}), {1, 0}));
  }
  layer.Run(1, [&](int64_t d, const Bound& row, const std::vector<Bound>& state) {
    return std::vector<Bound>{n.w.Elementwise(layer.element, {row, n.w.MatMul(state[0], recurrent[static_cast<size_t>(d)])}, function + " ({0} + {1})")};
  }, inputs, {5});
}

}  // namespace

void AddRecurrent(Handlers& all) {
  all["LSTM"] = Lstm;
  all["GRU"] = Gru;
  all["RNN"] = Rnn;
}

}  // namespace df::from_onnx
