// runtime/embed/embed.h
//
// Running a compiled graph from C++, without the compiler: load a .graph file, set its inputs, run it within
// limits, look at the results. This header needs nothing but the standard library; it is what the CMake
// package `dfc` installs. dfc.h beside it is the same for C.
//
//   std::string error;
//   auto program = df::Program::Load("fact.graph", &error);
//   df::Run run(*program);
//   run.SetInput("n", int64_t{20}, &error);
//   if (run.Execute() == df::RunStatus::Done) std::cout << run.result(0).text << "\n";
//   else std::cerr << run.error() << "\n";
//
// A Program never changes after it was loaded, and any number of threads may run it at once, each with a Run
// of its own: what it was compiled to is made once, by the first of them. A Run belongs to one thread at a time, but for Cancel and progress.
// It is made to be called again and again, and keeps what a call needs. Views may be copied and dropped on any thread, and outlive the Run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace df {

class Program {
 public:
  struct Port {
    std::string name;
    std::string type;  // "Int", "(Int, Double)"
  };

  // Everything in the file is verified. On failure nullopt, and `error` says what is wrong.
  static std::optional<Program> Load(const std::string& path, std::string* error);
  static std::optional<Program> FromBytes(std::string_view bytes, std::string* error);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // What a graph that was compiled with `--export` offers, in that order; empty: it has `main` alone.
  std::vector<std::string> entries() const;
  bool HasEntry(std::string_view entry) const;  // "" is that of a graph without others

  // Of an entry; "" is that of a graph without others.
  std::vector<Port> inputs(std::string_view entry = "") const;
  std::vector<Port> results(std::string_view entry = "") const;

  struct Impl;

