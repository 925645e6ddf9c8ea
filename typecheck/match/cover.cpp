#include "typecheck/match/cover.h"

#include "lang/budget.h"
#include "llvm/ADT/DenseSet.h"
#include "typecheck/match/pattern.h"

namespace df {

using core::LiteralKind;
using core::MatchContext;
using core::VarId;

namespace {

// Walks every path and keeps what the tests on it said. Of several values that are not covered the one that takes the
// fewest tests is shown: a first walk finds the number, a second one the value.
class Coverage {
 public:
  Coverage(const core::Program& program, const core::MatchExpr& match, llvm::ArrayRef<VarId> scrutinees,
           const TreeNode* root)
      : program_(program), match_(match), scrutinees_(scrutinees), reached_(match.rows.size()) {
    Walk(root, false, 0);
    by_guards = fewest_[false] == SIZE_MAX;
    wanted_ = fewest_[by_guards];
    if (wanted_ != SIZE_MAX) Walk(root, false, 0);
  }

  bool reached(size_t row) const { return reached_[row]; }
  std::string example;     // empty if every value is covered
  bool by_guards = false;  // the example fits a row whose guards may fail

 private:
  // What follows `node`. `guards_failed`: some row fitted on this path; `tests`: how many were made.
  void Walk(const TreeNode* node, bool guards_failed, size_t tests) {
    CheckBudget();
    for (; node && example.empty(); node = node->rest) {
      switch (node->kind) {
        case TreeNode::Kind::End:
          if (!IsPossible()) return;
          fewest_[guards_failed] = std::min(fewest_[guards_failed], tests);
          if (tests == wanted_ && guards_failed == by_guards) example = Example();
          return;
        case TreeNode::Kind::Leaf:
          reached_[node->row] = true;
          guards_failed = true;  // if the path goes on behind the leaf
          break;
        case TreeNode::Kind::Force: break;
        case TreeNode::Kind::View:
          if (node->alts[0].literal->written) break;  // what a function gives is no part of a value
          views_[node->occurrence.index].push_back(node->alts[0].vars[0]);
          view_of_[node->alts[0].vars[0].index] = node->occurrence;
          break;
        case TreeNode::Kind::Switch:
        case TreeNode::Kind::Test: {
          uint32_t at = node->occurrence.index;
          for (const TreeAlt& alt : node->alts) {
            const TreeAlt* before = std::exchange(known_[at].yes, &alt);
            Walk(alt.next, guards_failed, tests + 1);
            known_[at].yes = before;
          }
          if (!node->rest || SeenFromOtherEnd(node->occurrence)) return;
          known_[at].no.push_back(node);
          Walk(node->rest, guards_failed, tests + 1);
          known_[at].no.pop_back();
          return;
        }
      }
    }
  }

  // A type as what the constructors on the path tell of its variables has it: behind `Nil :: Vec Z a` there is no other `Vec n b` either.
  TypeId Told(TypeId type) const {
    Types& types = const_cast<Types&>(program_.types);  // building a type adds rows, which changes nothing that is there
    llvm::SmallVector<TyVarId> vars;
    llvm::SmallVector<TypeId> values;
    for (const auto& [occurrence, known] : known_) {
      if (!known.yes || known.yes->literal || !known.yes->con.valid()) continue;
      const core::DataCon& con = program_.constructors[known.yes->con];
      const std::vector<TyVarId>& params = types.cons[con.tycon].params;
      llvm::SmallVector<TypeId> args;
      types.Head(program_.vars[VarId(occurrence)].scheme.type, &args);
      for (const auto& [param, told] : con.equations) {
        const size_t at = static_cast<size_t>(llvm::find(params, param) - params.begin());
        if (at >= args.size() || types.Kind(args[at]) != TypeKind::Var) continue;
        vars.push_back(types.VarOf(args[at]));
        values.push_back(told);
      }
    }
    return vars.empty() ? type : types.Substitute(type, vars, values);
  }

  // Whether there is a value for each occurrence on the path.
  bool IsPossible() const {
    return llvm::all_of(known_, [&](const auto& entry) {
      const TypeId type = Told(program_.vars[VarId(entry.first)].scheme.type);
      const Known& known = entry.second;
      if (known.yes) return known.yes->literal || !known.yes->con.valid() || core::MayBuild(program_, known.yes->con, type);
      if (known.no.empty() || known.no[0]->alts[0].literal) return true;
      return llvm::any_of(program_.types.cons[program_.constructors[known.no[0]->alts[0].con].tycon].constructors, [&](core::ConId con) {
        return IsUntried(known, con) && core::MayBuild(program_, con, type);
      });
    });
  }

