// What goes from frame to frame: calls, results, iterations, delayed calls, values of enclosing scopes.
#include "runtime/tagged_engine.h"

namespace df::tagged {

using ir::NodeId;

namespace {

// So many finished frames may hang on each other only for the tag of a delayed call.
constexpr uint32_t kLongestStaleChain = 128;
constexpr uint32_t kStaleUnit = 1 << 8;  // in Frame::flags, above the flags

DelayCell* CellIn(Frame* frame, uint32_t slot) {
  return static_cast<DelayCell*>(static_cast<Cell*>(reinterpret_cast<Object*>(frame->slots()[slot])));
}

// How many finished frames hang on `home` and only keep their tags, as far as is known: a delayed body's frame has counted
// those above it.
uint32_t StaleChain(const Frame* frame) {
  uint32_t count = 0;
  while (frame && frame->refs == 0 && count < kLongestStaleChain) {
    ++count;
    if (frame->site->type == SiteType::Delay) return count + frame->flags / kStaleUnit;
    frame = frame->parent_frame();
  }
  return count;
}

}  // namespace

// ---------------------------------------------------------------- calls

// The activation of a new frame, after its parameters are set.
void TaggedExecution::Enter(Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries) {
  Fire(frame, site.callee->activation);
  if (!(frame->flags & kErrors)) return;
  for (const Delivery& d : deliveries)
    if (d.event == kNone && d.to != kNone && frame->KindOf(d.to) == ValueKind::Error) PassError(frame, {d.merge, 0});
}

void TaggedExecution::Call(Frame* frame, const SiteCode& site) {
  ++(site.type == SiteType::Loop ? stats_.loops : stats_.calls);
  Frame* child = NewFrame(&site, frame);
  ++frame->refs;
  if (site.child_slot != kNone) frame->Set(site.child_slot, Value::Word(reinterpret_cast<int64_t>(child)));
  for (const Delivery& d : site.together) child->Set(d.to, Read(frame, d.from));
  if (site.type == SiteType::Loop) child->Set(site.callee->iteration_slot, Value::Word(0));
  if (run_.trace) Trace(child, site.trigger, kNone);
  Enter(child, site, site.together);
}

void TaggedExecution::Deliver(Frame* to, const Delivery& delivery, Value value) {
  bool failed = value.is_error();
  to->Set(delivery.to, std::move(value));
  Fire(to, delivery.event);
  if (failed) PassError(to, {delivery.merge, 0});
}

// The tail that makes the child may still be waiting on the stack: then it is made now.
void TaggedExecution::CallLate(Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.child_slot)) Call(frame, site);
  auto* child = reinterpret_cast<Frame*>(frame->slots()[site.child_slot]);
  if (!child) return;  // finished: nobody needs it any more
  const Delivery& d = site.late[index];
  Deliver(child, d, Read(frame, d.from));
}

void TaggedExecution::SendResult(Frame* frame, uint32_t result, Value value) {
  const SiteCode& site = *frame->site;
  uint8_t& sent = frame->states()[frame->scope().first_sent + result];
  if (sent) return;
  sent = kPresent;
  if (site.type == SiteType::Delay) {
    if (result == site.cell_result) FillCell(frame, std::move(value));
  } else if (const ReturnTo& to = site.returns[result]; to.slot != kNone) {
    Frame* parent = frame->parent;
    bool failed = value.is_error();
    parent->Set(to.slot, std::move(value));
    Fire(parent, to.event);
    if (run_.trace) Trace(parent, to.node, to.slot);
    if (failed) PassError(parent, {to.node, 0});
  }
  Unref(frame);
}

// ---------------------------------------------------------------- loops

void TaggedExecution::Next(Frame* frame, const SiteCode& site) {
  ++stats_.loops;
  const ScopeCode& scope = *site.callee;
  uint64_t iteration = frame->slots()[scope.iteration_slot] + 1;
  std::vector<Value> values;
  values.reserve(site.next_together.size());
  for (const Delivery& d : site.next_together) values.push_back(Read(frame, d.from));
  Frame* next = frame;
  // The frame serves the next iteration too if nothing is left of this one but the results to send and this step.
  if (frame->refs == scope.num_results + 1 && frame->pins == 0 && !(frame->flags & kOuterWaiters) &&
      site.late.empty() && site.next_late.empty()) {
    ReleaseValues(frame);
    FramePool::Reset(frame, scope);
  } else {
    next = NewFrame(&site, frame->parent);
    ++frame->parent->refs;
    uint32_t late = static_cast<uint32_t>(site.next_late.size());
    if (late) frame->Set(site.next_slot, Value::Word(reinterpret_cast<int64_t>(next)));
    next->refs += late;
    frame->refs += late;                // arguments still to be sent on
    frame->refs -= scope.num_results;   // which the next iteration sends
  }
  next->Set(scope.iteration_slot, Value::Word(static_cast<int64_t>(iteration)));
  for (size_t i = 0; i < values.size(); ++i) next->Set(site.next_together[i].to, std::move(values[i]));
  Enter(next, site, site.next_together);
}

