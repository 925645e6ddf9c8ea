#include "parser/place.h"

#include "lang/render.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

namespace df {
namespace {

constexpr uint32_t kMostParts = 256;  // tagged_ir/graph.h

// The words of a pragma, with their places.
std::vector<std::pair<std::string_view, Span>> WordsOf(std::string_view text, Span whole) {
  std::vector<std::pair<std::string_view, Span>> words;
  size_t end = text.size() - 2;
  if (text[end - 1] == '#') --end;
  for (size_t at = 3; at < end;) {
    if (llvm::isSpace(text[at])) {
      ++at;
      continue;
    }
    const size_t from = at;
    while (at < end && !llvm::isSpace(text[at])) ++at;
    words.push_back({text.substr(from, at - from), {whole.file, whole.begin + static_cast<uint32_t>(from), whole.begin + static_cast<uint32_t>(at)}});
  }
  return words;
}

// What a module defines at its top: functions, and variables.
llvm::DenseMap<uint32_t, Span> DefinedAtTop(const ast::Ast& ast) {
  llvm::DenseMap<uint32_t, Span> names;
  for (const ast::Decl* decl : ast.module.decls)
    if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) names.try_emplace(function->name.text.index, function->name.span);
  return names;
}

// The definition in whose text the pragma stands, but for one that ends or begins there.
const ast::FunctionDecl* Around(const ast::Ast& ast, Span pragma) {
  for (const ast::Decl* decl : ast.module.decls) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (!function) continue;
    // Between two equations it is at the top.
    for (const ast::Clause& clause : function->clauses)
      if (clause.span.begin < pragma.begin && pragma.end < clause.span.end) return function;
  }
  return nullptr;
}

}  // namespace

std::vector<PlacePragma> ReadPlaces(const TokenBuffer& tokens, const ast::Ast& ast, Diagnostics& diags) {
  std::vector<PlacePragma> places;
  if (tokens.places.empty()) return places;
  const llvm::DenseMap<uint32_t, Span> defined = DefinedAtTop(ast);
  llvm::DenseMap<uint32_t, Span> placed;
  for (Span pragma : tokens.places) {
    const auto words = WordsOf(diags.sources().Text(pragma), pragma);
    uint32_t part = 0;
    const bool good = words.size() == 4 && words[2].first == "worker" && !llvm::StringRef(words[3].first).getAsInteger(10, part) && part < kMostParts;
    if (!good) {
      diags.Report(Diag::BadPlace, pragma, kMostParts - 1).Hint("for example `{-# PLACE encode worker 1 #-}`");
      continue;
    }
    const auto& [name, span] = words[1];
    const Symbol symbol = Intern(name);
    if (const ast::FunctionDecl* around = Around(ast, pragma)) {
      diags.Report(Diag::CannotPlace, pragma, name, fmt::format("the pragma stands within `{}`, and not at the top of the module", Text(around->name.text)));
    } else if (!defined.contains(symbol.index)) {
      diags.Report(Diag::CannotPlace, span, name, "this module defines no function of that name at its top");
      std::vector<std::string_view> names;
      for (const auto& [index, where] : defined) names.push_back(Text(Symbol{index}));
      llvm::sort(names);
      if (std::string_view near = NearestName(name, names); !near.empty()) diags.Hint(fmt::format("did you mean `{}`?", near));
    } else if (name == "main") {
      diags.Report(Diag::CannotPlace, span, name, "a run begins and ends there, on part 0");
    } else if (auto [it, added] = placed.try_emplace(symbol.index, span); !added) {
      diags.Report(Diag::CannotPlace, span, name, "it is placed already").Note(it->second, "here");
    } else {
      places.push_back({symbol, part});
    }
  }
  return places;
}

}  // namespace df