  // A sequence that has a first element has a last one.
  bool SeenFromOtherEnd(VarId seen) const {
    auto of = view_of_.find(seen.index);
    if (of == view_of_.end()) return false;
    return llvm::any_of(views_.find(of->second.index)->second, [&](VarId other) {
      auto known = known_.find(other.index);
      return other != seen && known != known_.end() && known->second.yes && !known->second.yes->vars.empty();
    });
  }

  // What the path knows of one occurrence: the alternative that was taken, or the tests that failed.
  struct Known {
    const TreeAlt* yes = nullptr;
    std::vector<const TreeNode*> no;
  };

  static bool IsUntried(const Known& known, core::ConId con) {
    return llvm::none_of(known.no, [&](const TreeNode* node) {
      return llvm::any_of(node->alts, [&](const TreeAlt& alt) { return !alt.literal && alt.con == con; });
    });
  }

  std::string Example() const {
    bool function = match_.context == MatchContext::Function;
    std::string_view name = Text(match_.name);
    if (function && scrutinees_.size() == 2 && IsOperator(name))
      return Value(scrutinees_[0], 1) + " " + std::string(name) + " " + Value(scrutinees_[1], 1);
    std::string out;
    if (function) out = IsOperator(name) ? "(" + std::string(name) + ")" : std::string(name);
    bool alone = !function && scrutinees_.size() == 1;
    for (VarId scrutinee : scrutinees_) {
      if (!out.empty()) out += ' ';
      out += Value(scrutinee, alone ? 0 : 2);
    }
    return out;
  }

  static bool IsOperator(std::string_view name) {
    unsigned char first = name.empty() ? 'x' : static_cast<unsigned char>(name[0]);
    return first < 0x80 && !isalnum(first) && first != '_' && first != '(' && first != '[';
  }

  // Precedence: 0 anything, 1 operand of an operator, 2 argument.
  std::string Value(VarId occurrence, int precedence) const {
    // The end of a sequence that was looked at last tells.
    if (auto views = views_.find(occurrence.index); views != views_.end())
      for (VarId seen : llvm::reverse(views->second))
        if (std::string value = Value(seen, precedence); value != "_") return value;
    auto it = known_.find(occurrence.index);
    if (it == known_.end() || (!it->second.yes && it->second.no.empty())) return "_";
    const Known& known = it->second;
    if (known.yes) {
      if (!known.yes->literal) return Constructor(known.yes->con, known.yes->vars, precedence);
      return LiteralText(*known.yes->literal, precedence);
    }
    return OtherThan(known, precedence);
  }

  std::string Constructor(core::ConId con, llvm::ArrayRef<VarId> vars, int precedence) const {
    const core::DataCon& row = program_.constructors[con];
    std::string_view name = Text(row.name) == "PrimNone" ? "Empty" : Text(row.name);
    auto field = [&](size_t i, int p) { return i < vars.size() ? Value(vars[i], p) : std::string("_"); };
    std::string out;
    if (program_.types.cons[row.tycon].builtin == Builtin::Tuple) {
      for (size_t i = 0; i < row.fields.size(); ++i) out += (i ? ", " : "(") + field(i, 0);
      return out + ")";
    }
    bool infix = IsOperator(name);
    if (infix && row.fields.size() == 2) {
      out = field(0, 1) + " " + std::string(name) + " " + field(1, 1);
      return precedence > 0 ? "(" + out + ")" : out;
    }
    out = infix ? "(" + std::string(name) + ")" : std::string(name);
    for (size_t i = 0; i < row.fields.size(); ++i) out += " " + field(i, 2);
    return precedence > 1 && !row.fields.empty() ? "(" + out + ")" : out;
  }

  static std::string LiteralText(const core::Pat& literal, int precedence) {
    std::string text(Text(literal.text));
    if (literal.literal == LiteralKind::Char) return "'" + text + "'";
    if (literal.literal == LiteralKind::String) return "\"" + text + "\"";
    return precedence > 0 && text[0] == '-' ? "(" + text + ")" : text;
  }

  // A value that none of the failed tests names.
  std::string OtherThan(const Known& known, int precedence) const {
    const TreeNode* first = known.no[0];
    if (!first->alts[0].literal) {
      llvm::DenseSet<uint32_t> tried;
      for (const TreeAlt& alt : first->alts) tried.insert(alt.con.index);
      TyConId type = program_.constructors[first->alts[0].con].tycon;
      for (core::ConId con : program_.types.cons[type].constructors)
        if (!tried.contains(con.index) && core::MayBuild(program_, con, Told(program_.vars[first->occurrence].scheme.type)))
          return Constructor(con, {}, precedence);
      return "_";
    }
    llvm::StringMap<bool> tried;
    core::Pat other = *first->alts[0].literal;
    for (const TreeNode* node : known.no)
      for (const TreeAlt& alt : node->alts) tried[LiteralKey(program_, *alt.literal)] = true;
    for (uint32_t next = 0;; ++next) {
      switch (other.literal) {
        case LiteralKind::Integer: other.text = Intern(std::to_string(next)); break;
        case LiteralKind::Fractional: other.text = Intern(std::to_string(next) + ".0"); break;
        case LiteralKind::Char: {
          // Letters first, then whatever follows them; past ASCII a wildcard says enough.
          if (next >= 62) return "_";
          constexpr std::string_view kChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
          other.text = Intern(kChars.substr(next, 1));
          break;
        }
        case LiteralKind::String: return "_";
      }
      if (!tried.count(LiteralKey(program_, other))) return LiteralText(other, precedence);
    }
  }

