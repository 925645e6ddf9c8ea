// The suite that every device runs: the queue, memory, marks, sums, and each op that may be batched, whose bits have to be those of the op
// computed alone on the host.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "runtime/ops/tensor_kernels.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"
#include "tests/unit/catch.h"
#include "tests/unit/devices/conformance.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

constexpr uint64_t kMemory = 1 << 24;

// The exit code 77 says that this machine has no such device.
std::unique_ptr<Device> TheDevice() {
  std::unique_ptr<Device> device = MakeDeviceToTest(kMemory);
  if (!device) std::exit(77);
  return device;
}

using ir::BytesOf;
using Bytes = std::vector<char>;

// A room on the device.
class Room {
 public:
  Room(Device& device, size_t bytes) : device_(device), bytes_(bytes), at_(device.Allocate(bytes)) {}
  Room(Device& device, const Bytes& bytes) : Room(device, bytes.size()) { device.Upload(at_, bytes.data(), bytes.size()); }
  ~Room() { device_.Free(at_, bytes_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  DeviceAddress at() const { return at_; }
  Bytes Back() const {
    Bytes bytes(bytes_);
    device_.Download(bytes.data(), at_, bytes_);
    device_.Synchronise();
    return bytes;
  }

 private:
  Device& device_;
  const size_t bytes_;
  const DeviceAddress at_;
};

std::mt19937_64 random_bits(11);

// An element, or a word: numbers of all sizes, and what is infinite, no number, -0.
void Fill(TypeKind kind, char* to, int64_t largest) {
  auto real = [&](auto t) {
    using T = decltype(t);
    const T special[] = {T(0), T(-0.0), T(INFINITY), T(-INFINITY), T(NAN), T(1), T(-1), T(0.5)};
    const uint64_t bits = random_bits();
    T x = bits % 9 == 0 ? special[bits / 16 % std::size(special)] : static_cast<T>(std::ldexp(static_cast<double>(bits >> 12) - 0x1p51, static_cast<int>(bits % 12) - 56));
    std::memcpy(to, &x, sizeof x);
  };
  switch (kind) {
    case TypeKind::Float: return real(0.0f);
    case TypeKind::Double: return real(0.0);
    case TypeKind::Bool: *to = static_cast<char>(random_bits() & 1); return;
    default: {
      const int64_t word = largest > 0 ? static_cast<int64_t>(random_bits() % static_cast<uint64_t>(largest + 1)) : static_cast<int64_t>(random_bits() % 11) - 3;
      std::memcpy(to, &word, sizeof word);
    }
  }
}

// What is no number is alike: which one an op gives is the processor's choice.
void Unify(TypeKind element, Bytes& bytes) {
  auto unify = [&](auto t) {
    using T = decltype(t);
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T x;
      std::memcpy(&x, &bytes[at], sizeof x);
      if (x != x) std::memset(&bytes[at], 0xff, sizeof x);
    }
  };
  if (element == TypeKind::Float) unify(0.0f);
  if (element == TypeKind::Double) unify(0.0);
}

// How the rows of operands lie.
enum class How { Even, Gaps, Places, Shared };

// The rows of an operand, on the host and on the device.
struct Operand {
  Operand(Device& device, const ir::Type& type, size_t rows, How how, int64_t largest) {
    if (type.kind != TypeKind::Tensor) {
      words.assign(rows, 0);
      for (int64_t& word : words) Fill(type.kind, reinterpret_cast<char*>(&word), largest);
      there.words = words.data();
      return;
    }
    const size_t bytes = BytesOf(type), size = ir::ElementBytes(type.element);
    const size_t step = how == How::Gaps || how == How::Places ? bytes + 3 * size : bytes, count = how == How::Shared ? 1 : rows;
    Bytes memory(step * count + size);
    for (size_t at = 0; at < memory.size(); at += size) Fill(type.element, &memory[at], largest);
    room = std::make_unique<Room>(device, memory);
    there.base = room->at();
    there.offset = size;
    there.stride = how == How::Shared ? 0 : step;
    there.shared = how == How::Shared;
    for (size_t i = 0; i < rows; ++i) {
      const size_t place = how == How::Places ? rows - 1 - i : i % count;
      host.emplace_back(memory.begin() + static_cast<ptrdiff_t>(place * step + size), memory.begin() + static_cast<ptrdiff_t>(place * step + size + bytes));
      at.push_back(there.base + place * step);
    }
    if (how == How::Places) there.at = at.data();
  }

