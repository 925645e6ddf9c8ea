// typecheck/open_sizes.h
//
// A tensor without a shape is found where a function makes it, when all sizes should be known. What has to be mended is often where the
// function was used: `f :: Int -> Tensor Float [n]` has as many elements as its use says, and this one does not.
#pragma once

#include "lang/diagnostics.h"
#include "typecheck/core/core.h"

namespace df {

// Adds to the message that was reported last where functions of the program are used at sizes that nothing says.
void NoteOpenSizes(const core::Program& program, Diagnostics& diags);

}  // namespace df
