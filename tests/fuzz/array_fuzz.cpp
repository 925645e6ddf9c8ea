// Reads whatever bytes as a file of arrays, as a value of a type with every kind of part. What is accepted is written in both
// formats and read back, and has to be the same arrays.
#include <cstdlib>
#include <string>

#include "runtime/base/memory.h"
#include "runtime/files/value_file.h"

using namespace df;

namespace {

using ir::TypeKind;

struct Evaluated : Execution {
  Outcome Start(std::vector<Value>) override { return {}; }
  llvm::ArrayRef<Value> results() const override { return {}; }
  Value TakeResult(size_t) override { return {}; }
  Outcome Force(Value& value) override {
    AskHost(value);
    return {};
  }
  Outcome GiveUp(Stop) override { return {}; }
  Stats stats() const override { return {}; }
};

// data Tree = Leaf | Node { left :: Tree, value :: Tensor Float [2], right :: Maybe Tree, name :: [Char], numbers :: [Int] }
struct Subject {
  ir::Graph graph;
  ir::TypeId tree;

  ir::TypeId Data(std::string name, std::vector<ir::Constructor> constructors = {}) {
    ir::TypeId id = graph.types.AddData(std::move(name));
    graph.types[id].constructors = std::move(constructors);
    return id;
  }
  static ir::FieldType Field(ir::TypeId type, std::string name = "") { return {{type, true}, false, std::move(name)}; }
  ir::TypeId List(ir::TypeId element, std::string name) {
    ir::TypeId list = Data(std::move(name));
    graph.types[list].constructors = {{"[]", {}}, {":", {Field(element), Field(list)}}};
    return list;
  }
  Subject() {
    tree = Data("Tree");
    ir::TypeId maybe = Data("Maybe Tree", {{"Nothing", {}}, {"Just", {Field(tree)}}});
    ir::TypeId text = List(graph.types.Builtin(TypeKind::Char), "[Char]"), ints = List(graph.types.Builtin(TypeKind::Int), "[Int]");
    ir::TypeId trees = List(tree, "[Tree]");
    graph.types[tree].constructors = {
        {"Leaf", {}},
        {"Node",
         {Field(tree, "left"), Field(graph.types.Tensor(TypeKind::Float, {2}), "value"), Field(maybe, "right"), Field(text, "name"),
          Field(ints, "numbers"), Field(trees, "more")}}};
  }
};

std::vector<ValueArray> Apart(const Subject& subject, Value value) {
  Evaluated evaluated;
  std::vector<ValueArray> arrays;
  std::string fault;
  TakeApart(evaluated, subject.graph, {subject.tree, false}, std::move(value), "x", &arrays, &fault);
  if (!fault.empty()) std::abort();
  return arrays;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Subject subject;
  memory::LimitScope limit(memory::counters.current, 64 << 20);
  std::string error;
  try {
    std::unique_ptr<ArrayFile> file = ArrayFile::Open(std::string(reinterpret_cast<const char*>(data), size), &error);
    if (!file) return 0;
    std::optional<Value> value = ReadValue(subject.graph, subject.tree, *file, "x", &error);
    if (!value) return 0;
    std::vector<ValueArray> arrays = Apart(subject, std::move(*value));
    std::string first = WriteSafetensors(ToWrite(arrays));
    for (const std::string& bytes : {first, WriteNpz(ToWrite(arrays))}) {
      std::unique_ptr<ArrayFile> again = ArrayFile::Open(bytes, &error);
      std::optional<Value> same = again ? ReadValue(subject.graph, subject.tree, *again, "x", &error) : std::nullopt;
      if (!same || WriteSafetensors(ToWrite(Apart(subject, std::move(*same)))) != first) std::abort();
    }
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
