// Dump: core as text that reads like Haskell. Stable: it names nothing by number unless two names clash.
#include <fmt/format.h>

#include "llvm/ADT/DenseSet.h"
#include "typecheck/core/core.h"

namespace df::core {
namespace {

bool IsOperator(std::string_view name) {
  unsigned char first = name.empty() ? 'x' : static_cast<unsigned char>(name[0]);
  return first < 0x80 && !isalnum(first) && first != '_' && first != '(' && first != '[' && first != '$';
}

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\{}", static_cast<int>(c));
    else if (c == quote || c == '\\') (out += '\\') += c;
    else out += c;
  }
  return out + quote;
}

// Writes one definition. An expression is written in line, or, where it ends its line, as a block: the
// alternatives of a case and the bindings of lets on lines of their own.
class Dumper {
 public:
  Dumper(const Program& program, llvm::raw_ostream& out) : program_(program), out_(out) {
    for (const Class& cls : program.classes)
      for (VarId method : cls.defaults)
        if (method.valid()) owner_[method.index] = fmt::format("-- default, class {}\n", Text(cls.name));
    for (const Instance& instance : program.instances)
      for (VarId method : instance.methods)
        if (method.valid())
          owner_[method.index] =
              fmt::format("-- instance {}\n", PrintPred(program, instance.cls, instance.head));
  }

  void Definition(VarId var, const Expr* value) {
    names_.clear();
    taken_.clear();
    if (value) CollectGlobals(value);
    std::string name = NameOf(var);
    out_ << owner_.lookup(var.index) << name << " :: ";
    PrintScheme(program_.vars[var].scheme);
    out_ << "\n" << name << " =";
    if (value) Body(value, 0);
    out_ << "\n";
  }

 private:
  // ---- names

