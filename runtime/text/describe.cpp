// Run-time errors as people read them: message, place, and the call path that the tag is.
//
//   error: divide by zero
//     at fact.df:3:14 in `f`
//     called at fact.df:7:9 in `g`
//     ... 9,980 more calls ...
//     called at fact.df:9:8 in `main`
//
// The path is told in the user's terms (docs/call-paths.md): the place of the user's that failed, then the calls of the user's
// functions by the user's. What the library calls is left out, and where it is called. The path ends at the first place of the user's
// that stands in an action.
#include <fmt/format.h>

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/run/engine.h"
#include "runtime/text/describe.h"
#include "tagged_ir/action.h"
#include "tagged_ir/spread.h"

namespace df {
namespace {

// Lines at the innermost and the outermost end of a long path.
constexpr size_t kInner = 16;
constexpr size_t kOuter = 4;

constexpr const char* kUnknown = "an unknown place";

std::string Thousands(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

// One line of the path; `calls` are the labels that it stands for.
struct Line {
  std::string what, place, function;
  uint64_t calls = 0;
  uint64_t tail_calls = 0;  // of a function to itself, which have no place
  bool library = false;
  bool inlined = false;  // the place to which the line before was inlined
  bool whole = false;    // `main` itself, which the root begins with
  std::string file = {};  // `place` in its parts
  uint32_t row = 0, column = 0;

  // A name that no program can have: an apply function, by which closures are called.
  bool made() const { return function.find(' ') != std::string::npos; }
  std::string What() const {
    return tail_calls ? fmt::format("after {} tail call{}", Thousands(tail_calls), tail_calls == 1 ? "" : "s") : what;
  }
  std::string Text() const {
    std::string text = What();
    if (!place.empty()) text += " " + place;
    return function.empty() || made() ? text : text + " in `" + function + "`";
  }
  PathLine Told() const { return {What(), file, row, column, made() ? "" : function, 0}; }
};

class Describer {
 public:
  explicit Describer(const ir::Graph& graph) : graph_(graph) {
    for (const ir::Site& site : graph.sites)
      if (graph.scopes.Contains(site.callee) && ir::IsPiece(graph.scopes[site.callee])) taken_from_[site.callee.index] = site.caller;
    if (!graph.action || graph.graph_results.empty()) return;
    // The functions that give actions, or functions that do, by the operands of their Returns; the root is one.
    actions_.resize(graph.scopes.size());
    actions_[0] = true;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      const ir::NodeId node(i);
      if (graph.nodes[node].op != ir::Op::Return || !graph.sites.Contains(graph.SiteOf(node))) continue;
      const ir::ScopeId callee = graph.sites[graph.SiteOf(node)].callee;
      if (ir::GivesAction(graph.types, graph.TypeOf(graph.InputsOf(node)[0]).type, graph.graph_results[0].type.type))
        actions_[callee.index] = true;
    }
  }

  // Whether the lines from `first` on, which stand in `scope`, are the last that are known: an action's.
  bool Ends(size_t first, ir::ScopeId scope) const {
    if (givers_ > 0 || actions_.empty() || !graph_.scopes.Contains(scope) || !actions_[FunctionOf(scope).index]) return false;
    return own_body_ || HasOwn(first);
  }
  bool HasOwn(size_t first) const {
    return std::any_of(lines_.begin() + static_cast<std::ptrdiff_t>(first), lines_.end(),
                       [](const Line& line) { return !line.library && !line.made() && line.place != kUnknown && !line.place.empty(); });
  }
  size_t lines() const { return lines_.size(); }

  // The lines of one place: the place itself, then the calls that were inlined away on the way to it.
  void AddPlace(const char* what, ir::PosId pos, const std::string& function, uint64_t calls) {
    // A chain as long as the table would be a circle.
    for (uint32_t n = 0; n <= graph_.positions.size(); ++n) {
      if (pos.valid()) {
        Resolve(&pos);
        if (!pos.valid()) return;
      }
      Line line{what, kUnknown, function, calls};
      if (graph_.positions.Contains(pos)) {
        const ir::Pos& p = graph_.positions[pos];
        if (!p.function.empty()) line.function = p.function;
        if (p.line && p.file < graph_.files.size()) {
          line.place = fmt::format("{}:{}:{}", graph_.files[p.file], p.line, p.column);
          line.file = graph_.files[p.file];
          line.row = p.line;
          line.column = p.column;
          line.library = ir::IsLibraryFile(graph_.files[p.file]);
        }
      }
      line.inlined = n > 0;
      line.whole = StandsAt(pos, graph_.scopes[ir::ScopeId(0)].pos);
      lines_.push_back(std::move(line));
      if (!graph_.positions.Contains(pos) || !graph_.positions[pos].inlined_at.valid()) return;
      pos = graph_.positions[pos].inlined_at;
      what = "called at";
      calls = 1;
    }
  }

  // Where the code came from a function that gave its result to the one it stands in (ir::Pos), from which of its callers on.
  void Resolve(ir::PosId* pos) {
    for (uint32_t n = 0; n <= graph_.positions.size() && graph_.positions.Contains(*pos); ++n) {
      const ir::Pos& p = graph_.positions[*pos];
      if (p.giver) {
        ++givers_;
        *pos = p.inlined_at;
      } else if (givers_ > 0 && p.given.valid()) {
        --givers_;
        *pos = p.given;
      } else {
        return;
      }
    }
  }

  // A call that the source has not: what it calls stands there.
  bool EntersPiece(const PathEntry& entry) const { return graph_.sites.Contains(entry.site) && taken_from_.contains(graph_.sites[entry.site].callee.index); }

  void AddEntry(const PathEntry& entry) {
    own_body_ = false;
    if (EntersPiece(entry)) return;
    if (graph_.sites.Contains(entry.site)) {
      const ir::Site& site = graph_.sites[entry.site];
      ir::PosId pos = site.pos;
      // The calls that were looked for may be among those that are not known.
      if (lines_.size() == gap_ && !(graph_.positions.Contains(pos) && graph_.positions[pos].given.valid())) givers_ = 0;
      // What an expression of a function computes late it computes in the function: nothing was called, whether the compiler
      // delays it or not. What it was inlined to before it became a Delay was told with what it computes.
      if (site.kind == ir::SiteKind::Delay && HasOwn(0)) {
        const Told told = Behind(pos, graph_.scopes[site.callee].pos);
        own_body_ = told.own;
        if (told.all) pos = told.rest;
        if (!pos.valid()) return;
      }
      if (IsSelfTailCall(entry.site)) AddTailCalls(1, site.caller);
      else AddPlace("called at", pos, ScopeName(site.caller), 1);
    } else if (entry.iteration > 0) {
      AddTailCalls(entry.iteration, entry.loop);
    }
  }

  // Of a function to itself. Where the call that it made in the end stands says whose they are, and what the source calls it.
  void AddTailCalls(uint64_t count, ir::ScopeId scope) {
    if (givers_ > 0) return;
    const Line before = lines_.empty() ? Line{} : lines_.back();
    if (before.tail_calls && lines_.size() != gap_) {
      lines_.back().tail_calls += count;
      return;
    }
    Line line{"", "", before.function.empty() || before.made() ? ScopeName(scope) : before.function, 1};
    line.library = before.library || before.made();
    line.tail_calls = count;
    lines_.push_back(std::move(line));
  }

  // A call of the function that it stands in, or of a copy of that, whose results are that function's: a loop where it is no copy.
  bool IsSelfTailCall(ir::SiteId id) {
    const ir::Site& site = graph_.sites[id];
    const ir::ScopeId caller = FunctionOf(site.caller);
    if (site.kind != ir::SiteKind::Call || !StandsAt(graph_.scopes[caller].pos, graph_.scopes[site.callee].pos)) return false;
    if (returns_.empty()) {
      returns_.resize(graph_.sites.size());
      for (uint32_t i = 0; i < graph_.nodes.size(); ++i)
        if (graph_.nodes[ir::NodeId(i)].op == ir::Op::Return && graph_.sites.Contains(graph_.SiteOf(ir::NodeId(i))))
          returns_[graph_.SiteOf(ir::NodeId(i)).index].push_back(ir::NodeId(i));
    }
    // What the function's results are on some side of its branches, from the operands of the Returns of a call of it.
    llvm::SetVector<uint32_t> results;
    for (uint32_t i = 0; i < returns_.size() && results.empty(); ++i)
      if (graph_.sites[ir::SiteId(i)].callee == caller)
        for (ir::NodeId node : returns_[i]) results.insert(graph_.InputsOf(node)[0].node.index);
    for (size_t i = 0; i < results.size(); ++i) {
      const ir::NodeId node(results[i]);
      llvm::ArrayRef<ir::Edge> inputs = graph_.InputsOf(node);
      if (graph_.nodes[node].op == ir::Op::Exit) results.insert(inputs[1].node.index);
      if (graph_.nodes[node].op == ir::Op::BranchMerge)
        for (ir::Edge side : inputs.drop_front()) results.insert(side.node.index);
    }
    return !returns_[id.index].empty() && llvm::all_of(returns_[id.index], [&](ir::NodeId node) { return results.contains(node.index); });
  }

  void AddGap(uint64_t calls) {
    gap_ = lines_.size();
    missing_ = calls;
  }

  // The lines that are told; `left_out` is called with what stands for others.
  template <typename Tell, typename LeftOut>
  void Finish(Tell tell, LeftOut left_out) {
    DropUnknown();
    Fold();
    // What lies between the ends is counted together with what was never known.
    size_t first = lines_.size(), last = lines_.size();
    if (gap_ != SIZE_MAX || lines_.size() > kInner + kOuter + 1) {
      first = std::min({kInner, gap_, lines_.size()});
      last = lines_.size() - std::min(kOuter, lines_.size() - (gap_ != SIZE_MAX ? gap_ : first));
    }
    uint64_t missing = missing_;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i >= first && i < last) missing += lines_[i].calls;
      else if (i < first) tell(lines_[i]);
    }
    if (missing) left_out(fmt::format("... {} more call{} ...", Thousands(missing), missing == 1 ? "" : "s"), missing);
    for (size_t i = last; i < lines_.size(); ++i) tell(lines_[i]);
  }

