// A session on top of the library, of whose modules the Prelude is checked, and what is imported.
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
  // Checks one module, and before it what it imports; false after an error.
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

 private:
  void Load(std::string_view name);

  std::vector<std::string_view> loaded_;
};

}  // namespace df::test
