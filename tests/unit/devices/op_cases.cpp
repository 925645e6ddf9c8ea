// Regions of one op for the suite of devices. The cases follow from the table of ops: an op of a shape that is known here has its cases with
// its row, and of another one the compiler says that the shape is not known.
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/signature.h"
#include "tagged_ir/tensor_rules.h"
#include "tests/unit/devices/conformance.h"

namespace df::test {
namespace {

using ir::Shape;
using ir::TypeKind;
using Dims = std::vector<int64_t>;

constexpr TypeKind kElements[] = {TypeKind::Float, TypeKind::Double, TypeKind::Int, TypeKind::Bool};

ir::Type Tensor(TypeKind element, const Dims& dims) {
  ir::Type type{TypeKind::Tensor, "Tensor", {}, element, {}};
  type.dims.assign(dims.begin(), dims.end());
  return type;
}
ir::Type Word(TypeKind kind) { return {kind, "", {}, {}, {}}; }

class Maker {
 public:
  std::vector<OpCase> Run() {
    for (uint32_t i = 0; i < ir::OpCount(); ++i) {
      op_ = static_cast<ir::Op>(i);
      const ir::Batch batch = ir::FactsOf(op_).batch;
      if (batch != ir::Batch::Batched && batch != ir::Batch::BatchedAtInt) continue;
      const size_t before = cases_.size();
      for (TypeKind element : kElements) OfElements(element);
      if (cases_.size() == before) cases_.push_back({op_, 0, {}, {}, -1});  // a failure of the suite
    }
    return std::move(cases_);
  }

 private:
  // A case if the row and the rule of shapes let it through.
  void Add(std::vector<ir::Type> operands, ir::Type result, uint32_t attr = 0) {
    const ir::Signature& row = ir::SignatureOf(op_);
    std::vector<const ir::Type*> types;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!ir::Accepts(row.operands[k], operands[k])) return;
      types.push_back(&operands[k]);
    }
    if (!ir::Accepts(row.results[0], result) || !ir::TensorFault(op_, attr, types, result).empty()) return;
    OpCase one{op_, attr, std::move(operands), std::move(result)};
    if (ir::FactsOf(op_).index >= 0) one.largest = ir::LargestIndex(op_, one.operands[0].dims, one.result.dims);
    cases_.push_back(std::move(one));
  }

  void OnEachElement(TypeKind e) {
    const size_t count = ir::SignatureOf(op_).operands.size();
    for (const Dims& dims : {Dims{}, Dims{7}, Dims{3, 4}}) {
      const std::vector<ir::Type> in(count, Tensor(e, dims));
      if (ir::IsComparison(op_)) Add(in, Tensor(TypeKind::Bool, dims));
      else if (ir::FactsOf(op_).element != ir::Element::Converted) Add(in, Tensor(e, dims));
      else
        for (TypeKind to : {TypeKind::Float, TypeKind::Double, TypeKind::Int}) Add(in, Tensor(to, dims));
    }
  }

