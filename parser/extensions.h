// parser/extensions.h
//
// The language extensions that a LANGUAGE pragma may name, and what turns on what.
#pragma once

#include <string_view>
#include <vector>

#include "lang/interner.h"

namespace df {

// Applies one name of a pragma, `BangPatterns` or `NoBangPatterns`, to what is on. `on` holds the extensions that were
// turned on, and `NoX` for each X of Haskell 2010 that was turned off. False if there is no such extension, or if it
// changes what the rest of a program means in a way that we have not.
bool ApplyExtension(std::string_view name, std::vector<Symbol>& on);

// The names to suggest from for one that is unknown.
std::vector<std::string_view> ExtensionNames();

}  // namespace df
