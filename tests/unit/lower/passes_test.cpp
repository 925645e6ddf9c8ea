// docs/lowering.md has the table of passes of lower/lower.cpp.
#include <fstream>
#include <set>
#include <sstream>

#include "fmt/format.h"
#include "lower/options/options.h"
#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("the page on lowering lists the passes, their order and their switches") {
  std::ifstream file(DFC_LOWERING_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  std::string table;
  for (const PassInfo& pass : Passes()) {
    std::string off_by;
    for (const OptimisationInfo& row : Optimisations())
      if (pass.off_by == row.id) off_by = fmt::format("`{}`", row.name);
    table += fmt::format("| {} | {} | {} |\n", pass.name, off_by, pass.description);
  }
  INFO("want:\n" << table);
  CHECK(text.str().find(table) != std::string::npos);
}

TEST_CASE("a pass or a switch is there once") {
  std::set<std::string> names, switches;
  for (const PassInfo& pass : Passes()) CHECK(names.insert(pass.name).second);
  for (const OptimisationInfo& row : Optimisations()) CHECK(switches.insert(row.name).second);
}
