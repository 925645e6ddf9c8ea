#include "lang/interner.h"

#include <mutex>
#include <vector>

#include "llvm/ADT/StringMap.h"

namespace df {
namespace {

struct Names {
  std::mutex mutex;
  llvm::StringMap<uint32_t> ids;
  std::vector<std::string_view> texts;
};

Names& TheNames() {
  static Names* names = new Names;  // never destroyed: symbols outlive static destructors
  return *names;
}

}  // namespace

Symbol Intern(std::string_view text) {
  Names& names = TheNames();
  std::lock_guard lock(names.mutex);
  auto [it, fresh] = names.ids.try_emplace(llvm::StringRef(text.data(), text.size()),
                                           static_cast<uint32_t>(names.texts.size()));
  if (fresh) names.texts.push_back({it->getKeyData(), it->getKeyLength()});
  return Symbol(it->second);
}

std::string_view Text(Symbol symbol) {
  if (!symbol.valid()) return {};
  Names& names = TheNames();
  std::lock_guard lock(names.mutex);
  return names.texts[symbol.index];
}

}  // namespace df
