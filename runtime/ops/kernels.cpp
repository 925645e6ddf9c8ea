// Ordinary ops on evaluated operands: one function per type that numbers can have, chosen by the type of the
// first operand.
#include "runtime/ops/kernels.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <new>

#include "backends/cpu/random.h"
#include "lang/utf8.h"
#include "runtime/base/scalar.h"
#include "runtime/base/unicode.h"
#include "runtime/ops/tensor_kernels.h"
#include "runtime/value/activation_table.h"
#include "runtime/value/integer.h"
#include "runtime/value/store.h"
#include "runtime/value/tensor.h"
#include "runtime/value/text.h"
#include "tagged_ir/signature.h"
#include "tagged_ir/tensor_rules.h"

namespace df {
namespace {

using ir::Op;
using ir::TypeKind;

// The operands of one firing and where its failure goes.
struct Firing {
  Op op;
  KernelTypes types;
  llvm::ArrayRef<Value> in;
  KernelError* error;
  bool* failed;
  uint64_t max_bytes;

  Value Fail(KernelError e) const {
    *error = std::move(e);
    *failed = true;
    return {};
  }
  // An op that its types do not have; the verifier lets no such node through.
  Value Unsupported() const {
    return Fail({ErrorCode::User, std::string(ir::InfoOf(op).name) + " has no meaning for operands of this type"});
  }
};

Value Bool(bool b) { return Value::Word(b); }

template <typename T>
Value Real(T x) {
  if constexpr (sizeof(T) == 8) return Value::Double(x);
  else return Value::Float(x);
}

template <typename T>
T AsReal(const Value& v) {
  if constexpr (sizeof(T) == 8) return v.as_double();
  else return v.as_float();
}

template <typename T>
Value CompareOp(const Firing& f, const T& x, const T& y) {
  switch (f.op) {
    case Op::Eq: return Bool(x == y);
    case Op::Ne: return Bool(!(x == y));
    case Op::Lt: return Bool(x < y);
    case Op::Le: return Bool(x <= y);
    case Op::Gt: return Bool(x > y);
    case Op::Ge: return Bool(x >= y);
    default: return f.Unsupported();
  }
}

Value WordToNumber(const Firing& f, int64_t x) {
  switch (f.types.result) {
    case TypeKind::Int:
    case TypeKind::Integer: return Value::Word(x);
    case TypeKind::Float: return Value::Float(static_cast<float>(x));
    case TypeKind::Double: return Value::Double(static_cast<double>(x));
    default: return f.Unsupported();
  }
}

Value Chr(const Firing& f, int64_t code) {
  if (code >= 0 && code <= unicode::kMaxChar) return Value::Word(code);
  std::string digits = std::to_string(code);
  return f.Fail({ErrorCode::Range, "Prelude.chr: bad argument: " + (code < 0 ? "(" + digits + ")" : digits)});
}

Value IntOp(const Firing& f) {
  int64_t x = f.in[0].word();
  int64_t y = f.in.size() > 1 ? f.in[1].word() : 0;
  switch (f.op) {
    case Op::Add: return Value::Word(scalar::Add(x, y));
    case Op::Sub: return Value::Word(scalar::Sub(x, y));
    case Op::Mul: return Value::Word(scalar::Mul(x, y));
    case Op::Neg: return Value::Word(scalar::Neg(x));
    case Op::Abs: return Value::Word(scalar::Abs(x));
    case Op::Signum: return Value::Word(scalar::Signum(x));
    case Op::Quot:
    case Op::Div:
      switch (scalar::CheckDivision(x, y)) {
        case scalar::DivisionError::Zero: return f.Fail(DivideByZeroError());
        case scalar::DivisionError::Overflow: return f.Fail(OverflowError());
        case scalar::DivisionError::None: break;
      }
      return Value::Word(f.op == Op::Quot ? scalar::Quot(x, y) : scalar::Div(x, y));
    case Op::Rem:
    case Op::Mod:
      if (y == 0) return f.Fail(DivideByZeroError());
      return Value::Word(f.op == Op::Rem ? scalar::Rem(x, y) : scalar::Mod(x, y));
    case Op::Gcd: return Value::Word(scalar::Gcd(x, y));
    case Op::Min: return Value::Word(std::min(x, y));
    case Op::Max: return Value::Word(std::max(x, y));
    case Op::BitAnd: return Value::Word(x & y);
    case Op::BitOr: return Value::Word(x | y);
    case Op::BitXor: return Value::Word(x ^ y);
    case Op::ShiftL:
    case Op::ShiftR:
      if (y < 0) return f.Fail(OverflowError());
      return Value::Word(f.op == Op::ShiftL ? scalar::ShiftL(x, y) : scalar::ShiftR(x, y));
    case Op::PopCount: return Value::Word(std::popcount(static_cast<uint64_t>(x)));
    case Op::Chr: return Chr(f, x);
    case Op::Convert: return WordToNumber(f, x);
    default: return CompareOp(f, x, y);
  }
}

Value IntegerOp(const Firing& f) {
  const Value& x = f.in[0];
  if (f.op == Op::Convert) {
    switch (f.types.result) {
      case TypeKind::Int: return Value::Word(integer::ToInt(x));
      case TypeKind::Integer: return x;
      case TypeKind::Float: return Value::Float(integer::ToFloat(x));
      case TypeKind::Double: return Value::Double(integer::ToDouble(x));
      default: return f.Unsupported();
    }
  }
  if (f.op == Op::EncodeFloat) {
    int64_t exponent = f.in[1].word();
    if (f.types.result == TypeKind::Float) return Value::Float(integer::ToFloat(x, exponent));
    return Value::Double(integer::ToDouble(x, exponent));
  }
  switch (f.op) {
    case Op::Neg: return integer::Neg(x, f.max_bytes);
    case Op::Abs: return integer::Abs(x, f.max_bytes);
    case Op::Signum: return Value::Word(integer::Signum(x));
    default: break;
  }
  if (f.in.size() < 2) return f.Unsupported();
  const Value& y = f.in[1];
  switch (f.op) {
    case Op::Add: return integer::Add(x, y, f.max_bytes);
    case Op::Sub: return integer::Sub(x, y, f.max_bytes);
    case Op::Mul: return integer::Mul(x, y, f.max_bytes);
    case Op::Quot:
    case Op::Rem:
    case Op::Div:
    case Op::Mod: {
      if (integer::Signum(y) == 0) return f.Fail(DivideByZeroError());
      auto kind = f.op == Op::Quot  ? integer::Division::Quot
                  : f.op == Op::Rem ? integer::Division::Rem
                  : f.op == Op::Div ? integer::Division::Div
                                    : integer::Division::Mod;
      return integer::Divide(kind, x, y, f.max_bytes);
    }
    case Op::Gcd: return integer::Gcd(x, y, f.max_bytes);
    case Op::Min: return integer::Compare(x, y) <= 0 ? x : y;
    case Op::Max: return integer::Compare(x, y) >= 0 ? x : y;
    case Op::BitAnd: return integer::Bitwise(integer::Bits::And, x, y, f.max_bytes);
    case Op::BitOr: return integer::Bitwise(integer::Bits::Or, x, y, f.max_bytes);
    case Op::BitXor: return integer::Bitwise(integer::Bits::Xor, x, y, f.max_bytes);
    case Op::ShiftL:
    case Op::ShiftR:
      if (y.word() < 0) return f.Fail(OverflowError());
      return f.op == Op::ShiftL ? integer::ShiftL(x, y.word(), f.max_bytes)
                                : integer::ShiftR(x, y.word(), f.max_bytes);
    default:
      if (!ir::IsComparison(f.op)) return f.Unsupported();
      return CompareOp<int>(f, integer::Compare(x, y) < 0 ? -1 : integer::Compare(x, y) > 0, 0);
  }
}

// A whole floating-point number as an Int or Integer.
template <typename T>
Value WholeToIntegral(const Firing& f, T whole) {
  if (f.types.result == TypeKind::Int) return Value::Word(scalar::WholeToInt(whole));
  scalar::Decoded d = scalar::Decode(whole);
  return integer::FromDecoded(d.mantissa, d.exponent);
}

template <typename T>
Value RealConversion(const Firing& f, T x) {
  switch (f.op) {
    case Op::Convert:
      if (f.types.result == TypeKind::Float) return Value::Float(static_cast<float>(x));
      if (f.types.result == TypeKind::Double) return Value::Double(static_cast<double>(x));
      return WholeToIntegral(f, std::trunc(x));
    case Op::Truncate: return WholeToIntegral(f, std::trunc(x));
    case Op::Round: return WholeToIntegral(f, scalar::RoundEven(x));
    case Op::Ceiling: return WholeToIntegral(f, std::ceil(x));
    case Op::Floor: return WholeToIntegral(f, std::floor(x));
    default: return f.Unsupported();
  }
}

template <typename T>
Value RealOp(const Firing& f) {
  T x = AsReal<T>(f.in[0]);
  T y = f.in.size() > 1 ? AsReal<T>(f.in[1]) : T(0);
  switch (f.op) {
    case Op::Add: return Real<T>(x + y);
    case Op::Sub: return Real<T>(x - y);
    case Op::Mul: return Real<T>(x * y);
    case Op::Neg: return Real<T>(-x);
    case Op::Abs: return Real<T>(std::fabs(x));
    case Op::Signum: return Real<T>(scalar::Signum(x));
    case Op::FDiv: return Real<T>(x / y);
    case Op::StrongMul: return Real<T>(scalar::StrongMul(x, y));
    case Op::StrongDiv: return Real<T>(scalar::StrongDiv(x, y));
    case Op::Pow: return Real<T>(std::pow(x, y));
    case Op::Sqrt: return Real<T>(std::sqrt(x));
#define REAL T
#define DF_LIBM(name, ...)                 \
  case Op::name: {                         \
    const T v = x;                         \
    return Real<T>(__VA_ARGS__);           \
  }
#include "backends/cpu/elementwise.def"
#undef REAL
    case Op::Atan2: return Real<T>(scalar::Atan2(x, y));
    case Op::Relu: return Real<T>(x < 0 ? T(0) : x);
    case Op::Min: return Real<T>(scalar::Smaller(x, y));
    case Op::Max: return Real<T>(scalar::Larger(x, y));
    case Op::IsNaN: return Bool(std::isnan(x));
    case Op::IsInfinite: return Bool(std::isinf(x));
    case Op::IsNegativeZero: return Bool(x == 0 && std::signbit(x));
    case Op::DecodeMantissa: return Value::Word(scalar::Decode(x).mantissa);
    case Op::DecodeExponent: return Value::Word(scalar::Decode(x).exponent);
    default: return ir::IsComparison(f.op) ? CompareOp(f, x, y) : RealConversion(f, x);
  }
}

// Bool, Char, Unit and Alt: words whose order is that of the numbers.
Value SmallOp(const Firing& f) {
  int64_t x = f.in[0].word();
  switch (f.op) {
    case Op::Not: return Bool(!x);
    case Op::Ord:
    case Op::BoolToInt:
    case Op::AltToInt: return Value::Word(x);
    case Op::CharClass: return Value::Word(unicode::GeneralCategory(static_cast<uint32_t>(x)));
    case Op::ToUpper: return Value::Word(unicode::ToUpper(static_cast<uint32_t>(x)));
    case Op::ToLower: return Value::Word(unicode::ToLower(static_cast<uint32_t>(x)));
    default: return ir::IsComparison(f.op) && f.in.size() > 1 ? CompareOp(f, x, f.in[1].word()) : f.Unsupported();
  }
}

// A text is an object; an empty view stands for what no verified graph brings here.
const TextObject* AsText(const Value& v) {
  return v.kind() == ValueKind::Object && v.object()->kind == ObjectKind::Text ? static_cast<TextObject*>(v.object())
                                                                               : nullptr;
}
std::string_view TextOf(const Value& v) {
  const TextObject* object = AsText(v);
  return object ? object->text() : std::string_view();
}

Value NewText(std::string text) { return Value::Adopt(ValueKind::Object, new TextObject(std::move(text))); }

Value TextOp(const Firing& f) {
  const TextObject* object = AsText(f.in[0]);
  std::string_view text = TextOf(f.in[0]);
  if (!object || f.in.size() < ir::SignatureOf(f.op).operands.size()) return f.Unsupported();
  auto offset = [&](size_t operand) { return f.in[operand].word(); };
  switch (f.op) {
    case Op::TextSize: return Value::Word(static_cast<int64_t>(text.size()));
    case Op::TextLength: return Value::Word(text::LengthOf(text));
    case Op::ReadNumber: {
      std::optional<Value> number = text::ReadNumber(f.types.result, text);
      return number ? std::move(*number) : f.Fail({ErrorCode::User, "Prelude.read: no parse"});
    }
    case Op::TextStart: return Value::Word(text::StartOf(text, offset(1)));
    case Op::TextChar: {
      std::optional<uint32_t> c = text::CharAt(text, offset(1));
      return c ? Value::Word(*c) : f.Fail({ErrorCode::Range, "no character begins here in a text"});
    }
    case Op::TextAdd: {
      std::string c;
      AppendUtf8(static_cast<uint32_t>(offset(1)), c);
      return Value::Adopt(ValueKind::Object, object->Append(c));
    }
    case Op::TextAppend: return Value::Adopt(ValueKind::Object, object->Append(TextOf(f.in[1])));
    case Op::TextSlice: {
      int64_t from = text::StartOf(text, offset(1)), to = std::max(from, text::StartOf(text, offset(2)));
      return Value::Adopt(ValueKind::Object, object->Slice(static_cast<size_t>(from), static_cast<size_t>(to)));
    }
    case Op::TextCompare: {
      int order = text.compare(TextOf(f.in[1]));
      return Value::Word((order > 0) - (order < 0));
    }
    case Op::TextFind: return Value::Word(text::Find(text, TextOf(f.in[1]), offset(2)));
    case Op::TextSkip: return Value::Word(text::Span(text, TextOf(f.in[1]), offset(2), false));
    case Op::TextUntil: return Value::Word(text::Span(text, TextOf(f.in[1]), offset(2), true));
    case Op::TextMove: return Value::Word(text::Move(text, offset(1), offset(2)));
    default: return f.Unsupported();
  }
}

Value FieldOf(const Firing& f, uint32_t attr) {
  uint32_t constructor = attr >> 16, index = attr & 0xFFFF;
  if (f.in[0].kind() == ValueKind::Object && f.in[0].object()->kind == ObjectKind::Data) {
    auto* data = static_cast<Data*>(f.in[0].object());
    if (data->constructor == constructor && index < data->size()) {
      const Value& field = data->fields()[index];
      if (field.is_reference() && !f.types.lazy) return f.Fail({ErrorCode::NoMatch, "a field that is not evaluated"});
      return field;
    }
  }
  return f.Fail({ErrorCode::NoMatch, "a field of another constructor"});
}

// In one piece, as far as the system lets it: other threads say something too.
void SayOnStandardError(std::string_view text) {
  std::string line(text);
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return;
    rest.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
}

Value FailureOf(const Firing& f, uint32_t kind) {
  if (kind == ir::kThrown) return f.Fail({ErrorCode::User, "", f.in[0]});
  const ErrorCode code = kind == ir::kFailedMatch ? ErrorCode::NoMatch : kind == ir::kIoFailure ? ErrorCode::Io : ErrorCode::User;
  return f.Fail({code, std::string(TextOf(f.in[0]))});
}

// Ops on tokens and on arrays that change.
Value StateOp(const Firing& f, uint32_t attr) {
  auto out_of_range = [&] { return f.Fail({ErrorCode::Range, "index out of range"}); };
  Value element;
  switch (f.op) {
    case Op::NewState:
    case Op::After: return Value::Word(0);
    case Op::Freeze: return FreezeStore(f.in[1]);
    case Op::Thaw: return ThawStore(f.in[1]);
    case Op::NewStore: {
      const int64_t size = f.in[1].word();
      return size < 0 ? f.Fail({ErrorCode::Range, "negative array size"}) : NewStore(attr, size, f.in[2]);
    }
    case Op::ReadStore: return ReadStore(f.in[1], attr, f.in[2].word(), &element) ? element : out_of_range();
    case Op::WriteStore: return WriteStore(f.in[1], attr, f.in[2].word(), f.in[3]) ? Value::Word(0) : out_of_range();
    case Op::ReadFrozen: return ReadStore(f.in[0], attr, f.in[1].word(), &element) ? element : out_of_range();
    case Op::StoreSize:
    case Op::FrozenSize: return Value::Word(StoreSize(f.in[0]));
    case Op::SameStore: return Bool(f.in[0].object() == f.in[1].object());
    default: return f.Unsupported();
  }
}

}  // namespace

KernelError DivideByZeroError() { return {ErrorCode::DivideByZero, "divide by zero"}; }
KernelError OverflowError() { return {ErrorCode::Overflow, "arithmetic overflow"}; }

KernelTypes TypesOf(const ir::Graph& graph, ir::NodeId node) {
  KernelTypes types{TypeKind::Unit, TypeKind::Unit};
  types.pos = graph.nodes[node].pos;
  types.node = node;
  llvm::ArrayRef<ir::Edge> in = graph.InputsOf(node);
  llvm::ArrayRef<ir::PortType> out = graph.ResultsOf(node);
  if (!in.empty()) types.operand = graph.types.Kind(graph.TypeOf(in[0]).type);
  if (!out.empty()) {
    types.result_type = &graph.types[out[0].type];
    types.result = types.result_type->kind;
    types.lazy = out[0].lazy;
  }
  if (graph.nodes[node].op == Op::Accumulate) {
    types.types = &graph.types;
    types.sum = graph.TypeOf(in[0]).type;
  }
  return types;
}

Value ApplyTyped(Op op, KernelTypes types, uint32_t attr, llvm::ArrayRef<Value> operands, KernelError* error,
                 bool* failed, uint64_t max_bytes) {
  Firing f{op, types, operands, error, failed, max_bytes};
  *failed = false;
  if (operands.empty()) return f.Unsupported();
  if (WorksOnTensors(op, types)) return ApplyTensor(op, types, attr, operands, error, failed);
  if (op == Op::RandomKey)
    return Value::Word(static_cast<int64_t>(cpu::DeriveKey(static_cast<uint64_t>(operands[0].word()), static_cast<uint64_t>(operands[1].word()))));
  switch (op) {
    case Op::Match: {
      const Value& v = operands[0];
      return v.is_word() ? v : Value::Word(static_cast<Data*>(v.object())->constructor);
    }
    case Op::Field: return FieldOf(f, attr);
    case Op::Seq: return operands.back();
    case Op::Fail: return FailureOf(f, attr);
    case Op::Say: SayOnStandardError(TextOf(operands[0])); return Value::Word(0);
    case Op::Offer: return Value::Word(0);
    case Op::NewTable: return NewActivationTable();
    case Op::TableAt: return ActivationAt(operands[0], attr);
    case Op::TablePut: PutActivation(operands[0], attr, operands[1]); return operands[0];
    case Op::TableGet: {
      Value kept;
      return GetActivation(operands[0], attr, &kept) ? kept : f.Fail({ErrorCode::NoMatch, "nothing was kept for this gradient"});
    }
    case Op::ShowNumber: return NewText(text::ShowNumber(types.operand, operands[0]));
    default:
      if (op >= Op::NewState && op <= Op::FrozenSize) return StateOp(f, attr);
      break;
  }
  switch (types.operand) {
    case TypeKind::Int: return IntOp(f);
    case TypeKind::Integer: return IntegerOp(f);
    case TypeKind::Float: return RealOp<float>(f);
    case TypeKind::Double: return RealOp<double>(f);
    case TypeKind::Bool:
    case TypeKind::Char:
    case TypeKind::Unit:
    case TypeKind::Alt: return SmallOp(f);
    case TypeKind::Text: return TextOp(f);
    case TypeKind::Trigger:
    case TypeKind::Tensor:
    case TypeKind::Activations:
    case TypeKind::State:
    case TypeKind::Store:
    case TypeKind::Frozen:
    case TypeKind::Data: break;
  }
  return f.Unsupported();
}

Value Apply(const ir::Graph& graph, ir::NodeId node, llvm::ArrayRef<Value> operands, KernelError* error, bool* failed,
            uint64_t max_bytes) {
  const ir::Node& n = graph.nodes[node];
  *failed = false;
  if (n.op == Op::Const) return Materialize(graph, ir::ConstId(n.attr));
  return ApplyTyped(n.op, TypesOf(graph, node), n.attr, operands, error, failed, max_bytes);
}

Value Materialize(const ir::Graph& graph, ir::ConstId constant) {
  const ir::Constant& c = graph.constants[constant];
  switch (graph.types.Kind(c.type)) {
    case TypeKind::Integer: {
      Value value;
      integer::Parse(c.text, &value);  // the verifier has seen that these are digits
      return value;
    }
    case TypeKind::Text: return NewText(c.text);
    case TypeKind::Tensor: return MakeTensor(graph.types[c.type], c.text);
    default: return Value::Word(c.word);
  }
}

}  // namespace df
