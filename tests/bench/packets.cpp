// What packing and reading cost beside making the values and copying the bytes: bench_packets [ROUNDS]. Each figure is the least of the
// rounds, in processor time, and each subject takes its turn in every round.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"
#include "runtime/value/tensor.h"

using namespace df;
using ir::TypeKind;

namespace {

double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double Seconds(const std::function<void()>& work) {
  const double began = Now();
  work();
  return Now() - began;
}

struct Subject {
  std::string name;
  ir::PortType type;
  std::function<Value()> make;
  double made = 1e9, packed = 1e9, read = 1e9;
  size_t bytes = 0;
};

void Round(const PacketTypes& types, Subject& subject) {
  Value value;
  subject.made = std::min(subject.made, Seconds([&] { value = subject.make(); }));
  Packet packet;
  subject.packed = std::min(subject.packed, Seconds([&] {
    Packer packer(types);
    if (packer.Add(subject.type, value) != Packed::Yes) std::abort();
    packet = packer.Take();
  }));
  subject.bytes = packet.size();
  std::vector<std::string_view> parts;
  for (const PacketPart& part : packet.parts) parts.push_back(part.bytes);
  value = Value();  // who reads has what it writes in its caches, as who made it had
  std::optional<Value> read;
  subject.read = std::min(subject.read, Seconds([&] {
    Unpacker unpacker(types, packet.bytes.view(), parts);
    read = unpacker.Next(subject.type);
    if (!read || !unpacker.Finish()) std::abort();
  }));
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 20;
  constexpr int64_t kCells = 1'000'000;
  constexpr size_t kTensor = size_t{4} << 20;
  ir::Graph graph;
  const ir::TypeId list = graph.types.AddData("[Int]"), tree = graph.types.AddData("Tree");
  const ir::PortType number = {graph.types.Builtin(TypeKind::Int), true};
  graph.types[list].constructors = {{"[]", {}}, {":", {{number}, {{list, true}}}}};
  graph.types[tree].constructors = {{"Tip", {}}, {"Bin", {{{number.type, false}, true}, {{tree, false}, true}, {{tree, false}, true}}}};
  const ir::TypeId tensor = graph.types.Tensor(TypeKind::Float, {static_cast<int64_t>(kTensor / 4)});
  const ir::TypeId small = graph.types.Tensor(TypeKind::Float, {8000});
  const ir::TypeId smalls = graph.types.AddData("[Tensor]");
  graph.types[smalls].constructors = {{"[]", {}}, {":", {{{small, true}}, {{smalls, true}}}}};
  PacketTypes types(graph);
  auto cons = [](Value head, Value tail) {
    Data* cell = Data::New(1, 2);
    cell->fields()[0] = std::move(head);
    cell->fields()[1] = std::move(tail);
    return Value::Adopt(ValueKind::Object, cell);
  };
  std::function<Value(int64_t, int64_t)> balanced = [&](int64_t from, int64_t to) {
    if (from == to) return Value::Word(0);
    const int64_t middle = (from + to) / 2;
    Data* node = Data::New(1, 3);
    Value value = Value::Adopt(ValueKind::Object, node);
    node->fields()[0] = Value::Word(middle);
    node->fields()[1] = balanced(from, middle);
    node->fields()[2] = balanced(middle + 1, to);
    return value;
  };
  auto filled = [](ir::TypeKind element, std::vector<int64_t> dims) {
    Value value = MakeTensor(element, dims);
    std::memset(TensorIn(value)->data(), 1, TensorIn(value)->bytes());
    return value;
  };
  std::vector<Subject> subjects = {
      {"list of 10^6 Ints", {list, false}, [&] {
         Value value = Value::Word(0);
         for (int64_t i = kCells; i-- > 0;) value = cons(Value::Word(i), std::move(value));
         return value;
       }},
      {"the same, each cell held twice", {list, false}, [&, held = std::make_shared<std::vector<Value>>()] {
         held->clear();
         Value value = Value::Word(0);
         for (int64_t i = kCells; i-- > 0;) held->push_back(value = cons(Value::Word(i), std::move(value)));
         return value;
       }},
      {"tree of 10^6 strict nodes", {tree, false}, [&] { return balanced(0, kCells); }},
      {"tensor of 4 MiB", {tensor, false}, [&] { return filled(TypeKind::Float, {static_cast<int64_t>(kTensor / 4)}); }},
      {"128 tensors of 32 KB", {smalls, false}, [&] {
         Value value = Value::Word(0);
         for (int i = 0; i < 128; ++i) value = cons(filled(TypeKind::Float, {8000}), std::move(value));
         return value;
       }},
  };
  double copies = 1e9;
  for (int round = 0; round < rounds; ++round) {
    for (Subject& subject : subjects) Round(types, subject);
    std::unique_ptr<char[]> a(new char[kTensor]), b(new char[kTensor]), c(new char[kTensor]);
    std::memset(a.get(), 1, kTensor);
    copies = std::min(copies, Seconds([&] {
      std::memcpy(b.get(), a.get(), kTensor);
      std::memcpy(c.get(), b.get(), kTensor);
      asm volatile("" : : "r"(c.get()) : "memory");
    }));
  }
  std::printf("%-32s %9s %9s %9s %12s %8s\n", "", "make, ms", "pack", "read", "bytes", "ratio");
  for (const Subject& s : subjects) {
    const bool copied = s.name.starts_with("tensor") || s.name.starts_with("128");
    std::printf("%-32s %9.2f %9.2f %9.2f %12zu %8.2f\n", s.name.c_str(), s.made * 1e3, s.packed * 1e3, s.read * 1e3, s.bytes,
                (s.packed + s.read) / (copied ? copies : s.made));
  }
  std::printf("two copies of 4 MiB: %.2f ms; the ratio of tensors is to these, that of others to making them\n", copies * 1e3);
  return 0;
}
