// What holds of the core that inference makes: shapes of elaborated forms, sharing, size of the work.
#include <chrono>

#include "tests/unit/catch.h"
#include "tests/unit/typecheck/session.h"

namespace df {
namespace {

std::string CoreOf(const char* source, const char* only) {
  test::Session session;
  bool ok = session.Check(source);
  INFO(session.Rendered());
  REQUIRE(ok);
  REQUIRE(core::Verify(session.session.program, true) == "");
  std::string out;
  llvm::raw_string_ostream stream(out);
  core::DumpOptions options;
  options.only = Intern(only);
  core::Dump(session.session.program, stream, options);
  return out;
}

bool Holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a use records the types that instantiate it") {
  CHECK(Holds(CoreOf("f x = x + 1\ng = f (2 :: Int)", "g"), "f @Int 2"));
  CHECK(Holds(CoreOf("f n = if n == 0 then 1 else n * f (n - 1)", "f"), "f @a"));
}

TEST_CASE("a pattern binding is a lazy value and its selectors") {
  std::string text = CoreOf("f x y = (y, x + 1)\ng x = let (a, b) = f a 1 in b", "g");
  CHECK(Holds(text, "letrec "));
  CHECK(Holds(CoreOf("g x = let (a, b) = (x, 2) in b", "g"), "let "));
  CHECK_FALSE(Holds(CoreOf("g x = let (a, b) = (x, 2) in b", "g"), "letrec"));
}

TEST_CASE("literals are folded with their sign, but zero is not") {
  CHECK(Holds(CoreOf("f = -5 :: Int", "f"), "-5"));
  CHECK(Holds(CoreOf("f = -0.0 :: Double", "f"), "negate"));
}

TEST_CASE("long and deep programs are checked in time that grows with them") {
  std::string source = "f0 x = x + 1\n";
  for (int i = 1; i < 5000; ++i)
    source += "f" + std::to_string(i) + " x = if x > " + std::to_string(i) + " then f" +
              std::to_string(i - 1) + " (x - 1) else x\n";
  test::Session session;
  auto start = std::chrono::steady_clock::now();
  REQUIRE(session.Check(source));
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 20);
  std::string ring = "r0 x = r1999 x + 1\n";
  for (int i = 1; i < 2000; ++i) ring += "r" + std::to_string(i) + " x = r" + std::to_string(i - 1) + " x\n";
  REQUIRE(session.Check(ring));
  CHECK(session.TypeOf("r0") == "r0 :: Num b => a -> b");
}

}  // namespace df
