// tests/unit/lang/render_test.cpp
//
// Diagnostics as people and programs get to see them; near names.
#include "lang/render.h"
#include "llvm/Support/JSON.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

struct Fixture {
  explicit Fixture(std::string text) : diags(sources) { file = sources.Add("t.df", std::move(text)); }
  Span Of(std::string_view part, size_t nth = 0) const {
    size_t at = sources.Text(file).find(part);
    while (nth-- > 0) at = sources.Text(file).find(part, at + 1);
    return {file, static_cast<uint32_t>(at), static_cast<uint32_t>(at + part.size())};
  }
  std::string Shown(RenderOptions options = {}) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    Render(diags, out, options);
    return text;
  }
  SourceManager sources;
  Diagnostics diags;
  FileId file;
};

}  // namespace

TEST_CASE("the line, the span, notes and hint") {
  Fixture f("one\ntwo three\n\nfour five\n");
  f.diags.Report(Diag::UnboundName, f.Of("five"), "five")
      .Note(f.Of("two"), "two is here")
      .Note({}, "a remark")
      .Hint("say `six`");
  CHECK(f.Shown() ==
        "error[DF0201]: `five` is not in scope\n"
        " --> t.df:4:6\n"
        "  |\n"
        "2 | two three\n"
        "  | --- two is here\n"
        " ...\n"
        "4 | four five\n"
        "  |      ^^^^\n"
        "  = note: a remark\n"
        "  = hint: say `six`\n");
}

TEST_CASE("tabs, wide and combining characters keep the underline in place") {
  Fixture tab("\tx y");
  tab.diags.Report(Diag::UnboundName, tab.Of("y"), "y");
  CHECK(tab.Shown().find("1 |         x y\n  |           ^\n") != std::string::npos);
  Fixture wide("日本 e\xCC\x81 y");
  wide.diags.Report(Diag::UnboundName, wide.Of("y"), "y");
  CHECK(wide.Shown().find("  |        ^\n") != std::string::npos);
}

TEST_CASE("a span over several lines shows how it goes on") {
  Fixture f("a (b\n c\n d) e");
  f.diags.Report(Diag::UnboundName, f.Of("(b\n c\n d)"), "b");
  CHECK(f.Shown().find("1 | a (b\n  |   ^^ ... to line 3\n") != std::string::npos);
}

TEST_CASE("a long line is cut around the span") {
  Fixture f(std::string(1000, 'x') + " here " + std::string(1000, 'y'));
  f.diags.Report(Diag::UnboundName, f.Of("here"), "here");
  std::string shown = f.Shown({.max_line_columns = 60});
  CHECK(shown.size() < 300);
  CHECK(shown.find("...xx") != std::string::npos);
  CHECK(shown.find("yy...") != std::string::npos);
  size_t line = shown.find(" | ...x"), mark = shown.find('^');
  CHECK(mark - shown.rfind('\n', mark) == shown.find("here", line) - shown.rfind('\n', line));
}

TEST_CASE("control characters and bad bytes never reach the terminal") {
  Fixture f("a \x1b[31m \xFF b");
  f.diags.Report(Diag::UnboundName, f.Of("b"), "\x1b");
  std::string shown = f.Shown();
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find('\xFF') == std::string::npos);
  CHECK(f.Shown({.color = true}).find("\x1b[1;31m") != std::string::npos);
}

TEST_CASE("spans at the end of the text and empty ones get one caret") {
  Fixture f("ab");
  f.diags.Report(Diag::UnboundName, Span{f.file, 2, 2}, "x");
  CHECK(f.Shown().find("1 | ab\n  |   ^\n") != std::string::npos);
}

TEST_CASE("messages come in the order of their places; those beyond the limit are counted") {
  Fixture f("a b c");
  f.diags.set_error_limit(2);
  f.diags.Report(Diag::UnboundName, f.Of("b"), "b");
  f.diags.Report(Diag::UnboundName, f.Of("a"), "a");
  f.diags.Report(Diag::UnboundName, f.Of("c"), "c");
  std::string shown = f.Shown();
  CHECK(shown.find("`a`") < shown.find("`b`"));
  CHECK(shown.find("1 further error is not shown") != std::string::npos);
}

TEST_CASE("JSON lines hold the same") {
  Fixture f("one\ntwo \"\xFF\"");
  f.diags.Report(Diag::UnboundName, f.Of("two"), "two\xFF").Note(f.Of("one"), "n").Hint("h");
  std::string text;
  llvm::raw_string_ostream out(text);
  RenderJson(f.diags, out);
  REQUIRE(std::count(text.begin(), text.end(), '\n') == 1);
  auto value = llvm::json::parse(text);
  REQUIRE(bool(value));
  const llvm::json::Object& object = *value->getAsObject();
  CHECK(object.getString("code")->str() == "DF0201");
  CHECK(object.getInteger("line") == 2);
  CHECK(object.getInteger("end_column") == 4);
  CHECK(object.getArray("notes")->size() == 1);
}

TEST_CASE("near names") {
  std::vector<std::string_view> names = {"length", "lines", "map", "filter", "foldr", "foldl", "xs", "Map", "/="};
  CHECK(NearestName("lenght", names) == "length");
  CHECK(NearestName("fliter", names) == "filter");
  CHECK(NearestName("foldR", names) == "foldr");
  CHECK(NearestName("mpa", names) == "map");
  CHECK(NearestName("!=", names) == "/=");
  CHECK(NearestName("x", names).empty());
  CHECK(NearestName("y", names).empty());
  CHECK(NearestName("banana", names).empty());
  CHECK(NearestName(std::string(1000, 'a'), names).empty());
}
