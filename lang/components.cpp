#include "lang/components.h"

#include <algorithm>

namespace df {
namespace {

struct Tarjan {
  const std::vector<std::vector<uint32_t>>& edges;
  std::vector<uint32_t> index, low;
  std::vector<bool> on_stack;
  std::vector<uint32_t> stack;
  uint32_t next = 1;
  std::vector<std::vector<uint32_t>> out;

  explicit Tarjan(const std::vector<std::vector<uint32_t>>& e)
      : edges(e), index(e.size(), 0), low(e.size(), 0), on_stack(e.size(), false) {}

  // With a stack of its own: a chain of definitions may be as long as the program.
  void Visit(uint32_t root) {
    std::vector<std::pair<uint32_t, size_t>> work;
    auto enter = [&](uint32_t node) {
      index[node] = low[node] = next++;
      stack.push_back(node);
      on_stack[node] = true;
      work.push_back({node, 0});
    };
    enter(root);
    while (!work.empty()) {
      auto& [node, edge] = work.back();
      if (edge < edges[node].size()) {
        uint32_t to = edges[node][edge++];
        if (index[to] == 0) enter(to);
        else if (on_stack[to]) low[node] = std::min(low[node], index[to]);
        continue;
      }
      uint32_t done = node;
      work.pop_back();
      if (!work.empty()) low[work.back().first] = std::min(low[work.back().first], low[done]);
      if (low[done] != index[done]) continue;
      std::vector<uint32_t> component;
      uint32_t member;
      do {
        member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        component.push_back(member);
      } while (member != done);
      std::sort(component.begin(), component.end());
      out.push_back(std::move(component));
    }
  }
};

}  // namespace

std::vector<std::vector<uint32_t>> Components(const std::vector<std::vector<uint32_t>>& edges) {
  Tarjan tarjan(edges);
  for (uint32_t i = 0; i < edges.size(); ++i)
    if (tarjan.index[i] == 0) tarjan.Visit(i);
  return std::move(tarjan.out);
}

}  // namespace df
