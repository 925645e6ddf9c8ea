// runtime/embed/embed.h
//
// Running a compiled graph from C++, without the compiler: load a .graph file, set its inputs, run it within
// limits, look at the results. This header needs nothing but the standard library; it is what the CMake
// package `dfc` installs.
//
//   std::string error;
//   auto program = df::Program::Load("fact.graph", &error);
//   df::Run run(*program);
//   run.SetInput("n", int64_t{20}, &error);
//   if (run.Execute() == df::RunStatus::Done) std::cout << run.result(0).text << "\n";
//   else std::cerr << run.error() << "\n";
//
// A Program never changes after it was loaded, and any number of threads may run it at once, each with a Run
// of its own. A Run belongs to the thread that made it, and its Program must outlive it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

  std::vector<Port> inputs() const;
  std::vector<Port> results() const;

 private:
  friend class Run;
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

enum class RunStatus : uint8_t { Done, Failed, MemoryLimit, FrameLimit, Timeout, Interrupted, Internal };

// The fast one; the slow one that follows the definition; the one that computes nothing before it is asked for.
enum class RunEngine : uint8_t { Tagged, Reference, Demand };

struct RunSettings {
  RunEngine engine = RunEngine::Tagged;
  uint64_t max_memory = 0;               // bytes; 0: 80% of what the machine or its control group has
  uint64_t max_frames = 0;               // live calls; 0: no limit
  std::chrono::milliseconds timeout{0};  // 0: none
  const std::atomic<bool>* interrupt = nullptr;  // set it from a signal handler or another thread
  // How many threads Execute may use, the calling one among them; 0: one per processor.
  // Only Tagged uses more than one, and
  // only for a run of some milliseconds. Results and messages do not depend on it. The others begin and end within
  // Execute, take no signal but SIGURG, and call nothing of the program.
  uint32_t threads = 0;
  // Tagged: of how many calls ops on tensors are computed together; 0: of each by itself. Results do not depend on it.
  uint32_t batch = 256;
  // Tagged: what computes them, "cpu" or "simulated", and how many bytes of its own memory it may take, 0: what it has. Results do not
  // depend on it. Execute fails if this build has no such device.
  std::string device = "cpu";
  uint64_t max_device_memory = 0;
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

class Run {
 public:
  explicit Run(const Program& program, RunSettings settings = {});
  Run(Run&&) noexcept;
  ~Run();

  // False if there is no such input, or the value is not of its type; `error` (may be null) says which.
  bool SetInput(std::string_view name, int64_t value, std::string* error = nullptr);
  bool SetInput(std::string_view name, double value, std::string* error = nullptr);
  bool SetInput(std::string_view name, bool value, std::string* error = nullptr);
  // As one writes it in the language: "30", "(1,2.5)", "[1,2,3]".
  bool SetInputText(std::string_view name, std::string_view text, std::string* error = nullptr);

  // From a file: a packet, arrays (.npy, .npz, .safetensors) by the names of the type's parts, or a text. A Maybe that is not set is Nothing.
  bool SetInputFile(std::string_view name, const std::string& path, std::string* error = nullptr);

  // Runs to the end, every result evaluated as far as show looks. May be called again, with other inputs.
  RunStatus Execute();

  size_t result_count() const;
  const Datum& result(size_t index) const;  // after Execute gave Done
  // Writes a result as .npy, .npz or .safetensors, as the file's name says, beside the old file and renamed; after Execute gave
  // Done. Read as an input of its type it is the same value.
  bool WriteResult(size_t index, const std::string& path, std::string* error = nullptr) const;
  // What went wrong, with place and call path; empty after Done.
  const std::string& error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace df
