// tests/unit/parser/lex_test.cpp
//
// Tokens: kinds, values, places; what cannot be one.
#include "tests/unit/parser/parsing.h"

using namespace df;

namespace {

// The dump's tokens without their places.
std::string Tokens(std::string text) {
  Parsed parsed(std::move(text));
  std::string dump, result;
  llvm::raw_string_ostream out(dump);
  Dump(parsed.tokens, parsed.sources, out);
  for (size_t at = 0; at < dump.size();) {
    size_t end = dump.find('\n', at);
    size_t word = dump.find(' ', at) + 1;
    while (dump[word] == ' ') ++word;
    result += dump.substr(word, end - word) + "|";
    at = end + 1;
  }
  return result.substr(0, result.size() - std::string("end of file|").size());
}

}  // namespace

TEST_CASE("integers in four bases become decimal digits") {
  CHECK(Tokens("0 007 1_000 0xFF 0Xff 0o17 0b1010 0x_F") ==
        "integer 0|integer 7|integer 1000|integer 255|integer 255|integer 15|integer 10|integer 15|");
  CHECK(Tokens("0xFFFFFFFFFFFFFFFFFFFFFFFF") == "integer 79228162514264337593543950335|");
  CHECK(Tokens("0x 0b2 12ab") == "integer 0|name x|integer 0|name b2|integer 12|name ab|");
}

TEST_CASE("a dot or an exponent makes a number fractional only before a digit") {
  CHECK(Tokens("1.5 2e3 2.5E-3 1e+2") == "fractional 1.5|fractional 2e3|fractional 2.5e-3|fractional 1e2|");
  CHECK(Tokens("1.x 1..2 1e") == "integer 1|operator .|name x|integer 1|..|integer 2|integer 1|name e|");
}

TEST_CASE("characters and strings with every kind of escape") {
  CHECK(Tokens(R"('a' '\'' '"' '\n' '\x41' '\65' '\o101' '\DEL' '\^A' 'é')") ==
        R"(char 'a'|char '\''|char '"'|char '\n'|char 'A'|char 'A'|char 'A'|char '\x7F'|char '\x01'|char 'é'|)");
  CHECK(Tokens(R"("\SOH\SO\&H" "\1234\&5" "a\   \b" "\"")") ==
        "string \"\\x01\\x0EH\"|string \"\xD3\x92" "5\"|string \"ab\"|string \"\\\"\"|");
  CHECK(Tokens("\"a\\\n   \\b\" x") == "string \"ab\"|name x|");
}

TEST_CASE("names may have primes, underscores, Unicode letters and qualifiers") {
  CHECK(Tokens("x' _x _ été x₁ Été Data.Map.insert M.T M.+ f.g M.where") ==
        "name x'|name _x|_|name été|name x₁|constructor Été|name Data.Map.insert|constructor M.T|operator M.+|"
        "name f|operator .|name g|constructor M|operator .|where|");
}

TEST_CASE("operators are the longest run of symbols; a few are reserved") {
  CHECK(Tokens("+ --> |-- :+: : :: := .. ... => ∘ \\ @ ~ ~>") ==
        "operator +|operator -->|operator |--|constructor operator :+:|constructor operator :|::|"
        "constructor operator :=|..|operator ...|=>|operator ∘|\\|@|~|operator ~>|");
}

TEST_CASE("comments nest, and dashes begin one only where no operator does") {
  CHECK(Tokens("a {- b {- c -} -- -} d -- e\n---- f\n--| g\nh") == "name a|name d|operator --||name g|name h|");
}

TEST_CASE("columns count characters, a tab goes to the next multiple of eight") {
  Parsed parsed("\tx = \"é\" + y\n  \t z");
  CHECK(parsed.tokens.tokens[0].column == 9);
  CHECK(parsed.tokens.tokens[4].column == 19);
  CHECK(parsed.tokens.tokens[5].column == 10);
  CHECK(parsed.tokens.tokens[5].starts_line);
}

TEST_CASE("extensions are collected; a misspelt one gets a proposal") {
  Parsed parsed("{-# LANGUAGE BangPatterns, Strict #-}\n{-# language LambdaCase #-}\n{-# INLINE f #-}\n");
  CHECK(parsed.Errors() == "");
  REQUIRE(parsed.tokens.extensions.size() == 4);
  CHECK(Text(parsed.tokens.extensions[2]) == "StrictData");  // Strict implies it
  CHECK(Text(parsed.tokens.extensions[3]) == "LambdaCase");
  Parsed wrong("{-# LANGUAGE LamdaCase #-}");
  REQUIRE(wrong.diags.all().size() == 1);
  CHECK(wrong.diags.all()[0].hint == "perhaps `LambdaCase` is meant");
}

TEST_CASE("what is not UTF-8 is reported once for each run") {
  CHECK(Errors("x = 1\ny = \xFF\xFE\xFF + \xC0\x80\n") == "InvalidUtf8 2:5, InvalidUtf8 2:11");
  CHECK(Errors(std::string("x = 1\0 + 2", 10)) == "UnexpectedCharacter 1:6");
  CHECK(Errors("\xEF\xBB\xBFx = 1") == "");
}

TEST_CASE("random bytes are given up soon") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * 7919 >> 3);
  Parsed parsed(text);
  CHECK(parsed.tokens.truncated);
  CHECK(parsed.diags.error_count() < 60);
}
