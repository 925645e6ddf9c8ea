// typecheck/explain/short_text.h
//
// What a piece of the source looks like, for hints that show it again.
#pragma once

#include <string>
#include <string_view>

namespace df::check {

// An expression short enough to be shown in a hint.
bool IsShort(std::string_view text);
// One that needs no parentheses as an argument.
bool IsAtom(std::string_view text);
// In parentheses if it needs them.
std::string Parenthesized(std::string_view text);
bool IsVariable(std::string_view text);
// Whether the text is one argument of a function, as far as one sees at once.
bool IsOneArgument(std::string_view text);

}  // namespace df::check
