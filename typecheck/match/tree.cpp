#include "typecheck/match/tree.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "lang/budget.h"
#include "llvm/ADT/MapVector.h"
#include "typecheck/match/pattern.h"

namespace df {

using core::Pat;
using core::PatKind;
using core::VarId;

MatchTree::MatchTree(core::Program& program, llvm::ArrayRef<VarId> scrutinees, llvm::ArrayRef<core::Row> rows,
                     size_t first, size_t last, const std::vector<bool>& can_fall, size_t max_work)
    : program_(program), can_fall_(can_fall), max_work_(max_work) {
  Occurrences occurrences;
  for (VarId scrutinee : scrutinees) occurrences.push_back({scrutinee});
  std::vector<Line> lines;
  for (size_t row = first; row < last; ++row) {
    Line line{row, {}, {}, {}, false};
    for (size_t i = 0; i < scrutinees.size(); ++i)
      line.pats.push_back(Simplify(line, rows[row].pats[i], scrutinees[i]));
    lines.push_back(std::move(line));
  }
  root_ = Build(occurrences, std::move(lines));
}

TreeNode* MatchTree::NewNode(TreeNode::Kind kind, VarId occurrence) {
  CheckBudget();
  ++work_;
  nodes_.push_back({kind, occurrence, {}, nullptr, 0, {}, {}});
  return &nodes_.back();
}

static const Pat kForce{PatKind::Bang, {}, {}};

const Pat* MatchTree::Simplify(Line& line, const Pat* pat, VarId occurrence) {
  CheckBudget();
  bool forced = false;
  while (pat) {
    switch (pat->kind) {
      case PatKind::Wildcard:
        pat = nullptr;
        break;
      case PatKind::Var:
        line.bindings.emplace_back(pat->var, occurrence);
        pat = nullptr;
        break;
      case PatKind::As:
        line.bindings.emplace_back(pat->var, occurrence);
        pat = pat->args[0];
        break;
      case PatKind::Lazy:
        if (pat->args[0]->kind == PatKind::Var || pat->args[0]->kind == PatKind::Wildcard) {
          pat = pat->args[0];
          break;
        }
        line.lazy_pats.emplace_back(pat->args[0], occurrence);
        pat = nullptr;
        break;
      case PatKind::Bang: {
        forced = true;
        pat = pat->args[0];
        break;
      }
      case PatKind::Literal:
        return pat->literal == core::LiteralKind::String && !pat->equals ? ExpandString(program_, *pat) : pat;
      case PatKind::Con:
      case PatKind::View:
        return pat;
    }
  }
  return forced ? &kForce : nullptr;
}

namespace {

// Whether a look at the head is all that the pattern asks for, fit or not.
bool IsFlat(const Pat* pat) {
  if (pat->kind != PatKind::Con) return pat->kind == PatKind::Literal && !pat->equals;
  for (const Pat* arg : pat->args) {
    while (arg->kind == PatKind::As) arg = arg->args[0];
    if (arg->kind != PatKind::Wildcard && arg->kind != PatKind::Var && arg->kind != PatKind::Lazy) return false;
  }
  return true;
}

}  // namespace

bool MatchTree::Doom(const Line& line, const Occurrences& occurrences, size_t column, Line& doomed) const {
  CheckBudget();
  doomed = Line{line.row, line.pats, {}, {}, true};
  for (size_t i = column; i < doomed.pats.size(); ++i) doomed.pats[i] = nullptr;
  // The last look need not tell whether it fits.
  for (size_t i = column; i-- > 0;) {
    const Pat* pat = doomed.pats[i];
    if (!pat) continue;
    if (pat->kind != PatKind::Bang && !IsFlat(pat)) return true;
    if (!occurrences[i].forced) {
      doomed.pats[i] = &kForce;
      return true;
    }
    doomed.pats[i] = nullptr;
  }
  return false;
}

// Null as soon as the work is too much.
const TreeNode* MatchTree::Build(const Occurrences& occurrences, std::vector<Line> lines) {
  const TreeNode* head = nullptr;
  TreeNode* last = nullptr;  // the leaf whose rest comes next: rows whose guards may fail make a long chain
  auto link = [&](const TreeNode* node) {
    if (!last) return head = node;
    last->rest = node;
    return node ? head : nullptr;
  };
  work_ += lines.size();
  if (work_ > max_work_) return nullptr;
  for (size_t begin = 0;; ++begin) {
    if (begin == lines.size()) return link(NewNode(TreeNode::Kind::End));
    Line& line = lines[begin];
    size_t column = 0;
    while (column < line.pats.size() && !line.pats[column]) ++column;
    if (column == line.pats.size()) {
      if (line.doomed) continue;
      TreeNode* leaf = NewNode(TreeNode::Kind::Leaf);
      leaf->row = line.row;
      leaf->bindings = std::move(line.bindings);
      leaf->lazy_pats = std::move(line.lazy_pats);
      link(leaf);
      if (!can_fall_[line.row]) return head;
      last = leaf;
      continue;
    }
    lines.erase(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(begin));
    const Pat& pat = *lines[0].pats[column];
    if (pat.kind == PatKind::Bang) return link(BuildForce(occurrences, std::move(lines), column));
    if (pat.kind == PatKind::View) return link(BuildView(occurrences, std::move(lines), column));
    if (pat.kind == PatKind::Con) return link(BuildConstructors(occurrences, std::move(lines), column));
    if (pat.equals) return link(BuildTest(occurrences, std::move(lines), column));
    return link(BuildLiterals(occurrences, std::move(lines), column));
  }
}

const TreeNode* MatchTree::BuildForce(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Force, occurrences[column].var);
  Occurrences forced = occurrences;
  forced[column].forced = true;
  for (Line& line : lines)
    if (line.pats[column] && line.pats[column]->kind == PatKind::Bang) line.pats[column] = nullptr;
  node->rest = Build(forced, std::move(lines));
  return node->rest ? node : nullptr;
}

