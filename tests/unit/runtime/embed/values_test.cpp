// Values of a host program as inputs, and results as views.
#include <thread>

#include "runtime/embed/embed.h"
#include "tagged_ir/file.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

namespace {

// A graph that gives its one input of this type, through `op` if there is one.
std::string Through(Builder& b, ir::PortType type, std::optional<ir::Op> op = std::nullopt) {
  b.graph.graph_inputs = {{"x", type}};
  ir::Edge start = b.Node(ir::Op::Start, {}, {ir::TypeKind::Trigger});
  ir::Edge x{b.graph.AddNode(ir::Op::Input, b.scope, {start}, {type}, 0, {}), 0};
  if (op) x = {b.graph.AddNode(*op, b.scope, {x}, {type}, 0, {}), 0};
  b.Result(x);
  return ir::Serialize(b.graph);
}

ir::PortType Vector(Builder& b, int64_t count) { return {b.graph.types.Tensor(ir::TypeKind::Float, {count}), false}; }

// data Pair = Pair { left :: Float, weights :: Tensor Float [3] }, and a list of it.
ir::PortType PairType(Builder& b) {
  ir::TypeId id = b.graph.types.AddData("Pair");
  b.graph.types[id].constructors = {
      {"Pair", {{{b.graph.types.Builtin(ir::TypeKind::Float), true}, false, "left"}, {Vector(b, 3), true, "weights"}}}};
  return {id, false};
}
ir::PortType ListOf(Builder& b, ir::PortType element) {
  ir::TypeId id = b.graph.types.AddData("[" + b.graph.types.Print(element) + "]");
  b.graph.types[id].constructors = {{"[]", {}}, {":", {{{element.type, true}, false, ""}, {{id, true}, false, ""}}}};
  return {id, false};
}

ArrayIn Floats(const std::vector<float>& floats) {
  ArrayIn array;
  array.data = floats.data();
  array.element = ElementType::Float32;
  array.shape = {static_cast<int64_t>(floats.size())};
  return array;
}

struct Loaded {
  explicit Loaded(const std::string& bytes) : program(*Program::FromBytes(bytes, &error)), run(program, Settings()) {}
  static RunSettings Settings() {
    RunSettings settings;
    settings.threads = 1;
    return settings;
  }
  std::string error;
  Program program;
  Run run;
};

}  // namespace

TEST_CASE("arrays in place, and results that outlive all else") {
  Builder b;
  std::optional<Loaded> loaded(Through(b, Vector(b, 3), ir::Op::Tanh));
  std::vector<float> floats = {0, 1, -1};
  bool released = false;
  ArrayIn array = Floats(floats);
  array.owner = std::shared_ptr<const void>(floats.data(), [&](const void*) { released = true; });
  REQUIRE(loaded->run.SetInputArray("x", array, &loaded->error));
  array.owner = nullptr;
  REQUIRE(loaded->run.Execute() == RunStatus::Done);
  CHECK(!released);
  View view = loaded->run.view(0);
  CHECK(view.kind() == View::Kind::Tensor);
  CHECK(view.type() == "Tensor Float [3]");
  CHECK(loaded->run.result(0).text == "[0.0,0.7615942,-0.7615942]");
  // In place: what is there when the run looks.
  floats[1] = 0;
  REQUIRE(loaded->run.Execute() == RunStatus::Done);
  CHECK(loaded->run.result(0).text == "[0.0,0.0,-0.7615942]");
  REQUIRE(loaded->run.SetInputText("x", "[1,1,1]"));
  CHECK(released);
  Array result = *view.array();
  loaded.reset();
  CHECK(result.shape == std::vector<int64_t>{3});
  CHECK(static_cast<const float*>(result.data)[1] == Approx(0.7615942f));
}

