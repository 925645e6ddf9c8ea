// stdlib/stdlib.h
//
// The text of the standard library, which is part of the binary: an installed dfc needs no source tree.
#pragma once

#include <string_view>

#include "llvm/ADT/ArrayRef.h"

namespace df {

struct LibraryModule {
  std::string_view name;  // as `import` says it: "Data.Char"
  std::string_view text;
};

// Every module of the library; a module comes after those it imports.
llvm::ArrayRef<LibraryModule> LibraryModules();

}  // namespace df
