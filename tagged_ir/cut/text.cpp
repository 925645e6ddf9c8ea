// A cut graph as text: see cut.h.
#include <map>

#include "fmt/format.h"
#include "tagged_ir/cut/cut.h"
#include "tagged_ir/text.h"

namespace df::ir {
namespace {

const char* Word(Carries carries) {
  switch (carries) {
    case Carries::Data: return "data";
    case Carries::Trigger: return "trigger";
    case Carries::Control: return "control, dead tokens only";
  }
  return "";
}

std::string UsersText(const Graph& graph, const Channel& channel) {
  std::string text;
  for (auto [user, input] : channel.users) text += fmt::format("{}%{} ({})", text.empty() ? "" : ", ", user.index, InfoOf(graph.nodes[user].op).name);
  return text;
}

}  // namespace

std::string EdgeText(Edge edge) { return edge.port == 0 ? fmt::format("%{}", edge.node.index) : fmt::format("%{}.{}", edge.node.index, edge.port); }

void PrintParts(const Graph& graph, const Cut& cut, llvm::raw_ostream& out) {
  const std::vector<Channel> channels = ChannelsOf(graph, cut);
  out << fmt::format("cut \"{}\" into {} part{}\n", graph.name, cut.parts, cut.parts == 1 ? "" : "s");
  for (uint32_t part = 0; part < cut.parts; ++part) {
    // Of each scope its nodes here.
    std::map<uint32_t, std::vector<uint32_t>> scopes;
    uint32_t nodes = 0, sends = 0, receives = 0;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      if (cut.part[i] != part) continue;
      scopes[graph.nodes[NodeId(i)].scope.index].push_back(i);
      ++nodes;
    }
    for (const Channel& channel : channels) {
      sends += channel.from == part;
      receives += channel.to == part;
    }
    const std::string device = cut.device.empty() || cut.device[part].empty() ? "" : fmt::format(" on {}", cut.device[part]);
    out << fmt::format("part {}{}: {} nodes, {} Sends, {} Recvs\n", part, device, nodes, sends, receives);
    for (const auto& [scope, members] : scopes) {
      out << "  " << graph.scopes[ScopeId(scope)].name << ':';
      for (uint32_t node : members) out << " %" << node;
      out << '\n';
    }
  }
  for (const Channel& channel : channels) {
    const Node& node = graph.nodes[channel.edge.node];
    out << fmt::format("{}: part {} to {}, {}, from %{} ({}) to {}\n", ChannelName(channel), channel.from, channel.to, Word(CarriesOf(graph, channel.edge)),
                       channel.edge.node.index, InfoOf(node.op).name, UsersText(graph, channel));
  }
}

void PrintCutGraph(const Graph& graph, const Cut& cut, llvm::raw_ostream& out) {
  const std::vector<Channel> channels = ChannelsOf(graph, cut);
  PrintOptions plain;
  plain.positions = false;
  for (uint32_t part = 0; part < cut.parts; ++part) {
    out << "part " << part << " {\n";
    for (const Channel& channel : channels)
      if (channel.to == part)
        out << fmt::format("  {} = Recv {} : {}\n", EdgeText(channel.edge), ChannelName(channel), graph.types.Print(graph.TypeOf(channel.edge)));
    for (uint32_t i = 0; i < graph.nodes.size(); ++i)
      if (cut.part[i] == part) PrintNode(graph, NodeId(i), out, plain);
    for (const Channel& channel : channels)
      if (channel.from == part) out << fmt::format("  Send {} {}\n", ChannelName(channel), EdgeText(channel.edge));
    out << "}\n";
  }
}

}  // namespace df::ir
