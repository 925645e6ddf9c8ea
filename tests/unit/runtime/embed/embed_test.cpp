// Graph files run through the embedding interface.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/embed/embed.h"
#include "tagged_ir/file.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/embed/c_client.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

namespace {

// results: 100 `quot` n and x
std::string QuotientFile() {
  using ir::Op, ir::TypeKind;
  Builder b;
  b.graph.graph_inputs = {{"n", b.Type(TypeKind::Int)}, {"x", b.Type(TypeKind::Double)}};
  ir::Edge start = b.Node(Op::Start, {}, {TypeKind::Trigger});
  ir::Edge n = b.Node(Op::Input, {start}, {TypeKind::Int}, 0);
  ir::Edge x = b.Node(Op::Input, {start}, {TypeKind::Double}, 1);
  b.Result(b.Node(Op::Quot, {b.Int(start, 100), n}, {TypeKind::Int}, 0, b.At(4, 7, "main")));
  b.Result(x);
  return ir::Serialize(b.graph);
}

RunSettings Reference() {
  RunSettings settings;
  settings.engine = RunEngine::Reference;
  return settings;
}

}  // namespace

TEST_CASE("inputs from files, results to files") {
  std::string error;
  auto program = Program::FromBytes(QuotientFile(), &error);
  REQUIRE(program.has_value());
  Run run(*program, Reference());
  std::string folder = std::filesystem::temp_directory_path() / ("dfc_embed_test" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::string n = folder + "/n.txt", y = folder + "/y.npy";
  std::ofstream(n) << "7\n";
  CHECK(!run.WriteResult(0, y, &error));
  CHECK(run.SetInputFile("n", n, &error));
  CHECK(!run.SetInputFile("x", folder + "/none.npy", &error));
  CHECK(error.find("cannot be read") != std::string::npos);
  CHECK(!run.SetInputFile("y", n, &error));
  CHECK(run.SetInput("x", 0.5));
  REQUIRE(run.Execute() == RunStatus::Done);
  CHECK(run.WriteResult(0, y, &error));
  CHECK(!run.WriteResult(2, y, &error));
  CHECK(!run.WriteResult(0, folder + "/y.bin", &error));
  CHECK(!run.WriteResult(0, folder + "/none/y.npy", &error));
  CHECK(run.SetInputFile("n", y, &error));
  REQUIRE(run.Execute() == RunStatus::Done);
  CHECK(run.result(0).text == "7");  // 100 `quot` (100 `quot` 7)
  std::filesystem::remove_all(folder);
}

TEST_CASE("a graph file is loaded, given inputs and run, again and again") {
  std::string error;
  auto program = Program::FromBytes(QuotientFile(), &error);
  REQUIRE(program.has_value());
  CHECK(program->inputs().size() == 2);
  CHECK(program->inputs()[0].name == "n");
  CHECK(program->inputs()[1].type == "Double");
  Run run(*program, Reference());
  CHECK(run.Execute() == RunStatus::Failed);
  CHECK(run.error() == "error: the input `n` is not set");
  CHECK(run.SetInput("n", int64_t{7}));
  CHECK(run.SetInputText("x", "2.5"));
  REQUIRE(run.Execute() == RunStatus::Done);
  REQUIRE(run.result_count() == 2);
  CHECK(run.result(0).text == "14");
  CHECK(run.result(0).integer == 14);
  CHECK(run.result(1).text == "2.5");
  CHECK(run.result(1).real == 2.5);
  CHECK(run.SetInput("n", int64_t{0}));
  CHECK(run.Execute() == RunStatus::Failed);
  CHECK(run.error() == "error: divide by zero\n  at test.df:4:7 in `main`");
  CHECK(run.result_count() == 0);
}

TEST_CASE("what does not fit an input is refused") {
  std::string error;
  auto program = Program::FromBytes(QuotientFile(), &error);
  REQUIRE(program.has_value());
  Run run(*program, Reference());
  CHECK_FALSE(run.SetInput("m", int64_t{1}, &error));
  CHECK(error == "there is no input `m`");
  CHECK_FALSE(run.SetInput("n", 1.5, &error));
  CHECK(error == "the input `n` does not take a floating-point number");
  CHECK_FALSE(run.SetInputText("n", "1.5", &error));
  CHECK(error == "`1.5` is not an Int");
  CHECK(run.SetInput("x", int64_t{2}));
}

TEST_CASE("what is no graph file is refused") {
  std::string error;
  CHECK_FALSE(Program::FromBytes("not a graph", &error).has_value());
  CHECK_FALSE(error.empty());
  CHECK_FALSE(Program::Load("/nonexistent/file.graph", &error).has_value());
  CHECK(error == "/nonexistent/file.graph: cannot be read");
}

// result: tanh (x w)
std::string LayerFile() {
  using ir::Op, ir::TypeKind;
  Builder b;
  ir::PortType vector{b.graph.types.Tensor(TypeKind::Double, {2}), false};
  ir::PortType matrix{b.graph.types.Tensor(TypeKind::Double, {2, 2}), false};
  b.graph.graph_inputs = {{"x", vector}, {"w", matrix}};
  auto node = [&](Op op, std::vector<ir::Edge> in, ir::PortType type, uint32_t attr = 0) {
    return ir::Edge{b.graph.AddNode(op, b.scope, in, {type}, attr, {}), 0};
  };
  ir::Edge start = b.Node(Op::Start, {}, {TypeKind::Trigger});
  ir::Edge x = node(Op::Input, {start}, vector, 0), w = node(Op::Input, {start}, matrix, 1);
  b.Result(node(Op::Tanh, {node(Op::MatMul, {x, w}, vector)}, vector));
  return ir::Serialize(b.graph);
}

TEST_CASE("batches on any device, or none") {
  std::string error;
  auto program = Program::FromBytes(LayerFile(), &error);
  REQUIRE(program.has_value());
  auto execute = [&](const RunSettings& settings, std::string* text) {
    Run run(*program, settings);
    CHECK(run.SetInputText("x", "[0.5, -1]"));
    CHECK(run.SetInputText("w", "[[1, 0.25], [0.5, 0.125]]"));
    RunStatus status = run.Execute();
    *text = status == RunStatus::Done ? run.result(0).text : run.error();
    return status;
  };
  std::string want, got;
  REQUIRE(execute(Reference(), &want) == RunStatus::Done);
  RunSettings off, simulated, scarce, none;
  off.batch = 0;
  simulated.device = scarce.device = "simulated";
  scarce.max_device_memory = 64;
  none.device = "abacus";
  for (const RunSettings& settings : {RunSettings(), off, simulated}) {
    REQUIRE(execute(settings, &got) == RunStatus::Done);
    CHECK(got == want);
  }
  CHECK(execute(scarce, &got) == RunStatus::MemoryLimit);
  CHECK(got.find("the memory limit of 64 bytes of the simulated device is reached") != std::string::npos);
  CHECK(execute(none, &got) == RunStatus::Failed);
  CHECK(got.find("there is no device `abacus`") != std::string::npos);
}

TEST_CASE("every engine gives the same") {
  std::string error;
  auto program = Program::FromBytes(QuotientFile(), &error);
  REQUIRE(program.has_value());
  for (RunEngine engine : {RunEngine::Tagged, RunEngine::Reference, RunEngine::Demand}) {
    RunSettings settings;
    settings.engine = engine;
    Run run(*program, settings);
    CHECK(run.SetInputText("n", "0x10"));
    CHECK(run.SetInput("x", 0.5));
    REQUIRE(run.Execute() == RunStatus::Done);
    CHECK(run.result(0).text == "6");
    CHECK(run.result(1).text == "0.5");
  }
}

TEST_CASE("the interface for C") {
  char said[200] = "";
  const std::string quotient = QuotientFile(), layer = LayerFile();
  CHECK(QuotientClient(quotient.data(), quotient.size(), said, sizeof said));
  CHECK(std::string(said) == "");
  CHECK(LayerClient(layer.data(), layer.size(), said, sizeof said));
  CHECK(std::string(said) == "");
}
