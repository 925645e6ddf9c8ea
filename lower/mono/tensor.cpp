// Tensors in the mid-level tree: shapes that types say, constants.
#include "fmt/format.h"
#include "lower/mono/mono.h"
#include "tagged_ir/tensor_type.h"

namespace df::mono {

std::string Program::TensorShape(df::TypeId type, ir::TypeKind* element, llvm::SmallVectorImpl<int64_t>* dims) {
  df::TypeId of, shape;
  llvm::SmallVector<df::TypeId> sizes;
  dims->clear();
  *element = ir::TypeKind::Float;
  if (!core.types.IsTensor(Repr(type), &of, &shape)) return "it is no tensor";
  ir::TypeKind kind = ir_types.Kind(IrType(of));
  if (!ir::IsElement(kind)) return "the elements of a tensor are Float, Double, Int or Bool";
  *element = kind;
  if (!core.types.SplitShape(shape, sizes)) return "nothing says how many dimensions it has";
  llvm::SmallVector<int64_t> found;
  for (df::TypeId size : sizes) {
    std::optional<int64_t> literal = core.types.DimLiteral(size);
    if (!literal) return "nothing says how large it is";
    if (*literal < 0) return fmt::format("the dimension {} is negative", *literal);
    found.push_back(*literal);
  }
  if (found.size() > ir::kMaxRank) return fmt::format("a tensor has at most {} dimensions", ir::kMaxRank);
  if (ir::ElementCount(found) < 0) return fmt::format("a tensor has at most {} elements", ir::kMaxElements);
  dims->append(found.begin(), found.end());
  return "";
}

Expr* Program::NewTensor(const Expr* list, df::TypeId type, ir::PosId pos) {
  ir::TypeKind element;
  llvm::SmallVector<int64_t> dims;
  if (!TensorShape(type, &element, &dims).empty()) return nullptr;
  auto count = static_cast<size_t>(ir::ElementCount(dims));
  size_t each = ir::ElementBytes(element);
  std::string bytes;
  for (; list->kind == Kind::Con && list->con == core.cons_con; list = list->args[1]) {
    if (list->args[0]->kind != Kind::Const || bytes.size() == count * each) return nullptr;
    // A Float's bits are the low half of the word, a Bool is its lowest byte.
    int64_t word = constants[list->args[0]->constant].word;
    bytes.append(reinterpret_cast<const char*>(&word), each);
  }
  if (list->kind != Kind::Con || bytes.size() != count * each) return nullptr;
  return NewConst({IrType(type), 0, std::move(bytes)}, type, pos);
}

}  // namespace df::mono
