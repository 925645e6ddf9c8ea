#include "tagged_ir/signature.h"

#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

namespace df::ir {
namespace {

struct Variable {
  llvm::StringLiteral name;
  Pattern pattern;
};
constexpr Variable kVariables[] = {
    {"num", Pattern::AnyNumber},       {"num'", Pattern::AnyNumber}, {"integral", Pattern::Integral},
    {"floating", Pattern::Floating},   {"eq", Pattern::Comparable},  {"data", Pattern::Data},
    {"predicate", Pattern::Predicate}, {"a", Pattern::Any},          {"b", Pattern::Any},
    {"tensor", Pattern::Tensor},       {"tensor'", Pattern::Tensor}, {"tensor''", Pattern::Tensor},
};
constexpr const char* kKindNames[] = {"Trigger", "Alt",   "Unit",   "Bool",   "Char",     "Int",
                                      "Integer", "Float", "Double", "Text", "ActivationTable", "PrimState", "PrimStore", "PrimFrozen", "data type", "tensor"};

// Parses one side; `names` collects the variables of the whole row in order of appearance.
llvm::SmallVector<Place, 4> ParseSide(llvm::StringRef text, llvm::SmallVectorImpl<llvm::StringRef>& names) {
  llvm::SmallVector<Place, 4> side;
  llvm::SmallVector<llvm::StringRef, 4> words;
  text.split(words, ',', -1, false);
  for (llvm::StringRef word : words) {
    word = word.trim();
    if (word.empty()) continue;
    Place place;
    place.lazy = word.consume_front("lazy ");
    if (word.consume_back("*")) place.count = Count::Many;
    if (word.consume_back("?")) place.count = Count::Optional;
    place.variable = kNoVariable;
    bool known = word == "any" || word == "truth";
    if (word == "truth") place.pattern = Pattern::Truth;
    for (size_t i = 0; i < static_cast<size_t>(TypeKind::Data); ++i) {
      if (word != kKindNames[i]) continue;
      place.pattern = Pattern::Concrete;
      place.kind = static_cast<TypeKind>(i);
      known = true;
    }
    for (const Variable& variable : kVariables) {
      if (word != variable.name) continue;
      place.pattern = variable.pattern;
      auto it = llvm::find(names, word);
      place.variable = static_cast<uint8_t>(it - names.begin());
      if (it == names.end()) names.push_back(word);
      known = true;
    }
    if (!known || names.size() > kMaxVariables) llvm::report_fatal_error("bad signature in op.def");
    side.push_back(place);
  }
  return side;
}

}  // namespace

const Signature& SignatureOf(Op op) {
  static const auto* signatures = [] {
    auto* all = new std::vector<Signature>;
    for (uint32_t i = 0; i < OpCount(); ++i) {
      llvm::StringRef row(InfoOf(static_cast<Op>(i)).signature);
      auto [operands, results] = row.split("->");
      llvm::SmallVector<llvm::StringRef, 4> names;
      Signature signature;
      signature.operands = ParseSide(operands, names);
      signature.results = ParseSide(results, names);
      all->push_back(std::move(signature));
    }
    return all;
  }();
  return (*signatures)[static_cast<size_t>(op)];
}

const Place* PlaceAt(llvm::ArrayRef<Place> places, uint32_t index) {
  if (index < places.size()) return &places[index];
  if (!places.empty() && places.back().count == Count::Many) return &places.back();
  return nullptr;
}

bool AcceptsCount(llvm::ArrayRef<Place> places, uint32_t count) {
  if (places.empty() || places.back().count == Count::One) return count == places.size();
  if (places.back().count == Count::Many) return count + 1 >= places.size();
  return count == places.size() || count + 1 == places.size();
}

bool Accepts(const Place& place, const Type& type) {
  bool tensor = type.kind == TypeKind::Tensor;
  TypeKind kind = tensor ? type.element : type.kind;
  switch (place.pattern) {
    case Pattern::Concrete: return type.kind == place.kind;
    case Pattern::Integral: return kind == TypeKind::Int || kind == TypeKind::Integer;
    case Pattern::Floating: return kind == TypeKind::Float || kind == TypeKind::Double;
    case Pattern::AnyNumber: return kind >= TypeKind::Int && kind <= TypeKind::Double;
    case Pattern::Comparable: return kind >= TypeKind::Bool && kind <= TypeKind::Double;
    case Pattern::Data: return kind == TypeKind::Data;
    case Pattern::Tensor: return tensor;
    case Pattern::Truth: return kind == TypeKind::Bool;
    case Pattern::Predicate: return type.kind == TypeKind::Bool || type.kind == TypeKind::Alt;
    case Pattern::Any: return true;
  }
  return false;
}

const char* Describe(const Place& place) {
  switch (place.pattern) {
    case Pattern::Concrete: return kKindNames[static_cast<size_t>(place.kind)];
    case Pattern::Integral: return "an integer type";
    case Pattern::Floating: return "Float or Double";
    case Pattern::AnyNumber: return "a number type";
    case Pattern::Comparable: return "a number, Char or Bool";
    case Pattern::Data: return "a data type";
    case Pattern::Tensor: return "a tensor";
    case Pattern::Truth: return "Bool or a tensor of Bools";
    case Pattern::Predicate: return "Bool or Alt";
    case Pattern::Any: return "any type";
  }
  return "";
}

}  // namespace df::ir
