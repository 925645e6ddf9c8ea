// driver/repl/input_scan.h
//
// Whether an input at the prompt surely goes on after a line, told from that line alone. The parser knows more, but looks at
// the whole input: asked after each of n lines it would take n * n steps.
#pragma once

#include <cstdint>
#include <string_view>

#include "parser/lex.h"

namespace df {

class InputScan {
 public:
  // One more line of the input.
  void Add(std::string_view line);
  // What the whole input so far is, for lines that do not tell by themselves (a string that goes on over lines).
  void Know(const TokenBuffer& all);

  bool in_comment() const { return comments_ > 0; }
  bool in_bracket() const { return brackets_ > 0; }
  // Inside a bracket or a comment: no input ends there.
  bool SurelyOpen() const { return known_ && (in_comment() || in_bracket()); }

 private:
  bool known_ = true;
  uint32_t comments_ = 0;
  int64_t brackets_ = 0;
};

}  // namespace df
