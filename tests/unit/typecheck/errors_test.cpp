// Wrong programs: what is reported, how often, and what a good message has to hold.
#include "tests/unit/catch.h"
#include "tests/unit/typecheck/session.h"

namespace df {
namespace {

using Codes = std::vector<std::string>;

Codes CodesOf(const char* source) {
  test::Session session;
  session.Check(source);
  INFO(session.Rendered());
  return session.Codes();
}

std::string MessageOf(const char* source) {
  test::Session session;
  session.Check(source);
  return session.Rendered();
}

bool Holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one mistake gives one message") {
  struct Row {
    const char* code;
    const char* source;
  };
  for (const Row& row : {
           Row{"DF0201", "f x = undefinedName x + 1 * undefinedName2\n  where undefinedName2 = 3"},
           Row{"DF0201", "f x = g x + 1\ng x = missing + x\nh = f 'c' + f True"},
           Row{"DF0203", "f :: Integr -> Integr\nf x = x\ng = f 'c' + f True"},
           Row{"DF0218", "f :: Int -> Int\ng x = f x + f (x + 1)"},
           Row{"DF0221", "f :: Int -> Int\nf x = x + True * x - 2"},
           Row{"DF0220", "f :: Int -> String\nf x = x + 1"},
           Row{"DF0222", "f c = if c then 'a' else True\ng = f True + 1"},
           Row{"DF0270", "f x = x + 1\ng = f 'c'"},
           Row{"DF0270", "f x y = (x + 'c') * (x - y)"},
           Row{"DF0239", "f :: a -> a\nf x = x + 1 - x * 2"},
           Row{"DF0240", "f = fromEnum (toEnum 3)"},
           Row{"DF0230", "f x = x x"},
           Row{"DF0235", "f :: Int -> Int\nf x = x\ng = f 1 2 3"},
           Row{"DF0207", "import Data.Nothing (x)\nf = 1"},
           Row{"DF0236", "f :: Int -> Int\nf x y = x + y\ng = f 3"},
           Row{"DF0227",
               "f (x, y) = x\ng (x, 'c') = x\nh = f (g (1, 'd'), 2)\nk ('c', x) = x\nk (True, x) = x"},
       }) {
    INFO(row.source);
    CHECK(CodesOf(row.source) == Codes{row.code});
  }
}

TEST_CASE("twenty independent mistakes give twenty messages") {
  std::string source;
  for (int i = 0; i < 20; ++i) {
    std::string n = std::to_string(i);
    source += "f" + n + " :: Int -> Bool\nf" + n + " x = " + (i % 2 ? "x" : "not 'c'") + "\n";
    source += "g" + n + " y = f" + n + " y && f" + n + " 3\n";
  }
  test::Session session;
  CHECK_FALSE(session.Check(source));
  INFO(session.Rendered());
  CHECK(session.diags->error_count() == 20);
}

TEST_CASE("a clash shows both places") {
  std::string branches = MessageOf("f c = if c then 'a' else \"b\"");
  CHECK(Holds(branches, "the branches of `if` have types `Char` and `String`"));
  CHECK(Holds(branches, "the other branch has the type `Char`"));
  std::string argument = MessageOf("f :: Int -> Int\nf x = x\ng = f 'c'");
  CHECK(Holds(argument, "the first argument of `f` should have the type `Int`, and has `Char`"));
  CHECK(Holds(argument, "`f` has this signature"));
  std::string signature = MessageOf("f :: a -> Int\nf x = x");
  CHECK(Holds(signature, "who uses this chooses `a`, and need not choose `Int`"));
}

TEST_CASE("a message says how to mend it") {
  CHECK(Holds(MessageOf("f = widt' 3\nwidth' x = 3"), "did you mean `width'`?"));
  CHECK(Holds(MessageOf("f = toUpper 'c'"), "add `import Data.Char`"));
  CHECK(
      Holds(MessageOf("f :: a -> a -> Bool\nf x y = x == y"), "add `Eq a` to the context of the signature"));
  CHECK(Holds(MessageOf("data C = A | B\nf = A == B"), "add `deriving Eq` to its declaration"));
  CHECK(Holds(MessageOf("f :: Int -> Double\nf n = n"), "`fromIntegral` turns an `Int` into a `Double`"));
  CHECK(Holds(MessageOf("f x y = x + y\ng :: Int\ng = f 3"), "an argument is missing"));
}

TEST_CASE("what is not used is checked all the same") {
  CHECK(CodesOf("main = 1\nunused = 'a' && True") == Codes{"DF0221"});
}

TEST_CASE("nothing is added to the program after an error") {
  test::Session session;
  size_t before = session.session.program.definitions.size();
  CHECK_FALSE(session.Check("f x = x\ng = f 'c' && True"));
  CHECK(session.session.program.definitions.size() == before);
}

TEST_CASE("a type that doubles is refused before it fills the memory") {
  CHECK(CodesOf("d0 x = (x, x)\nd1 x = d0 (d0 (d0 (d0 x)))\nd2 x = d1 (d1 (d1 (d1 (d1 (d1 x)))))\nd3 x = d2 "
                "(d2 (d2 x))") == Codes{"DF0269"});
}

}  // namespace df