// A field's variable has the name that the first row of the constructor gives it.
VarId MatchTree::NewField(llvm::ArrayRef<const Pat*> pats, size_t field) {
  const Pat& pat = *pats[0];
  Symbol name;
  Span span = pat.args[field]->span;
  for (const Pat* other : pats) {
    const Pat* arg = other->args[field];
    while (arg->kind == PatKind::Bang || arg->kind == PatKind::Lazy) arg = arg->args[0];
    if (arg->kind == PatKind::Var || arg->kind == PatKind::As) {
      name = program_.vars[arg->var].name;
      span = arg->span;
      break;
    }
  }
  return program_.NewLocal(name.valid() ? name : Intern("p"), pat.args[field]->type, span);
}

// Columns that no line asks for any more: long lists would pile them up.
void MatchTree::DropIdleColumns(Occurrences& occurrences, std::vector<Line>& lines) {
  size_t kept = 0;
  for (size_t column = 0; column < occurrences.size(); ++column) {
    bool idle = llvm::none_of(lines, [&](const Line& line) { return line.pats[column] != nullptr; });
    if (idle) continue;
    occurrences[kept] = occurrences[column];
    for (Line& line : lines) line.pats[kept] = line.pats[column];
    ++kept;
  }
  occurrences.truncate(kept);
  for (Line& line : lines) line.pats.truncate(kept);
}

