#include "runtime/files/array_names.h"

#include <algorithm>

#include "fmt/format.h"
#include "lang/render.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

// A file is not to make the search for a hint long.
constexpr size_t kMostNames = 1000;

using Parts = llvm::SmallVector<llvm::StringRef, 8>;

Parts PartsOf(llvm::StringRef path) {
  Parts parts;
  path.split(parts, '.');
  return parts;
}

bool IsNumber(llvm::StringRef part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsBelow(llvm::StringRef path, llvm::StringRef name) { return path.consume_front(name) && (path.empty() || path[0] == '.'); }

// Whether the first parts of `given` are those of `wanted`, but for one that is misspelt.
bool DiffersInOne(const Parts& given, const Parts& wanted) {
  if (given.size() < wanted.size()) return false;
  size_t misspelt = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (given[i] == wanted[i]) continue;
    const std::vector<std::string_view> candidate = {std::string_view(wanted[i])};
    if (++misspelt > 1 || (IsNumber(given[i]) && IsNumber(wanted[i])) || NearestName(std::string_view(given[i]), candidate).empty()) return false;
  }
  return misspelt == 1;
}

}  // namespace

std::string TooMuch(const SurplusArray& array) {
  return fmt::format("the file has an array `{}`, for which the type has no field{}{}", array.name, array.remark.empty() ? "" : ": ", array.remark);
}

void LackingNames::Add(std::string path) {
  if (!path.empty() && names_.size() < kMostNames) names_.push_back(std::move(path));
}

void LackingNames::AddEnd(std::string path) {
  if (ends_.size() < kMostNames) ends_.push_back(std::move(path));
}

SurplusArray LackingNames::Explain(std::string_view surplus) const {
  SurplusArray array{std::string(surplus), ""};
  llvm::StringRef path(surplus);
  const Parts given = PartsOf(path);
  for (llvm::StringRef rest = path.split('.').second; !rest.empty() && array.remark.empty(); rest = rest.split('.').second)
    if (std::any_of(names_.begin(), names_.end(), [&](const std::string& name) { return IsBelow(rest, name); }))
      array.remark = fmt::format("is `{}` meant?", std::string_view(rest));
  for (size_t i = 0; i < names_.size() && array.remark.empty(); ++i) {
    const Parts wanted = PartsOf(names_[i]);
    if (!DiffersInOne(given, wanted)) continue;
    std::string meant = names_[i];
    for (size_t k = wanted.size(); k < given.size(); ++k) meant += "." + given[k].str();
    array.remark = fmt::format("is `{}` meant?", meant);
  }
  for (size_t i = 0; i < ends_.size() && array.remark.empty(); ++i) {
    const Parts end = PartsOf(ends_[i]);
    if (given.size() >= end.size() && IsNumber(given[end.size() - 1]) && std::equal(end.begin(), end.end() - 1, given.begin()))
      array.remark = fmt::format("elements are numbered without a gap, and there is no `{}`", ends_[i]);
  }
  return array;
}

std::string LackingNames::CommonPrefix(const ArrayFile& file, std::string* name) const {
  if (file.arrays().empty()) return "";
  // The names are in order: what the first and the last begin with, all do.
  const Parts first = PartsOf(file.arrays().front().name), last = PartsOf(file.arrays().back().name);
  std::string prefix;
  for (size_t i = 0; i + 1 < std::min(first.size(), last.size()) && first[i] == last[i]; ++i) {
    prefix += first[i].str() + ".";
    for (const std::string& lacking : names_) {
      if (!file.HasBelow(prefix + lacking)) continue;
      *name = lacking;
      return prefix;
    }
  }
  return "";
}

}  // namespace df
