// What goes from frame to frame: calls, results, iterations, values of enclosing scopes.
#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/spread/placed.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/spread/spread.h"
#include "runtime/engines/tagged/exec/tail.h"
#include "runtime/engines/tagged/exec/work_sharing.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

using ir::NodeId;

// ---------------------------------------------------------------- calls

void Enter(Worker& w, Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries) {
  w.Fire(frame, site.callee->activation);
  if (!(frame->flags & kErrors)) return;
  for (const Delivery& d : deliveries)
    if (d.event == kNone && d.to != kNone && frame->KindOf(d.to) == ValueKind::Error) PassError(w, frame, {d.merge, 0});
}

void Call(Worker& w, Frame* frame, const SiteCode& site) {
  if (site.spread_from != SiteCode::kNoPieces) {
    llvm::SmallVector<Value, 8> arguments;
    for (const Delivery& d : site.together) arguments.push_back(w.Use(frame, d.from, d.last));
    return CallSpread(w, frame, site, arguments);
  }
  if (FarPeer* process = ProcessOf(w, site)) {
    std::vector<Value> arguments;
    for (const Delivery& d : site.together) arguments.push_back(w.Use(frame, d.from, d.last));
    return CallPlaced(w, frame, site, std::move(arguments), *process);
  }
  if (CallIn(w, frame, site)) return;
  ++(site.type == SiteType::Loop ? w.stats.loops : w.stats.calls);
  if (site.continues) TagOf(frame);  // first, because it may fail
  Frame* child = NewFrame(w, &site, frame);
  if (site.continues) ContinueTag(w, child, frame);
  ++frame->refs;
  if (site.child_slot != kNone) frame->Set(site.child_slot, Value::Word(reinterpret_cast<int64_t>(child)));
  if (site.callee->spread) TagOf(child);
  for (const Delivery& d : site.together) w.Pass(frame, d.from, d.last, child, d.to);
  if (site.type == SiteType::Loop) child->Set(site.callee->iteration_slot, Value::Word(0));
  if (w.run.trace) w.Trace(child, site.trigger, kNone);
  Enter(w, child, site, site.together);
}

void Deliver(Worker& w, Frame* to, const Delivery& delivery, Value value) {
  // A frame that leaves scheduled code for an argument that has failed may have given all its results, and be finished by that: who gives late
  // arguments does not count it.
  const bool leaves = to->flags & kScheduled && value.is_error();
  if (leaves) ++to->refs;
  if (to->flags & kScheduled && DeliverScheduled(w, to, delivery, value)) return;
  bool failed = value.is_error();
  to->Set(delivery.to, std::move(value));
  w.Fire(to, delivery.event);
  if (failed) PassError(w, to, {delivery.merge, 0});
  if (leaves) w.Unref(to);
}

void CallLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.child_slot)) Call(w, frame, site);
  auto* child = reinterpret_cast<Frame*>(frame->slots()[site.child_slot]);
  if (!child) return;  // finished: nobody needs it any more
  const Delivery& d = site.late[index];
  Deliver(w, child, d, w.Use(frame, d.from, d.last));
}

void SendResult(Worker& w, Frame* frame, uint32_t result, Value value) {
  const SiteCode& site = *frame->site;
  uint8_t& sent = frame->states()[frame->scope().first_sent + result];
  if (sent) return;
  sent = kPresent;
  if (site.type == SiteType::Delay) {
    if (result == site.cell_result) Fill(w, CellIn(frame, frame->scope().cell_slot), std::move(value));
    else if (const ReturnTo& to = site.returns[result]; to.slot != kNone) ReturnHome(w, frame->parent, to, std::move(value));
  } else if (const SiteCode& home = TakeReturnSite(w, frame); home.returns[result].slot != kNone) {
    const ReturnTo& to = home.returns[result];
    Frame* parent = frame->parent;
    if (frame->flags & kListed) Unlist(w, frame);
    if (parent->flags & kProxy) {
      SendHome(w, parent, home, result, std::move(value));
      return w.Unref(frame);
    }
    bool failed = value.is_error();
    if (parent->flags & kScheduled && GiveScheduled(w, parent, to.slot, value)) return w.Unref(frame);
    parent->Set(to.slot, std::move(value));
    w.Fire(parent, to.event);
    if (w.run.trace) w.Trace(parent, to.node, to.slot);
    if (failed) PassError(w, parent, {to.node, 0});
  }
  w.Unref(frame);
}