const TreeNode* MatchTree::BuildConstructors(const Occurrences& occurrences, std::vector<Line> lines,
                                             size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Switch, occurrences[column].var);
  // One look at the lines, however many constructors there are: those of each constructor, and those that fit every
  // constructor, wildcards and rows that Haskell looks at further left first.
  struct Present {
    std::vector<const Pat*> pats;
    std::vector<size_t> lines;
  };
  llvm::MapVector<uint32_t, Present> by_con;
  std::vector<size_t> everywhere;
  std::vector<Line> doomed(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Pat* pat = lines[i].pats[column];
    const bool is_con = pat && pat->kind == PatKind::Con;
    if (is_con) {
      Present& present = by_con[pat->con.index];
      present.pats.push_back(pat);
      present.lines.push_back(i);
    }
    if (!is_con || Doom(lines[i], occurrences, column, doomed[i])) everywhere.push_back(i);
  }
  // In the order of their declaration.
  std::vector<const Present*> present;
  for (const auto& [con, lines_of] : by_con) present.push_back(&lines_of);
  auto index = [&](const Present* of) { return program_.constructors[of->pats[0]->con].index; };
  llvm::sort(present, [&](const Present* a, const Present* b) { return index(a) < index(b); });

  for (const Present* of : present) {
    const Pat* shape = of->pats[0];
    TreeAlt alt;
    alt.con = shape->con;
    for (size_t field = 0; field < shape->args.size(); ++field) alt.vars.push_back(NewField(of->pats, field));
    for (const Pat* pat : of->pats)
      if (!pat->exists.empty() && !llvm::is_contained(alt.opened, pat->exists)) alt.opened.push_back(pat->exists);
    Occurrences inner(occurrences.begin(), occurrences.begin() + column);
    for (VarId field : alt.vars) inner.push_back({field});
    inner.append(occurrences.begin() + column + 1, occurrences.end());
    std::vector<size_t> chosen;
    std::set_union(of->lines.begin(), of->lines.end(), everywhere.begin(), everywhere.end(), std::back_inserter(chosen));
    std::vector<Line> fitting;
    for (size_t i : chosen) {
      const Pat* pat = lines[i].pats[column];
      const bool is_con = pat && pat->kind == PatKind::Con && pat->con == shape->con;
      const Line& line = is_con || !pat || pat->kind != PatKind::Con ? lines[i] : doomed[i];
      Line copy{line.row, {}, line.bindings, line.lazy_pats, line.doomed};
      copy.pats.append(line.pats.begin(), line.pats.begin() + column);
      for (size_t field = 0; field < shape->args.size(); ++field)
        copy.pats.push_back(is_con ? Simplify(copy, pat->args[field], alt.vars[field]) : nullptr);
      copy.pats.append(line.pats.begin() + column + 1, line.pats.end());
      fitting.push_back(std::move(copy));
    }
    DropIdleColumns(inner, fitting);
    alt.next = Build(inner, std::move(fitting));
    if (!alt.next) return nullptr;
    node->alts.push_back(std::move(alt));
  }
  const Pat* any = present[0]->pats[0];
  const bool all = llvm::all_of(program_.types.cons[program_.constructors[any->con].tycon].constructors, [&](core::ConId con) {
    return by_con.contains(con.index) || !core::MayBuild(program_, con, any->type);
  });
  if (all) return node;

  Occurrences outer = occurrences;
  outer.erase(outer.begin() + column);
  std::vector<Line> others;
  for (size_t i : everywhere) {
    const Pat* pat = lines[i].pats[column];
    Line line = std::move(pat && pat->kind == PatKind::Con ? doomed[i] : lines[i]);
    line.pats.erase(line.pats.begin() + column);
    others.push_back(std::move(line));
  }
  node->rest = Build(outer, std::move(others));
  return node->rest ? node : nullptr;
}

const TreeNode* MatchTree::BuildLiterals(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Switch, occurrences[column].var);
  Occurrences outer = occurrences;
  outer.erase(outer.begin() + column);
  // One pass over the lines, however many literals there are. A wildcard line belongs to every group that is
  // open already, and `others` holds those that a new group begins with.
  std::unordered_map<std::string, size_t> group_of;
  std::vector<std::pair<const Pat*, std::vector<Line>>> groups;
  std::vector<Line> others;
  auto add_to_all = [&](Line line, size_t but) {
    for (size_t i = 0; i < groups.size(); ++i)
      if (i != but) groups[i].second.push_back(line);
    work_ += groups.size();
    others.push_back(std::move(line));
  };
  for (Line& line : lines) {
    const Pat* pat = line.pats[column];
    Line doomed;
    bool is_literal = pat && pat->kind == PatKind::Literal;
    bool looks_left = is_literal && Doom(line, occurrences, column, doomed);
    if (looks_left) doomed.pats.erase(doomed.pats.begin() + column);
    line.pats.erase(line.pats.begin() + column);
    if (is_literal) {
      auto [it, fresh] = group_of.try_emplace(LiteralKey(program_, *pat), groups.size());
      if (fresh) {
        groups.emplace_back(pat, others);
        work_ += others.size();
      }
      groups[it->second].second.push_back(std::move(line));
      if (looks_left) add_to_all(std::move(doomed), it->second);
    } else {
      add_to_all(std::move(line), SIZE_MAX);
    }
    if (work_ > max_work_) return nullptr;
  }
  for (auto& [literal, group] : groups) {
    TreeAlt alt;
    alt.literal = literal;
    alt.next = Build(outer, std::move(group));
    if (!alt.next) return nullptr;
    node->alts.push_back(std::move(alt));
  }
  node->rest = Build(outer, std::move(others));
  return node->rest ? node : nullptr;
}

