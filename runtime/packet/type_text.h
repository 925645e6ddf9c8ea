// runtime/packet/type_text.h
//
// What a type is, as a text: the constructors of all types that its values are made of, with their fields' names and types. Two programs mean
// the same type if these are equal; how the types are called, and what the compiler found out of laziness, does not matter.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagged_ir/graph.h"

namespace df {

struct TypeText {
  std::vector<std::string> names;  // of the types, the type itself first: for messages
  std::vector<std::string> lines;  // of each its constructors: "Bin #1 key:Int | Tip", where #1 is the second of the types
  // 128 bits that follow from the lines.
  std::array<uint64_t, 2> Fingerprint() const;
  // One line after the other, the names before.
  std::string Print() const;
  // What Print gave; nullopt if it is no such text.
  static std::optional<TypeText> Parse(std::string_view text);
};

// nullopt if values of the type hold functions or what only one run has; `why` then says what: "a function, `Int -> Int`".
std::optional<TypeText> TextOf(const ir::Graph& graph, ir::TypeId type, std::string* why);

// Of two types that are not the same: "the file holds a Map String Int, and a Map String Double is expected", or where they differ if they are called the
// same.
std::string DifferenceOf(const TypeText& held, const TypeText& expected);

}  // namespace df