  std::vector<Bytes> host;
  std::vector<int64_t> words;
  std::vector<DeviceAddress> at;
  std::unique_ptr<Room> room;
  Rows there;
};

Value TensorOf(const ir::Type& type, const Bytes& bytes) { return MakeTensor(type, std::string_view(bytes.data(), bytes.size())); }

// What the op gives by itself.
Bytes Alone(ir::Op op, uint32_t attr, const KernelTypes& types, llvm::ArrayRef<Value> operands) {
  const llvm::SmallVector<Value, 3> held(operands.begin(), operands.end());  // an op may write into an operand that only it has
  KernelError error;
  bool failed = false;
  const Value result = ApplyTensor(op, types, attr, held, &error, &failed);
  REQUIRE(!failed);
  const TensorObject& tensor = *TensorIn(result);
  return Bytes(tensor.data(), tensor.data() + BytesOf(*types.result_type));
}

// Of row i.
Bytes Expected(const OpCase& c, const KernelTypes& types, const std::deque<Operand>& operands, size_t row) {
  llvm::SmallVector<Value, 3> values;
  for (size_t k = 0; k < c.operands.size(); ++k)
    values.push_back(c.operands[k].kind == TypeKind::Tensor ? TensorOf(c.operands[k], operands[k].host[row]) : Value::Word(operands[k].words[row]));
  Bytes bytes = Alone(c.op, c.attr, types, values);
  Unify(c.result.element, bytes);
  return bytes;
}

void CheckOp(Device& device, const OpCase& c, size_t rows, How how) {
  std::deque<Operand> operands;
  BatchRegion region;
  std::vector<Rows> places;
  BatchRegion::Item item{c.op, c.attr, {c.operands[0].kind, TypeKind::Tensor, &c.result}, {}};
  for (const ir::Type& type : c.operands) {
    // The operands beside the first lie otherwise.
    const How its = operands.empty() ? how : static_cast<How>((static_cast<int>(how) + static_cast<int>(operands.size())) % 4);
    operands.emplace_back(device, type, rows, its, type.kind == TypeKind::Int ? c.largest : 0);
    places.push_back(operands.back().there);
    item.in.push_back(region.num_operands++);
    if (type.kind == TypeKind::Tensor) region.values.push_back({&type, {}});
    else region.values.push_back({nullptr, type.kind});
  }
  region.values.push_back({&c.result, {}});
  region.ops.push_back(item);
  region.results.push_back(region.num_operands);
  const Room out(device, BytesOf(c.result) * rows);
  const std::vector<TensorObject*> none(c.operands.size(), nullptr);
  device.Run({&region, rows, places, none, {out.at()}});
  std::fill(places.begin(), places.end(), Rows());  // the caller's again
  Bytes got = out.Back(), want;
  Unify(c.result.element, got);
  for (size_t i = 0; i < rows; ++i) {
    const Bytes row = Expected(c, item.types, operands, i);
    want.insert(want.end(), row.begin(), row.end());
  }
  REQUIRE(got == want);
}

}  // namespace

TEST_CASE("each op that may be batched has the bits that it has alone") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  for (const OpCase& c : BatchedOps()) {
    INFO(c.Name());
    REQUIRE(c.largest >= 0);  // no operands are known for the op: op_cases.cpp
    for (size_t rows : {1, 5})
      for (How how : {How::Even, How::Gaps, How::Places, How::Shared}) CheckOp(device, c, rows, how);
  }
  device.Idle();
  device.Synchronise();
  CHECK(device.Left().empty());
}

TEST_CASE("values of a region are used within it, and seen outside") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  // y = erf (x + x), z = concat y x, s = the sum of z.
  const ir::Type row{TypeKind::Tensor, "", {}, TypeKind::Float, {10}}, rows{TypeKind::Tensor, "", {}, TypeKind::Float, {20}},
      one{TypeKind::Tensor, "", {}, TypeKind::Float, {}};
  auto types = [](const ir::Type& type) { return KernelTypes{TypeKind::Tensor, TypeKind::Tensor, &type}; };
  BatchRegion region;
  region.num_operands = 1;
  region.values = {{&row, {}}, {&row, {}}, {&row, {}}, {&rows, {}}, {&one, {}}};
  region.ops = {{ir::Op::Add, 0, types(row), {0, 0}},
                {ir::Op::Erf, 0, types(row), {1}},
                {ir::Op::Concat, 0, types(rows), {2, 0}},
                {ir::Op::ReduceSum, ir::kAllAxes, types(one), {3}}};
  region.results = {2, 3, 4};
  constexpr size_t kRows = 4;
  Operand x(device, row, kRows, How::Gaps, 0);
  const Room y(device, 40 * kRows), sums(device, 4 * kRows);
  const Rows operands[] = {x.there};
  const std::vector<TensorObject*> none(1, nullptr);
  device.Run({&region, kRows, operands, none, {y.at(), nullptr, sums.at()}});  // nobody wants z
  const Bytes got_y = y.Back(), got_sums = sums.Back();
  auto check_row = [](const Bytes& all, Bytes want, size_t i) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(i * want.size());
    Bytes have(first, first + static_cast<ptrdiff_t>(want.size()));
    Unify(TypeKind::Float, have);
    Unify(TypeKind::Float, want);
    CHECK(have == want);
  };
  for (size_t i = 0; i < kRows; ++i) {
    const Value number = TensorOf(row, x.host[i]);
    const Value sum = TensorOf(row, Alone(ir::Op::Add, 0, types(row), {number, number}));
    const Bytes of_y = Alone(ir::Op::Erf, 0, types(row), {sum});
    check_row(got_y, of_y, i);
    const Value z = TensorOf(rows, Alone(ir::Op::Concat, 0, types(rows), {TensorOf(row, of_y), number}));
    check_row(got_sums, Alone(ir::Op::ReduceSum, ir::kAllAxes, types(one), {z}), i);
  }
}

