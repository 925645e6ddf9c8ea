// driver/repl/repl.h
//
// The read-evaluate-print loop. Every input is a small module: it goes through the whole pipeline, and expressions
// are run as a static graph like any program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile_budget.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "driver/repl/history.h"
#include "driver/repl/line_editor.h"
#include "driver/system/console.h"
#include "driver/system/signals.h"
#include "driver/system/standard_streams.h"

namespace llvm::json {
class Object;
}

namespace df {

class Protocol;

class Repl {
 public:
  Repl(const Options& options, Console& console);
  ~Repl();
  // Reads until the end of the input or `:quit`.
  ExitCode Run();

 private:
  static constexpr std::string_view kIt = "it";
  static constexpr std::string_view kResultPrefix = "it'";  // of names that nobody has written

  struct CommandRow {
    const char* name;
    const char* argument;  // as the help shows it
    const char* help;
    void (Repl::*run)(std::string_view argument);
  };
  static llvm::ArrayRef<CommandRow> Commands();
  static const CommandRow* CommandNamed(std::string_view word);

  // One thing that `:set` changes. A switch is `+s`: it has no value.
  struct Setting {
    const char* name;
    const char* help;
    std::string (*get)(const Repl& repl);
    bool (*set)(Repl& repl, std::string_view value);  // false: not a value of it
    void (*unset)(Repl& repl);
  };
  static llvm::ArrayRef<Setting> Settings();
  const Setting* SettingNamed(std::string_view name);  // reported if there is none

  // ---- reading
  bool ReadInput(std::string& text);   // one whole input, of several lines if need be; false at the end
  bool Take(std::string& text, std::string_view line);
  bool GivenUp(LineEditor::Got got, std::string& text);
  void DropInput(std::string& text, bool with_line = false);
  bool IsNew(std::string_view name) const;
  bool ReadBlock(std::string& text);   // up to `:}`
  std::vector<std::string> Completions(std::string_view before) const;

  // ---- a session for another program (cells.cpp)
  ExitCode RunProtocol();
  void Answer(const llvm::json::Object& request);
  void HandleCell(std::string_view cell, const std::string& name);

  // ---- inputs
  void Handle(const std::string& text);
  void HandleCommand(std::string_view text);
  void Define(ast::Ast& ast);
  // An expression; an action is done, and is bound to `bind` or to `it`.
  void Evaluate(ast::Ast& ast, const ast::BindStmt* bind);

  // ---- commands
  void Info(std::string_view argument);
  void Browse(std::string_view argument);
  void Kind(std::string_view argument);
  void Unset(std::string_view argument);
  void Type(std::string_view argument);
  void Load(std::string_view argument);
  void Reload(std::string_view argument);
  void Module(std::string_view argument);
  void Graph(std::string_view argument);
  void Plot(std::string_view argument);
  void Engine(std::string_view argument);
  void Set(std::string_view argument);
  void Help(std::string_view argument);
  void Quit(std::string_view argument);

  // ---- pieces
  void Reset();
  // What `:info` says of a name; "" if nothing has it.
  std::string InfoText(std::string_view word) const;
  // The value of an expression as JSON; nullopt, and reported, if there is none.
  std::optional<std::string> JsonOf(ast::Ast& ast);
  // `-XName` of `:set`.
  void SetExtension(std::string_view name);
  std::vector<std::string> FileCompletions(std::string_view word) const;
  // What a definition changes for those entered before.
  void WarnOfOlderMeanings();
  void WarnOfLostClauses(const ast::Ast& ast);
  void HintAtSignature(const ast::Ast& ast);
  void AddLooseFixities(ast::Ast& ast);
  // Parses one input; nullopt after errors, or if it is not one expression where one is wanted.
  std::optional<ReplInput> ParseInput(const std::string& text);
  // One input that is evaluated.
  struct Entered {
    Symbol name;
    Span place;
    const ast::BindStmt* bind;    // `pattern <- action`, or null
    bool is_action;
    bool keeps_value = false;     // an action whose value is not ()
    bool has_references = false;  // an action whose value, or what it changes, is kept by doing it again
    bool changes = false;         // an action that may change what others see
    std::vector<size_t> needs = {};      // the earlier actions whose values it uses
    std::vector<size_t> before = {};     // what is done again before it
    std::string log = {};                // what it was told, for BindAnswer
    std::optional<ActionLog> kept = {};  // the same, to do it again
  };
  struct Writer;
  bool CheckWritten(Writer& writer, ast::Decl* decl, CheckOptions check);
  std::optional<ir::Graph> GraphOf(core::VarId entry);
  std::optional<ir::Graph> GraphBehind(Entered& entered);
  // Runs the graph. False if it did not come to its end.
  bool RunGraph(const ir::Graph& graph, Entered& entered, std::chrono::milliseconds spent, Stats& stats);
  // Binds the value, and keeps the action if it has to do with references.
  void Keep(Entered& entered, bool ended);
  // What a program at the prompt reads: of the same stream as the prompt itself.
  Host::Input ReadForAction(StandardStreams& streams, std::string& bytes);
  // Binds the value of the action `name`, which was run and was told what the log says.
  void BindAnswer(Symbol name, const std::string& log, const ast::BindStmt* bind);
  // Defines `name = to`.
  void Bind(Symbol name, Symbol to);
  // From now on the input has to be compiled within the limits, until EndBudget.
  void BeginBudget();
  // Says how much time is used. Idempotent.
  std::chrono::milliseconds EndBudget();
  // Shows what was reported, and remembers that something failed.
  void Flush();
  void Fail(ExitCode code);
  static std::string_view Trim(std::string_view text);

  Options options_;
  Console& console_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<CompileBudget> budget_;  // of the input that is being compiled
  std::unique_ptr<Protocol> protocol_;     // null: a person, a pipe or a file is at the other end
  std::unique_ptr<LineEditor> editor_;
  std::string source_name_ = "<repl>";     // what places call the input
  InterruptScope interrupts_;
  bool interrupt_told_ = false;  // of the input that is handled
  std::string loaded_;        // the file of :load
  unsigned results_ = 0;      // expressions so far: each gets a name of its own
  History history_;
  uint32_t line_ = 0;         // lines read so far; an input's places count on from there
  uint32_t first_line_ = 1;   // of the input
  std::vector<std::string> extensions_;  // of `:set -X`, which a `:load` keeps
  bool show_time_ = false;    // :set +s
  bool show_type_ = false;    // :set +t
  FixityTable loose_fixities_;  // entered before what they are of
  // The functions of the input before whose clauses leave cases out.
  std::vector<Symbol> partial_functions_;
  bool quit_ = false;
  ExitCode code_ = ExitCode::Fine;
};

}  // namespace df
