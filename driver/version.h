// driver/version.h
//
// The version as `dfc --version` prints it.
#pragma once

#include <string>

#include <fmt/format.h>

#include "tagged_ir/file.h"

namespace df {

inline std::string VersionText() {
  return fmt::format("dfc {} (graph format {})", DFC_VERSION, ir::kGraphFileVersion);
}

}  // namespace df
