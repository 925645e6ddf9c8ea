// What goes from frame to frame: calls, results, iterations, values of enclosing scopes.
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

using ir::NodeId;

// ---------------------------------------------------------------- calls

// The activation of a new frame, after its parameters are set.
void Worker::Enter(Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries) {
  Fire(frame, site.callee->activation);
  if (!(frame->flags & kErrors)) return;
  for (const Delivery& d : deliveries)
    if (d.event == kNone && d.to != kNone && frame->KindOf(d.to) == ValueKind::Error) PassError(frame, {d.merge, 0});
}

void Worker::Call(Frame* frame, const SiteCode& site) {
  if (CallIn(frame, site)) return;
  ++(site.type == SiteType::Loop ? stats_.loops : stats_.calls);
  Frame* child = NewFrame(&site, frame);
  ++frame->refs;
  if (site.child_slot != kNone) frame->Set(site.child_slot, Value::Word(reinterpret_cast<int64_t>(child)));
  for (const Delivery& d : site.together) Pass(frame, d.from, d.last, child, d.to);
  if (site.type == SiteType::Loop) child->Set(site.callee->iteration_slot, Value::Word(0));
  if (run_.trace) Trace(child, site.trigger, kNone);
  Enter(child, site, site.together);
}

void Worker::Deliver(Frame* to, const Delivery& delivery, Value value) {
  // A frame that leaves direct code for an argument that has failed may have given all its results, and be finished by that: who gives late
  // arguments does not count it.
  const bool leaves = to->flags & kDirect && value.is_error();
  if (leaves) ++to->refs;
  if (to->flags & kDirect && DeliverDirect(to, delivery, value)) return;
  bool failed = value.is_error();
  to->Set(delivery.to, std::move(value));
  Fire(to, delivery.event);
  if (failed) PassError(to, {delivery.merge, 0});
  if (leaves) Unref(to);
}

// The tail that makes the child may still be waiting on the stack: then it is made now.
void Worker::CallLate(Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.child_slot)) Call(frame, site);
  auto* child = reinterpret_cast<Frame*>(frame->slots()[site.child_slot]);
  if (!child) return;  // finished: nobody needs it any more
  const Delivery& d = site.late[index];
  Deliver(child, d, Use(frame, d.from, d.last));
}

void Worker::SendResult(Frame* frame, uint32_t result, Value value) {
  const SiteCode& site = *frame->site;
  uint8_t& sent = frame->states()[frame->scope().first_sent + result];
  if (sent) return;
  sent = kPresent;
  if (site.type == SiteType::Delay) {
    if (result == site.cell_result) Fill(CellIn(frame, frame->scope().cell_slot), std::move(value));
    else if (const ReturnTo& to = site.returns[result]; to.slot != kNone) ReturnHome(frame->parent, to, std::move(value));
  } else if (const SiteCode& home = TakeReturnSite(frame); home.returns[result].slot != kNone) {
    const ReturnTo& to = home.returns[result];
    Frame* parent = frame->parent;
    if (frame->flags & kListed) Unlist(frame);
    if (parent->flags & kProxy) {
      SendHome(parent, home, result, std::move(value));
      return Unref(frame);
    }
    bool failed = value.is_error();
    if (parent->flags & kDirect && GiveDirect(parent, to.slot, value)) return Unref(frame);
    parent->Set(to.slot, std::move(value));
    Fire(parent, to.event);
    if (run_.trace) Trace(parent, to.node, to.slot);
    if (failed) PassError(parent, {to.node, 0});
  }
  Unref(frame);
}

// A cotangent of a delayed call, to the frame of its Delay, which may have done without it and be finished.
void Worker::ReturnHome(Frame* home, const ReturnTo& to, Value value) {
  if (home->refs == 0) return;
  bool failed = value.is_error();
  home->Set(to.slot, std::move(value));
  Fire(home, to.event);
  if (run_.trace) Trace(home, to.node, to.slot);
  if (failed) PassError(home, {to.node, 0});
}

// ---------------------------------------------------------------- loops

void Worker::Next(Frame* frame, const SiteCode& site) {
  if (frame->flags & kCold && NextIn(frame, site)) return;
  ++stats_.loops;
  const ScopeCode& scope = *site.callee;
  uint64_t iteration = frame->slots()[scope.iteration_slot] + 1;
  std::vector<Value> values;
  values.reserve(site.next_together.size());
  for (const Delivery& d : site.next_together) values.push_back(Use(frame, d.from, d.last));
  Frame* next = frame;
  // The frame serves the next iteration too if nothing is left of this one but the results to send and this step.
  if (frame->refs == scope.num_results + 1 && frame->pins == 0 && !(frame->flags & kOuterWaiters) &&
      site.late.empty() && site.next_late.empty()) {
    ReleaseValues(frame);
    FramePool::Reset(frame, scope);
    ForgetTag(frame);
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

void Worker::NextLate(Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.next_slot)) Next(frame, site);
  auto* next = reinterpret_cast<Frame*>(frame->slots()[site.next_slot]);
  const Delivery& d = site.next_late[index];
  Deliver(next, d, Use(frame, d.from, d.last));
  Unref(next);
  Unref(frame);
}

// ---------------------------------------------------------------- values of enclosing scopes

Frame* Worker::FindScope(Frame* frame, ir::ScopeId scope) const {
  while (frame && frame->scope().id != scope) frame = frame->parent_frame();
  return frame;
}

void Worker::ReadOuter(Frame* frame, uint32_t pc) {
  NodeId node = program_.node_of[pc];
  ir::Edge edge = graph_.InputsOf(node)[1];
  Frame* home = FindScope(frame, ir::ScopeId(graph_.nodes[node].attr));
  if (home && IsAvailable(home, edge)) return GiveOuter(frame, pc, Read(home, SlotOf(edge)));
  ++frame->refs;
  if (!home) return;  // nothing encloses it: it waits for ever
  outer_waiters_[home].push_back({program_.code[pc].b, {frame, pc}});
  home->flags |= kOuterWaiters;
}

void Worker::GiveOuter(Frame* frame, uint32_t pc, Value value) {
  const Instr& in = program_.code[pc];
  NodeId node = program_.node_of[pc];
  bool failed = value.is_error();
  frame->Set(in.a, std::move(value));
  if (run_.trace) Trace(frame, node, in.a);
  Fire(frame, in.c);
  if (failed) PassError(frame, {node, 0});
}

// The value of `row` has come in this frame.
void Worker::AnswerOuters(Frame* frame, uint32_t row) {
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
