// driver/records.h
//
// A program whose value is a lazy list of records, such as a training run: each record is printed, logged and kept for its files
// as it comes, and goes. docs/training.md.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/outputs.h"
#include "driver/system/console.h"
#include "driver/system/signals.h"

namespace df {

// The constructor of the records, if the graph's value is a list of such; else null.
const ir::Constructor* RecordOf(const ir::Graph& graph);
// What a record is, as if it were the graph's result: for Outputs::Make.
ir::Port RecordPort(const ir::Graph& graph);

class RecordRun {
 public:
  // `outputs`: parts of a record. `quiet`: they are evaluated, and nothing is written.
  RecordRun(const ir::Graph& graph, const Options& options, Outputs& outputs, Console& console, bool quiet = false);
  ~RecordRun();

  // What a terminal shows of the processes that compute, with each record.
  void ShowPace(std::function<std::string()> pace) { pace_ = std::move(pace); }
  // Opens the log. Reports what is wrong and returns false.
  bool Open();
  // Takes the records of the started execution's result until the list ends, fails or is stopped.
  Outcome Run(Execution& execution);
  // Writes what the last whole record had for files, unless the run failed. False if a file could not be written, now or before.
  bool Finish(const Outcome& outcome);

 private:
  using Clock = std::chrono::steady_clock;
  // A field that is printed: a number, a character, a text, or a Maybe of one.
  struct Metric {
    uint32_t field;
    std::string name;
    ir::PortType type;
    bool maybe = false;
    uint32_t just = 0;
    ir::PortType held;
  };
  struct Shown {
    std::string text;  // as `show` has it; "" of Nothing
    std::string json;
    std::string raw;   // of a text, without quotes
    double number = 0;
    bool is_real = false, is_text = false;
  };

  void FindMetrics();
  Outcome ShowMetric(Execution& execution, const Metric& metric, Value value, Shown* shown);
  Outcome One(Execution& execution, Value record);
  void Print(const std::vector<Shown>& row, double seconds);
  std::string ProgressLine(const std::vector<Shown>& row, double seconds);
  bool Log(const std::vector<Shown>& row, double seconds);
  bool Write();
  void SaveNow();
  void SayWhatIsSaved();

  const ir::Graph& graph_;
  const Options& options_;
  Outputs& outputs_;
  Console& console_;
  ir::Port port_;
  std::vector<Metric> metrics_;
  std::unique_ptr<llvm::raw_fd_ostream> log_;
  bool csv_ = false;
  bool terminal_ = false;
  const bool quiet_;
  std::optional<ClosedPipeScope> pipe_;  // if there are files to be written
  bool failed_ = false;      // a file could not be written
  uint64_t count_ = 0;       // whole records
  Clock::time_point began_, last_record_, last_line_, last_save_;
  std::function<std::string()> pace_;
  bool line_open_ = false;   // the terminal's last line may be overwritten
};

}  // namespace df
