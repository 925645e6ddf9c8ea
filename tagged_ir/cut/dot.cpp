// A cut graph drawn: a cluster per part, in it one per scope, and a Send and a Recv for what crosses.
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/cut/cut.h"
#include "tagged_ir/dot.h"

namespace df::ir {
namespace {

class CutDrawer : Drawer {
 public:
  using Drawer::Drawer;
  void Run(const Cut& cut);

 private:
  void DrawChannels(const std::vector<Channel>& channels);
  void DrawPart(const Cut& cut, uint32_t part, const std::vector<Channel>& channels);
};

// From the node to its Send, over to the Recv, and from there to those that take it.
void CutDrawer::DrawChannels(const std::vector<Channel>& channels) {
  for (size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    auto line = [&](const std::string& from, const std::string& to, bool back, const char* more) {
      std::string style = EdgeStyle(channel.edge);
      if (back) style += style.empty() ? "constraint=false" : ", constraint=false";
      if (*more) style += (style.empty() ? "" : ", ") + std::string(more);
      out_ << "  " << from << " -> " << to << (style.empty() ? "" : " [" + style + "]") << ";\n";
    };
    const bool back = llvm::any_of(channel.users, [&](const auto& user) { return GoesBack(user.first, channel.edge); });
    line(Port(channel.edge), fmt::format("send{}", i), false, "");
    line(fmt::format("send{}", i), fmt::format("recv{}", i), back, "penwidth=2, weight=0");
    for (auto [user, input] : channel.users) line(fmt::format("recv{}", i), fmt::format("n{}", user.index), false, "");
  }
}

void CutDrawer::DrawPart(const Cut& cut, uint32_t part, const std::vector<Channel>& channels) {
  out_ << "  subgraph cluster_part" << part << " {\n    label=\"part " << part << (cut.device.empty() || cut.device[part].empty() ? "" : ", " + cut.device[part]) << "\"; style=\"filled\"; color=\"#f4f4f4\"; fontsize=14;\n";
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    const Scope& scope = g.scopes[ScopeId(i)];
    std::vector<NodeId> here;
    for (NodeId node : members_[i])
      if (cut.part[node.index] == part) here.push_back(node);
    if (here.empty()) continue;
    out_ << "    subgraph cluster_part" << part << "_" << i << " {\n      label=\"" << Escape(scope.name) << "\"; style=\"rounded"
         << (scope.kind == ScopeKind::Loop ? ",dashed" : "") << "\"; color=\"#888888\";\n";
    for (NodeId node : here) DrawNode(node, 3);
    out_ << "    }\n";
  }
  for (size_t i = 0; i < channels.size(); ++i)
    for (bool send : {true, false})
      if ((send ? channels[i].from : channels[i].to) == part)
        out_ << "    " << (send ? "send" : "recv") << i << " [shape=cds, height=0.2, style=filled, fillcolor=\"#f3d9d9\", label=\""
             << (send ? "Send " : "Recv ") << ChannelName(channels[i]) << "\"];\n";
  out_ << "  }\n";
}

void CutDrawer::Run(const Cut& cut) {
  Begin();
  const std::vector<Channel> channels = ChannelsOf(g, cut);
  for (uint32_t part = 0; part < cut.parts; ++part) DrawPart(cut, part, channels);
  DrawEdges(cut.part);
  DrawChannels(channels);
  out_ << "}\n";
}

}  // namespace

void PrintCutDot(const Graph& graph, const Cut& cut, llvm::raw_ostream& out) {
  const PrintOptions options;
  CutDrawer(graph, out, options).Run(cut);
}

}  // namespace df::ir