  const core::Program& program_;
  const core::MatchExpr& match_;
  llvm::ArrayRef<VarId> scrutinees_;
  llvm::DenseMap<uint32_t, Known> known_;
  llvm::DenseMap<uint32_t, llvm::SmallVector<VarId, 1>> views_;  // of an occurrence: what views of it gave
  llvm::DenseMap<uint32_t, VarId> view_of_;
  std::vector<bool> reached_;
  size_t fewest_[2] = {SIZE_MAX, SIZE_MAX};  // tests on a path to an End; at true: by way of guards
  size_t wanted_ = SIZE_MAX - 1;             // no path is as long
};

const char* RowName(MatchContext context) {
  return context == MatchContext::Function ? "clause" : "alternative";
}

// Why a row is never reached, where one above fits every value: `case animal of dog -> ..` for `Dog`.
void ExplainNeverReached(const core::Program& program, const core::MatchExpr& match, size_t row,
                         const std::vector<bool>& can_fall, Diagnostics& diags) {
  auto fits_all = [](const core::Pat* pat) { return pat->kind == core::PatKind::Var || pat->kind == core::PatKind::Wildcard; };
  for (size_t above = 0; above < row; ++above) {
    const core::Row& all = match.rows[above];
    if (can_fall[above] || all.pats.empty() || !llvm::all_of(all.pats, fits_all)) continue;
    const core::Pat* first = all.pats[0];
    Span span = first->span;
    span.end = all.pats[all.pats.size() - 1]->span.end;
    const bool is_name = all.pats.size() == 1 && first->kind == core::PatKind::Var;
    diags.Note(span, is_name ? fmt::format("`{}` is a variable, and fits every value", Text(program.vars[first->var].name))
                             : std::string("this fits every value"));
    for (const core::Pat* pat : all.pats) {
      TyConId head = program.types.Head(pat->type);
      if (pat->kind != core::PatKind::Var || !head.valid()) continue;
      std::string name(Text(program.vars[pat->var].name));
      name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
      for (core::ConId con : program.types.cons[head].constructors)
        if (Text(program.constructors[con].name) == name)
          return void(diags.Hint(fmt::format("a constructor begins with a capital: `{}`", name)));
    }
    return;
  }
}

}  // namespace

std::string MatchFailure(const core::MatchExpr& match) {
  switch (match.context) {
    case MatchContext::Function: return fmt::format("no clause of `{}` fits", Text(match.name));
    case MatchContext::Case: return "no alternative of `case` fits";
    case MatchContext::Lambda: return "the pattern of the lambda does not fit";
    case MatchContext::PatternBinding: return "the pattern of the binding does not fit";
    case MatchContext::Guard: break;
  }
  return "no guard is true";
}

void ReportCoverage(const core::Program& program, const core::MatchExpr& match,
                    llvm::ArrayRef<VarId> scrutinees, const TreeNode* root, const std::vector<bool>& can_fall,
                    bool may_fall, Diagnostics& diags) {
  Coverage coverage(program, match, scrutinees, root);
  if (match.context == MatchContext::Guard) return;  // inference may add a row of its own; what falls, falls on
  // (What a pattern synonym becomes ends in a row for all other values.)
  const bool synonym = match.name.valid() && Text(match.name).starts_with("%");
  for (size_t row = 0; row < match.rows.size() && !synonym; ++row)
    if (!coverage.reached(row)) {
      diags.Report(Diag::NeverReached, match.rows[row].span, RowName(match.context));
      ExplainNeverReached(program, match, row, can_fall, diags);
    }
  if (may_fall || coverage.example.empty()) return;
  if (!coverage.by_guards) {
    diags.Report(Diag::NotCovered, match.span, MatchFailure(match), coverage.example);
  } else {
    auto& report = scrutinees.empty()
                       ? diags.Report(Diag::GuardsMayFail, match.span, MatchFailure(match))
                       : diags.Report(Diag::NotCovered, match.span, MatchFailure(match), coverage.example);
    for (size_t row = 0; row < match.rows.size(); ++row) {
      if (!can_fall[row] || scrutinees.empty()) continue;
      report.Note(match.rows[row].span, "unless a guard here is true");
      break;
    }
    report.Hint("a last guard `otherwise` would cover the rest");
  }
}

}  // namespace df
