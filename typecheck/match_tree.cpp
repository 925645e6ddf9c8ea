#include "typecheck/match_tree.h"

#include <unordered_map>

#include "typecheck/match_pattern.h"

namespace df {

using core::Pat;
using core::PatKind;
using core::VarId;

MatchTree::MatchTree(core::Program& program, llvm::ArrayRef<VarId> scrutinees, llvm::ArrayRef<core::Row> rows,
                     size_t first, size_t last, const std::vector<bool>& can_fall, size_t max_work)
    : program_(program), can_fall_(can_fall), max_work_(max_work) {
  Occurrences occurrences(scrutinees.begin(), scrutinees.end());
  std::vector<Line> lines;
  for (size_t row = first; row < last; ++row) {
    Line line{row, {}, {}, {}};
    for (size_t i = 0; i < scrutinees.size(); ++i)
      line.pats.push_back(Simplify(line, rows[row].pats[i], scrutinees[i]));
    lines.push_back(std::move(line));
  }
  root_ = Build(occurrences, std::move(lines));
}

TreeNode* MatchTree::NewNode(TreeNode::Kind kind, VarId occurrence) {
  ++work_;
  nodes_.push_back({kind, occurrence, {}, nullptr, 0, {}, {}});
  return &nodes_.back();
}

const Pat* MatchTree::Simplify(Line& line, const Pat* pat, VarId occurrence) {
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
        return pat->literal == core::LiteralKind::String ? ExpandString(program_, *pat) : pat;
      case PatKind::Con:
        return pat;
    }
  }
  static const Pat kForce{PatKind::Bang, {}, {}};
  return forced ? &kForce : nullptr;
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
    if (pat.kind == PatKind::Con) return link(BuildConstructors(occurrences, std::move(lines), column));
    if (pat.equals) return link(BuildTest(occurrences, std::move(lines), column));
    return link(BuildLiterals(occurrences, std::move(lines), column));
  }
}

const TreeNode* MatchTree::BuildForce(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Force, occurrences[column]);
  for (Line& line : lines)
    if (line.pats[column] && line.pats[column]->kind == PatKind::Bang) line.pats[column] = nullptr;
  node->rest = Build(occurrences, std::move(lines));
  return node->rest ? node : nullptr;
}

// A field's variable has the name that the first row of the constructor gives it.
VarId MatchTree::NewField(const Pat& pat, size_t field, const std::vector<Line>& lines, size_t column) {
  Symbol name;
  Span span = pat.args[field]->span;
  for (const Line& line : lines) {
    const Pat* other = line.pats[column];
    if (!other || other->kind != PatKind::Con || other->con != pat.con) continue;
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

const TreeNode* MatchTree::BuildConstructors(const Occurrences& occurrences, std::vector<Line> lines,
                                             size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Switch, occurrences[column]);
  // The constructors that occur, in the order of their declaration, each with a pattern that shows its fields.
  std::vector<const Pat*> present;
  for (const Line& line : lines) {
    const Pat* pat = line.pats[column];
    if (!pat || pat->kind != PatKind::Con) continue;
    auto same = [&](const Pat* other) { return other->con == pat->con; };
    if (std::none_of(present.begin(), present.end(), same)) present.push_back(pat);
  }
  llvm::sort(present, [&](const Pat* a, const Pat* b) {
    return program_.constructors[a->con].index < program_.constructors[b->con].index;
  });

  for (const Pat* shape : present) {
    TreeAlt alt;
    alt.con = shape->con;
    for (size_t field = 0; field < shape->args.size(); ++field)
      alt.vars.push_back(NewField(*shape, field, lines, column));
    Occurrences inner(occurrences.begin(), occurrences.begin() + column);
    inner.append(alt.vars.begin(), alt.vars.end());
    inner.append(occurrences.begin() + column + 1, occurrences.end());
    std::vector<Line> fitting;
    for (const Line& line : lines) {
      const Pat* pat = line.pats[column];
      bool is_con = pat && pat->kind == PatKind::Con;
      if (is_con && pat->con != shape->con) continue;
      Line copy{line.row, {}, line.bindings, line.lazy_pats};
      copy.pats.append(line.pats.begin(), line.pats.begin() + column);
      for (size_t field = 0; field < shape->args.size(); ++field)
        copy.pats.push_back(is_con ? Simplify(copy, pat->args[field], alt.vars[field]) : nullptr);
      copy.pats.append(line.pats.begin() + column + 1, line.pats.end());
      fitting.push_back(std::move(copy));
    }
    alt.next = Build(inner, std::move(fitting));
    if (!alt.next) return nullptr;
    node->alts.push_back(std::move(alt));
  }
  if (present.size() == SiblingCount(program_, present[0]->con)) return node;

  Occurrences outer = occurrences;
  outer.erase(outer.begin() + column);
  std::vector<Line> others;
  for (Line& line : lines) {
    if (line.pats[column] && line.pats[column]->kind == PatKind::Con) continue;
    line.pats.erase(line.pats.begin() + column);
    others.push_back(std::move(line));
  }
  node->rest = Build(outer, std::move(others));
  return node->rest ? node : nullptr;
}

const TreeNode* MatchTree::BuildLiterals(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Switch, occurrences[column]);
  Occurrences outer = occurrences;
  outer.erase(outer.begin() + column);
  // One pass over the lines, however many literals there are. A wildcard line belongs to every group that is
  // open already, and `others` holds those that a new group begins with.
  std::unordered_map<std::string, size_t> group_of;
  std::vector<std::pair<const Pat*, std::vector<Line>>> groups;
  std::vector<Line> others;
  for (Line& line : lines) {
    const Pat* pat = line.pats[column];
    line.pats.erase(line.pats.begin() + column);
    if (pat && pat->kind == PatKind::Literal) {
      auto [it, fresh] = group_of.try_emplace(LiteralKey(program_, *pat), groups.size());
      if (fresh) {
        groups.emplace_back(pat, others);
        work_ += others.size();
        if (work_ > max_work_) return nullptr;
      }
      groups[it->second].second.push_back(std::move(line));
    } else {
      for (auto& group : groups) group.second.push_back(line);
      work_ += groups.size();
      if (work_ > max_work_) return nullptr;
      others.push_back(std::move(line));
    }
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

// A literal whose type has its own `==`: one test at a time. What a test says of other literals is not known,
// except of the same one.
const TreeNode* MatchTree::BuildTest(const Occurrences& occurrences, std::vector<Line> lines, size_t column) {
  TreeNode* node = NewNode(TreeNode::Kind::Test, occurrences[column]);
  const Pat* literal = lines[0].pats[column];
  std::string key = LiteralKey(program_, *literal);
  std::vector<Line> yes, no;
  for (Line& line : lines) {
    const Pat* pat = line.pats[column];
    bool same = pat && pat->kind == PatKind::Literal && LiteralKey(program_, *pat) == key &&
                pat->literal == literal->literal;
    if (!same) no.push_back(line);
    yes.push_back(std::move(line));
    if (same) yes.back().pats[column] = nullptr;
  }
  TreeAlt alt;
  alt.literal = literal;
  alt.next = Build(occurrences, std::move(yes));
  node->rest = alt.next ? Build(occurrences, std::move(no)) : nullptr;
  node->alts.push_back(std::move(alt));
  return node->rest ? node : nullptr;
}

}  // namespace df
