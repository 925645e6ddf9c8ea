// driver/system/beneath.h
//
// Names that are looked up beneath a folder: no link and no `..` leads out of it.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace df {

// The path from `from`, an absolute one, with neither `.`, `..` nor empty parts.
std::string PlainPath(std::string_view from, std::string_view path);
// As openat, beneath `folder`; of a path without `..`. Never follows a link that leads out; where the kernel cannot promise that, no link.
int OpenBeneath(int folder, const std::string& path, int flags, mode_t mode = 0);

}  // namespace df
