// Ops on each element by itself, and those on scalars: see ops.h. Int wraps; an Integer is an int64 here, and a result that is none has failed.
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "lower/onnx/ops.h"
#include "tagged_ir/op_facts.h"

namespace df::to_onnx {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

bool IsReal(Element element) { return element == Element::Float || element == Element::Double; }

}  // namespace

std::optional<Element> ElementOf(const ir::Type& type) {
  switch (type.kind == ir::TypeKind::Tensor ? type.element : type.kind) {
    case ir::TypeKind::Int:
    case ir::TypeKind::Integer:
    case ir::TypeKind::Char:
    case ir::TypeKind::Alt: return Element::Int;
    case ir::TypeKind::Bool: return Element::Bool;
    case ir::TypeKind::Float: return Element::Float;
    case ir::TypeKind::Double: return Element::Double;
    default: return std::nullopt;
  }
}

Dims DimsOf(const ir::Type& type) { return Dims(type.dims.begin(), type.dims.end()); }

Tensor Ops::Where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return w_.Node("Where", {condition, x, y}, x.element, condition.dims.size() > x.dims.size() ? condition.dims : x.dims.size() > y.dims.size() ? x.dims : y.dims);
}

Tensor Ops::Cast(const Tensor& x, Element element) {
  if (x.element == element) return x;
  constexpr int64_t kCodes[] = {onnx::TensorProto::INT64, onnx::TensorProto::BOOL, onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE};
  return w_.Node("Cast", x, element, x.dims, Attribute{"to", kCodes[static_cast<size_t>(element)]});
}

Tensor Ops::Compare(ir::Op op, Tensor x, Tensor y) {
  const bool equality = op == ir::Op::Eq || op == ir::Op::Ne;
  if (!equality) {  // False < True
    if (x.element == Element::Bool) x = Cast(x, Element::Int);
    if (y.element == Element::Bool) y = Cast(y, Element::Int);
  }
  if (op == ir::Op::Ne) return Not(Equal(x, y));
  return w_.Node(ir::FactsOf(op).onnx, {x, y}, Element::Bool, x.dims);
}

// Of whole numbers that may be no int64: by the signs, and a product by dividing it again.
Checked Ops::WithoutOverflow(ir::Op op, const Tensor& x, const Tensor& y) {
  const Tensor zero = w_.Int(0);
  if (op == ir::Op::Add) {
    const Tensor sum = Same("Add", {x, y});
    return {sum, Xor(Less(sum, x), Less(y, zero))};
  }
  if (op == ir::Op::Sub) {
    const Tensor rest = Same("Sub", {x, y});
    return {rest, Xor(Less(rest, x), Less(zero, y))};
  }
  const Tensor product = Same("Mul", {x, y});
  const Tensor least = And(Equal(x, w_.Int(-1)), Equal(y, w_.Int(kLeast)));
  const Tensor by = Where(Or(w_, Equal(x, zero), least), w_.Int(1), x);
  const Tensor back = Not(Equal(Same("Div", {product, by}), y));
  return {product, Or(w_, least, And(back, Not(Equal(x, zero))))};
}

// ONNX divides towards zero. Neither by 0 nor the least number by -1 is ever divided: runtimes end the process.
Checked Ops::Quotient(ir::Op op, bool integer, const Tensor& x, const Tensor& y) {
  const bool quotient = op == ir::Op::Quot || op == ir::Op::Div;
  const Tensor zero = w_.Int(0), one = w_.Int(1);
  Checked out;
  Tensor by = y;
  if (!y.known || *y.known == 0) {
    out.failed = Equal(y, zero);
    by = Where(out.failed, one, by);
  }
  if ((!y.known || *y.known == -1) && !(x.known && *x.known != kLeast)) {
    const Tensor over = And(Equal(y, w_.Int(-1)), Equal(x, w_.Int(kLeast)));
    by = Where(over, one, by);  // of which the remainder is 0, too
    if (quotient) out.failed = Or(w_, out.failed, over);
  }
  static_cast<void>(integer);  // 2^63 is no Int, which is an overflow, and no int64
  const Tensor whole = Same("Div", {x, by});
  if (op == ir::Op::Quot) {
    out.value = whole;
    return out;
  }
  const Tensor rest = Same("Sub", {x, Same("Mul", {whole, by})});
  if (op == ir::Op::Rem) {
    out.value = rest;
    return out;
  }
  const Tensor unlike = by.known ? *by.known > 0 ? Less(rest, zero) : Less(zero, rest) : And(Not(Equal(rest, zero)), Xor(Less(rest, zero), Less(by, zero)));
  if (op == ir::Op::Div) out.value = Same("Sub", {whole, Cast(unlike, Element::Int)});
  else out.value = Where(unlike, Same("Add", {rest, by}), rest);
  return out;
}