TEST_CASE("commands have their effects in the order in which they were given") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  const DeviceAddress a = device.Allocate(8);
  CHECK(reinterpret_cast<uintptr_t>(a) % Device::kAlignment == 0);
  int64_t word = 1, first = 0, second = 0;
  device.Upload(a, &word, 8);
  word = 2;  // Upload has read it
  device.Download(&first, a, 8);
  const uint64_t mark = device.Mark();
  device.Upload(a, &word, 8);
  device.Download(&second, a, 8);
  CHECK(device.Mark() >= mark);
  device.Wait(mark);
  CHECK(first == 1);
  device.Synchronise();
  CHECK(second == 2);
  device.Free(a, 8);
  // A room of no bytes has an address of its own.
  const DeviceAddress none = device.Allocate(0), other = device.Allocate(0);
  CHECK(none != other);
  device.Free(none, 0);
  device.Free(other, 0);
  device.Synchronise();
  CHECK(device.Left().empty());
}

TEST_CASE("a result is an operand, and is freed behind who reads it") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  const ir::Type row{TypeKind::Tensor, "", {}, TypeKind::Double, {6}};
  BatchRegion region;
  region.num_operands = 1;
  region.values = {{&row, {}}, {&row, {}}};
  region.ops = {{ir::Op::Add, 0, {TypeKind::Tensor, TypeKind::Tensor, &row}, {0, 0}}};
  region.results = {1};
  const std::vector<TensorObject*> none(1, nullptr);
  Bytes start(48);
  for (size_t i = 0; i < 6; ++i) {
    const double x = 1.5 * static_cast<double>(i + 1);
    std::memcpy(&start[8 * i], &x, 8);
  }
  auto at = std::make_unique<Room>(device, start);
  for (int k = 0; k < 5; ++k) {
    auto next = std::make_unique<Room>(device, 48);
    Rows rows;
    rows.base = at->at();
    rows.stride = 48;
    device.Run({&region, 1, {rows}, none, {next->at()}});
    at = std::move(next);
  }
  const Bytes got = at->Back();
  for (size_t i = 0; i < 6; ++i) {
    double x;
    std::memcpy(&x, &got[8 * i], 8);
    CHECK(x == 48.0 * static_cast<double>(i + 1));
  }
}

TEST_CASE("a device without room says so, and has it again when some is freed") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  if (device.is_host()) return;
  const DeviceAddress a = device.Allocate(kMemory / 2);
  CHECK_THROWS_AS(device.Allocate(kMemory), DeviceFull);
  device.Free(a, kMemory / 2);
  const DeviceAddress b = device.Allocate(kMemory / 2);
  device.Free(b, kMemory / 2);
}

TEST_CASE("a sum has the terms in their order") {
  const std::unique_ptr<Device> owner = TheDevice();
  Device& device = *owner;
  constexpr size_t kRows = 3, kColumns = 2, kBytes = kRows * kColumns * sizeof(float);
  const std::vector<float> numbers = {0.1f, 0.7f, -0.3f, 1e7f, 0.9f, -1e7f};
  Bytes bytes(kBytes);
  std::memcpy(bytes.data(), numbers.data(), kBytes);
  const Room terms(device, bytes), to(device, kBytes);
  const DeviceAddress a = terms.at();
  DeviceAddress whole[] = {a, a}, rows[] = {a, a + 4, a}, left[] = {a, a + 12}, right[] = {a + 16, a};
  int64_t targets[] = {2, 0, 2};
  using Kind = DeviceSum::Kind;
  const DeviceSum::Part parts[] = {
      {Kind::Tensors, 2, whole, nullptr, nullptr}, {Kind::Products, 2, left, right, nullptr}, {Kind::RowsOfTable, 3, rows, nullptr, targets}};
  device.Sum({TypeKind::Float, kRows, kColumns, parts, to.at()});
  std::fill(std::begin(targets), std::end(targets), 1);  // the arrays are the caller's again
  std::vector<float> want(6, 0), got(6);
  for (int k = 0; k < 2; ++k)
    for (size_t i = 0; i < 6; ++i) want[i] += numbers[i];
  for (size_t k : {0, 1})
    for (size_t i = 0; i < kRows; ++i)
      for (size_t j = 0; j < kColumns; ++j) want[i * kColumns + j] = std::fma(numbers[3 * k + i], numbers[(k ? 0 : 4) + j], want[i * kColumns + j]);
  for (size_t k : {0, 1, 2})
    for (size_t j = 0; j < kColumns; ++j) want[(k == 1 ? 0 : 4) + j] += numbers[(k == 1 ? 1 : 0) + j];
  const Bytes back = to.Back();
  std::memcpy(got.data(), back.data(), kBytes);
  CHECK(got == want);
}