void TaggedExecution::NextLate(Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.next_slot)) Next(frame, site);
  auto* next = reinterpret_cast<Frame*>(frame->slots()[site.next_slot]);
  const Delivery& d = site.next_late[index];
  Deliver(next, d, Read(frame, d.from));
  Unref(next);
  Unref(frame);
}

// ---------------------------------------------------------------- delayed calls

DelayCell::DelayCell(TaggedExecution* o, const SiteCode* s, Frame* h) : owner(o), site(s), home(h) {
  missing = static_cast<uint32_t>(site->together.size());
  kept.resize(missing);
  has.assign(missing, false);
  ++home->pins;
  if (missing) ++home->refs;
  next = owner->cells_;
  if (next) next->previous = this;
  owner->cells_ = this;
}

DelayCell::~DelayCell() {
  (previous ? previous->next : owner->cells_) = next;
  if (next) next->previous = previous;
  if (home) owner->unpins_.push_back(home);
}

void DelayCell::CollectChildren(std::vector<Value>& out) {
  for (Value& v : kept) out.push_back(std::move(v));
  kept.clear();
  out.push_back(std::move(value));
}

FrameTag::FrameTag(TaggedExecution* o, Frame* f) : owner(o), frame(f) { ++frame->pins; }
FrameTag::~FrameTag() {
  if (frame) owner->unpins_.push_back(frame);
}

void TaggedExecution::MakeCell(Frame* frame, const Instr& in) {
  ++stats_.delays;
  frame->Set(in.a, Value::Adopt(ValueKind::Reference, new DelayCell(this, &program_.sites[in.b], frame)));
}

// All operands are there that its body's frame is made with.
bool TaggedExecution::IsReady(const DelayCell* cell) const {
  if (!cell->missing) return true;
  for (size_t i = 0; i < cell->has.size(); ++i) {
    const Delivery& d = cell->site->together[i];
    if (!cell->has[i] && d.event == kNone && d.to != kNone) return false;
  }
  return true;
}

void TaggedExecution::CellOperand(Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index,
                                  uint32_t from) {
  DelayCell* cell = CellIn(frame, cell_slot);
  if (cell->has[index]) return;
  cell->has[index] = true;
  --cell->missing;
  const Delivery& d = site.together[index];
  if (d.to != kNone) {
    switch (cell->state) {
      case DelayCell::State::Kept: cell->kept[index] = Read(frame, from); break;
      case DelayCell::State::Released:
        cell->kept[index] = Read(frame, from);
        if (IsReady(cell)) {
          ++cell->refs;
          stack_.push_back({nullptr, cell, 0});
        }
        break;
      case DelayCell::State::Running:
      case DelayCell::State::Full:  // delayed calls inside may still want it
        if (cell->body) Deliver(cell->body, d, Read(frame, from));
        break;
    }
  }
  if (!cell->missing) Unref(frame);
}

// The body's frame, under the tag of the Delay.
void TaggedExecution::StartCell(DelayCell* cell) {
  if (cell->state != DelayCell::State::Released) return;
  ++stats_.calls;
  Frame* home = cell->home;
  const SiteCode& site = *cell->site;
  Frame* body = NewFrame(&site, home);
  cell->state = DelayCell::State::Running;
  cell->home = nullptr;  // its pin is the body's now
  cell->body = body;
  ++cell->refs;
  body->Set(site.callee->cell_slot, Value::Adopt(ValueKind::Reference, cell));
  uint32_t stale = StaleChain(home);
  if (stale >= kLongestStaleChain && !site.needs_outer) {
    TagBase* base = MakeBase(home);
    body->parent = reinterpret_cast<Frame*>(base);
    body->depth = 1;
    body->flags |= kHasBase;
    stats_.max_depth = std::max(stats_.max_depth, base->length + 1);
    unpins_.push_back(home);
  } else {
    body->flags += std::min(stale, kLongestStaleChain) * kStaleUnit;
  }
  for (size_t i = 0; i < cell->has.size(); ++i) {
    const Delivery& d = site.together[i];
    if (cell->has[i] && d.to != kNone && d.event == kNone) body->Set(d.to, std::move(cell->kept[i]));
  }
  if (run_.trace) Trace(body, site.trigger, kNone);
  Enter(body, site, site.together);
  for (size_t i = 0; i < cell->has.size(); ++i) {
    const Delivery& d = site.together[i];
    if (cell->has[i] && d.to != kNone && d.event != kNone && cell->body) Deliver(body, d, std::move(cell->kept[i]));
  }
  if (!cell->missing) cell->kept.clear();
}

