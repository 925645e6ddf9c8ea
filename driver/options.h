// driver/options.h
//
// What the user asked for. The only thing that options.cpp shares with the rest: nobody else knows how a command
// line is read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/report_stats.h"
#include "driver/system/file_access.h"
#include "lower/lower.h"
#include "runtime/engines/engines.h"
#include "runtime/engines/reference/cut_run.h"
#include "runtime/run/engine.h"

namespace df {

// The exit codes of dfc, as README.md lists them.
enum class ExitCode : int {
  Fine = 0,
  Failed = 1,         // the program failed or did not compile; a file could not be read or written
  Usage = 2,
  Limit = 3,          // memory, frames or time
  BadGraph = 4,       // not a valid graph
  Workers = 5,        // of those that were asked for one is missing, or broke the rules
  Internal = 70,
  Interrupted = 130,
};

enum class Command : uint8_t { Compile, Run, Check, Repl, Explain, Keygen, Worker, Place, Test, Import };

enum class Emit : uint8_t { None, Tokens, Ast, Core, Functions, Lazy, Tagged, Dot, Regions, Onnx, OnnxOp };

struct InputArgument {
  std::string name;
  std::string text;
};

// `--output NAME=@FILE`; of `@FILE` the name is empty: the whole result.
struct OutputArgument {
  std::string name;
  std::string file;
};

// A graph cut into parts: what `dfc place` shows, and the reference engine runs (docs/cut.md); or the tagged one, if they are devices (docs/devices.md).
enum class EmitCut : uint8_t { Parts, Dot, Skeleton, Graph, Outlined };
struct CutArguments {
  bool asked = false;
  uint32_t parts = 0;      // 0: as many as placements ask for
  std::string placement;   // a file; "": none
  uint64_t seed = 0;       // not 0: at random
  EmitCut emit = EmitCut::Parts;
  RecvRule receive = RecvRule::ByName;
  DeadTokens dead = DeadTokens::Sent;
  uint32_t losses = 0;
  bool calls = false;      // for the tagged engine: processes compute calls, those of pieces of functions too (tagged_ir/cut/outline.h)
  std::vector<ir::DevicePart> devices;  // parts that are devices of this process, of the tagged engine then
  std::string shared;      // Worker: as the root has made it (ir::WriteCut)
};

// `dfc test` (docs/dfc-test.md).
enum class TestFormat : uint8_t { Text, Json, JUnit };
struct TestArguments {
  std::vector<std::string> paths;      // files and folders
  std::vector<EngineKind> engines = {EngineKind::Tagged};
  std::vector<std::string> also = {};  // switches of more ways to compile
  std::string filter = {};             // a regular expression; "": all
  TestFormat format = TestFormat::Text;
  uint32_t jobs = 0;                   // 0: one per processor
  uint64_t seed = 1;                   // of properties
  bool update = false;
  bool verbose = false;
  bool bench = false;                  // it is `dfc bench`
  std::chrono::milliseconds bench_time{1000};  // for each way of each expression
  bool differential = false;           // every engine and switch, GHC, and the smallest program that differs
  bool ghc = false;                    // GHC answers as well
  bool coverage = false;               // tell which places ran
  std::string coverage_html = {};      // the same as a page; "": none
  bool watch = false;                  // run again what a change reaches
};

struct Options {
  Command command = Command::Compile;
  std::string file;              // "-": standard input; Explain: the code
  std::string output;            // Compile: "" for the default, "-" for standard output; Keygen: the file
  Emit emit = Emit::None;
  std::string only;
  std::vector<std::string> module_folders;  // of the program's own modules, after the main file's
  bool warnings = true;
  bool json_errors = false;      // diagnostics as JSON, one object a line
  bool protocol = false;         // Repl: requests and answers as JSON, one object a line
  LowerOptions lower;
  std::vector<std::string> without;  // of Switches(), what the engine leaves out
  EngineKind engine = EngineKind::Tagged;
  Grants grants;                       // what the command line says; of a source besides all, if not denied
  bool deny = false;
  std::vector<std::string> exports;    // definitions that are the graph's entries, in place of `main`
  std::string entry;                   // the one that is run
  std::vector<InputArgument> inputs;
  std::vector<OutputArgument> outputs;
  std::string log;                     // the file for records: .csv or .jsonl
  bool resumes = false;                // the input `state` is from a run before
  std::chrono::milliseconds save_every{60000};
  bool saves = false;                  // --save-every was given
  std::vector<std::string> arguments;  // of the program, after `--`
  bool last_first = false;  // of the expanding engine's queue
  uint64_t max_memory = 0;
  uint64_t max_frames = 0;
  std::chrono::milliseconds timeout{0};
  bool trace = false;      // each firing
  std::string timeline;    // the file for what the run did when
  StatsFormat stats = StatsFormat::None;
  uint32_t threads = 0;    // 0: one per processor
  uint32_t batch = RunOptions::kUsualBatch;
  std::string device = "cpu";  // backends/devices.h
  uint64_t max_device_memory = 0;
  uint64_t stress = 0;
  uint32_t local_workers = 1;          // processes of the run on this machine, this one among them
  std::vector<std::string> workers;    // addresses of others
  std::string key;                     // the cluster's key file
  bool launched = false;               // one of several processes that somebody else has started
  std::string rendezvous;              // then: where the root is, HOST:PORT or a shared file
  std::string listen;                  // Worker: its address
  bool owned = false;                  // Worker: it ends with its standard input
  bool traced = false;                 // Worker: the root wants to know what it does when
  int alive = -1;                      // Worker: it ends when this descriptor is at its end
  uint32_t members = 1;    // of a run within this process: LocalMembers
  uint64_t seed = 0;
  bool run_dry = false;
  CutArguments cut;
  TestArguments test;
};

// Reads the command line. If there is nothing to do (`--help`, `--version`, wrong usage) it has printed what there
// is to say, and returns the exit code.
std::optional<ExitCode> ParseCommandLine(int argc, const char* const* argv, Options& options);

// "2G", "512M", "64K", "1000": bytes; "10s", "500ms", "2m", "1.5" (seconds). False if it is nothing of the kind.
bool ParseBytes(std::string_view text, uint64_t& bytes);
bool ParseDuration(std::string_view text, std::chrono::milliseconds& duration);
bool ParseEngine(std::string_view text, EngineKind& engine);
bool ParseStatsFormat(std::string_view text, StatsFormat& format);
bool ParseGradient(std::string_view text, GradientKind& kind);
std::string_view EngineName(EngineKind engine);

}  // namespace df