  // Names from outside that the definition mentions; locals of the same name get a number.
  void CollectGlobals(const Expr* expr) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const Var& var = program_.vars[llvm::cast<VarExpr>(expr)->var];
        if (var.kind != VarKind::Local) taken_[Text(var.name)] = 1;
        return;
      }
      case ExprKind::App:
        CollectGlobals(llvm::cast<AppExpr>(expr)->fn);
        for (const Expr* arg : llvm::cast<AppExpr>(expr)->args) CollectGlobals(arg);
        return;
      case ExprKind::Lambda: return CollectGlobals(llvm::cast<LambdaExpr>(expr)->body);
      case ExprKind::Let:
        for (const Binding& binding : llvm::cast<LetExpr>(expr)->bindings) CollectGlobals(binding.value);
        return CollectGlobals(llvm::cast<LetExpr>(expr)->body);
      case ExprKind::Case:
        CollectGlobals(llvm::cast<CaseExpr>(expr)->scrutinee);
        for (const Alt& alt : llvm::cast<CaseExpr>(expr)->alts) CollectGlobals(alt.body);
        return;
      case ExprKind::Match:
        for (const Row& row : llvm::cast<MatchExpr>(expr)->rows) CollectGlobals(row.body);
        return;
      case ExprKind::FatBar:
        CollectGlobals(llvm::cast<FatBarExpr>(expr)->first);
        return CollectGlobals(llvm::cast<FatBarExpr>(expr)->second);
      case ExprKind::Con:
      case ExprKind::Literal:
      case ExprKind::Fail:
      case ExprKind::Fall: return;
    }
  }

  std::string NameOf(VarId id) {
    const Var& var = program_.vars[id];
    std::string text(Text(var.name));
    if (var.kind == VarKind::Local) {
      auto [it, fresh] = names_.try_emplace(id.index);
      if (!fresh) return it->second;
      if (text.empty()) text = "v";
      unsigned& count = taken_[text];
      if (text != "_" && count++ > 0) text += "_" + std::to_string(count - 1);
      it->second = text;
    }
    return IsOperator(text) ? "(" + text + ")" : text;
  }

  std::string NameOf(ConId con) const {
    std::string text(Text(program_.constructors[con].name));
    return IsOperator(text) ? "(" + text + ")" : text;
  }

  void PrintScheme(const Scheme& scheme) {
    if (!scheme.tyvars.empty()) {
      out_ << "forall";
      for (TyVarId var : scheme.tyvars) out_ << " " << Text(program_.types.vars[var].name);
      out_ << ". ";
    }
    if (!scheme.preds.empty()) {
      if (scheme.preds.size() > 1) out_ << "(";
      for (size_t i = 0; i < scheme.preds.size(); ++i)
        out_ << (i ? ", " : "") << PrintPred(program_, scheme.preds[i].cls, scheme.preds[i].type);
      if (scheme.preds.size() > 1) out_ << ")";
      out_ << " => ";
    }
    out_ << program_.types.Print(scheme.type);
  }

  // A type where only an atom may stand.
  std::string Argument(TypeId type) const {
    return program_.types.PrintArgument(type);
  }

  // ---- blocks

  static bool IsBlock(const Expr* expr) {
    switch (expr->kind) {
      case ExprKind::Let:
      case ExprKind::Case:
      case ExprKind::Match:
      case ExprKind::FatBar: return true;
      default: return false;
    }
  }

  // Deeper than fifty levels nobody counts, and the text would grow with the square of the depth.
  void NewLine(unsigned indent) { out_ << "\n" << std::string(std::min(indent, 100u), ' '); }

  // After "=", "->": what follows on this line, or on the next ones, two further in.
  void Body(const Expr* expr, unsigned indent) {
    while (const auto* lambda = llvm::dyn_cast<LambdaExpr>(expr)) {
      out_ << " ";
      Params(*lambda);
      expr = lambda->body;
    }
    if (IsBlock(expr)) {
      NewLine(indent + 2);
      Block(expr, indent + 2);
    } else {
      out_ << " ";
      Inline(expr, 0);
    }
  }

  void Block(const Expr* expr, unsigned indent) {
    while (const auto* let = llvm::dyn_cast<LetExpr>(expr)) {
      for (size_t i = 0; i < let->bindings.size(); ++i) {
        out_ << (i ? "and " : let->recursive ? "letrec " : "let ");
        BindingHead(let->bindings[i]);
        Body(let->bindings[i].value, indent);
        NewLine(indent);
      }
      expr = let->body;
    }
    if (const auto* node = llvm::dyn_cast<CaseExpr>(expr)) {
      CaseHead(*node);
      for (const Alt& alt : node->alts) {
        NewLine(indent + 2);
        AltHead(alt);
        Body(alt.body, indent + 2);
      }
    } else if (const auto* match = llvm::dyn_cast<MatchExpr>(expr)) {
      MatchHead(*match);
      for (const Row& row : match->rows) {
        NewLine(indent + 2);
        RowHead(row);
        Body(row.body, indent + 2);
      }
    } else if (const auto* bar = llvm::dyn_cast<FatBarExpr>(expr)) {
      out_ << "try";
      Body(bar->first, indent);
      NewLine(indent);
      out_ << "else";
      Body(bar->second, indent);
    } else {
      Inline(expr, 0);
    }
  }

  // ---- parts that blocks and lines share

  void Params(const LambdaExpr& lambda) {
    out_ << "\\";
    for (VarId param : lambda.params) out_ << NameOf(param) << " ";
    out_ << "->";
  }
  void BindingHead(const Binding& binding) {
    out_ << NameOf(binding.var) << " :: ";
    PrintScheme(program_.vars[binding.var].scheme);
    out_ << " =";
  }
  void CaseHead(const CaseExpr& node) {
    out_ << "case ";
    Inline(node.scrutinee, 0);
    if (node.binder.valid()) out_ << " as " << NameOf(node.binder);
    out_ << " of";
  }
  void AltHead(const Alt& alt) {
    switch (alt.kind) {
      case AltKind::Default: out_ << "_"; break;
      case AltKind::Literal: Literal(alt.literal, alt.text, 0); break;
      case AltKind::Con:
        out_ << NameOf(alt.con);
        for (VarId var : alt.vars) out_ << " " << NameOf(var);
        break;
    }
    out_ << " ->";
  }
  void MatchHead(const MatchExpr& match) {
    constexpr const char* kContexts[] = {"function", "case", "lambda", "binding", "guard"};
    out_ << "match " << kContexts[static_cast<size_t>(match.context)];
    if (match.name.valid()) out_ << " " << Text(match.name);
    out_ << ":";
    for (VarId scrutinee : match.scrutinees) out_ << " " << NameOf(scrutinee);
  }
  void RowHead(const Row& row) {
    for (const Pat* pat : row.pats) {
      PrintPat(pat, true);
      out_ << " ";
    }
    out_ << "->";
  }

  void PrintPat(const Pat* pat, bool atom) {
    switch (pat->kind) {
      case PatKind::Wildcard: out_ << "_"; return;
      case PatKind::Var: out_ << NameOf(pat->var); return;
      case PatKind::As: out_ << NameOf(pat->var) << "@"; return PrintPat(pat->args[0], true);
      case PatKind::Bang: out_ << "!"; return PrintPat(pat->args[0], true);
      case PatKind::Lazy: out_ << "~"; return PrintPat(pat->args[0], true);
      case PatKind::Literal: return Literal(pat->literal, pat->text, 2);
      case PatKind::View:
        out_ << "(";
        Inline(pat->view, 0);
        out_ << " -> ";
        PrintPat(pat->args[0], false);
        out_ << ")";
        return;
      case PatKind::Con: break;
    }
    bool brackets = atom && !pat->args.empty();
    out_ << (brackets ? "(" : "") << NameOf(pat->con);
    for (const Pat* arg : pat->args) {
      out_ << " ";
      PrintPat(arg, true);
    }
    if (brackets) out_ << ")";
  }

  // ---- lines. Precedence: 0 anything, 1 function of an application, 2 its argument.

  void Literal(LiteralKind kind, Symbol symbol, int precedence) {
    std::string_view text = Text(symbol);
    if (kind == LiteralKind::Char) out_ << Quoted(text, '\'');
    else if (kind == LiteralKind::String) out_ << Quoted(text, '"');
    else if (precedence > 0 && text.substr(0, 1) == "-") out_ << "(" << text << ")";
    else out_ << text;
  }

  void Inline(const Expr* expr, int precedence) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const auto* var = llvm::cast<VarExpr>(expr);
        bool brackets = precedence > 1 && !var->type_args.empty();
        out_ << (brackets ? "(" : "") << NameOf(var->var);
        for (TypeId arg : var->type_args) out_ << " @" << Argument(arg);
        if (brackets) out_ << ")";
        return;
      }
      case ExprKind::Con: out_ << NameOf(llvm::cast<ConExpr>(expr)->con); return;
      case ExprKind::Literal: {
        const auto* literal = llvm::cast<LiteralExpr>(expr);
        return Literal(literal->literal, literal->text, precedence);
      }
      case ExprKind::Fail: out_ << "fail " << Quoted(Text(llvm::cast<FailExpr>(expr)->message), '"'); return;
      case ExprKind::Fall: out_ << "fall"; return;
      default: break;
    }
    if (precedence > 0 && (expr->kind != ExprKind::App || precedence > 1)) {
      out_ << "(";
      Inline(expr, 0);
      out_ << ")";
      return;
    }
    if (const auto* app = llvm::dyn_cast<AppExpr>(expr)) {
      Inline(app->fn, 1);
      for (const Expr* arg : app->args) {
        out_ << " ";
        Inline(arg, 2);
      }
    } else if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(expr)) {
      Params(*lambda);
      out_ << " ";
      Inline(lambda->body, 0);
    } else if (const auto* let = llvm::dyn_cast<LetExpr>(expr)) {
      out_ << (let->recursive ? "letrec { " : "let { ");
      for (size_t i = 0; i < let->bindings.size(); ++i) {
        if (i) out_ << "; ";
        BindingHead(let->bindings[i]);
        out_ << " ";
        Inline(let->bindings[i].value, 0);
      }
      out_ << " } in ";
      Inline(let->body, 0);
    } else if (const auto* node = llvm::dyn_cast<CaseExpr>(expr)) {
      CaseHead(*node);
      for (size_t i = 0; i < node->alts.size(); ++i) {
        out_ << (i ? "; " : " { ");
        AltHead(node->alts[i]);
        out_ << " ";
        Inline(node->alts[i].body, 0);
      }
      out_ << " }";
    } else if (const auto* match = llvm::dyn_cast<MatchExpr>(expr)) {
      MatchHead(*match);
      for (size_t i = 0; i < match->rows.size(); ++i) {
        out_ << (i ? "; " : " { ");
        RowHead(match->rows[i]);
        out_ << " ";
        Inline(match->rows[i].body, 0);
      }
      out_ << " }";
    } else if (const auto* bar = llvm::dyn_cast<FatBarExpr>(expr)) {
      out_ << "try ";
      Inline(bar->first, 1);
      out_ << " else ";
      Inline(bar->second, 1);
    }
  }

  const Program& program_;
  llvm::raw_ostream& out_;
  llvm::DenseMap<uint32_t, std::string> owner_;  // of methods: the class or instance, as a line
  llvm::DenseMap<uint32_t, std::string> names_;  // of locals
  llvm::StringMap<unsigned> taken_;              // how many variables of this definition have the name
};

}  // namespace

void Dump(const Program& program, llvm::raw_ostream& out, const DumpOptions& options) {
  Dumper dumper(program, out);
  bool first = true;
  for (const Definition& definition : program.definitions) {
    const Var& var = program.vars[definition.var];
    if (options.only.valid() && var.name != options.only) continue;
    if (var.from_library && !options.library && !options.only.valid()) continue;
    if (!first) out << "\n";
    first = false;
    dumper.Definition(definition.var, definition.value);
  }
}

}  // namespace df::core