 private:
  friend class Run;
  explicit Program(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

enum class RunStatus : uint8_t { Done, Failed, MemoryLimit, FrameLimit, Timeout, Interrupted, Internal };

// The fast one; the slow one that follows the definition; the one that computes nothing before it is asked for.
enum class RunEngine : uint8_t { Tagged, Reference, Demand };

struct RunSettings {
  RunEngine engine = RunEngine::Tagged;
  uint64_t max_memory = 0;               // bytes; 0: 80% of what the machine or its control group has
  uint64_t max_frames = 0;               // live calls; 0: no limit
  std::chrono::milliseconds timeout{0};  // of each Execute; 0: none
  const std::atomic<bool>* interrupt = nullptr;  // set it from a signal handler or another thread; without one there is Run::Cancel
  // How many threads Execute may use, the calling one among them; 0: one per processor.
  // Only Tagged uses more than one, and
  // only for a run of some milliseconds. Results and messages do not depend on it. The others begin and end within
  // Execute, but for those that share batches, which end with the Run; they take no signal but SIGURG, and call nothing of the program.
  uint32_t threads = 0;
  // Tagged: of how many calls ops on tensors are computed together; 0: of each by itself. Results do not depend on it.
  uint32_t batch = 256;
  // Tagged: what computes them, "cpu" or "simulated", and how many bytes of its own memory it may take, 0: what it has. Results do not
  // depend on it. Execute fails if this build has no such device.
  std::string device = "cpu";
  uint64_t max_device_memory = 0;
  // Which of the program's entries is run; "": the one of a graph without others.
  std::string entry = {};
};

// ---------------------------------------------------------------- arrays

enum class ElementType : uint8_t { Float32, Float64, Int64, Bool };  // a Bool is a byte, 0 or 1
size_t BytesOf(ElementType element);

// Elements that the host program has.
struct ArrayIn {
  const void* data = nullptr;
  ElementType element = ElementType::Float64;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides = {};  // in bytes, as numpy has them; empty: row-major, without gaps
  // A tensor's row-major elements at a place that is fit for their type are not copied: they must not change before `owner` goes, or, if it
  // is null, before the input is set anew and the views of results are gone. Others are copied at once.
  std::shared_ptr<const void> owner = {};
};
struct NamedArray {
  std::string name;
  ArrayIn array;
};

// Elements of a result, row-major, of which `owner` keeps alive what `data` points to.
struct Array {
  const void* data = nullptr;
  ElementType element = ElementType::Float64;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> owner;
};

// ---------------------------------------------------------------- results

// A part of a result, all of it evaluated. It owns what it looks at.
class View {
 public:
  enum class Kind : uint8_t { Unit, Bool, Char, Int, Integer, Float, Double, Text, Tensor, Data };

  Kind kind() const;
  std::string type() const;  // "Maybe Int"

  bool boolean() const;                      // Bool
  char32_t character() const;                // Char
  std::optional<int64_t> integer() const;    // Int, and Integer if it fits
  double real() const;                       // Float, Double
  // The characters of a Text or a String, in UTF-8; nullopt of another type.
  std::optional<std::string> text() const;
  std::optional<Array> array() const;        // Tensor

  // Data: which constructor it is, and its fields. A list is `:` with head and tail, or `[]`.
  size_t constructor_index() const;
  std::string constructor() const;           // "Just", "(,)"
  size_t size() const;                       // fields
  View field(size_t index) const;
  std::string field_name(size_t index) const;  // of a record's; else ""
  bool is_list() const;
  std::vector<View> elements() const;        // of a list

  // As Haskell's show prints it.
  std::string show() const;

  struct Impl;

 private:
  friend class Run;
  explicit View(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// A result. `text` is what Haskell's show prints; the member of its type is set besides, if it has one.
struct Datum {
  std::string text;
  std::optional<bool> boolean;
  std::optional<int64_t> integer;    // Int, and Integer if it fits
  std::optional<char32_t> character;
  std::optional<double> real;        // Float and Double
  std::vector<Datum> fields;         // of a tuple or another constructor without further structure inside
};

// ---------------------------------------------------------------- failures

// What went wrong in a run.
struct Failure {
  enum class Code : uint8_t { None, DivideByZero, Overflow, User, NoMatch, Range, Loop, Limit, Interrupted, Host, Internal };
  struct Place {
    std::string what;      // "at", "called at", "after 3 tail calls", "... 9,980 more calls ..."
    std::string file;      // "" if it is not known
    uint32_t line = 0, column = 0;
    std::string function;  // "" if it is not known
    uint64_t left_out = 0;  // the line stands for so many calls
  };
  Code code = Code::None;
  std::string message;       // "divide by zero"
  std::vector<Place> path;   // the place, then the calls, innermost first
  std::string text;          // all of it as dfc prints it: "error: divide by zero\n  at f.df:1:5 in `f`"
};

// One element of a list that is given as it is asked for.
class Element {
 public:
  // As those of Run.
  bool Set(int64_t value, std::string* error = nullptr);
  bool Set(double value, std::string* error = nullptr);
  bool Set(bool value, std::string* error = nullptr);
  bool SetText(std::string_view text, std::string* error = nullptr);
  bool SetString(std::string_view utf8, std::string* error = nullptr);
  bool SetArray(const ArrayIn& array, std::string* error = nullptr);
  bool SetParts(const std::vector<NamedArray>& parts, std::string* error = nullptr);

  struct Impl;

 private:
  friend class Run;
  friend struct Impl;
  explicit Element(Impl& impl) : impl_(impl) {}
  Impl& impl_;
};

// ---------------------------------------------------------------- runs

// How far an Execute has come.
struct Progress {
  bool running = false;               // one goes on
  uint64_t steps = 0;                 // grows while it computes: by one for some hundred or thousand steps of the thread that executes
  uint64_t elements = 0;              // that were asked for of lists (SetInputList)
  std::chrono::milliseconds time{0};  // since it began; 0 where none goes on
};

class Run {
 public:
  explicit Run(const Program& program, RunSettings settings = {});
  Run(Run&&) noexcept;
  ~Run();

  // False if there is no such input, or the value is not of its type; `error` (may be null) says which. An input stays set for
  // the next Execute.
  bool SetInput(std::string_view name, int64_t value, std::string* error = nullptr);
  bool SetInput(std::string_view name, double value, std::string* error = nullptr);
  bool SetInput(std::string_view name, bool value, std::string* error = nullptr);
  // As one writes it in the language: "30", "(1,2.5)", "[1,2,3]".
  bool SetInputText(std::string_view name, std::string_view text, std::string* error = nullptr);
  // The characters themselves, of a String or Text.
  bool SetInputString(std::string_view name, std::string_view utf8, std::string* error = nullptr);
  // From a file: a packet, arrays (.npy, .npz, .safetensors) by the names of the type's parts, or a text. A Maybe that is not set is Nothing.
  bool SetInputFile(std::string_view name, const std::string& path, std::string* error = nullptr);
  // A tensor, a number, or a list of numbers.
  bool SetInputArray(std::string_view name, const ArrayIn& array, std::string* error = nullptr);
  // A record, a list or any other value of arrays, by the names that they would have in a file.
  bool SetInputParts(std::string_view name, const std::vector<NamedArray>& parts, std::string* error = nullptr);
  // A list, element by element as the run asks for it, for the next Execute alone: `next` sets one, or says false: there is no more. It is
  // called by the thread that executes, and its errors end the run.
  using Next = std::function<bool(Element& element)>;
  bool SetInputList(std::string_view name, Next next, std::string* error = nullptr);
  // A result, or part of one, of an earlier Execute of this Run: parameters for the next step.
  bool SetInputView(std::string_view name, const View& view, std::string* error = nullptr);
  void ClearInput(std::string_view name);

  // Runs to the end, every result evaluated to the last part. May be called again, with other inputs or the same.
  RunStatus Execute();
  // From any thread: ends the Execute that goes on, or the next one, as Interrupted. Not of a run with RunSettings::interrupt, which does it.
  void Cancel();
  // From any thread: of the Execute that goes on, or what the last one has counted.
  Progress progress() const;

  size_t result_count() const;
  const Datum& result(size_t index) const;  // after Execute gave Done; made when it is asked for
  View view(size_t index) const;            // likewise
  // Writes a result as .npy, .npz or .safetensors, as the file's name says, beside the old file and renamed; after Execute gave
  // Done. Read as an input of its type it is the same value.
  bool WriteResult(size_t index, const std::string& path, std::string* error = nullptr) const;
  // What went wrong, with place and call path; empty after Done.
  const std::string& error() const;
  const Failure& failure() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace df
