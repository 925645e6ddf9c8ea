// driver/test/shrink_edits.h
//
// Ways to make a program smaller by an edit of its text, which the syntax tree says: subexpressions in place of the whole, literals towards 0,
// lists shorter, definitions and clauses left out. Whether what comes out still compiles is for who tries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace df::test {

// A program, and an expression of its names.
struct Shrunk {
  std::string program, expression;
  friend bool operator==(const Shrunk&, const Shrunk&) = default;
};

// Smaller in the order that shrinking goes down in: shorter, then by its characters, so that 45 is below 90.
bool IsSmaller(const Shrunk& a, const Shrunk& b);

// The text [begin, end) of the program.
struct Piece {
  size_t begin = 0, end = 0;
};
struct Edits {
  std::vector<Shrunk> expression, program;   // with one edit each; the smallest first
  std::vector<std::vector<Piece>> definitions;  // each with its signatures
};
// nullopt: it does not parse.
std::optional<Edits> EditsOf(const Shrunk& from);

// The program without these pieces and the blank lines that they leave.
std::string Without(std::string_view program, std::vector<Piece> pieces);

}  // namespace df::test
