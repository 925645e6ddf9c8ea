// parser/literate.h
//
// Literate source (Haskell 2010, 10.4): what is no program is blanked out, byte by byte, so that places are those of the file.
#pragma once

#include "lang/diagnostics.h"

namespace df {

// Whether a file of this name is literate source.
bool IsLiterate(std::string_view name);

// Adds a literate source: its text for messages, its program for the lexer. Lines of program begin with `>`, with a blank line
// between them and text, or stand between `\begin{code}` and `\end{code}`.
FileId AddLiterate(SourceManager& sources, std::string name, std::string text, uint32_t first_line, Diagnostics& diags);

}  // namespace df
