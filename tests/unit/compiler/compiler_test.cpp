// The compiler as a library: sources in memory, messages as data, and the graphs run.
#include <thread>

#include "compiler/compiler.h"
#include "runtime/embed/embed.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

CompileRequest Of(std::string source) {
  CompileRequest request;
  request.source = std::move(source);
  return request;
}

}  // namespace

TEST_CASE("a source in memory is compiled and run") {
  CompileResult result = CompileSource(Of("main :: Int -> Int\nmain n = n * n\n"));
  CHECK(result.diagnostics.empty());
  REQUIRE(result.graph.has_value());
  std::string error;
  auto program = Program::FromBytes(*result.graph, &error);
  REQUIRE(program.has_value());
  Run run(*program);
  CHECK(run.SetInput("n", int64_t{12}));
  REQUIRE(run.Execute() == RunStatus::Done);
  CHECK(run.view(0).integer() == 144);
}

TEST_CASE("messages are data") {
  CompileResult result = CompileSource(Of("main :: Int\nmain = lenght [1, 2]\n"));
  CHECK(!result.graph.has_value());
  REQUIRE(result.diagnostics.size() == 1);
  const Diagnosis& d = result.diagnostics[0];
  CHECK(d.severity == Diagnosis::Severity::Error);
  CHECK(d.code.rfind("DF", 0) == 0);
  CHECK(d.place.file == "main.df");
  CHECK(d.place.line == 2);
  CHECK(d.place.column == 8);
  CHECK(d.place.end_column == 14);
  CHECK(d.message.find("lenght") != std::string::npos);
  CHECK(d.hint.find("length") != std::string::npos);
  CHECK(d.text.find("main = lenght [1, 2]") != std::string::npos);
}

TEST_CASE("entries, with their names and types") {
  CompileRequest request = Of("double :: Double -> Double\ndouble x = x + x\n\nsay :: String -> Int -> String\nsay word n = concat (replicate n word)\n");
  request.exports = {"double", "say"};
  CompileResult result = CompileSource(request);
  REQUIRE(result.graph.has_value());
  std::string error;
  auto program = Program::FromBytes(*result.graph, &error);
  REQUIRE(program.has_value());
  CHECK(program->entries() == std::vector<std::string>{"double", "say"});
  CHECK(program->inputs("say")[0].name == "word");
  CHECK(program->inputs("say")[0].type == "[Char]");
  RunSettings settings;
  settings.entry = "say";
  Run run(*program, settings);
  for (int64_t n = 1; n < 4; ++n) {
    CHECK(run.SetInputString("word", "a\xC3\xA9"));
    CHECK(run.SetInput("n", n));
    REQUIRE(run.Execute() == RunStatus::Done);
    CHECK(run.view(0).text()->size() == 3 * static_cast<size_t>(n));
  }
  request.exports = {"dubble"};
  result = CompileSource(request);
  CHECK(!result.graph.has_value());
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].hint == "did you mean `double`?");
}

TEST_CASE("limits are messages, and several threads may ask") {
  std::string long_program = "main :: Int\nmain = 1\n";
  for (int i = 0; i < 4000; ++i) long_program += "f" + std::to_string(i) + " :: Int -> Int\nf" + std::to_string(i) + " x = x * x + " + std::to_string(i) + "\n";
  CompileRequest request = Of(long_program);
  std::atomic<bool> interrupt{true};
  request.interrupt = &interrupt;
  CompileResult result = CompileSource(request);
  CHECK(!result.graph.has_value());
  CHECK(!result.diagnostics.empty());
  std::vector<std::thread> threads;
  std::atomic<int> fine{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&fine, i] { fine += CompileSource(Of("main :: Int\nmain = " + std::to_string(i) + "\n")).graph.has_value(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(fine == 4);
}