TEST_CASE("an input that is the result keeps its owner") {
  Builder b;
  Loaded loaded(Through(b, Vector(b, 2)));
  std::vector<float> floats = {1, 2};
  bool released = false;
  ArrayIn array = Floats(floats);
  array.owner = std::shared_ptr<const void>(floats.data(), [&](const void*) { released = true; });
  REQUIRE(loaded.run.SetInputArray("x", array));
  array.owner = nullptr;
  REQUIRE(loaded.run.Execute() == RunStatus::Done);
  std::optional<Array> result = loaded.run.view(0).array();
  CHECK(result->data == floats.data());
  loaded.run.ClearInput("x");
  REQUIRE(loaded.run.SetInputText("x", "[3,4]"));
  REQUIRE(loaded.run.Execute() == RunStatus::Done);
  CHECK(!released);
  std::thread([&] { result.reset(); }).join();
  CHECK(released);
}

TEST_CASE("arrays that lie otherwise are copied, others refused") {
  Builder b;
  Loaded loaded(Through(b, Vector(b, 3)));
  std::vector<float> floats = {1, 9, 2, 9, 3, 9};
  ArrayIn array = Floats(floats);
  array.shape = {3};
  array.strides = {8};
  REQUIRE(loaded.run.SetInputArray("x", array, &loaded.error));
  floats.assign(6, 0);
  REQUIRE(loaded.run.Execute() == RunStatus::Done);
  CHECK(loaded.run.result(0).text == "[1.0,2.0,3.0]");
  array.shape = {2};
  CHECK(!loaded.run.SetInputArray("x", array, &loaded.error));
  CHECK(loaded.error.find("the input `x`: ") == 0);
  array.shape = {3};
  array.element = ElementType::Float64;
  CHECK(!loaded.run.SetInputArray("x", array, &loaded.error));
  array.shape = {-1};
  CHECK(!loaded.run.SetInputArray("x", array, &loaded.error));
  CHECK(!loaded.run.SetInputArray("y", array, &loaded.error));
  CHECK(loaded.error == "there is no input `y`");
}

TEST_CASE("records and lists by their parts") {
  Builder b;
  Loaded loaded(Through(b, ListOf(b, PairType(b))));
  std::vector<float> left = {0.5f}, weights = {1, 2, 3};
  ArrayIn number = Floats(left);
  number.shape = {};
  REQUIRE(loaded.run.SetInputParts("x", {{"0.left", number}, {"0.weights", Floats(weights)}, {"1.left", number}, {"1.weights", Floats(weights)}},
                                   &loaded.error));
  REQUIRE(loaded.run.Execute() == RunStatus::Done);
  View list = loaded.run.view(0);
  CHECK(list.is_list());
  std::vector<View> pairs = list.elements();
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[1].constructor() == "Pair");
  CHECK(pairs[1].field_name(1) == "weights");
  CHECK(pairs[1].field(0).real() == 0.5);
  CHECK(static_cast<const float*>(pairs[1].field(1).array()->data)[2] == 3);
  CHECK(pairs[0].show() == "Pair {left = 0.5, weights = [1.0,2.0,3.0]}");
  CHECK(!loaded.run.SetInputParts("x", {{"0.left", number}}, &loaded.error));
  CHECK(loaded.error.find("`0.weights` is missing") != std::string::npos);
}

TEST_CASE("a list as it is asked for, and results as the next inputs") {
  Builder b;
  Loaded loaded(Through(b, ListOf(b, b.Type(ir::TypeKind::Int))));
  int asked = 0;
  auto next = [&](Element& element) { return asked < 1000 && element.Set(int64_t{asked++}); };
  REQUIRE(loaded.run.SetInputList("x", next, &loaded.error));
  REQUIRE(loaded.run.Execute() == RunStatus::Done);
  CHECK(asked == 1000);
  std::vector<View> elements = loaded.run.view(0).elements();
  REQUIRE(elements.size() == 1000);
  CHECK(elements[999].integer() == 999);
  REQUIRE(loaded.run.SetInputView("x", loaded.run.view(0), &loaded.error));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(loaded.run.Execute() == RunStatus::Done);
    CHECK(loaded.run.view(0).elements().size() == 1000);
  }
  CHECK(!loaded.run.SetInputView("x", elements[0], &loaded.error));
  CHECK(loaded.error == "the input `x` does not take a result of another type");
  Loaded other(Through(*std::make_unique<Builder>(), b.Type(ir::TypeKind::Int)));
  CHECK(!other.run.SetInputView("x", elements[0], &other.error));
  CHECK(other.error == "the input `x` does not take a result of another run");
  // For one Execute alone; and its failures end the run.
  loaded.run.ClearInput("x");
  CHECK(loaded.run.Execute() == RunStatus::Failed);
  asked = 0;
  auto fails = [&](Element& element) {
    if (++asked == 3) throw std::runtime_error("the file has ended");
    return element.Set(int64_t{asked});
  };
  REQUIRE(loaded.run.SetInputList("x", fails, &loaded.error));
  CHECK(loaded.run.Execute() == RunStatus::Failed);
  CHECK(loaded.run.failure().message == "the file has ended");
}

