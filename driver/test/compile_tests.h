// driver/test/compile_tests.h
//
// A file with its tests as graphs: the file is checked once, each test is an input of a prompt that stands behind it, and all of
// them are one graph, whose input says which one is run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/pipeline.h"
#include "driver/test/find_tests.h"
#include "tagged_ir/graph.h"

namespace df::test {

// Of call paths: what chooses the test, which no path shows.
inline constexpr std::string_view kChooser = "it'tests";

// A graph, and which of the tests it runs: its input is an index of these.
struct TestGraph {
  std::vector<size_t> tests;
  ir::Graph graph;
};

class TestFile {
 public:
  explicit TestFile(const Options& options) : options_(options) {}

  // Reads and checks the file, and finds its tests. False: `fault` says what is wrong with it.
  bool Load(const std::string& path);
  // Checks each test. What is wrong with one is in its `fault`.
  void Check();
  // All tests without a fault, but those of Kind::Whole, as few graphs, compiled as `lower` says. A test that cannot be lowered has its
  // fault in `faults`, by index.
  std::vector<TestGraph> Compile(const LowerOptions& lower, std::vector<std::string>& faults);
  // One test's graph, for itself.
  std::optional<TestGraph> CompileOne(size_t index, const LowerOptions& lower, std::string& why);
  // The files that were read: this one, and the program's own modules.
  std::vector<std::string> Sources() const;
  // The graph of `main`, of a test of Kind::Whole.
  std::optional<ir::Graph> CompileWhole(const LowerOptions& lower, std::string& fault);

  // Its text; the extensions that its pragmas name.
  const std::string& source() const { return source_; }
  std::vector<std::string> ExtensionNames() const;
  // Whether what the test says is an action.
  bool IsAction(size_t index) const { return index < shown_.size() && (shown_[index] == Shown::Action || shown_[index] == Shown::ActionValue); }

  std::function<void(ast::Ast&, const SourceManager&)> on_syntax;  // Pipeline's
  std::vector<Test> tests;
  std::string fault;
  BudgetEnd ended = BudgetEnd::None;  // of a fault: the limit that it was

 private:
  void FindProperties();
  void CheckOne(size_t index);
  void CheckExpression(size_t index, ast::Ast& ast);
  // The expression of a test that judges itself, as the library's function that runs it; null, and a fault: it is none.
  ast::Expr* WithRunner(size_t index, ast::Ast& ast, ast::Expr* body);
  void CheckNamed(size_t index);
  // Handles `:set -X..`, `:m + M`; false: it is no command.
  bool RunCommand(Test& test);
  bool Define(ast::Ast& ast);
  // A function of the test's expression: what runs it.
  void DefineRun(size_t index, ast::Ast& ast, ast::Expr* body);
  bool DefineChooser(const std::vector<size_t>& chosen);
  std::optional<TestGraph> CompileSome(const std::vector<size_t>& chosen, const LowerOptions& lower, std::string& fault);
  // What was reported, as text; nothing is reported afterwards.
  std::string TakeFaults();

  Options options_;
  std::string path_, source_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<Symbol> extensions_;  // of the file
  std::vector<Span> spans_;         // of the tests
  // How a test is printed: it is an action already, its value is shown, or that of the action.
  enum class Shown : uint8_t { Nothing, Value, Action, ActionValue };
  std::vector<Shown> shown_;
  unsigned chooser_ = 0;
  FileId file_;
};

}  // namespace df::test