void TaggedExecution::FillCell(Frame* body, Value value) {
  DelayCell* cell = CellIn(body, body->scope().cell_slot);
  cell->state = DelayCell::State::Full;
  cell->value = std::move(value);
  auto waiters = std::move(cell->waiters);
  cell->waiters.clear();
  for (size_t i = waiters.size(); i-- > 0;) {
    const Waiter& waiter = waiters[i];
    if (!waiter.frame->Has(program_.code[waiter.pc].a))
      TryForce(waiter.frame, program_.code[waiter.pc], program_.node_of[waiter.pc]);
    Unref(waiter.frame);
  }
}

// Passes a value, or what a reference stands for if that is known. False: it has to be waited for.
bool TaggedExecution::TryForce(Frame* frame, const Instr& in, NodeId node) {
  Value value;
  if (KindOf(frame, in.b) == ValueKind::Reference) {
    DelayCell* cell = CellIn(frame, in.b);
    if (cell->state != DelayCell::State::Full) return false;
    value = cell->value;
  } else {
    value = Read(frame, in.b);
  }
  bool failed = value.is_error();
  frame->Set(in.a, std::move(value));
  Fire(frame, in.c);
  if (failed) PassError(frame, {node, 0});
  return true;
}

void TaggedExecution::Wait(Frame* frame, uint32_t pc) {
  const Instr& in = program_.code[pc];
  if (TryForce(frame, in, program_.node_of[pc])) return;
  DelayCell* cell = CellIn(frame, in.b);
  cell->waiters.push_back({frame, pc});
  ++frame->refs;
  if (cell->state != DelayCell::State::Kept) return;
  cell->state = DelayCell::State::Released;
  ++stats_.released;
  if (IsReady(cell)) StartCell(cell);
}

// ---------------------------------------------------------------- values of enclosing scopes

Frame* TaggedExecution::FindScope(Frame* frame, ir::ScopeId scope) const {
  while (frame && frame->scope().id != scope) frame = frame->parent_frame();
  return frame;
}

void TaggedExecution::ReadOuter(Frame* frame, uint32_t pc) {
  NodeId node = program_.node_of[pc];
  ir::Edge edge = graph_.InputsOf(node)[1];
  Frame* home = FindScope(frame, ir::ScopeId(graph_.nodes[node].attr));
  if (home && IsAvailable(home, edge)) return GiveOuter(frame, pc, Read(home, SlotOf(edge)));
  ++frame->refs;
  if (!home) return;  // nothing encloses it: it waits for ever
  outer_waiters_[home].push_back({program_.code[pc].b, {frame, pc}});
  home->flags |= kOuterWaiters;
}

void TaggedExecution::GiveOuter(Frame* frame, uint32_t pc, Value value) {
  const Instr& in = program_.code[pc];
  NodeId node = program_.node_of[pc];
  bool failed = value.is_error();
  frame->Set(in.a, std::move(value));
  if (run_.trace) Trace(frame, node, in.a);
  Fire(frame, in.c);
  if (failed) PassError(frame, {node, 0});
}

// The value of `row` has come in this frame.
void TaggedExecution::AnswerOuters(Frame* frame, uint32_t row) {
  auto it = outer_waiters_.find(frame);
  if (it == outer_waiters_.end()) return;
  std::vector<OuterWaiter> now;
  auto& all = it->second;
  for (size_t i = 0; i < all.size();) {
    if (all[i].first != row) {
      ++i;
      continue;
    }
    now.push_back(all[i].second);
    all.erase(all.begin() + static_cast<ptrdiff_t>(i));
  }
  if (all.empty()) {
    outer_waiters_.erase(it);
    frame->flags &= ~kOuterWaiters;
  }
  for (size_t i = now.size(); i-- > 0;) {
    GiveOuter(now[i].frame, now[i].pc, Read(frame, program_.slot_of[row]));
    Unref(now[i].frame);
  }
}

}  // namespace df::tagged
