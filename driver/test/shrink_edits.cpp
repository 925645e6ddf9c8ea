// Smaller programs, by edits of the text.
#include "driver/test/shrink_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "driver/pipeline.h"
#include "parser/walk.h"

namespace df::test {
namespace {

constexpr std::string_view kDefines = "\nit'shrinks = ";

// What an expression has inside, one step down.
class ChildFinder : public ast::Walker<ChildFinder> {
 public:
  void OnExpr(const ast::Expr* expr) { found.push_back(expr); }
  void OnOperator(const ast::Expr*) {}
  std::vector<const ast::Expr*> found;
};

class EditFinder : public ast::Walker<EditFinder> {
 public:
  EditFinder(FileId file, std::string_view text) : file_(file), text_(text) {}

  struct Edit {
    size_t begin, end;
    std::string to;
  };
  std::vector<Edit> edits;

  void OnExpr(const ast::Expr* expr) {
    if (expr->span.valid() && expr->span.file == file_ && expr->span.begin < expr->span.end) {
      Descend(expr);
      Shorten(expr);
    }
    Inside(expr);
  }
  void OnOperator(const ast::Expr*) {}
  void OnStmt(const ast::Stmt* stmt) {
    Add(stmt->span, "");
    Inside(stmt);
  }
  void OnDecl(const ast::Decl* decl) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (function && function->clauses.size() > 1)
      for (const ast::Clause& clause : function->clauses) Add(clause.span, "");
    Inside(decl);
  }
  void OnAlternative(const ast::Alternative& alternative) {
    Add(alternative.span, "");
    Inside(alternative);
  }

 private:
  std::string_view TextOf(Span span) const { return text_.substr(span.begin, span.end - span.begin); }
  void Add(Span at, std::string to) {
    if (!at.valid() || at.file != file_ || at.begin >= at.end) return;
    edits.push_back({at.begin, at.end, std::move(to)});
  }
  // What is inside in place of the whole, as it stands and in parentheses.
  void Descend(const ast::Expr* expr) {
    ChildFinder finder;
    finder.Inside(expr);
    for (const ast::Expr* child : finder.found) {
      if (!child->span.valid() || child->span.file != file_) continue;
      const std::string inside(TextOf(child->span));
      Add(expr->span, inside);
      if (!llvm::isa<ast::VarExpr, ast::ConExpr, ast::LiteralExpr, ast::ListExpr, ast::TupleExpr, ast::ParenExpr>(child) &&
          !llvm::isa<ast::ParenExpr>(expr))
        Add(expr->span, fmt::format("({})", inside));
    }
  }
  void Shorten(const ast::Expr* expr) {
    if (const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(expr)) return Literal(*literal);
    if (const auto* list = llvm::dyn_cast<ast::ListExpr>(expr)) return Elements(expr->span, list->elements);
    if (const auto* sequence = llvm::dyn_cast<ast::SequenceExpr>(expr)) return Add(sequence->span, fmt::format("[{}]", TextOf(sequence->from->span)));
    if (const auto* infix = llvm::dyn_cast<ast::InfixExpr>(expr)) {
      // Without one of the operands and an operator beside it.
      for (size_t i = 0; i + 1 < infix->operands.size(); ++i)
        if (infix->operands[i] && infix->operands[i + 1]) {
          edits.push_back({infix->operands[i]->span.begin, infix->operands[i + 1]->span.begin, ""});
          edits.push_back({infix->operands[i]->span.end, infix->operands[i + 1]->span.end, ""});
        }
    }
  }
  void Elements(Span span, ast::List<ast::Expr*> elements) {
    auto with = [&](auto keeps) {
      std::string text = "[";
      for (size_t i = 0; i < elements.size(); ++i)
        if (keeps(i)) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", TextOf(elements[i]->span));
      Add(span, text + "]");
    };
    const size_t half = elements.size() / 2;
    with([](size_t) { return false; });
    with([&](size_t i) { return i < half; });
    with([&](size_t i) { return i >= half; });
    for (size_t out = 0; out < elements.size() && elements.size() <= 32; ++out) with([&](size_t i) { return i != out; });
  }
  void Literal(const ast::LiteralExpr& literal) {
    const std::string_view value = Text(literal.value.text);
    uint64_t number = 0;
    switch (literal.value.kind) {
      case ast::LiteralKind::Integer:
        Add(literal.span, "0");
        Add(literal.span, "1");
        if (llvm::StringRef(value).getAsInteger(10, number)) return Add(literal.span, std::string(value.substr(0, value.size() / 2)));
        Add(literal.span, std::to_string(number / 2));
        if (number > 0) Add(literal.span, std::to_string(number - 1));
        return;
      case ast::LiteralKind::Fractional:
        Add(literal.span, "0");
        Add(literal.span, "1");
        return Add(literal.span, std::string(value.substr(0, value.find_first_of(".eE"))));
      case ast::LiteralKind::Char: return Add(literal.span, "'a'");
      case ast::LiteralKind::String: {
        Add(literal.span, "\"\"");
        const std::string_view text = TextOf(literal.span);
        if (text.find('\\') != std::string_view::npos || text.size() < 4) return;
        const size_t half = (text.size() - 2) / 2;
        Add(literal.span, fmt::format("\"{}\"", text.substr(1, half)));
        return Add(literal.span, fmt::format("\"{}\"", text.substr(1 + half, text.size() - 2 - half)));
      }
    }
  }