  void OfElements(TypeKind e) {
    constexpr TypeKind kInt = TypeKind::Int;
    switch (ir::FactsOf(op_).shape) {
      case Shape::Elementwise: return OnEachElement(e);
      case Shape::Chosen: return Add({Tensor(TypeKind::Bool, {3, 4}), Tensor(e, {3, 4}), Tensor(e, {3, 4})}, Tensor(e, {3, 4}));
      case Shape::Product:
        Add({Tensor(e, {3, 4}), Tensor(e, {4, 5})}, Tensor(e, {3, 5}));
        Add({Tensor(e, {4}), Tensor(e, {4, 5})}, Tensor(e, {5}));
        Add({Tensor(e, {3, 4}), Tensor(e, {4})}, Tensor(e, {3}));
        return Add({Tensor(e, {4}), Tensor(e, {4})}, Tensor(e, {}));
      case Shape::ProductTransposed: return Add({Tensor(e, {3, 4}), Tensor(e, {5, 4})}, Tensor(e, {3, 5}));
      case Shape::Reduced:
        Add({Tensor(e, {3, 4})}, Tensor(e, {4}), 0);
        Add({Tensor(e, {3, 4})}, Tensor(e, {3}), ir::kLastAxis);
        return Add({Tensor(e, {3, 4})}, Tensor(e, {}), ir::kAllAxes);
      case Shape::IndexOfLargest:
        Add({Tensor(e, {3, 4})}, Tensor(kInt, {4}), 0);
        return Add({Tensor(e, {3, 4})}, Tensor(kInt, {3}), 1);
      case Shape::AlongAxis:
        Add({Tensor(e, {3, 4})}, Tensor(e, {3, 4}), 0);
        return Add({Tensor(e, {3, 4})}, Tensor(e, {3, 4}), ir::kLastAxis);
      case Shape::Normalised: return Add({Tensor(e, {3, 4}), Tensor(e, {4}), Tensor(e, {4})}, Tensor(e, {3, 4}));
      case Shape::Joined:
        Add({Tensor(e, {2, 3}), Tensor(e, {4, 3})}, Tensor(e, {6, 3}), 0);
        return Add({Tensor(e, {3, 2}), Tensor(e, {3, 4})}, Tensor(e, {3, 6}), 1);
      case Shape::Sliced:
        for (uint32_t end : {0u, ir::kFromEnd}) {
          Add({Tensor(e, {5, 4})}, Tensor(e, {2, 4}), end);
          Add({Tensor(e, {4, 5})}, Tensor(e, {4, 3}), end + 1);
        }
        return;
      case Shape::SlicedAt: return Add({Tensor(e, {5, 3}), Word(kInt)}, Tensor(e, {2, 3}));
      case Shape::Gathered: return Add({Tensor(e, {5, 3}), Word(kInt)}, Tensor(e, {3}));
      case Shape::Permuted:
        Add({Tensor(e, {3, 4})}, Tensor(e, {4, 3}));
        return Add({Tensor(e, {2, 3, 4})}, Tensor(e, {2, 4, 3}), 01021);
      case Shape::Reshaped: return Add({Tensor(e, {3, 4})}, Tensor(e, {2, 6}));
      case Shape::Repeated:
        if (e != TypeKind::Bool) Add({Word(e)}, Tensor(e, {3, 2}));
        Add({Tensor(e, {})}, Tensor(e, {5}));
        return Add({Tensor(e, {4})}, Tensor(e, {3, 4}));
      case Shape::Marked:
        Add({Word(kInt)}, Tensor(e, {4}));
        return Add({Tensor(kInt, {3})}, Tensor(e, {3, 4}));
      case Shape::ElementOf: return Add({Tensor(e, {3, 4}), Word(kInt)}, Tensor(e, {}));
      case Shape::ElementSet:
        if (e != TypeKind::Bool) Add({Tensor(e, {3, 4}), Word(kInt), Word(e)}, Tensor(e, {3, 4}));
        return Add({Tensor(e, {3, 4}), Word(kInt), Tensor(e, {})}, Tensor(e, {3, 4}));
      case Shape::OfMatrices:  // those that may fail go one by one, on the host
        Add({Tensor(e, {3, 4})}, Tensor(e, {3, 4}), 0);
        return Add({Tensor(e, {3, 4})}, Tensor(e, {3, 4}), 3);
      case Shape::NoTensors:
      case Shape::Passed:
      case Shape::Scattered:
      case Shape::Counted:
      case Shape::Summed:
      case Shape::Sized:
      case Shape::DimOf:
      case Shape::Shown:
      case Shape::Random: return;
    }
  }

  ir::Op op_{};
  std::vector<OpCase> cases_;
};

std::string TextOf(const ir::Type& type) {
  static constexpr const char* kNames[] = {"Float", "Double", "Int", "Bool"};
  const TypeKind kind = type.kind == TypeKind::Tensor ? type.element : type.kind;
  const auto name = llvm::find(kElements, kind);
  std::string text = name == std::end(kElements) ? "?" : kNames[name - kElements];
  if (type.kind != TypeKind::Tensor) return text;
  for (int64_t dim : type.dims) text += fmt::format(" {}", dim);
  return "[" + text + "]";
}

}  // namespace

std::string OpCase::Name() const {
  std::string text(ir::InfoOf(op).name);
  for (const ir::Type& type : operands) text += " " + TextOf(type);
  return fmt::format("{} : {}, attribute {}", text, TextOf(result), attr);
}

std::vector<OpCase> BatchedOps() { return Maker().Run(); }

}  // namespace df::test
