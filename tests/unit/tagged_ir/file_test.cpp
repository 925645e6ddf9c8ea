// Graph files: what is written reads back and is written the same; what is broken is refused by name.

#include "fmt/format.h"
#include "onnx/onnx.pb.h"
#include "tagged_ir/file.h"
#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

namespace {

Graph Model(const char* name) { return Parsed(ReadFile(std::filesystem::path(DFC_MODEL_DIR) / name)); }

std::string FaultOf(const std::string& bytes) {
  std::string error;
  return Deserialize(bytes, &error) ? "" : error;
}

// The fault after a change of the model that the file holds.
template <typename Change>
std::string FaultAfter(const std::string& bytes, Change change) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(bytes));
  change(model);
  return FaultOf(model.SerializeAsString());
}

onnx::NodeProto* Find(onnx::ModelProto& model, const std::string& op) {
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node())
    if (node.op_type() == op) return &node;
  return nullptr;
}
onnx::AttributeProto* Find(onnx::NodeProto* node, const std::string& name) {
  for (onnx::AttributeProto& attribute : *node->mutable_attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

// A chain of calls and sums with `count` nodes.
Graph Long(uint32_t count) {
  Graph g;
  g.name = "long";
  PortType trigger{g.types.Builtin(TypeKind::Trigger)}, number{g.types.Builtin(TypeKind::Int)};
  g.files.push_back("long.df");
  ScopeId root = g.scopes.Add({ScopeKind::Root, "main", {}, {}});
  ScopeId f = g.scopes.Add({ScopeKind::Function, "f", {}, {}});
  g.graph_results.push_back({"", number});
  ConstId one = g.constants.Add({number.type, 1, ""});
  NodeId start = g.AddNode(Op::Start, root, {}, trigger);
  NodeId value = g.AddNode(Op::Const, root, Edge{start}, number, one.index);
  NodeId entry = g.AddNode(Op::EntryMerge, f, {}, number);
  std::vector<Edge> delivered;
  while (g.nodes.size() + 6 < count) {
    PosId pos = g.positions.Add({0, g.nodes.size() + 1, 1, "main", {}});
    SiteId site = g.sites.Add({SiteKind::Call, root, f, pos, ""});
    NodeId control = g.AddNode(Op::Call, root, Edge{start}, {trigger, trigger}, site.index, pos);
    NodeId call = g.AddNode(Op::Call, root, Edge{value}, number, site.index, pos);
    NodeId result = g.AddNode(Op::Return, root, {Edge{entry}, Edge{control, 1}}, number, site.index, pos);
    value = g.AddNode(Op::Add, root, {Edge{result}, Edge{value}}, number, 0, pos);
    delivered.push_back({call});
  }
  g.ReplaceInputs(entry, delivered);
  g.AddNode(Op::Result, root, Edge{value}, {});
  return g;
}

}  // namespace

TEST_CASE("a file reads back as the same graph, and is written the same again") {
  for (const auto& path : ModelGraphs()) {
    INFO(path.filename().string());
    Graph graph = Parsed(ReadFile(path));
    std::string bytes = Serialize(graph), error;
    CHECK(LooksLikeGraphFile(bytes));
    std::optional<Graph> again = Deserialize(bytes, &error);
    INFO(error);
    REQUIRE(again.has_value());
    CHECK(ToText(*again) == ToText(graph));
    CHECK(Serialize(*again) == bytes);
  }
  CHECK_FALSE(LooksLikeGraphFile("main = 3\n"));
  CHECK_FALSE(LooksLikeGraphFile(""));
}

TEST_CASE("every field of every table survives a file") {
  const std::string text = R"graph(tagged "%odd name"
file "a.df"
file "b.df"
data P = P (x: Int) (strict Double) (lazy P) | "Q\n"
input "n" : Integer
result "r" : Double
result "s" : Float
result "t" : lazy P
root main
function "f \"g\"" @1:7:3 in f at @3:4 in h
site 0 delay main -> "f \"g\"" "why not" @5:6
scope main {
  %0 = Start : Trigger @9:9
  %1 = Input 0 %0 : Integer
  %2 = Const 0x7ff8000000000123 %0 : Double
  %3 = Const -0 %0 : Float @1:2 given ( @2:2 in k at @0:0 giver at 1 ) at @3:3 in h
  %4 = Const "x\x00y" %0 : Text
  %5 = Const -5 %0 : Integer
  %6 = Const '\u{1f600}' %0 : Char
  %7 = Delay 0 %0 : lazy P, Trigger
  %8 = Return 0 %10
  %11 = Result 0 %2
  %12 = Result 1 %3
  %13 = Result 2 %7
  %14 = Force %7 : P
  %15 = Field P 2 %14 : lazy P
}
scope "f \"g\"" {
  %9 = EntryMerge %7.1 : Trigger
  %10 = Construct "Q\n" %9 : P
}
)graph";
  Graph graph = Parsed(text);
  std::string error;
  std::optional<Graph> again = Deserialize(Serialize(graph), &error);
  INFO(error);
  REQUIRE(again.has_value());
  CHECK(ToText(*again) == text);
}

