// The simulated device finds what a host may do wrong, and computes what the host computes.
#include <cstring>
#include <vector>

#include "backends/simulated/simulated_device.h"
#include "runtime/host_device.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

constexpr size_t kMemory = 1 << 16;

struct Case {
  ir::Type vector{ir::TypeKind::Tensor, "Tensor Float [3]", {}, ir::TypeKind::Float, {3}};
  ir::Type matrix{ir::TypeKind::Tensor, "Tensor Float [3, 3]", {}, ir::TypeKind::Float, {3, 3}};
  BatchRegion region;
  // tanh (x w)
  Case() {
    region.num_operands = 2;
    region.values = {{&vector, {}}, {&matrix, {}}, {&vector, {}}, {&vector, {}}};
    KernelTypes types{ir::TypeKind::Tensor, ir::TypeKind::Tensor, &vector};
    region.ops = {{ir::Op::MatMul, 0, types, {0, 1}}, {ir::Op::Tanh, 0, types, {2}}};
    region.results = {3};
  }
  std::vector<float> Numbers(size_t count) const {
    std::vector<float> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = 0.3f * static_cast<float>(i % 5) - 0.4f;
    return numbers;
  }
};

std::string FaultOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceFault& fault) {
    return fault.what();
  }
  return "";
}
bool Says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a batch has the bits of the host's, once somebody waits") {
  Case c;
  constexpr size_t kRows = 5, kRow = 3 * sizeof(float);
  std::vector<float> x = c.Numbers(3 * kRows), w = c.Numbers(9), want(3 * kRows), got(3 * kRows);
  std::vector<const Value*> none(2, nullptr);
  auto run = [&](Device& device, DeviceAddress xs, DeviceAddress ws, DeviceAddress to) {
    DeviceAddress at[] = {xs + 4 * kRow, xs, xs + 2 * kRow, xs + kRow, xs};  // rows in any order, and twice
    Rows rows, shared;
    rows.at = at;
    shared.base = ws;
    shared.shared = true;
    Rows operands[] = {rows, shared};
    device.Run({&c.region, kRows, operands, none, {to}});
    std::memset(at, 0, sizeof at);  // they are the caller's again
  };
  auto place = [](std::vector<float>& v) { return reinterpret_cast<char*>(v.data()); };
  HostDevice host;
  run(host, place(x), place(w), place(want));

  SimulatedDevice device(kMemory);
  DeviceAddress xs = device.Allocate(kRows * kRow), ws = device.Allocate(9 * sizeof(float)), to = device.Allocate(kRows * kRow);
  device.Upload(xs, x.data(), kRows * kRow);
  device.Upload(ws, w.data(), 9 * sizeof(float));
  std::fill(x.begin(), x.end(), 0.0f);  // Upload has read it
  run(device, xs, ws, to);
  device.Free(xs, kRows * kRow);  // behind the batch
  device.Download(got.data(), to, kRows * kRow);
  CHECK(std::memcmp(got.data(), want.data(), kRows * kRow) != 0);  // not yet
  device.Synchronise();
  CHECK(std::memcmp(got.data(), want.data(), kRows * kRow) == 0);
  CHECK(Says(device.Left(), "2 buffers"));
  device.Free(ws, 9 * sizeof(float));
  device.Free(to, kRows * kRow);
  CHECK(device.Left().empty());
  CHECK(device.stats().uploaded == kRows * kRow + 9 * sizeof(float));
  CHECK(device.stats().downloaded == kRows * kRow);
}

TEST_CASE("a part of the queue is carried out") {
  SimulatedDevice device(kMemory);
  DeviceAddress a = device.Allocate(4);
  int32_t one = 1, two = 2, first = 0, second = 0;
  device.Upload(a, &one, 4);
  device.Download(&first, a, 4);
  uint64_t mark = device.Mark();
  device.Upload(a, &two, 4);
  device.Download(&second, a, 4);
  device.Wait(mark);
  CHECK(first == 1);
  CHECK(second != 2);
  device.Synchronise();
  CHECK(second == 2);
  CHECK(Says(FaultOf([&] { device.Wait(device.Mark() + 1); }), "never given"));
}

TEST_CASE("faults of memory") {
  SimulatedDevice device(kMemory);
  float x[4] = {1, 2, 3, 4};
  DeviceAddress a = device.Allocate(sizeof x), b = device.Allocate(sizeof x);
  CHECK(Says(FaultOf([&] { device.Download(x, a, sizeof x); }), "nobody has written"));
  CHECK(Says(FaultOf([&] { device.Upload(a + 4, x, sizeof x); }), "beyond"));
  CHECK(Says(FaultOf([&] { device.Upload(reinterpret_cast<char*>(x), x, 4); }), "no address of the device"));
  device.Upload(a, x, 8);
  CHECK(Says(FaultOf([&] { device.Download(x, a, 12); }), "nobody has written"));
  device.Free(a, sizeof x);
  CHECK(Says(FaultOf([&] { device.Upload(a, x, 4); }), "freed before"));
  SECTION("freed twice") {
    device.Free(a, sizeof x);
    CHECK(Says(FaultOf([&] { device.Synchronise(); }), "freed before"));
  }
  SECTION("freed with another size") {
    device.Free(b, 4);
    CHECK(Says(FaultOf([&] { device.Synchronise(); }), "another size"));
  }
  SECTION("freed and never allocated") {
    device.Free(b + 4, 4);
    CHECK(Says(FaultOf([&] { device.Synchronise(); }), "never allocated"));
  }
}

TEST_CASE("faults of batches") {
  Case c;
  SimulatedDevice device(kMemory);
  std::vector<float> w = c.Numbers(9);
  DeviceAddress ws = device.Allocate(36), x = device.Allocate(12), to = device.Allocate(12);
  device.Upload(ws, w.data(), 36);
  auto fault = [&](DeviceAddress row, DeviceAddress result) {
    Rows shared, rows;
    shared.base = ws;
    rows.base = row;
    shared.shared = rows.shared = true;
    Rows operands[] = {rows, shared};
    std::vector<const Value*> none(2, nullptr);
    return FaultOf([&] { device.Run({&c.region, 1, operands, none, {result}}); });
  };
  CHECK(Says(fault(x, to), "an operand: bytes that nobody has written"));
  device.Upload(x, w.data(), 12);
  CHECK(fault(x, to).empty());
  CHECK(fault(to, x).empty());  // the result of one is the operand of the next
  CHECK(Says(fault(x, x), "a result is where an operand is"));
  CHECK(Says(fault(x, to + 4), "a result: beyond"));
  CHECK(Says(fault(reinterpret_cast<char*>(w.data()), to), "an operand: no address of the device"));
}

TEST_CASE("a device is full") {
  SimulatedDevice device(1024);
  DeviceAddress a = device.Allocate(1000);
  CHECK_THROWS_AS(device.Allocate(64), DeviceFull);
  device.Free(a, 1000);
  CHECK_NOTHROW(device.Allocate(1024));
  CHECK(device.stats().peak_bytes == 1024);
}
