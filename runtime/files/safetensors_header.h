// runtime/files/safetensors_header.h
//
// The header of a .safetensors file: a JSON object that has for each array an object of its elements, shape and place, and perhaps one of
// texts, `__metadata__`. It is read as just that: what it says of arrays is kept, nothing else is built, and nothing nests deeper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/array_file.h"

namespace df {

// Adds the arrays in their order, with places from the end of the header on. False, and why.
bool ReadSafetensorsHeader(std::string_view text, std::vector<FileArray>& arrays, std::string* fault);

// The name of elements in such a header: "F32".
std::string_view SafetensorsName(FileElement element);

}  // namespace df