  // The function, or the root, that a scope belongs to; of a piece, that from which it was taken.
  ir::ScopeId FunctionOf(ir::ScopeId scope) const {
    for (uint32_t n = 0; n <= graph_.scopes.size(); ++n) {
      const ir::Scope& s = graph_.scopes[scope];
      if (auto piece = taken_from_.find(scope.index); piece != taken_from_.end()) scope = piece->second;
      else if (s.kind != ir::ScopeKind::Loop || !graph_.scopes.Contains(s.parent)) return scope;
      else scope = s.parent;
    }
    return scope;
  }

  // The source's name of it.
  std::string ScopeName(ir::ScopeId scope) const {
    return graph_.scopes.Contains(scope) ? graph_.scopes[FunctionOf(scope)].name : "";
  }

 private:
  struct Told {
    bool all = false;  // one chain of places begins with the other
    bool own = false;  // that one has places of the program's own
    ir::PosId rest;    // what the one has behind it
  };
  // Of a Delay's place and that of what it delays.
  Told Behind(ir::PosId chain, ir::PosId begin) const {
    Told told;
    bool known = false;
    for (uint32_t n = 0; n <= graph_.positions.size() && graph_.positions.Contains(begin); ++n) {
      if (!graph_.positions.Contains(chain)) return {};
      const ir::Pos &a = graph_.positions[chain], &b = graph_.positions[begin];
      if (a.file != b.file || a.line != b.line || a.column != b.column) return {};
      known |= a.line != 0;
      told.own |= a.line != 0 && a.file < graph_.files.size() && !ir::IsLibraryFile(graph_.files[a.file]);
      chain = a.inlined_at;
      begin = b.inlined_at;
    }
    if (!known) return {};
    told.all = true;
    told.rest = chain;
    return told;
  }
  bool StandsAt(ir::PosId pos, ir::PosId other) const {
    if (!graph_.positions.Contains(pos) || !graph_.positions.Contains(other)) return false;
    const ir::Pos &a = graph_.positions[pos], &b = graph_.positions[other];
    return a.line && a.file == b.file && a.line == b.line && a.column == b.column;
  }

