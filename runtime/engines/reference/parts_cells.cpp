// Delayed calls of a graph that is cut. A reference is the name of one, a site and a tag; what belongs to it is where its Delay stands, and others ask for
// its value by a message. Nobody knows who still holds a name, so what is known of one stays until the end of the run.
#include "runtime/engines/reference/parts.h"

namespace df::reference {

void CutExecution::Delay(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  if (token.input == 0) {
    TraceFiring(token.node, token.tag, token.value);
    ++stats_.firings;
    if (token.value.is_dead()) return Emit(token.node, 0, token.tag, token.value);
    ++stats_.delays;
    auto* name = new DelayCell;
    name->site = ir::SiteId(n.attr);
    name->tag = token.tag;
    return Emit(token.node, 0, token.tag, Value::Adopt(ValueKind::Reference, name));
  }
  if (token.value.is_dead()) return;
  CellState& cell = here_->cells[{n.attr, token.tag}];
  if (!cell.released) {
    cell.kept.emplace_back(token.input, token.value);
    return;
  }
  TraceFiring(token.node, token.tag, token.value);
  Emit(token.node, token.input + 1, tags_.Push({n.attr, false, 0}, token.tag), token.value);
}

void CutExecution::ForceCell(const Token& token, DelayCell* cell) {
  // At home it is released even where the value is on record, of a part that began anew: others may need what else its body gives.
  if (HomeOf(cell->site.index, cell->tag) == here_->number) ReleaseHere(*here_, cell->site.index, cell->tag);
  CellState& state = here_->cells[{cell->site.index, cell->tag}];
  if (state.full) return Emit(token.node, 0, token.tag, state.value);
  state.waiters.emplace_back(token.node, token.tag);
  Ask(*here_, cell->site.index, cell->tag);
}

// Whoever wants a value of this part: released here, or by a message, once.
void CutExecution::Ask(Part& part, uint32_t site, const TagRef& tag) {
  if (HomeOf(site, tag) == part.number) return ReleaseHere(part, site, tag);
  CellState& cell = part.cells[{site, tag}];
  if (std::exchange(cell.released, true)) return;
  ++counts_.cell_messages;
  Post({.kind = Message::Kind::Force, .from = part.number, .to = HomeOf(site, tag), .index = site, .tag = tag});
}

void CutExecution::ReleaseHere(Part& part, uint32_t site, const TagRef& tag) {
  CellState& cell = part.cells[{site, tag}];
  if (std::exchange(cell.released, true)) return;
  ++stats_.released;
  ++stats_.calls;
  const ir::NodeId node = delay_of_site_[site];
  const TagRef inside = tags_.Push({site, false, 0}, tag);
  auto kept = std::move(cell.kept);
  cell.kept.clear();
  Emit(node, 1, inside, Value::Word(0));
  for (auto& [input, value] : kept) Emit(node, input + 1, inside, value);
}

void CutExecution::FillCell(const Token& token) {
  if (token.value.is_reference()) throw BrokenRule{"a delayed call whose result is a reference"};
  if (token.value.is_dead()) throw BrokenRule{"a delayed call whose result is dead"};
  const uint32_t site = graph_.nodes[token.node].attr;
  const TagRef tag = token.tag.tail();
  const uint32_t home = HomeOf(site, tag);
  if (home == here_->number) return FillHere(*here_, site, tag, token.value);
  ++counts_.cell_messages;
  Post({.kind = Message::Kind::Fill, .from = here_->number, .to = home, .index = site, .tag = tag, .value = token.value});
}

// The value has come: from the body, or from home.
void CutExecution::FillHere(Part& part, uint32_t site, const TagRef& tag, const Value& value) {
  CellState& cell = part.cells[{site, tag}];
  if (cell.full && options_.losses != 0) return;  // its body ran again
  if (cell.full) throw BrokenRule{"a second result of a delayed call"};
  cell.full = true;
  cell.value = value;
  auto waiters = std::move(cell.waiters);
  cell.waiters.clear();
  auto askers = std::move(cell.askers);
  cell.askers.clear();
  for (auto& [node, to] : waiters) Emit(node, 0, to, value);
  for (uint32_t asker : askers) PostForced(part, asker, site, tag, value);
}

void CutExecution::PostForced(Part& part, uint32_t to, uint32_t site, const TagRef& tag, const Value& value) {
  ++counts_.cell_messages;
  Post({.kind = Message::Kind::Forced, .from = part.number, .to = to, .index = site, .tag = tag, .value = value});
}

// Asked from outside: by part 0.
Outcome CutExecution::Answer(DelayCell* cell, Value& to) {
  Part& root = *parts_[0];
  if (!Reached(cell)) {
    Outcome outcome = Guarded([&] {
      here_ = &root;
      at_ = here_;
      Ask(root, cell->site.index, cell->tag);
    });
    if (outcome.ok()) outcome = Run(cell);
    if (!outcome.ok()) return outcome;
  }
  to = Value(root.cells[{cell->site.index, cell->tag}].value);
  return {};
}

}  // namespace df::reference
