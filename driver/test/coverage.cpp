// Which places of a program ran: marking, and counting.
#include "driver/test/coverage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "driver/test/children.h"
#include "parser/walk.h"

namespace df::test {
namespace {

// By which the marks name the library's function, and which begins what they say.
constexpr std::string_view kQualifier = "It'Coverage";
constexpr char kMarkBegins = '\2';

struct Places {
  std::mutex lock;  // of all
  std::vector<CoveredPlace> rows;
  std::map<std::pair<std::string, uint32_t>, size_t> index;  // by file and offset
};
Places& All() {
  static Places places;
  return places;
}

// Puts marks into a module.
class Marker : public ast::Walker<Marker, true> {
 public:
  Marker(ast::Ast& ast, const SourceManager& sources) : ast_(ast), sources_(sources) {}

  void Run() {
    ast::Import import{};
    import.module = ast::Name{Intern("Debug.Trace"), {}, Span()};
    import.qualified = true;
    import.as = ast::Name{Intern(kQualifier), {}, Span()};
    std::vector<ast::Import> imports(ast_.module.imports.begin(), ast_.module.imports.end());
    imports.push_back(import);
    ast_.module.imports = ast_.Copy<ast::Import>(imports);
    Decls(ast_.module.decls);
  }

  void OnDecl(ast::Decl* decl) {
    if (auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
      std::vector<ast::Clause> clauses(function->clauses.begin(), function->clauses.end());
      for (ast::Clause& clause : clauses) {
        Patterns(clause.params);
        Mark(clause.rhs, "clause");
      }
      function->clauses = ast_.Copy<ast::Clause>(clauses);
    } else if (auto* binding = llvm::dyn_cast<ast::PatBindDecl>(decl)) {
      OnPattern(binding->pat);
      Mark(binding->rhs, "clause");
    } else {
      Inside(decl);
    }
  }
  void OnExpr(ast::Expr* expr) {
    if (auto* choice = llvm::dyn_cast<ast::IfExpr>(expr)) {
      One(choice->cond);
      choice->then_ = Marked(choice->then_, "`then`");
      choice->else_ = Marked(choice->else_, "`else`");
    } else if (auto* guards = llvm::dyn_cast<ast::MultiIfExpr>(expr)) {
      guards->alternatives = Guarded(guards->alternatives, "guard");
    } else if (auto* of = llvm::dyn_cast<ast::CaseExpr>(expr)) {
      One(of->scrutinee);
      of->alternatives = MarkedAlternatives(of->alternatives);
    } else if (auto* lambda = llvm::dyn_cast<ast::LambdaCaseExpr>(expr)) {
      lambda->alternatives = MarkedAlternatives(lambda->alternatives);
    } else {
      Inside(expr);
    }
  }

 private:
  ast::Expr* Marked(ast::Expr* expr, const char* what) {
    One(expr);
    if (!expr || llvm::isa<ast::ErrorExpr>(expr) || !expr->span.valid() || expr->span.file != ast_.file) return expr;
    size_t number = 0;
    {
      Places& all = All();
      std::lock_guard<std::mutex> hold(all.lock);
      const std::string file(sources_.Name(expr->span.file));
      auto [it, is_new] = all.index.insert({{file, expr->span.begin}, all.rows.size()});
      if (is_new) {
        const LineColumn from = sources_.Locate(expr->span.file, expr->span.begin), to = sources_.Locate(expr->span.file, expr->span.end);
        all.rows.push_back({file, what, from.line, from.column, to.line, to.column, 0});
      }
      number = it->second;
    }
    const Span span = expr->span;
    auto* text = ast_.New<ast::LiteralExpr>(span, ast::Literal{ast::LiteralKind::String, Intern(fmt::format("{}{}", kMarkBegins, number))});
    auto* trace = ast_.New<ast::VarExpr>(span, ast::Name{Intern("trace"), Intern(kQualifier), span});
    return ast_.New<ast::ParenExpr>(
        span, ast_.New<ast::AppExpr>(span, trace, ast_.Copy<ast::Expr*>({text, ast_.New<ast::ParenExpr>(span, expr)})));
  }

