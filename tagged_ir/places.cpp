// See places.h.
#include "tagged_ir/places.h"

namespace df::ir {

PosId Places::Add(Pos pos, PosId from) {
  if (added_) added_(from);
  return positions_.Add(std::move(pos));
}

Places::Whose Places::WhoseIs(PosId pos) const {
  const Pos& p = positions_[pos];
  if (p.giver) return Whose::Giver;
  if (p.line == 0) return Whose::Nobody;
  return IsLibraryFile(files_[p.file]) ? Whose::Library : Whose::Own;
}

bool Places::IsOwn(PosId pos) const {
  if (!pos.valid()) return false;
  while (positions_[pos].inlined_at.valid()) pos = positions_[pos].inlined_at;
  return WhoseIs(pos) == Whose::Own;
}

uint32_t Places::Length(PosId pos) {
  if (!pos.valid()) return 0;
  if (pos.index >= lengths_.size()) lengths_.resize(positions_.size());
  if (lengths_[pos.index]) return lengths_[pos.index];
  const uint32_t length = 1 + Length(positions_[pos].inlined_at);
  return lengths_[pos.index] = length;
}

PosId Places::InlinedAt(PosId pos, PosId site, bool action) {
  if (!pos.valid() || !site.valid() || (action && IsOwn(pos)) || Length(pos) >= kMostInlined) return pos;
  return Append(pos, site);
}

PosId Places::Append(PosId pos, PosId site) {
  auto it = inlined_.find({pos.index, site.index});
  if (it != inlined_.end()) return it->second;
  Pos copy = positions_[pos];
  if (copy.inlined_at.valid()) {
    copy.inlined_at = Append(copy.inlined_at, site);
  } else {
    const bool library = WhoseIs(pos) == Whose::Library;
    copy.inlined_at = site;
    while (copy.inlined_at.valid() && !positions_[copy.inlined_at].given.valid()) {
      const Whose whose = WhoseIs(copy.inlined_at);
      if (whose != Whose::Nobody && !(whose == Whose::Library && library)) break;
      copy.inlined_at = positions_[copy.inlined_at].inlined_at;
    }
  }
  if (copy.given.valid()) copy.given = InlinedAt(copy.given, site);
  const bool same = copy.inlined_at == positions_[pos].inlined_at && copy.given == positions_[pos].given;
  const PosId made = same ? pos : Add(std::move(copy), pos);
  return inlined_[{pos.index, site.index}] = made;
}

PosId Places::WithGiven(PosId call, PosId given) {
  if (!call.valid() || !given.valid()) return call;
  auto [it, fresh] = given_.try_emplace({call.index, given.index});
  if (!fresh) return it->second;
  Pos copy = positions_[call];
  copy.given = given;
  return it->second = Add(std::move(copy), call);
}

PosId Places::Giver() {
  if (giver_.valid()) return giver_;
  Pos pos;
  pos.giver = true;
  return giver_ = Add(std::move(pos), {});
}

void DropUnusedPositions(Graph& graph) {
  std::vector<PosId> now(graph.positions.size());
  std::vector<bool> used(graph.positions.size());
  std::vector<PosId> open;
  auto use = [&](PosId pos) {
    if (!graph.positions.Contains(pos) || used[pos.index]) return;
    used[pos.index] = true;
    open.push_back(pos);
  };
  for (const Node& node : graph.nodes) use(node.pos);
  for (const Scope& scope : graph.scopes) use(scope.pos);
  for (const Site& site : graph.sites) use(site.pos);
  while (!open.empty()) {
    const Pos& pos = graph.positions[open.back()];
    open.pop_back();
    use(pos.inlined_at);
    use(pos.given);
  }
  Table<PosId, Pos> kept;
  for (uint32_t i = 0; i < now.size(); ++i)
    if (used[i]) now[i] = kept.Add(std::move(graph.positions[PosId(i)]));
  auto renumber = [&](PosId& pos) {
    if (pos.index < now.size()) pos = now[pos.index];
  };
  for (Pos& pos : kept) {
    renumber(pos.inlined_at);
    renumber(pos.given);
  }
  for (Node& node : graph.nodes) renumber(node.pos);
  for (Scope& scope : graph.scopes) renumber(scope.pos);
  for (Site& site : graph.sites) renumber(site.pos);
  graph.positions = std::move(kept);
}

}  // namespace df::ir