// Euclid on absolute values.
Tensor Ops::Gcd(const Tensor& x, const Tensor& y) {
  const Tensor a = Same("Abs", x), b = Same("Abs", y);
  Subgraph* outer = w_.current();
  Subgraph* body = w_.Inner("gcd");
  w_.SetCurrent(body);
  w_.Input(Element::Int, {});
  w_.Input(Element::Bool, {});
  const Tensor u = w_.Input(Element::Int, {}), v = w_.Input(Element::Int, {});
  const Tensor done = Equal(v, w_.Int(0));
  const Tensor by = Where(Or(w_, done, Equal(v, w_.Int(-1))), w_.Int(1), v);
  const Tensor rest = Same("Sub", {u, Same("Mul", {Same("Div", {u, by}), by})});
  w_.Output(body, Not(done));
  w_.Output(body, Where(done, u, v));
  w_.Output(body, Where(done, v, rest));
  w_.SetCurrent(outer);
  return w_.Nodes("Loop", {Tensor(), w_.Bool(true), a, b}, {a, b}, Attribute{"body", body})[0];
}

// Arithmetic, as of a negative number's complement: ONNX shifts numbers without a sign.
Tensor Ops::ShiftRight(const Tensor& x, const Tensor& bits) {
  constexpr int64_t kUnsigned = onnx::TensorProto::UINT64;
  const Tensor negative = Less(x, w_.Int(0)), ones = w_.Int(-1);
  const Tensor plain = Where(negative, Same("Sub", {ones, x}), x);
  const Tensor by = Same("Min", {bits, w_.Int(63)});
  const Tensor shifted = Same("Cast", Same("BitShift", {Same("Cast", plain, Attribute{"to", kUnsigned}), Same("Cast", by, Attribute{"to", kUnsigned})},
                                           Attribute{"direction", "RIGHT"}),
                              Attribute{"to", int64_t{onnx::TensorProto::INT64}});
  return Where(negative, Same("Sub", {ones, shifted}), shifted);
}

std::optional<Tensor> Ops::ApplyBits(ir::Op op, llvm::ArrayRef<Tensor> in, Tensor* failed) {
  const Tensor zero = w_.Int(0);
  switch (op) {
    case ir::Op::BitAnd: return Same("BitwiseAnd", in);
    case ir::Op::BitOr: return Same("BitwiseOr", in);
    case ir::Op::BitXor: return Same("BitwiseXor", in);
    case ir::Op::ShiftR:
      *failed = Less(in[1], zero);
      return ShiftRight(in[0], Same("Max", {in[1], zero}));
    case ir::Op::ShiftL: {
      // A product by a power of two, which wraps: 2^bits is the sum of what the bits of `bits` say.
      *failed = Less(in[1], zero);
      Tensor product = in[0];
      const Tensor bits = Same("Min", {Same("Max", {in[1], zero}), w_.Int(64)});
      for (int64_t bit : {1, 2, 4, 8, 16, 32}) {
        const Tensor half = Same("Div", {bits, w_.Int(bit)});
        const Tensor odd = Equal(Same("Sub", {half, Same("Mul", {Same("Div", {half, w_.Int(2)}), w_.Int(2)})}), w_.Int(1));
        product = Where(odd, Same("Mul", {product, w_.Int(int64_t{1} << bit)}), product);
      }
      return Where(Equal(bits, w_.Int(64)), zero, product);
    }
    default: return std::nullopt;
  }
}

std::optional<Checked> Ops::ApplyWhole(ir::Op op, bool integer, llvm::ArrayRef<Tensor> in) {
  const Tensor& x = in[0];
  const Tensor least = w_.Int(kLeast);
  switch (op) {
    case ir::Op::Add:
    case ir::Op::Sub:
    case ir::Op::Mul:
      if (integer) return WithoutOverflow(op, x, in[1]);
      return Checked{Same(ir::FactsOf(op).onnx, in), {}};
    case ir::Op::Neg: return Checked{Same("Neg", x), integer ? Equal(x, least) : Tensor()};
    case ir::Op::Abs: return Checked{Same("Abs", x), integer ? Equal(x, least) : Tensor()};
    case ir::Op::Signum: return Checked{Same("Sign", x), {}};
    case ir::Op::Min: return Checked{Same("Min", in), {}};
    case ir::Op::Max: return Checked{Same("Max", in), {}};
    case ir::Op::Quot:
    case ir::Op::Rem:
    case ir::Op::Div:
    case ir::Op::Mod: return Quotient(op, integer, x, in[1]);
    case ir::Op::Gcd: {
      const Tensor result = Gcd(x, in[1]);
      return Checked{result, integer ? Less(result, w_.Int(0)) : Tensor()};
    }
    default: break;
  }
  Checked out;
  if (integer && op == ir::Op::ShiftL) return std::nullopt;
  std::optional<Tensor> bits = ApplyBits(op, in, &out.failed);
  if (!bits) return std::nullopt;
  out.value = *bits;
  return out;
}