TEST_CASE("a file of a newer version is refused by its version") {
  std::string bytes = Serialize(Model("fact3_plus_5.tagged"));
  auto version = [&](int64_t number) {
    return FaultAfter(bytes,
                      [&](onnx::ModelProto& model) { model.mutable_opset_import(1)->set_version(number); });
  };
  CHECK(version(kGraphFileVersion + 1) ==
        fmt::format("format version {} is newer than this program reads, {}", kGraphFileVersion + 1,
                    kGraphFileVersion));
  CHECK(version(-1) == "format version -1");
  CHECK(FaultAfter(bytes, [](onnx::ModelProto& model) { model.clear_opset_import(); }) ==
        "an ONNX model without ops of `org.dfc`");
}

TEST_CASE("ops on tensors that mean what ONNX's do have its names, and are read under both") {
  std::string bytes = Serialize(Parsed(R"(
tagged "t"
tensor "Tensor Double [2, 2]"
result "main" : "Tensor Double [2, 2]"
root main
scope main {
  %0 = Start : Trigger
  %1 = Const "[[1, 2], [3, 4]]" %0 : "Tensor Double [2, 2]"
  %2 = FDiv %1, %1 : "Tensor Double [2, 2]"
  %3 = Gemm %1, %2 : "Tensor Double [2, 2]"
  %4 = Softmax 1 %3 : "Tensor Double [2, 2]"
  %5 = Result 0 %4
}
)"));
  std::string error;
  std::optional<Graph> graph = Deserialize(bytes, &error);
  INFO(error);
  REQUIRE(graph);
  CHECK(Serialize(*graph) == bytes);
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(bytes));
  REQUIRE(Find(model, "Div"));
  CHECK(Find(model, "Div")->domain() == "");
  CHECK(Find(model, "Gemm")->domain() == "");
  CHECK(Find(Find(model, "Gemm"), "transB")->i() == 1);
  CHECK(Find(model, "Softmax")->domain() == "org.dfc");
  CHECK(FaultAfter(bytes, [](onnx::ModelProto& m) { Find(m, "Gemm")->clear_attribute(); }).find("a Gemm without `transB`") !=
        std::string::npos);
  CHECK(FaultAfter(bytes, [](onnx::ModelProto& m) { Find(m, "Div")->set_op_type("Mod"); }).find("op `Mod` of domain ``") !=
        std::string::npos);
  // As files before version 6 have them.
  CHECK(FaultAfter(bytes, [](onnx::ModelProto& m) {
          Find(m, "Div")->set_domain("org.dfc");
          Find(m, "Div")->set_op_type("FDiv");
          Find(m, "Gemm")->clear_attribute();
          Find(m, "Gemm")->set_domain("org.dfc");
        }) == "");
}

// Types behind ActivationTable keep the numbers that they had in files before it.
TEST_CASE("tables of activations are written and read") {
  std::string error;
  std::optional<Graph> graph = ParseText(R"graph(tagged "t"
data Box = Box (Int)
result "" : Box
root main
scope main {
  %0 = Start : Trigger
  %1 = Const () %0 : Unit
  %2 = Const 7 %0 : Int
  %3 = Construct Box %0, %2 : Box
  %4 = NewTable %1 : ActivationTable
  %5 = TableAt 3 %4 : ActivationTable
  %6 = TablePut 5 %5, %3 : ActivationTable
  %7 = TableGet 5 %6 : Box
  %8 = Result 0 %7
}
)graph", &error);
  REQUIRE(error == "");
  std::string bytes = Serialize(*graph);
  std::optional<Graph> read = Deserialize(bytes, &error);
  REQUIRE(error == "");
  CHECK(ToText(*read) == ToText(*graph));
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(bytes));
  for (const onnx::AttributeProto& attribute : Find(model, "Start")->attribute())
    if (attribute.name() == "result_table") CHECK(attribute.ints(1) == 2 * 10);
}

