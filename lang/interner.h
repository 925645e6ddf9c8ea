// lang/interner.h
//
// Names as 32-bit symbols: equal text, equal symbol, for the life of the process.
#pragma once

#include <string_view>

#include "lang/id.h"

namespace df {

using Symbol = Id<struct SymbolTag>;

// The symbol of `text`. Thread-safe; the text is kept for ever.
Symbol Intern(std::string_view text);
// The text of a symbol; the empty string for an invalid one. Stays valid for ever.
std::string_view Text(Symbol symbol);

}  // namespace df