  // A function that stands in no source, as one that adds gradients, is where it was called.
  void DropUnknown() {
    auto unknown = [](const Line& line) { return (line.made() || line.function.empty()) && (line.place == kUnknown || line.place.empty()); };
    size_t known = 0;
    while (known < lines_.size() && known != gap_ && unknown(lines_[known])) ++known;
    if (known == 0 || known == lines_.size() || known == gap_ || lines_[known].place.empty()) return;
    lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(known));
    lines_[0].what = "at";
    lines_[0].calls = 0;
    if (gap_ != SIZE_MAX) gap_ -= known;
  }

  // Leaves out what is no call of the user's code by the user's code.
  void Fold() {
    if (std::all_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.library; })) return;
    std::vector<Line> kept;
    bool library = true;  // the line before is the library's: what follows is the place of a call of the library
    size_t gap = gap_;
    for (size_t i = 0, end; i < lines_.size(); i = end) {
      for (end = i + 1; end < lines_.size() && lines_[end].inlined && end != gap_;) ++end;
      if (i == gap_) {
        gap = kept.size();
        library = false;
      }
      for (size_t k = i; k < end; ++k) {
        const Line& line = lines_[k];
        if (line.made() || (line.tail_calls && kept.empty())) continue;
        const bool called = !library || kept.empty();
        library = line.library;
        if (library || !called) continue;
        if (line.whole && !kept.empty() && kept.back().function == line.function) continue;
        kept.push_back(line);
      }
    }
    if (kept.empty()) return;
    if (gap != 0) kept[0].what = "at";  // else nobody knows what it calls
    if (gap_ >= lines_.size() && gap_ != SIZE_MAX) gap = kept.size();
    gap_ = gap;
    lines_ = std::move(kept);
  }

  const ir::Graph& graph_;
  llvm::DenseMap<uint32_t, ir::ScopeId> taken_from_;  // of pieces
  std::vector<bool> actions_;  // by scope: whether it is a function that gives an action; empty if none does
  std::vector<Line> lines_;
  bool own_body_ = false;  // the entry was a Delay of an expression of the program's own
  std::vector<llvm::SmallVector<ir::NodeId, 2>> returns_;  // by site; empty until they are asked for
  uint32_t givers_ = 0;    // calls whose `given` the path has still to meet
  size_t gap_ = SIZE_MAX;  // index of the first line after what was left out
  uint64_t missing_ = 0;
};

}  // namespace