TEST_CASE("entries") {
  using ir::Op, ir::TypeKind;
  // double x = x + x; halve x y = x / y
  Builder b;
  ir::PortType real = b.Type(TypeKind::Double);
  ir::TypeId call = b.graph.types.AddData("<call>"), answer = b.graph.types.AddData("<answer>");
  b.graph.types[call].constructors = {{"twice", {{real, true, "x"}}}, {"part", {{real, true, "x"}, {real, true, "y"}}}};
  b.graph.types[answer].constructors = {{"twice", {{real, true, ""}}}, {"part", {{real, true, ""}}}};
  b.graph.graph_inputs = {{"<entry>", {call, false}}};
  auto node = [&](Op op, std::vector<ir::Edge> in, std::vector<ir::PortType> out, uint32_t attr = 0) {
    return ir::Edge{b.graph.AddNode(op, b.scope, in, out, attr, {}), 0};
  };
  ir::PortType alt = b.Type(TypeKind::Alt), trigger = b.Type(TypeKind::Trigger), data{call, false}, result{answer, false};
  ir::Edge start = node(Op::Start, {}, {trigger});
  ir::Edge given = node(Op::Input, {start}, {data}, 0);
  ir::Edge which = node(Op::Match, {given}, {alt});
  ir::Edge sides = node(Op::Switch, {which, given}, {data, data}), go = node(Op::Switch, {which, start}, {trigger, trigger});
  ir::Edge x = node(Op::Field, {sides}, {real}, 0);
  ir::Edge twice = node(Op::Construct, {go, node(Op::Add, {x, x}, {real})}, {result}, 0);
  ir::Edge top = node(Op::Field, {Port(sides, 1)}, {real}, 1 << 16), low = node(Op::Field, {Port(sides, 1)}, {real}, 1 << 16 | 1);
  ir::Edge part = node(Op::Construct, {Port(go, 1), node(Op::FDiv, {top, low}, {real})}, {result}, 1);
  b.Result(node(Op::BranchMerge, {which, twice, part}, {result}));
  REQUIRE(ir::Verify(b.graph) == "");
  std::string error;
  auto program = Program::FromBytes(ir::Serialize(b.graph), &error);
  INFO(error);
  REQUIRE(program.has_value());
  CHECK(program->entries() == std::vector<std::string>{"twice", "part"});
  REQUIRE(program->inputs("part").size() == 2);
  CHECK(program->inputs("part")[1].name == "y");
  CHECK(program->results("part")[0].type == "Double");
  CHECK(program->inputs().empty());
  RunSettings first, second, none, strange;
  first.entry = "twice";
  second.entry = "part";
  strange.entry = "third";
  Run one(*program, first), two(*program, second), neither(*program, none), third(*program, strange);
  for (int i = 0; i < 3; ++i) {
    CHECK(one.SetInput("x", 4.0 + i));
    REQUIRE(one.Execute() == RunStatus::Done);
    CHECK(one.result(0).real == 8.0 + 2 * i);
    CHECK(two.SetInput("x", 4.0 + i));
    CHECK(two.SetInput("y", 2.0));
    REQUIRE(two.Execute() == RunStatus::Done);
    CHECK(two.view(0).real() == 2.0 + i / 2.0);
  }
  CHECK(neither.Execute() == RunStatus::Failed);
  CHECK(neither.error() == "error: the graph has several entries, and none is chosen");
  CHECK(third.Execute() == RunStatus::Failed);
  CHECK(third.error() == "error: the graph has no entry `third`");
}