TEST_CASE("tokens of state and arrays are written and read") {
  std::string error;
  std::optional<Graph> graph = ParseText(R"graph(tagged "t"
data Box = Box (Int)
result "" : Box
root main
scope main {
  %0 = Start : Trigger
  %1 = Const () %0 : Unit
  %2 = Const 7 %0 : Int
  %3 = Construct Box %0, %2 : Box
  %4 = NewState %1 : PrimState
  %5 = NewStore 42 %4, %2, %3 : PrimStore
  %6 = After %5, %4 : PrimState
  %7 = Freeze %6, %5 : PrimFrozen
  %8 = ReadFrozen 42 %7, %2 : Box
  %9 = Result 0 %8
}
)graph", &error);
  REQUIRE(error == "");
  std::string bytes = Serialize(*graph);
  std::optional<Graph> read = Deserialize(bytes, &error);
  REQUIRE(error == "");
  CHECK(ToText(*read) == ToText(*graph));
}

TEST_CASE("what a file may not hold is refused, with its place") {
  std::string bytes = Serialize(Model("grad_f.tagged"));
  using Model = onnx::ModelProto;
  CHECK(FaultOf("") == "an ONNX model without ops of `org.dfc`");
  CHECK(FaultOf("nonsense") == "damaged or truncated: not an ONNX model");
  CHECK(FaultAfter(bytes, [](Model& m) { m.add_functions(); }) ==
        "functions of a model are not part of a graph file");
  CHECK(FaultAfter(bytes, [](Model& m) { m.mutable_graph()->add_initializer(); }) ==
        "initializers are not part of a graph file");
  CHECK(FaultAfter(bytes, [](Model& m) {
          auto* tensor = Find(Find(m, "Const"), "value")->mutable_t();
          tensor->set_data_location(onnx::TensorProto::EXTERNAL);
        }).find("its value is in another file") != std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) {
          Find(m, "Add")->set_op_type("Frob");
        }).find("op `Frob` is unknown") != std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) { Find(m, "Add")->set_domain(""); }).find("of domain ``") !=
        std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) { Find(m, "Add")->set_name("0"); }).find("bad name `0`") !=
        std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) {
          Find(m, "Add")->add_attribute()->set_name("extra");
        }).find("unknown attribute `extra`") != std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) {
          Find(m, "Add")->set_input(0, "%999");
        }).find("operand 0 is no node") != std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) { Find(m, "Add")->set_input(0, "x"); }).find("`x` is no edge") !=
        std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) { Find(m, "Add")->set_input(0, ""); }).find("operand 0 is missing") !=
        std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) {
          Find(Find(m, "Call"), "site")->set_i(1000);
        }).find("no site 1000") != std::string::npos);
  CHECK(FaultAfter(bytes, [](Model& m) { Find(Find(m, "Start"), "scope_table")->clear_ints(); }) ==
        "there is no root scope");
  CHECK(FaultAfter(bytes, [](Model& m) { Find(Find(m, "Start"), "site_table")->set_ints(0, 7); }) ==
        "bad site 0");
  CHECK(FaultAfter(bytes, [](Model& m) { m.mutable_graph()->mutable_node()->RemoveLast(); }) != "");
}

TEST_CASE("each truncation of a file is refused") {
  std::string bytes = Serialize(Model("fact3_plus_5.tagged"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK(FaultOf(bytes.substr(0, size)) != "");
  }
}

TEST_CASE("two thousand damaged files are refused or valid, and none crashes") {
  uint32_t random = 7;
  auto next = [&] { return random = random * 1664525 + 1013904223, random >> 8; };
  const char* const names[] = {"fibs.tagged", "outer_def_in_loop.tagged", "repmin_lazy.tagged",
                               "grad_outer_w.tagged"};
  std::vector<std::string> files;
  for (const char* name : names) files.push_back(Serialize(Model(name)));
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = files[i % files.size()], error;
    for (uint32_t changes = 1 + next() % 4; changes > 0; --changes)
      bytes[next() % bytes.size()] = static_cast<char>(next());
    if (auto graph = Deserialize(bytes, &error))
      CHECK(Verify(*graph) == "");
    else
      CHECK(error != "");
  }
}

TEST_CASE("a graph of 100,000 nodes reads back", "[large]") {
  Graph graph = Long(100000);
  CHECK(Verify(graph) == "");
  std::string bytes = Serialize(graph), error;
  std::optional<Graph> again = Deserialize(bytes, &error);
  REQUIRE(again.has_value());
  CHECK(again->nodes.size() == graph.nodes.size());
  CHECK(Serialize(*again) == bytes);
}