namespace {

void AddPath(Describer& describer, const RuntimeError& error, const ir::Graph& graph) {
  ir::ScopeId scope;
  if (graph.nodes.Contains(error.node)) scope = graph.nodes[error.node].scope;
  // A place that says nothing and a path that is empty are left out altogether.
  bool known = graph.positions.Contains(error.pos) && graph.positions[error.pos].line != 0;
  const bool called = llvm::any_of(error.path, [&](const PathEntry& entry) { return !describer.EntersPiece(entry); });
  if (known || called) describer.AddPlace("at", error.pos, describer.ScopeName(scope), 0);
  bool ended = describer.Ends(0, scope);
  for (size_t i = 0; i < error.path.size() && !ended; ++i) {
    if (error.path_gap != 0 && i == error.path_gap) describer.AddGap(error.path_length - error.path.size());
    const size_t first = describer.lines();
    describer.AddEntry(error.path[i]);
    ended = graph.sites.Contains(error.path[i].site) && describer.Ends(first, graph.sites[error.path[i].site].caller);
  }
}

}  // namespace

std::string DescribePath(const RuntimeError& error, const ir::Graph& graph) {
  Describer describer(graph);
  AddPath(describer, error, graph);
  std::string text;
  describer.Finish([&](const Line& line) { text += "\n  " + line.Text(); }, [&](const std::string& what, uint64_t) { text += "\n  " + what; });
  return text;
}

std::vector<PathLine> PathOf(const RuntimeError& error, const ir::Graph& graph) {
  Describer describer(graph);
  AddPath(describer, error, graph);
  std::vector<PathLine> lines;
  describer.Finish([&](const Line& line) { lines.push_back(line.Told()); },
                   [&](const std::string& what, uint64_t calls) { lines.push_back({what, "", 0, 0, "", calls}); });
  return lines;
}

std::string Describe(const RuntimeError& error, const ir::Graph& graph) {
  return "error: " + error.message + DescribePath(error, graph);
}

}  // namespace df
