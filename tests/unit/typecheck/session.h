// The library, checked once per test program, and a session on top of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/render.h"
#include "parser/parse.h"
#include "typecheck/check.h"

namespace df::test {

class Session {
 public:
  Session();
  // Checks one module; false after an error.
  bool Check(std::string_view text, CheckOptions options = {});
  // "name :: type".
  std::string TypeOf(std::string_view name) { return session.TypeOf(Intern(name)); }
  std::string TypeOfExpression(std::string_view text);
  // The codes of what was reported, in order.
  std::vector<std::string> Codes() const;
  std::string Rendered() const;

  SourceManager sources;
  std::unique_ptr<Diagnostics> diags;
  CheckSession session;
};

}  // namespace df::test
