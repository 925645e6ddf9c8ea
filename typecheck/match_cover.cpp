#include "typecheck/match_cover.h"

#include "llvm/ADT/DenseSet.h"
#include "typecheck/match_pattern.h"

namespace df {

using core::LiteralKind;
using core::MatchContext;
using core::VarId;

namespace {

// Walks every path once and keeps what the tests on it said.
class Coverage {
 public:
  Coverage(const core::Program& program, const core::MatchExpr& match, llvm::ArrayRef<VarId> scrutinees)
      : program_(program), match_(match), scrutinees_(scrutinees), reached_(match.rows.size()) {}

  void Walk(const TreeNode* node, bool guards_failed) {
    for (; node; node = node->rest) {
      switch (node->kind) {
        case TreeNode::Kind::End: {
          // Of several examples the shortest says most.
          std::string& best = guards_failed ? by_guards_ : uncovered_;
          std::string example = Example();
          if (best.empty() || example.size() < best.size()) best = std::move(example);
          break;
        }
        case TreeNode::Kind::Leaf:
          reached_[node->row] = true;
          guards_failed = true;  // if the path goes on behind the leaf
          continue;
        case TreeNode::Kind::Force:
          continue;
        case TreeNode::Kind::Switch:
        case TreeNode::Kind::Test: {
          Known& known = known_[node->occurrence.index];
          Known before = known;
          for (const TreeAlt& alt : node->alts) {
            known_[node->occurrence.index].yes = &alt;
            Walk(alt.next, guards_failed);
          }
          known_[node->occurrence.index] = before;
          if (node->rest) {
            known_[node->occurrence.index].no.push_back(node);
            Walk(node->rest, guards_failed);
            known_[node->occurrence.index] = before;
          }
          return;
        }
      }
      return;
    }
  }

  const std::string& uncovered() const { return uncovered_; }
  const std::string& by_guards() const { return by_guards_; }
  bool reached(size_t row) const { return reached_[row]; }

 private:
  // What the path knows of one occurrence: the alternative that was taken, or the tests that failed.
  struct Known {
    const TreeAlt* yes = nullptr;
    std::vector<const TreeNode*> no;
  };

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
    std::string_view name = Text(row.name);
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
        if (!tried.contains(con.index)) return Constructor(con, {}, precedence);
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
  std::vector<bool> reached_;
  std::string uncovered_;
  std::string by_guards_;
};

const char* RowName(MatchContext context) {
  return context == MatchContext::Function ? "clause" : "alternative";
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
  Coverage coverage(program, match, scrutinees);
  coverage.Walk(root, false);
  if (match.context == MatchContext::Guard) return;  // inference may add a row of its own; what falls, falls on
  for (size_t row = 0; row < match.rows.size(); ++row)
    if (!coverage.reached(row)) diags.Report(Diag::NeverReached, match.rows[row].span, RowName(match.context));
  if (may_fall) return;
  if (!coverage.uncovered().empty()) {
    diags.Report(Diag::NotCovered, match.span, MatchFailure(match), coverage.uncovered());
  } else if (!coverage.by_guards().empty()) {
    auto& report = scrutinees.empty()
                       ? diags.Report(Diag::GuardsMayFail, match.span, MatchFailure(match))
                       : diags.Report(Diag::NotCovered, match.span, MatchFailure(match), coverage.by_guards());
    for (size_t row = 0; row < match.rows.size(); ++row) {
      if (!can_fall[row] || scrutinees.empty()) continue;
      report.Note(match.rows[row].span, "unless a guard here is true");
      break;
    }
    report.Hint("a last guard `otherwise` would cover the rest");
  }
}

}  // namespace df
