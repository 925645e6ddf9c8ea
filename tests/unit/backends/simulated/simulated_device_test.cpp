// The simulated device finds what a host may do wrong, and computes what the host computes.
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/simulated/simulated_device.h"
#include "runtime/device/host_device.h"
#include "runtime/run/device_errors.h"
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
  std::vector<TensorObject*> none(2, nullptr);
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
    std::vector<TensorObject*> none(2, nullptr);
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

TEST_CASE("a sum of tensors, rows of a table and products, in this order") {
  constexpr size_t kRows = 3, kColumns = 2, kBytes = kRows * kColumns * sizeof(float);
  std::vector<float> numbers = {0.1f, 0.7f, -0.3f, 1e7f, 0.9f, -1e7f};
  SimulatedDevice device(kMemory);
  DeviceAddress a = device.Allocate(kBytes), to = device.Allocate(kBytes);
  device.Upload(a, numbers.data(), kBytes);
  DeviceAddress whole[] = {a, a}, rows[] = {a, a + 4, a}, left[] = {a, a + 12}, right[] = {a + 16, a};
  int64_t targets[] = {2, 0, 2};
  using Kind = DeviceSum::Kind;
  DeviceSum::Part parts[] = {{Kind::Tensors, 2, whole, nullptr, nullptr}, {Kind::Products, 2, left, right, nullptr}, {Kind::RowsOfTable, 3, rows, nullptr, targets}};
  auto fault = [&](DeviceAddress result) {
    return FaultOf([&] { device.Sum({ir::TypeKind::Float, kRows, kColumns, parts, result}); });
  };
  REQUIRE(fault(to).empty());
  // The arrays are the caller's again.
  targets[0] = -1;
  std::vector<float> got(6), want(6, 0);
  device.Download(got.data(), to, kBytes);
  device.Synchronise();
  for (int k = 0; k < 2; ++k)
    for (size_t i = 0; i < 6; ++i) want[i] += numbers[i];
  for (size_t k : {0, 1})
    for (size_t i = 0; i < kRows; ++i)
      for (size_t j = 0; j < kColumns; ++j) want[i * kColumns + j] = std::fma(numbers[3 * k + i], numbers[(k ? 0 : 4) + j], want[i * kColumns + j]);
  for (size_t k : {0, 1, 2})
    for (size_t j = 0; j < kColumns; ++j) want[(k == 1 ? 0 : 4) + j] += numbers[(k == 1 ? 1 : 0) + j];
  CHECK(std::memcmp(got.data(), want.data(), kBytes) == 0);

  CHECK(Says(fault(to), "row -1 of a sum that has 3"));
  targets[0] = 3;
  CHECK(Says(fault(to), "row 3 of a sum that has 3"));
  targets[0] = 2;
  CHECK(Says(fault(a), "a sum is where a term is"));
  CHECK(Says(fault(to + 4), "a sum: beyond"));
  right[1] = a + 20;
  CHECK(Says(fault(to), "a term: beyond"));
}

TEST_CASE("a device is full") {
  SimulatedDevice device(1024);
  DeviceAddress a = device.Allocate(1000);
  CHECK_THROWS_AS(device.Allocate(64), DeviceFull);
  device.Free(a, 1000);
  CHECK_NOTHROW(device.Allocate(1024));
  CHECK(device.stats().peak_bytes == 1024);
}