  const FileId file_;
  const std::string_view text_;
};

std::vector<Symbol> NamesOf(const ast::Decl* decl) {
  std::vector<Symbol> names;
  if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) names.push_back(function->name.text);
  if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(decl))
    for (const ast::Name& name : signature->names) names.push_back(name.text);
  if (const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(decl))
    for (const ast::Name& name : fixity->ops) names.push_back(name.text);
  return names;
}

void SortOnce(std::vector<Shrunk>& all) {
  std::sort(all.begin(), all.end(), [](const Shrunk& a, const Shrunk& b) { return IsSmaller(a, b); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace

bool IsSmaller(const Shrunk& a, const Shrunk& b) {
  const size_t of_a = a.program.size() + a.expression.size(), of_b = b.program.size() + b.expression.size();
  if (of_a != of_b) return of_a < of_b;
  return std::tie(a.program, a.expression) < std::tie(b.program, b.expression);
}

std::string Without(std::string_view program, std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::string text;
  size_t at = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin < at) continue;
    text += program.substr(at, piece.begin - at);
    at = piece.end;
  }
  text += program.substr(at);
  std::string out;
  bool blank_before = true;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    const bool blank = line.trim().empty();
    if (!blank || !blank_before) out += fmt::format("{}\n", blank ? std::string_view() : std::string_view(line.data(), line.size()));
    blank_before = blank;
  }
  return out;
}

std::optional<Edits> EditsOf(const Shrunk& from) {
  const std::string text = fmt::format("{}{}{}\n", from.program, kDefines, from.expression);
  Pipeline pipeline;
  const TokenBuffer tokens = pipeline.Tokens("it.hs", text);
  const std::optional<ast::Ast> ast = pipeline.Syntax(tokens);
  if (!ast || pipeline.diags.has_errors()) return std::nullopt;
  const size_t begins = from.program.size() + kDefines.size();
  EditFinder finder(tokens.file, text);
  Edits edits;
  std::map<Symbol, size_t> named;
  for (const ast::Decl* decl : ast->module.decls) {
    finder.OnDecl(decl);
    if (!decl->span.valid() || decl->span.end > from.program.size()) continue;
    const std::vector<Symbol> names = NamesOf(decl);
    size_t group = edits.definitions.size();
    if (names.size() == 1) group = named.insert({names[0], group}).first->second;
    if (group == edits.definitions.size()) edits.definitions.emplace_back();
    edits.definitions[group].push_back({decl->span.begin, decl->span.end});
  }
  for (const EditFinder::Edit& edit : finder.edits) {
    Shrunk to = from;
    if (edit.begin >= begins) to.expression.replace(edit.begin - begins, edit.end - edit.begin, edit.to);
    else if (edit.end <= from.program.size()) to.program = edit.to.empty() ? Without(from.program, {{edit.begin, edit.end}})
                                                                            : from.program.substr(0, edit.begin) + edit.to + from.program.substr(edit.end);
    if (!IsSmaller(to, from) || llvm::StringRef(to.expression).trim().empty()) continue;
    (to.program == from.program ? edits.expression : edits.program).push_back(std::move(to));
  }
  for (const ast::Import& import : ast->module.imports)
    if (import.span.valid() && import.span.end <= from.program.size())
      edits.program.push_back({Without(from.program, {{import.span.begin, import.span.end}}), from.expression});
  SortOnce(edits.expression);
  SortOnce(edits.program);
  return edits;
}

}  // namespace df::test