// A whole number of type Float or Double, or NaN or an infinity, as an Int modulo 2^64.
Checked Ops::WholeToInt(const Tensor& x, bool integer) {
  const double half = 9223372036854775808.0, whole = 18446744073709551616.0;
  const Tensor finite = Less(Same("Abs", x), Number(x, INFINITY)), zero = Number(x, 0);
  const Tensor given = Where(finite, x, zero);
  const Tensor low = Same("Mod", {given, Number(x, whole)}, Attribute{"fmod", int64_t{1}});
  const Tensor above = w_.Node("GreaterOrEqual", {low, Number(x, half)}, Element::Bool, x.dims), below = Less(low, Number(x, -half));
  const Tensor folded = Where(above, Same("Sub", {low, Number(x, whole)}), Where(below, Same("Add", {low, Number(x, whole)}), low));
  Checked out{Cast(folded, Element::Int), {}};
  if (!integer) return out;
  const Tensor fits = And(w_.Node("GreaterOrEqual", {x, Number(x, -half)}, Element::Bool, x.dims), Less(x, Number(x, half)));
  out.failed = Not(fits);
  return out;
}

Checked Ops::Convert(ir::Op op, const Tensor& x, const ir::Type& from, const ir::Type& to) {
  const Element element = *ElementOf(to);
  const bool integer = to.kind == ir::TypeKind::Integer;
  static_cast<void>(from);
  switch (op) {
    case ir::Op::Round: return WholeToInt(Same("Round", x), integer);
    case ir::Op::Ceiling: return WholeToInt(Same("Ceil", x), integer);
    case ir::Op::Floor: return WholeToInt(Same("Floor", x), integer);
    default: break;
  }
  if (!IsReal(x.element) || element != Element::Int) return {Cast(x, element), {}};
  return WholeToInt(Where(Less(x, Number(x, 0)), Same("Ceil", x), Same("Floor", x)), integer);
}

std::optional<Tensor> Ops::ApplyReal(ir::Op op, llvm::ArrayRef<Tensor> in) {
  const Tensor& x = in[0];
  auto nan = [&](const Tensor& t) { return w_.Node("IsNaN", t, Element::Bool, t.dims); };
  auto zero = [&](const Tensor& t) { return Equal(t, Number(t, 0)); };
  auto infinite = [&](const Tensor& t) { return w_.Node("IsInf", t, Element::Bool, t.dims); };
  switch (op) {
    case ir::Op::Signum: return Where(Less(Number(x, 0), x), Number(x, 1), Where(Less(x, Number(x, 0)), Number(x, -1), x));
    case ir::Op::Pow: return Same("Pow", in);
    case ir::Op::StrongMul: {
      const Tensor product = Same("Mul", in);
      return Where(And(nan(product), Or(w_, zero(x), zero(in[1]))), Number(x, 0), product);
    }
    case ir::Op::StrongDiv: {
      const Tensor quotient = Same("Div", in);
      return Where(And(nan(quotient), Or(w_, zero(x), infinite(in[1]))), Number(x, 0), quotient);
    }
    case ir::Op::Min:
    case ir::Op::Max: {
      const Tensor first = w_.Node(op == ir::Op::Max ? "Greater" : "Less", in, Element::Bool, x.dims);
      return Where(Or(w_, nan(x), first), x, in[1]);
    }
    case ir::Op::IsNaN: return nan(x);
    case ir::Op::IsInfinite: return infinite(x);
    case ir::Op::IsNegativeZero: return And(zero(x), Less(Same("Div", {Number(x, 1), x}), Number(x, 0)));
    default: break;
  }
  if (const char* name = ir::FactsOf(op).onnx; name && ir::IsElementwise(op) && !ir::IsComparison(op)) return Same(name, in);
  return std::nullopt;
}

Checked Ops::Apply(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> in, llvm::ArrayRef<ir::TypeId> types, ir::TypeId result) {
  const ir::Type& to = types_[result];
  const std::optional<Element> element = ElementOf(to);
  const std::string name(ir::InfoOf(op).name);
  if (!element || in.empty()) throw Refusal{fmt::format("`{}`", name), "ONNX has no such op", "", {}};
  const Dims dims = DimsOf(to);
  const ir::Type& from = types_[types[0]];
  const bool integer = from.kind == ir::TypeKind::Integer;
  switch (op) {
    case ir::Op::Eq:
    case ir::Op::Ne:
    case ir::Op::Lt:
    case ir::Op::Le:
    case ir::Op::Gt:
    case ir::Op::Ge: return {Compare(op, in[0], in[1]), {}};
    case ir::Op::Not: return {Not(in[0]), {}};
    case ir::Op::Convert:
    case ir::Op::Truncate:
    case ir::Op::Round:
    case ir::Op::Ceiling:
    case ir::Op::Floor: return Convert(op, in[0], from, to);
    case ir::Op::Ord:
    case ir::Op::AltToInt: return {in[0], {}};
    case ir::Op::BoolToInt: return {Cast(in[0], *element), {}};
    case ir::Op::Chr: return Index(in[0], w_.Int(0x10ffff));
    default: break;
  }
  if (std::optional<Checked> out = ApplyTensor(op, attr, in, *element, dims)) return *out;
  if (in[0].element == Element::Int)
    if (std::optional<Checked> out = ApplyWhole(op, integer, in)) return *out;
  if (IsReal(in[0].element))
    if (std::optional<Tensor> out = ApplyReal(op, in)) return {*out, {}};
  throw Refusal{fmt::format("`{}`", name), "standard ONNX has no ops that make it", "", {}};
}

}  // namespace df::to_onnx
