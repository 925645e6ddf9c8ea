// runtime/embed/embed_impl.h
//
// What stands behind the classes of embed.h. Private to this room.
#pragma once

#include <mutex>

#include "runtime/embed/embed.h"
#include "runtime/engines/engines.h"
#include "runtime/files/array_file.h"
#include "runtime/run/engine.h"
#include "runtime/run/repeat.h"
#include "tagged_ir/entries.h"
#include "tagged_ir/graph.h"

namespace df {

class TensorObject;

struct Program::Impl {
  explicit Impl(ir::Graph g) : graph(std::move(g)), entries(ir::EntriesOf(graph)) {}
  // What runs with such options share, made by the first that asks.
  std::shared_ptr<const EngineCode> CodeFor(EngineKind kind, const RunOptions& options);
  // Null: there is none. `index` is its number among the entries; SIZE_MAX is the root of a graph without entries.
  bool Find(std::string_view entry, size_t* index) const;

  const ir::Graph graph;
  const std::vector<ir::Entry> entries;

 private:
  struct Made {
    bool batch, away;
    std::shared_ptr<const EngineCode> code;
  };
  std::mutex mutex_;  // of `made_`, not held while anything is computed
  std::vector<Made> made_;
};

namespace embed {

// What a run and its views share. Counts of holders of values are plain numbers: while the run goes on nobody else gives any up.
struct Core {
  std::shared_ptr<const Program::Impl> program;
  std::shared_ptr<Device> device;  // of blocks that views look at; null: the host
  std::atomic<bool> cancel{false};
  std::atomic<uint64_t> steps{0}, elements{0};  // Progress, of the last call
  std::atomic<int64_t> began{0};                // of the call that goes on, in nanoseconds of the steady clock; 0: none does
  std::mutex mutex;  // of what follows; held for moments
  bool running = false;
  std::vector<Value> left;  // given up by others while the run went on
  ~Core();
  void GiveUp(std::vector<Value>& values);
};

// The results of one Execute.
struct Held {
  std::shared_ptr<Core> core;
  std::vector<Value> values;
  std::vector<std::shared_ptr<const void>> owners;  // of what values may look at: elements of inputs
  ~Held() { core->GiveUp(values); }
};

// An execution of nothing, for those that show and take apart what is all there.
class Evaluated : public Execution {
 public:
  Outcome Start(std::vector<Value>) override { return {}; }
  llvm::ArrayRef<Value> results() const override { return {}; }
  Value TakeResult(size_t) override { return {}; }
  Outcome Force(Value&) override { return {}; }
  Outcome GiveUp(Stop) override { return {}; }
  Stats stats() const override { return {}; }
};

// Evaluates all of `value`, whose fields are no references afterwards: what it holds needs the execution no more. `each` gets its tensors.
Outcome EvaluateAll(Execution& execution, Value& value, llvm::function_ref<void(const TensorObject& tensor)> each);

// What `name`, whose type is the port's, is made of what the host program gives. Null: `error` says why not.
class InputMaker {
 public:
  InputMaker(const ir::Graph& graph, const ir::Port& port) : graph_(graph), port_(port) {}
  std::optional<Value> Int(int64_t value, std::string* error) const;
  std::optional<Value> Real(double value, std::string* error) const;
  std::optional<Value> Bool(bool value, std::string* error) const;
  std::optional<Value> Text(std::string_view text, std::string* error) const;
  std::optional<Value> String(std::string_view utf8, std::string* error) const;
  // `shared`: the elements are looked at where they are, and never given away.
  std::optional<Value> Array(const ArrayIn& array, bool* shared, std::string* error) const;
  std::optional<Value> Parts(const std::vector<NamedArray>& parts, std::string* error) const;
  std::optional<Value> List(Run::Next next, std::string* error) const;

 private:
  std::optional<Value> Refuse(const char* what, std::string* error) const;
  const ir::Graph& graph_;
  const ir::Port& port_;
};

std::optional<std::string> ReadWhole(const std::string& path, std::string* error);
bool WriteWhole(const std::string& path, std::string_view bytes);
std::vector<Program::Port> PrintPorts(const ir::Graph& graph, const std::vector<ir::Port>& ports);

}  // namespace embed

struct View::Impl {
  std::shared_ptr<const embed::Held> held;
  const Value* value;
  ir::TypeId type;
  const ir::Graph& graph() const { return held->core->program->graph; }
  const ir::Type& row() const { return graph().types[type]; }
};

struct Element::Impl {
  embed::InputMaker maker;
  std::optional<Value> value;
  static Element Of(Impl& impl) { return Element(impl); }
};

}  // namespace df
