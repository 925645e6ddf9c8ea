// typecheck/match/tree.h
//
// Decision trees: which tests a match makes, in which order, and which row each path ends in.
//
// The column that is tested next is always the leftmost one of the first row that needs a test. This is the order
// in which Haskell looks, so nothing is forced that Haskell would not force. A row that a test excludes, but whose
// patterns further left Haskell would look at first, stays as a doomed row until these have been looked at: so
// everything is forced that Haskell would force. No occurrence is tested twice on a path, so every path can be
// taken, and a row is redundant exactly if no path reaches it.
// Source: L. Maranget, Compiling pattern matching to good decision trees, 2008.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "typecheck/core/core.h"

namespace df {

struct TreeNode;

struct TreeAlt {
  core::ConId con;                        // of Switch over constructors
  llvm::SmallVector<core::VarId, 2> vars;  // its fields
  llvm::SmallVector<core::List<TyVarId>, 0> opened;  // core::Alt::opened
  const core::Pat* literal = nullptr;      // of Switch over literals, and the pattern of Test and View
  const TreeNode* next = nullptr;
};

struct TreeNode {
  enum class Kind : uint8_t {
    End,     // no row fits
    Leaf,    // row `row`; if its body falls, `rest`
    Force,   // evaluates `occurrence`, then `rest`
    Switch,  // evaluates `occurrence`, takes the alternative, else `rest` (null if the alternatives are exhaustive)
    View,    // binds alts[0].vars[0] to alts[0].literal->view of `occurrence`, then `rest`
    Test,    // calls literal `alts[0].literal`->equals with `occurrence`: true, alts[0].next, false, `rest`
  } kind;
  core::VarId occurrence;
  std::vector<TreeAlt> alts;
  const TreeNode* rest = nullptr;
  // Leaf
  size_t row = 0;
  std::vector<std::pair<core::VarId, core::VarId>> bindings;        // pattern variable, what it stands for
  std::vector<std::pair<const core::Pat*, core::VarId>> lazy_pats;  // to be matched when a variable is asked for
};

// The tree of one match; nodes live as long as it does.
class MatchTree {
 public:
  // Rows [first, last) on `scrutinees`. `can_fall` tells for every row whether its body may fall.
  // Gives up (root() is null) beyond `max_work` nodes and rows copied.
  MatchTree(core::Program& program, llvm::ArrayRef<core::VarId> scrutinees, llvm::ArrayRef<core::Row> rows,
            size_t first, size_t last, const std::vector<bool>& can_fall, size_t max_work);

  const TreeNode* root() const { return root_; }
  size_t size() const { return nodes_.size(); }

 private:
  // A row as far as it is not yet decided. A null pattern is a wildcard.
  struct Line {
    size_t row;
    llvm::SmallVector<const core::Pat*, 4> pats;
    std::vector<std::pair<core::VarId, core::VarId>> bindings;
    std::vector<std::pair<const core::Pat*, core::VarId>> lazy_pats;
    bool doomed = false;  // it does not fit: only its tests remain to be made
  };
  struct Occurrence {
    core::VarId var;
    bool forced = false;
  };
  using Occurrences = llvm::SmallVector<Occurrence, 4>;

  const TreeNode* Build(const Occurrences& occurrences, std::vector<Line> lines);
  const TreeNode* BuildForce(const Occurrences& occurrences, std::vector<Line> lines, size_t column);
  const TreeNode* BuildConstructors(const Occurrences& occurrences, std::vector<Line> lines, size_t column);
  const TreeNode* BuildLiterals(const Occurrences& occurrences, std::vector<Line> lines, size_t column);
  const TreeNode* BuildTest(const Occurrences& occurrences, std::vector<Line> lines, size_t column);
  const TreeNode* BuildView(const Occurrences& occurrences, std::vector<Line> lines, size_t column);
  // The pattern on what this view gives; null if it belongs to another one.
  const core::Pat* UnderView(const core::Pat& pat, const core::Pat& view);
  // Moves variables and lazy patterns to the line's bindings: what is left is null, Con, Literal, View or Bang.
  const core::Pat* Simplify(Line& line, const core::Pat* pat, core::VarId occurrence);
  static void DropIdleColumns(Occurrences& occurrences, std::vector<Line>& lines);
  // The line, of which `column` does not fit, if there is something to look at left of it.
  bool Doom(const Line& line, const Occurrences& occurrences, size_t column, Line& doomed) const;
  core::VarId NewField(llvm::ArrayRef<const core::Pat*> pats, size_t field);
  TreeNode* NewNode(TreeNode::Kind kind, core::VarId occurrence = {});

  core::Program& program_;
  const std::vector<bool>& can_fall_;
  size_t max_work_;
  size_t work_ = 0;
  std::deque<TreeNode> nodes_;
  const TreeNode* root_ = nullptr;
};

}  // namespace df
