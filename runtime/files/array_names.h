// runtime/files/array_names.h
//
// What is said of the arrays of a file whose names do not fit what a value's type asks for: which name may have been meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/array_file.h"

namespace df {

// An array that nobody asked for.
struct SurplusArray {
  std::string name;
  std::string remark;  // "is `bias` meant?"; "" if no name is near
};

// "the file has an array `bais`, for which the type has no field: is `bias` meant?"
std::string TooMuch(const SurplusArray& array);

// The names that were looked for in a file and are not there. Names are paths: parts with dots between them.
class LackingNames {
 public:
  // An array, or what arrays would be below it.
  void Add(std::string path);
  // The element at which a list ends.
  void AddEnd(std::string path);

  // What may have been meant by the name of an array that nobody asked for: one with other parts in front, as `model.weight` for
  // `weight`; one with a misspelt part; or an element behind the end of a list.
  SurplusArray Explain(std::string_view surplus) const;
  // What the names of all arrays begin with, the dot included, if a name that is lacking is there behind it, which goes to `name`; else "".
  std::string CommonPrefix(const ArrayFile& file, std::string* name) const;

 private:
  std::vector<std::string> names_, ends_;
};

}  // namespace df