  ast::List<ast::GuardedExpr> Guarded(ast::List<ast::GuardedExpr> all, const char* what) {
    std::vector<ast::GuardedExpr> rows(all.begin(), all.end());
    for (ast::GuardedExpr& row : rows) {
      Stmts(row.guards);
      row.body = Marked(row.body, row.guards.empty() ? what : "guard");
    }
    return ast_.Copy<ast::GuardedExpr>(rows);
  }
  void Mark(ast::Rhs& rhs, const char* what) {
    rhs.guarded = Guarded(rhs.guarded, what);
    Decls(rhs.where);
  }
  ast::List<ast::Alternative> MarkedAlternatives(ast::List<ast::Alternative> all) {
    std::vector<ast::Alternative> rows(all.begin(), all.end());
    for (ast::Alternative& row : rows) {
      if (row.pat) OnPattern(row.pat);
      Mark(row.rhs, "alternative");
    }
    return ast_.Copy<ast::Alternative>(rows);
  }

  ast::Ast& ast_;
  const SourceManager& sources_;
};

// A mark that is no place's: when it is read, all before it are.
constexpr size_t kEnd = UINT32_MAX;
std::atomic<uint64_t> ends_read{0};

// What stands on standard error from now on: marks are counted, the rest is the program's.

void CountMarks(int from, int to) {
  std::string line;
  char bytes[1 << 16];
  for (ssize_t got; (got = ::read(from, bytes, sizeof bytes)) != 0;) {
    if (got < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (const char c : std::string_view(bytes, static_cast<size_t>(got))) {
      line += c;
      if (c != '\n') continue;
      size_t number = 0;
      if (line[0] == kMarkBegins && !llvm::StringRef(line).drop_front().drop_back().getAsInteger(10, number)) {
        Places& all = All();
        std::lock_guard<std::mutex> hold(all.lock);
        if (number < all.rows.size()) ++all.rows[number].hits;
        else if (number == kEnd) ++ends_read;
      } else if (::write(to, line.data(), line.size()) < 0) {
        return;
      }
      line.clear();
    }
  }
}

}  // namespace

void MarkPlaces(ast::Ast& ast, const SourceManager& sources) { Marker(ast, sources).Run(); }

void BeginCoverage() {
  int ends[2];
  const int real = ::dup(STDERR_FILENO);
  if (real < 0 || ::pipe2(ends, O_CLOEXEC) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return;
  ::close(ends[1]);
  std::thread(CountMarks, ends[0], real).detach();
}

llvm::json::Array TellCoverage() {
  const std::string last = fmt::format("{}{}\n", kMarkBegins, kEnd);
  const uint64_t before = ends_read;
  if (::write(STDERR_FILENO, last.data(), last.size()) == static_cast<ssize_t>(last.size()))
    for (int waits = 0; ends_read == before && waits < 10000; ++waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Places& all = All();
  std::lock_guard<std::mutex> hold(all.lock);
  llvm::json::Array rows;
  for (CoveredPlace& place : all.rows) {
    rows.push_back(llvm::json::Array{llvm::json::fixUTF8(place.file), place.what, place.line, place.column, place.end_line, place.end_column,
                                     static_cast<int64_t>(std::exchange(place.hits, 0))});
  }
  return rows;
}

void TakeCoverage(const llvm::json::Array& told, std::vector<CoveredPlace>& places) {
  for (const llvm::json::Value& value : told) {
    const llvm::json::Array* row = value.getAsArray();
    if (!row || row->size() != 7) continue;
    auto number = [&](size_t i) { return static_cast<uint32_t>((*row)[i].getAsInteger().value_or(0)); };
    places.push_back({(*row)[0].getAsString().value_or("").str(), (*row)[1].getAsString().value_or("").str(), number(2), number(3), number(4), number(5),
                      static_cast<uint64_t>((*row)[6].getAsInteger().value_or(0))});
  }
}

std::vector<CoveredPlace> AllPlaces(const std::vector<FileResult>& files) {
  std::map<std::tuple<std::string, uint32_t, uint32_t>, CoveredPlace> all;
  for (const FileResult& file : files)
    for (const CoveredPlace& place : file.places) {
      auto [it, is_new] = all.insert({{place.file, place.line, place.column}, place});
      if (!is_new) it->second.hits += place.hits;
    }
  std::vector<CoveredPlace> places;
  for (auto& [key, place] : all) places.push_back(std::move(place));
  return places;
}

}  // namespace df::test
