#include "tagged_ir/op.h"

#include "llvm/ADT/StringMap.h"
#include "tagged_ir/op_facts.h"

namespace df::ir {
namespace {

constexpr OpInfo kInfos[] = {
#define DF_OP(name, cls, signature, facts, meaning) {#name, OpClass::cls, signature, meaning},
#include "tagged_ir/op.def"
};

}  // namespace

const OpInfo& InfoOf(Op op) { return kInfos[static_cast<size_t>(op)]; }

uint32_t OpCount() { return static_cast<uint32_t>(std::size(kInfos)); }

std::optional<Op> OpNamed(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new llvm::StringMap<Op>;
    for (uint32_t i = 0; i < OpCount(); ++i) map->try_emplace(kInfos[i].name, static_cast<Op>(i));
    return map;
  }();
  auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

std::optional<Op> OpOfOnnx(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new llvm::StringMap<Op>;
    for (uint32_t i = 0; i < OpCount(); ++i)
      if (const char* onnx = FactsOf(static_cast<Op>(i)).onnx) map->try_emplace(onnx, static_cast<Op>(i));
    return map;
  }();
  auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

}  // namespace df::ir