const Pat* MatchTree::UnderView(const Pat& pat, const Pat& view) {
  const Pat* inner = pat.args[0];
  if (pat.written || view.written) return pat.view == view.view ? inner : nullptr;
  if (inner->type == view.args[0]->type) return inner;
  if (!inner->args.empty()) return nullptr;
  // The empty sequence, seen from the other end: the first constructor of either view.
  Pat empty = *inner;
  empty.type = view.args[0]->type;
  empty.con = program_.types.cons[program_.types.Head(empty.type)].constructors[0];
  return program_.NewPat(empty);
}

// A sequence from its left end or from its right end. `Empty` is seen from the end that the rows after it look at.
const TreeNode* MatchTree::BuildView(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  const Pat* view = lines[0].pats[column];
  for (const Line& line : lines) {
    const Pat* pat = line.pats[column];
    if (view->written || !view->args[0]->args.empty()) break;
    if (pat && pat->kind == PatKind::View && !pat->args[0]->args.empty()) view = pat;
  }
  TreeNode* node = NewNode(TreeNode::Kind::View, occurrences[column].var);
  VarId seen = program_.NewLocal(Intern("view"), view->args[0]->type, view->span);
  TreeAlt alt;
  alt.vars.push_back(seen);
  alt.literal = view;
  node->alts.push_back(std::move(alt));
  if (view->written) node->bindings = lines[0].bindings;  // of what stands further left
  Occurrences inner = occurrences;
  if (!view->written) inner[column].forced = true;
  inner.insert(inner.begin() + column, Occurrence{seen});
  for (Line& line : lines) {
    const Pat* pat = line.pats[column];
    const Pat* under = pat && pat->kind == PatKind::View ? UnderView(*pat, *view) : nullptr;
    if (under) line.pats[column] = nullptr;
    line.pats.insert(line.pats.begin() + column, under ? Simplify(line, under, seen) : nullptr);
  }
  DropIdleColumns(inner, lines);
  node->rest = Build(inner, std::move(lines));
  return node->rest ? node : nullptr;
}

// A literal whose type has its own `==`: one test at a time. What a test says of other literals is not known,
// except of the same one.
const TreeNode* MatchTree::BuildTest(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Test, occurrences[column].var);
  const Pat* literal = lines[0].pats[column];
  std::vector<Line> yes, no;
  bool decided = false;  // whether a row before is taken for sure where the test says yes
  for (Line& line : lines) {
    const Pat* pat = line.pats[column];
    const bool same = pat && pat->kind == PatKind::Literal && pat->equals && pat->text == literal->text && pat->literal == literal->literal;
    Line doomed;
    if (!decided) {
      yes.push_back(line);
      if (same) yes.back().pats[column] = nullptr;
      const Line& last = yes.back();
      decided = !last.doomed && !can_fall_[last.row] && llvm::none_of(last.pats, [](const Pat* left) { return left != nullptr; });
    }
    if (!same) no.push_back(std::move(line));
    else if (Doom(line, occurrences, column, doomed)) no.push_back(std::move(doomed));
  }
  TreeAlt alt;
  alt.literal = literal;
  alt.next = Build(occurrences, std::move(yes));
  node->rest = alt.next ? Build(occurrences, std::move(no)) : nullptr;
  node->alts.push_back(std::move(alt));
  return node->rest ? node : nullptr;
}

}  // namespace df
