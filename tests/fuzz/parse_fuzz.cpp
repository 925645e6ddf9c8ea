// tests/fuzz/parse_fuzz.cpp
//
// Any bytes as a source: lexer, parser, fixity resolution, dumps and rendering must end without a crash, for a file
// and for a line of the REPL, and a tree without errors must hold no error node.
#include <cstdlib>

#include "lang/render.h"
#include "parser/fixity.h"
#include "parser/parse.h"

using namespace df;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The fuzzer's own stack is small; the compiler runs on a larger one.
  constexpr ParseOptions kOptions{.max_depth = 200, .max_chain = 1000};
  SourceManager sources;
  FileId file = sources.Add("fuzz.df", std::string(reinterpret_cast<const char*>(data), size));
  for (bool repl : {false, true}) {
    Diagnostics diags(sources);
    TokenBuffer tokens = Lex(sources, file, diags);
    ast::Ast ast = repl ? ParseRepl(tokens, diags, kOptions).ast : Parse(tokens, diags, kOptions);
    FixityScope scope;
    ResolveFixity(ast, scope, diags);
    std::string text;
    llvm::raw_string_ostream out(text);
    Dump(tokens, sources, out);
    size_t tree = text.size();
    Dump(ast, out);
    std::string_view source(reinterpret_cast<const char*>(data), size);
    for (const char* node : {"<infix", "<error>"})
      if (!repl && !diags.has_errors() && text.find(node, tree) != std::string::npos &&
          source.find(node) == std::string_view::npos)
        std::abort();
    Render(diags, out);
    RenderJson(diags, out);
  }
  return 0;
}
