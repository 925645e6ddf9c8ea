// Records as they come: see records.h.
#include "driver/records.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "driver/system/files.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "runtime/text/show.h"
#include "runtime/text/show_json.h"
#include "runtime/value/tensor.h"
#include "runtime/value/value_type.h"

namespace df {
namespace {


bool IsMetric(const ir::Graph& graph, ir::TypeId type) {
  const ir::Type& row = graph.types[type];
  return IsScalar(row.kind) || row.kind == ir::TypeKind::Text || ir::IsText(graph.types, type) ||
         (row.kind == ir::TypeKind::Tensor && row.dims.empty());
}

// What a column of a CSV file holds.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// "0:07", "1:02:03"
std::string Duration(double seconds) {
  auto whole = static_cast<uint64_t>(std::llround(std::min(seconds, 1e9)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double Seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

// Fields that count what a record has worked through, whose rate a terminal shows.
bool IsCount(const std::string& name) { return name == "trees" || name == "examples" || name == "samples"; }

}  // namespace

const ir::Constructor* RecordOf(const ir::Graph& graph) {
  if (graph.action || graph.graph_results.size() != 1) return nullptr;
  ir::ListType list;
  ir::TypeId type = graph.graph_results[0].type.type;
  if (graph.types.Kind(type) != ir::TypeKind::Data) return nullptr;
  ir::TypeId element = ListElement(graph.types, type, &list);
  if (!element.valid()) return nullptr;
  const std::vector<ir::Constructor>& rows = graph.types[element].constructors;
  return rows.size() == 1 && !rows[0].fields.empty() && !rows[0].fields[0].name.empty() ? &rows[0] : nullptr;
}

ir::Port RecordPort(const ir::Graph& graph) {
  ir::ListType list;
  return {"record", {ListElement(graph.types, graph.graph_results[0].type.type, &list), true}};
}

RecordRun::RecordRun(const ir::Graph& graph, const Options& options, Outputs& outputs, Console& console, bool quiet)
    : graph_(graph), options_(options), outputs_(outputs), console_(console), port_(RecordPort(graph)), quiet_(quiet) {
  FindMetrics();
  if (!outputs_.empty() && !quiet_) pipe_.emplace();
  terminal_ = !quiet_ && ::isatty(STDOUT_FILENO) != 0;
  began_ = last_record_ = last_line_ = last_save_ = Clock::now();
}

RecordRun::~RecordRun() = default;

void RecordRun::FindMetrics() {
  const ir::Constructor& record = *RecordOf(graph_);
  for (uint32_t k = 0; k < record.fields.size(); ++k) {
    ir::PortType type = record.fields[k].type;
    Metric metric{k, record.fields[k].name, type, false, 0, type};
    uint32_t nothing;
    if (ir::TypeId held = MaybeElement(graph_.types, type.type, &nothing, &metric.just); held.valid()) {
      metric.maybe = true;
      metric.held = graph_.types[type.type].constructors[metric.just].fields[0].type;
    }
    if (IsMetric(graph_, metric.held.type) && !outputs_.Takes(k)) metrics_.push_back(std::move(metric));
  }
}

bool RecordRun::Open() {
  if (options_.log.empty()) return true;
  csv_ = llvm::StringRef(options_.log).ends_with(".csv");
  std::string header;
  for (const Metric& metric : metrics_) header += metric.name + ",";
  header += "seconds\n";
  SourceManager sources;
  Diagnostics diags(sources);
  std::error_code error;
  bool append = options_.resumes && llvm::sys::fs::is_regular_file(options_.log);
  if (append) {
    std::optional<std::string> old = ReadFile(options_.log, kMaxInputBytes, diags);
    if (csv_ && old && !llvm::StringRef(*old).starts_with(header) && !old->empty())
      diags.Report(Diag::CannotWrite, {}, options_.log, "it has other columns, and a run that resumes adds to it");
    // A row that was cut off, where the disk was full, does not become a part of the next one.
    else if (old && !old->empty() && old->back() != '\n')
      std::filesystem::resize_file(options_.log, old->rfind('\n') + 1, error);  // npos + 1 is 0: all of it
    if (error) diags.Report(Diag::CannotWrite, {}, options_.log, error.message());
    append = !old || !old->empty();
  }
  if (!diags.has_errors()) {
    log_ = std::make_unique<llvm::raw_fd_ostream>(options_.log, error,
                                                  append ? llvm::sys::fs::CD_OpenAlways : llvm::sys::fs::CD_CreateAlways,
                                                  llvm::sys::fs::FA_Write,
                                                  append ? llvm::sys::fs::OF_Append : llvm::sys::fs::OF_None);
    if (error) diags.Report(Diag::CannotWrite, {}, options_.log, error.message());
  }
  if (!diags.has_errors() && csv_ && !append) *log_ << header;
  console_.Show(diags);
  return !diags.has_errors();
}

Outcome RecordRun::ShowMetric(Execution& execution, const Metric& metric, Value value, Shown* shown) {
  if (Outcome outcome = execution.Force(value); !outcome.ok()) return outcome;
  if (metric.maybe) {
    if (value.is_word()) {
      shown->json = "null";
      return {};
    }
    value = Value(static_cast<Data*>(value.object())->fields()[0]);
    if (Outcome outcome = execution.Force(value); !outcome.ok()) return outcome;
  }
  ir::TypeKind kind = graph_.types.Kind(metric.held.type);
  llvm::raw_string_ostream text(shown->text);
  if (Outcome outcome = Show(execution, graph_, metric.held, value, text); !outcome.ok()) return outcome;
  if (kind == ir::TypeKind::Text || ir::IsText(graph_.types, metric.held.type)) {
    shown->is_text = true;
    if (Outcome outcome = WriteRaw(execution, graph_, metric.held, value, &shown->raw); !outcome.ok()) return outcome;
  }
  std::string fault;
  if (Outcome outcome = ShowJson(execution, graph_, metric.held, value, &shown->json, &fault); !outcome.ok()) return outcome;
  if (const TensorObject* tensor = TensorIn(value)) {
    kind = tensor->element();
    value = ElementOf(*tensor, 0);
  }
  shown->is_real = kind == ir::TypeKind::Float || kind == ir::TypeKind::Double;
  if (kind == ir::TypeKind::Float) shown->number = value.as_float();
  else if (kind == ir::TypeKind::Double) shown->number = value.as_double();
  else if (value.is_word()) shown->number = static_cast<double>(value.word());
  return {};
}

// Everything that a record is asked for is evaluated before any of it is told: what was told is whole.
Outcome RecordRun::One(Execution& execution, Value record) {
  if (Outcome outcome = execution.Force(record); !outcome.ok()) return outcome;
  std::vector<Shown> row(metrics_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    Value field = static_cast<Data*>(record.object())->fields()[metrics_[i].field];
    if (Outcome outcome = ShowMetric(execution, metrics_[i], std::move(field), &row[i]); !outcome.ok()) return outcome;
  }
  std::string fault;
  if (Outcome outcome = outputs_.Take(execution, record, &fault); !outcome.ok()) return outcome;
  if (!fault.empty()) {
    Outcome outcome;
    outcome.stop = Stop::Failed;
    outcome.error.message = fault;
    return outcome;
  }
  ++count_;
  Clock::time_point now = Clock::now();
  Print(row, Seconds(now - last_record_));
  last_record_ = now;
  if (!Log(row, Seconds(now - began_))) {
    Outcome outcome;
    outcome.stop = Stop::Failed;
    outcome.error.message = fmt::format("cannot write `{}`: {}", options_.log, log_->error().message());
    log_->clear_error();
    SaveNow();
    return outcome;
  }
  // Who reads the lines is gone; what they told is not to be lost.
  if (pipe_ && console_.out().error() == std::errc::broken_pipe) {
    SaveNow();
    EndByClosedPipe();
  }
  if (!quiet_ && outputs_.pending() && now - last_save_ >= options_.save_every) {
    failed_ |= !Write();
    last_save_ = Clock::now();
  }
  return {};
}

Outcome RecordRun::Run(Execution& execution) {
  Value list = execution.TakeResult(0);
  Outcome outcome;
  while ((outcome = execution.Force(list)).ok() && !list.is_word()) {
    auto* cell = static_cast<Data*>(list.object());
    Value record = cell->fields()[0];
    list = Value(cell->fields()[1]);  // the list so far goes
    if (!(outcome = One(execution, std::move(record))).ok()) break;
  }
  if (line_open_) console_.out() << '\n';
  console_.out().flush();
  return outcome;
}

bool RecordRun::Finish(const Outcome& outcome) {
  bool stopped = outcome.stop != Stop::Done && outcome.stop != Stop::Failed && outcome.stop != Stop::Internal;
  bool written = true;
  if (outputs_.pending() && (outcome.ok() || stopped)) written = Write();
  failed_ |= !written;
  if (stopped && !outputs_.empty() && written) SayWhatIsSaved();
  // As where a run that is done already goes on: what was asked for is not there, or is what it was.
  if (outcome.ok() && count_ == 0 && !outputs_.empty()) {
    console_.err() << fmt::format("{}: not written, since the list has no records\n", outputs_.Files());
    console_.err().flush();
  }
  if (log_) log_->flush();
  return !failed_;
}

// Before the run ends through no fault of the program.
void RecordRun::SaveNow() {
  if (!outputs_.pending()) return;
  if (Write()) SayWhatIsSaved();
}

void RecordRun::SayWhatIsSaved() {
  console_.err() << (count_ ? fmt::format("{} has the state after {} record{}\n", outputs_.Files(), count_, count_ == 1 ? "" : "s")
                              : fmt::format("{}: not written, since no record was complete\n", outputs_.Files()));
  console_.err().flush();
}

bool RecordRun::Write() {
  SourceManager sources;
  Diagnostics diags(sources);
  bool written = outputs_.Write(diags);
  console_.Show(diags);
  return written;
}

// ---------------------------------------------------------------- what is told

// A line for each; on a terminal one that stood for less than a second is overwritten by the next.
void RecordRun::Print(const std::vector<Shown>& row, double seconds) {
  llvm::raw_ostream& out = console_.out();
  if (!terminal_) {
    bool first = true;
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i].text.empty()) continue;
      out << (first ? "" : " ") << metrics_[i].name << '=' << row[i].text;
      first = false;
    }
    out << '\n';
    out.flush();
    return;
  }
  Clock::time_point now = Clock::now();
  if (line_open_) out << (Seconds(now - last_line_) < 1 ? "\r\x1b[K" : "\n");
  out << ProgressLine(row, seconds);
  out.flush();
  line_open_ = true;
  last_line_ = now;
}

std::string RecordRun::ProgressLine(const std::vector<Shown>& row, double seconds) {
  std::vector<std::string> figures, pace;
  double total = 0, step = static_cast<double>(count_), rate = 0;
  std::string counted;
  bool has_step = false;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string& name = metrics_[i].name;
    if (name == "total") total = row[i].number;
    if (name == "step" || (name == "epoch" && !has_step)) step = row[i].number;
    has_step |= name == "step";
    if (IsCount(name) && seconds > 0) {
      rate = row[i].number / seconds;
      counted = name;
    }
  }
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string& name = metrics_[i].name;
    if (name == "total" || row[i].text.empty() || IsCount(name)) continue;
    std::string value = row[i].is_real ? fmt::format("{:.4g}", row[i].number) : row[i].text;
    bool of_total = total > 0 && (name == "step" || (name == "epoch" && !has_step));
    figures.push_back(of_total ? fmt::format("{} {}/{:.0f}", name, value, total) : name + " " + value);
  }
  if (!counted.empty()) pace.push_back(fmt::format("{:.0f} {}/s", rate, counted));
  // The rest at the pace of this run, which may have begun in the middle.
  if (total > step && count_ > 0) pace.push_back(Duration((total - step) * Seconds(Clock::now() - began_) / static_cast<double>(count_)) + " left");
  if (pace_) pace.push_back(pace_());
  struct winsize size;
  size_t width = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  auto joined = [&] {
    std::string all;
    for (const std::vector<std::string>* parts : {&figures, &pace})
      for (const std::string& part : *parts) all += (all.empty() ? "" : "  ") + part;
    return all;
  };
  // Of many figures the last are left out: how long it will take is what one looks for.
  while (figures.size() > 1 && joined().size() >= width) figures.pop_back();
  std::string line = joined();
  if (line.size() >= width) line.resize(width - 1);
  return line;
}

bool RecordRun::Log(const std::vector<Shown>& row, double seconds) {
  if (!log_) return true;
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (csv_) line += CsvField(row[i].is_text ? row[i].raw : row[i].text) + ",";
    else line += JsonString(metrics_[i].name) + ":" + row[i].json + ",";
  }
  line += csv_ ? fmt::format("{:.3f}\n", seconds) : fmt::format("\"seconds\":{:.3f}}}\n", seconds);
  *log_ << (csv_ ? "" : "{") << line;
  log_->flush();
  return !log_->has_error();
}

}  // namespace df
