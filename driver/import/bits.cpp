// The binary digits of Ints: see node.h. A narrow one has those of two's complement, the upper of which say its sign.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

void Whole(const Node& n, size_t operands) {
  for (size_t i = 0; i < operands; ++i)
    if (n.In(i).element != Element::Int || n.In(i).width != n.In(0).width) throw Fault{"it is of whole numbers of one type"};
}

using Fold2 = int64_t (*)(const std::vector<int64_t>& x);
template <const char* kText, Fold2 kFold>
void Both(Node& n) {
  Whole(n, 2);
  if (Fold(n, Element::Int, kFold)) return;
  n.w.has_bits = true;
  n.out = {n.w.Elementwise(Element::Int, {n.In(0), n.In(1)}, kText)};
}
constexpr char kBitAnd[] = "T.zipWith (.&.) {0} {1}", kBitOr[] = "T.zipWith (.|.) {0} {1}", kBitXor[] = "T.zipWith xor {0} {1}";
int64_t FoldBitAnd(const std::vector<int64_t>& x) { return x[0] & x[1]; }
int64_t FoldBitOr(const std::vector<int64_t>& x) { return x[0] | x[1]; }
int64_t FoldBitXor(const std::vector<int64_t>& x) { return x[0] ^ x[1]; }

void Not(Node& n) {
  Whole(n, 1);
  if (!Fold(n, Element::Int, [](const std::vector<int64_t>& x) { return ~x[0]; })) n.out = {n.w.Elementwise(Element::Int, {n.In(0)}, "-1 - {0}")};
}

// By as many digits as there are, or by more, nothing is left but the sign.
void BitShift(Node& n) {
  Whole(n, 2);
  const std::string direction = n.Text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") throw Fault{"its direction is neither LEFT nor RIGHT"};
  if (direction == "RIGHT" && n.In(0).width == Width{64, false}) throw Fault{"a UINT64 cannot be shifted to the right here"};
  n.w.has_bits = true;
  const Bound by = n.w.Elementwise(Element::Int, {n.In(1)}, "T.select (T.less {0} 0) 64 (T.min 64 {0})");
  n.out = {n.w.Elementwise(Element::Int, {n.In(0), by}, direction == "LEFT" ? "T.zipWith shiftL {0} {1}" : "T.zipWith shiftR {0} {1}")};
}

}  // namespace

void AddBits(Handlers& all) {
  all["BitwiseAnd"] = Both<kBitAnd, FoldBitAnd>;
  all["BitwiseOr"] = Both<kBitOr, FoldBitOr>;
  all["BitwiseXor"] = Both<kBitXor, FoldBitXor>;
  all["BitwiseNot"] = Not;
  all["BitShift"] = BitShift;
}

}  // namespace df::from_onnx
