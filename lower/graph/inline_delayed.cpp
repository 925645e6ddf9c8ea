// See inline_delayed.h.
#include "lower/graph/inline_delayed.h"

#include <map>

#include "lang/budget.h"
#include "lower/graph/copy_call.h"

namespace df::fg {
namespace {

constexpr uint32_t kMaxCallee = 48;  // nodes
constexpr uint32_t kMaxBody = 120;   // nodes of a delayed body after that

class Inliner {
 public:
  explicit Inliner(Program& program) : p_(program), copier_(program) {
    for (const Function& function : p_.functions) {
      bool loops = false;
      for (const Block& block : function.blocks) loops |= block.again;
      fits_.push_back(CallCopier::CanCopy(p_, function) && !loops && function.nodes.size() <= kMaxCallee);
    }
  }

  void Run() {
    for (Function& function : p_.functions)
      if (function.delayed) RunIn(function);
  }

 private:
  void RunIn(Function& function) {
    CheckBudget();
    uint32_t blocks = function.blocks.size();
    for (BlockId block(0); block.index < blocks; ++block.index) {
      std::vector<NodeId> nodes;
      for (NodeId id : std::vector<NodeId>(function.blocks[block].nodes)) {
        const Node& node = function.nodes[id];
        bool fits = node.kind == NodeKind::Apply && fits_[node.callee.index] &&
                    function.nodes.size() + p_.functions[node.callee].nodes.size() <= kMaxBody;
        if (!fits) {
          nodes.push_back(id);
          continue;
        }
        std::vector<Value> results = copier_.Copy(function, id, nodes);
        for (uint32_t k = 0; k < results.size(); ++k) instead_[{id, k}] = results[k];
      }
      function.blocks[block].nodes = std::move(nodes);
    }
    Replace(function);
  }

  void Replace(Function& function) {
    if (instead_.empty()) return;
    auto replace = [&](Value& value) {
      // A result that is an argument of one call may be the result of another.
      for (auto it = instead_.find(value); it != instead_.end(); it = instead_.find(value)) value = it->second;
    };
    for (Node& node : function.nodes)
      for (Value& operand : node.operands) replace(operand);
    for (Block& block : function.blocks)
      for (Value& value : block.yields) replace(value);
    instead_.clear();
  }

  Program& p_;
  std::vector<bool> fits_;           // by function: may be copied
  std::map<Value, Value> instead_;   // in the function at hand
  CallCopier copier_;
};

}  // namespace

void InlineIntoDelayed(Program& program) { Inliner(program).Run(); }

}  // namespace df::fg
