// tests/unit/parser/parsing.h
//
// A source text on its way through lexer, parser and fixity resolution, with what came out as text.
#pragma once

#include <string>

#include "parser/fixity.h"
#include "parser/literate.h"
#include "parser/parse.h"
#include "parser/place.h"
#include "tests/unit/catch.h"

namespace df {

struct Parsed {
  explicit Parsed(std::string text, ParseOptions options = {}, const char* name = "t.df") : diags(sources) {
    file = IsLiterate(name) ? AddLiterate(sources, name, std::move(text), 1, diags) : sources.Add(name, std::move(text));
    tokens = Lex(sources, file, diags);
    ast = Parse(tokens, diags, options);
    auto set = [&](std::initializer_list<const char*> ops, ast::Associativity assoc, uint8_t precedence) {
      for (const char* op : ops) scope.fixities[Intern(op).index] = {assoc, precedence};
    };
    set({"."}, ast::Associativity::Right, 9);
    set({"*", "div"}, ast::Associativity::Left, 7);
    set({"+", "-"}, ast::Associativity::Left, 6);
    set({":", "++"}, ast::Associativity::Right, 5);
    set({"==", "<"}, ast::Associativity::None, 4);
    set({"$"}, ast::Associativity::Right, 0);
    ResolveFixity(ast, scope, diags);
    ReadPlaces(tokens, ast, diags);
  }

  // The dump of the tree, without its last line end.
  std::string Tree() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    Dump(ast, out);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  // "code line:column" of each diagnostic, in the order reported.
  std::string Errors() const {
    std::string text;
    for (const Diagnostic& d : diags.all()) {
      LineColumn at = sources.Locate(d.span.file, d.span.begin);
      text += fmt::format("{}{} {}:{}", text.empty() ? "" : ", ", InfoOf(d.id).name, at.line, at.column);
    }
    return text;
  }

  SourceManager sources;
  Diagnostics diags;
  FileId file;
  TokenBuffer tokens;
  ast::Ast ast;
  FixityScope scope;
};

// The tree of a text without errors.
inline std::string Tree(std::string text) {
  Parsed parsed(std::move(text));
  CHECK(parsed.Errors() == "");
  return parsed.Tree();
}

inline std::string Errors(std::string text, ParseOptions options = {}) {
  return Parsed(std::move(text), options).Errors();
}

}  // namespace df
