// Chains of positions.
#include "fmt/format.h"
#include "tagged_ir/places.h"
#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

namespace {

struct Chains {
  Table<PosId, Pos> positions;
  std::vector<std::string> files = {"a.df", "Prelude.List", "b.df"};
  uint32_t copies = 0;
  Places places{positions, files, [this](PosId from) { copies += from.valid(); }};

  PosId At(uint32_t file, uint32_t line) {
    Pos pos;
    pos.file = file;
    pos.line = line;
    pos.column = 1;
    return positions.Add(std::move(pos));
  }
  // file:line, from the innermost place on.
  std::string Text(PosId pos) const {
    std::string text;
    for (; pos.valid(); pos = positions[pos].inlined_at) {
      const Pos& p = positions[pos];
      text += p.giver ? "giver " : fmt::format("{}:{} ", p.file, p.line);
      if (p.given.valid()) text += "(" + Text(p.given) + ") ";
    }
    return text;
  }
};

}  // namespace

TEST_CASE("what is inlined again stands behind all that it was inlined at") {
  Chains c;
  PosId f = c.places.InlinedAt(c.At(0, 1), c.At(0, 2));
  PosId g = c.At(2, 3);
  PosId chain = c.places.InlinedAt(f, g);
  CHECK(c.Text(chain) == "0:1 0:2 2:3 ");
  CHECK(c.Text(f) == "0:1 0:2 ");
  CHECK(c.places.InlinedAt(f, g) == chain);
  CHECK(c.copies == c.positions.size() - 3);
  CHECK(c.places.InlinedAt(f, PosId()) == f);
  CHECK_FALSE(c.places.InlinedAt(PosId(), g).valid());
}

TEST_CASE("of the library's places behind each other the first is kept, and places of nobody are left out") {
  Chains c;
  PosId library = c.places.InlinedAt(c.At(1, 5), c.At(1, 6));
  CHECK(c.Text(library) == "1:5 ");
  CHECK(c.Text(c.places.InlinedAt(c.At(0, 1), library)) == "0:1 1:5 ");
  PosId own = c.places.InlinedAt(library, c.At(0, 7));
  CHECK(c.Text(own) == "1:5 0:7 ");
  CHECK(c.Text(c.places.InlinedAt(c.places.InlinedAt(c.At(0, 1), c.At(0, 0)), own)) == "0:1 1:5 0:7 ");
  // One that says what it was given is looked at by paths.
  CHECK(c.Text(c.places.InlinedAt(c.At(1, 5), c.places.WithGiven(c.At(1, 6), c.At(0, 9)))) == "1:5 1:6 (0:9 ) ");
}

TEST_CASE("a place of the program's own in an action stays") {
  Chains c;
  PosId own = c.places.InlinedAt(c.At(1, 5), c.At(0, 1)), library = c.At(1, 5), site = c.At(2, 2);
  CHECK(c.places.IsOwn(own));
  CHECK_FALSE(c.places.IsOwn(library));
  CHECK_FALSE(c.places.IsOwn(PosId()));
  CHECK(c.places.InlinedAt(own, site, true) == own);
  CHECK(c.Text(c.places.InlinedAt(library, site, true)) == "1:5 2:2 ");
}

TEST_CASE("a call that is given another one's result is inlined with both") {
  Chains c;
  PosId call = c.places.WithGiven(c.At(0, 1), c.places.InlinedAt(c.At(0, 2), c.places.Giver()));
  CHECK(c.Text(call) == "0:1 (0:2 giver ) ");
  CHECK(c.Text(c.places.InlinedAt(call, c.At(0, 3))) == "0:1 (0:2 giver 0:3 ) 0:3 ");
  CHECK(c.places.Giver() == c.places.Giver());
}

TEST_CASE("long chains stay as they are") {
  Chains c;
  PosId pos = c.At(0, 1);
  for (uint32_t i = 0; i < 2 * Places::kMostInlined; ++i) pos = c.places.InlinedAt(pos, c.At(0, 2));
  uint32_t length = 0;
  for (PosId at = pos; at.valid(); at = c.positions[at].inlined_at) ++length;
  CHECK(length == Places::kMostInlined);
}

TEST_CASE("positions that nothing refers to are dropped") {
  Graph graph = Parsed(R"graph(tagged "x"
file "x.df"
result "x" : Int
root main
scope main {
  %0 = Start : Trigger
  %1 = Const 3 %0 : Int @1:1 given ( @2:2 ) at @3:3
  %2 = Result 0 %1
}
)graph");
  const std::string text = ToText(graph);
  const uint32_t used = graph.positions.size();
  Table<PosId, Pos> more;
  for (uint32_t i = 0; i < 5; ++i) more.Add(Pos());
  for (Pos pos : graph.positions) {
    if (pos.inlined_at.valid()) pos.inlined_at.index += 5;
    if (pos.given.valid()) pos.given.index += 5;
    more.Add(std::move(pos));
  }
  graph.positions = std::move(more);
  for (Node& node : graph.nodes)
    if (node.pos.valid()) node.pos.index += 5;
  REQUIRE(ToText(graph) == text);
  DropUnusedPositions(graph);
  CHECK(graph.positions.size() == used);
  CHECK(ToText(graph) == text);
}