// A cotangent of a delayed call, to the frame of its Delay, which may have done without it and be finished.
void ReturnHome(Worker& w, Frame* home, const ReturnTo& to, Value value) {
  if (home->refs == 0) return;
  bool failed = value.is_error();
  home->Set(to.slot, std::move(value));
  w.Fire(home, to.event);
  if (w.run.trace) w.Trace(home, to.node, to.slot);
  if (failed) PassError(w, home, {to.node, 0});
}

// ---------------------------------------------------------------- loops

void Next(Worker& w, Frame* frame, const SiteCode& site) {
  if (frame->flags & kCold && NextIn(w, frame, site)) return;
  ++w.stats.loops;
  const ScopeCode& scope = *site.callee;
  uint64_t iteration = frame->slots()[scope.iteration_slot] + 1;
  std::vector<Value> values;
  values.reserve(site.next_together.size());
  for (const Delivery& d : site.next_together) values.push_back(w.Use(frame, d.from, d.last));
  Frame* next = frame;
  // The frame serves the next iteration too if nothing is left of this one but the results to send and this step.
  if (frame->refs == scope.num_results + 1 && frame->pins == 0 && !(frame->flags & kOuterWaiters) &&
      site.late.empty() && site.next_late.empty()) {
    ReleaseValues(w, frame);
    FramePool::Reset(frame, scope);
    Worker::ForgetTag(frame);
  } else {
    next = NewFrame(w, &site, frame->parent);
    ++frame->parent->refs;
    uint32_t late = static_cast<uint32_t>(site.next_late.size());
    if (late) frame->Set(site.next_slot, Value::Word(reinterpret_cast<int64_t>(next)));
    next->refs += late;
    frame->refs += late;                // arguments still to be sent on
    frame->refs -= scope.num_results;   // which the next iteration sends
  }
  next->Set(scope.iteration_slot, Value::Word(static_cast<int64_t>(iteration)));
  for (size_t i = 0; i < values.size(); ++i) next->Set(site.next_together[i].to, std::move(values[i]));
  Enter(w, next, site, site.next_together);
}

void NextLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index) {
  if (!frame->Has(site.next_slot)) Next(w, frame, site);
  auto* next = reinterpret_cast<Frame*>(frame->slots()[site.next_slot]);
  const Delivery& d = site.next_late[index];
  Deliver(w, next, d, w.Use(frame, d.from, d.last));
  w.Unref(next);
  w.Unref(frame);
}

// ---------------------------------------------------------------- values of enclosing scopes

Frame* FindScope(const Worker& w, Frame* frame, ir::ScopeId scope) {
  while (frame && frame->scope().id != scope) frame = frame->parent_frame();
  return frame;
}

void ReadOuter(Worker& w, Frame* frame, uint32_t pc) {
  NodeId node = w.program.node_of[pc];
  ir::Edge edge = w.graph.InputsOf(node)[1];
  Frame* home = FindScope(w, frame, ir::ScopeId(w.graph.nodes[node].attr));
  if (home && IsAvailable(w, home, edge)) return GiveOuter(w, frame, pc, w.Read(home, w.SlotOf(edge)));
  ++frame->refs;
  if (!home) return;  // nothing encloses it: it waits for ever
  w.outer_waiters[home].push_back({w.program.code[pc].b, {frame, pc}});
  home->flags |= kOuterWaiters;
}

void GiveOuter(Worker& w, Frame* frame, uint32_t pc, Value value) {
  const Instr& in = w.program.code[pc];
  NodeId node = w.program.node_of[pc];
  bool failed = value.is_error();
  frame->Set(in.a, std::move(value));
  if (w.run.trace) w.Trace(frame, node, in.a);
  w.Fire(frame, in.c);
  if (failed) PassError(w, frame, {node, 0});
}

void AnswerOuters(Worker& w, Frame* frame, uint32_t row) {
  auto it = w.outer_waiters.find(frame);
  if (it == w.outer_waiters.end()) return;
  std::vector<Worker::OuterWaiter> now;
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
    w.outer_waiters.erase(it);
    frame->flags &= ~kOuterWaiters;
  }
  for (size_t i = now.size(); i-- > 0;) {
    GiveOuter(w, now[i].frame, now[i].pc, w.Read(frame, w.program.slot_of[row]));
    w.Unref(now[i].frame);
  }
}

}  // namespace df::tagged
