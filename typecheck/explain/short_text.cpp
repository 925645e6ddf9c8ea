#include "typecheck/explain/short_text.h"

#include <cctype>

#include <fmt/format.h>

#include "llvm/ADT/STLExtras.h"

namespace df::check {

bool IsShort(std::string_view text) { return text.size() <= 40 && text.find('\n') == std::string_view::npos; }

bool IsAtom(std::string_view text) {
  return text.find(' ') == std::string_view::npos || text[0] == '(' || (text[0] == '"' && text.find('"', 1) == text.size() - 1);
}

std::string Parenthesized(std::string_view text) {
  return IsAtom(text) ? std::string(text) : fmt::format("({})", text);
}

bool IsVariable(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) && llvm::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '\'';
  });
}

bool IsOneArgument(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '"' || text[0] == '(') return text.find(text[0] == '"' ? '"' : ')', 1) == text.size() - 1;
  return text.find(' ') == std::string_view::npos;
}

}  // namespace df::check
