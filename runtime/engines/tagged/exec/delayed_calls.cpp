// Delayed calls: cells that keep operands, are started by the first Force, and hold the value for all that follow.
#include <cassert>
#include <optional>

#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/far_calls.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/frameless_interpreter.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/team.h"

namespace df::tagged {

using ir::NodeId;

void DelayCell::DropChildren(DeadObjects& dead) {
  for (uint32_t i = 0; i < num_values(); ++i) dead.Drop((&value())[i]);
}

// No operand has come yet.
DelayCell* NewCell(Worker& w, Frame* frame, const SiteCode* site) {
  ++w.stats.delays;
  TagNode* tag = site->keeps_home ? nullptr : TagOf(frame);  // first, because it may fail
  // So may this; when the cell goes nothing may.
  if (site->keeps_home && ++w.pinning_cells > w.unpins.capacity()) w.unpins.reserve(2 * w.pinning_cells);
  auto* cell = ::new (w.cells.Take(site->cell_bytes)) DelayCell(site);
  ::new (&cell->value()) Value();
  cell->missing = static_cast<uint16_t>(cell->num_operands());
  for (uint32_t i = 0; i < cell->missing; ++i) ::new (cell->operands() + i) Value(Value::Dead());
  if (site->keeps_home) {
    cell->home = frame;
    ++frame->pins;
  } else {
    cell->tag = HoldTag(tag);
  }
  ++w.live_cells;
  return cell;
}

void MakeCell(Worker& w, Frame* frame, const Instr& in) {
  const SiteCode* site = &w.program.sites[in.b];
  DelayCell* cell = NewCell(w, frame, site);
  w.made_late |= site->keeps_home || (cell->missing && in.code == Code::Delay);
  if (cell->missing) {
    if (in.code == Code::Delay) {
      ++frame->refs;
    } else {
      const uint32_t* listed = w.program.lists.data() + in.c;
      for (uint32_t k = 0; k < cell->missing; ++k) {
        uint32_t slot = ListOperand(listed[k]);
        bool wanted = site->together[k].to != kNone;
        cell->operands()[k] = wanted ? w.Use(frame, slot, listed[k] & kLast) : Value::Word(0);
      }
      cell->missing = 0;
    }
  }
  frame->Set(in.a, Value::Adopt(ValueKind::Reference, cell));
}

// All operands are there that its body's frame is made with.
bool IsReady(const Worker& w, DelayCell* cell) {
  if (!cell->missing) return true;
  for (uint32_t i = 0; i < cell->num_operands(); ++i) {
    const Delivery& d = cell->site->together[i];
    if (cell->operands()[i].is_dead() && d.event == kNone && d.to != kNone) return false;
  }
  return true;
}

void CellOperand(Worker& w, Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index, Value value) {
  DelayCell* cell = CellIn(frame, cell_slot);
  CellLock lock(cell);
  if (!cell->missing || !cell->operands()[index].is_dead()) return;
  bool last = --cell->missing == 0, to_body = false;
  const Delivery& d = site.together[index];
  cell->operands()[index] = Value::Word(0);
  if (d.to != kNone) {
    switch (cell->state) {
      case DelayCell::State::Kept: cell->operands()[index] = std::move(value); break;
      case DelayCell::State::Released:
        cell->operands()[index] = std::move(value);
        if (IsReady(w, cell)) {
          cell->refs.Retain();
          w.stack.push_back({nullptr, cell, 0});
        }
        break;
      case DelayCell::State::Running:
      case DelayCell::State::Full: to_body = true; break;  // delayed calls inside may still want it
      case DelayCell::State::Free: break;
    }
  }
  lock.Unlock();
  if (to_body) {
    Worker* owner = w.team ? w.team->LateBody(cell) : nullptr;
    if (w.team && last) w.team->ForgetLateBody(cell);
    if (owner && owner != &w) {
      auto message = std::make_unique<Message>(Message::Kind::Operand, &w);
      message->reference = Value::Retain(ValueKind::Reference, cell);
      message->number = index;
      message->value = std::move(value);
      w.team->Send(*owner, std::move(message));
    } else if (cell->body) {
      Deliver(w, cell->body, d, std::move(value));
    }
  }
  if (last) w.Unref(frame);
}

bool RunAheadOfAll(Worker& w, DelayCell* cell) {
  if (!cell->site->ahead || w.budget <= 1 || w.poll_due) return false;
  --w.budget;
  cell->refs.Retain();
  w.stack.push_back({nullptr, cell, 0});  // where the run is
  bool done = RunAhead(w, cell);
  assert(w.stack.back().cell == cell);
  w.stack.pop_back();
  Value counted = Value::Adopt(ValueKind::Reference, cell);
  return done;
}

void StartCell(Worker& w, DelayCell* cell) {
  if (cell->Now() != DelayCell::State::Released) return;
  ++w.stats.calls;
  const SiteCode& site = *cell->site;
  bool scheduled, complete;
  {
    CellLock lock(cell);  // others may wait for it now, or bring operands
    scheduled = !w.StaysInEventCode() && GoesScheduled(w, *cell);
    complete = !cell->missing;
  }
  uint32_t depth = site.keeps_home ? cell->home->depth + 1 : static_cast<uint32_t>(DepthOf(cell->tag)) + 1;
  Frame* body = scheduled ? NewScheduled(w, &site, nullptr, depth, kLive | kScheduled) : NewFrame(w, &site, nullptr);
  body->parent = cell->home;  // its tag or pin is the body's now
  body->depth = depth;
  if (!site.keeps_home) body->flags |= kTagParent;
  w.stats.max_depth = std::max<uint64_t>(w.stats.max_depth, depth);
  // While operands are missing, other workers may bring them.
  std::optional<CellLock> lock;
  if (!complete) {
    lock.emplace(cell);
    if (w.team) w.team->SetLateBody(cell, &w);
  }
  cell->body = body;
  cell->Become(DelayCell::State::Running);
  Value reference = Value::Retain(ValueKind::Reference, cell);
  if (scheduled) return StartBodyScheduled(w, cell, std::move(reference), body);
  body->Set(site.callee->cell_slot, std::move(reference));
  std::vector<Value> early;  // of those that are late elsewhere
  Value* operands = cell->operands();
  if (lock) {
    for (uint32_t i = 0; i < cell->num_operands(); ++i)
      early.push_back(operands[i].is_dead() ? Value::Dead() : std::exchange(operands[i], Value::Word(0)));
    operands = early.data();
    lock.reset();
  }
  for (uint32_t i = 0; i < cell->num_operands(); ++i) {
    const Delivery& d = site.together[i];
    if (!operands[i].is_dead() && d.to != kNone && d.event == kNone) body->Set(d.to, std::move(operands[i]));
  }
  if (w.run.trace) w.Trace(body, site.trigger, kNone);
  Enter(w, body, site, site.together);
  if (!site.late_operands) return;
  for (uint32_t i = 0; i < cell->num_operands(); ++i) {
    const Delivery& d = site.together[i];
    if (operands[i].is_dead() || d.to == kNone || d.event == kNone) continue;
    Value value = std::move(operands[i]);
    if (cell->body) Deliver(w, body, d, std::move(value));
  }
}

void Fill(Worker& w, DelayCell* cell, Value value) {
  CellLock lock(cell);
  cell->value() = std::move(value);
  cell->Become(DelayCell::State::Full);
  bool more = cell->more_waiters;
  cell->more_waiters = 0;
  Frame* first = std::exchange(cell->waiter, nullptr);
  lock.Unlock();
  if (more) {
    if (auto it = w.waiters.find(cell); it != w.waiters.end()) {
      std::vector<Waiter> waiters = std::move(it->second);
      w.waiters.erase(it);
      for (size_t i = waiters.size(); i-- > 0;) Answer(w, waiters[i], cell->value());
    }
    if (w.team) {
      for (auto [worker, waiter] : w.team->TakeWaiters(cell)) {
        if (worker == &w) {
          if (waiter.frame || waiter.call) Answer(w, waiter, cell->value());
          continue;
        }
        auto message = std::make_unique<Message>(Message::Kind::Forced, &w);
        message->frame = waiter.frame;
        message->number = waiter.pc;
        message->call = waiter.call;
        message->value = Value::Retain(ValueKind::Reference, cell);
        w.team->Send(*worker, std::move(message));
      }
    }
  }
  if (first) Answer(w, {first, cell->waiter_pc}, cell->value());
}

void Answer(Worker& w, const Waiter& waiter, const Value& value) {
  if (waiter.call) return AnswerFar(w, *waiter.call, value);
  if (waiter.pc == kNone) return WakeScheduled(w, waiter.frame, value);
  const Instr& in = w.program.code[waiter.pc];
  if (!waiter.frame->Has(in.a)) GiveForced(w, waiter.frame, in, w.program.node_of[waiter.pc], value);
  w.Unref(waiter.frame);
}

void GiveForced(Worker& w, Frame* frame, const Instr& in, NodeId node, Value value) {
  bool failed = value.is_error();
  frame->Set(in.a, std::move(value));
  w.Fire(frame, in.c);
  if (failed) PassError(w, frame, {node, 0});
}

bool TryForce(Worker& w, Frame* frame, const Instr& in, NodeId node) {
  if (w.KindOf(frame, in.b) != ValueKind::Reference) {
    GiveForced(w, frame, in, node, w.Use(frame, in.b, in.aux & kLastB));
    return true;
  }
  Value value;
  if (const HostCell* host = HostCellIn(ObjectIn(frame, in.b))) {
    if (!host->is_full()) return false;
    value = host->value;
  } else {
    DelayCell* cell = CellIn(frame, in.b);
    if (!cell->IsFull()) return false;
    value = cell->value();
  }
  if (in.aux & kLastB) frame->MoveOut(in.b);
  GiveForced(w, frame, in, node, std::move(value));
  return true;
}

void Wait(Worker& w, Frame* frame, uint32_t pc) {
  const Instr& in = w.program.code[pc];
  if (w.KindOf(frame, in.b) == ValueKind::Reference)
    if (HostCell* host = HostCellIn(ObjectIn(frame, in.b)); host && !Ask(w, host, {frame, pc})) return;
  if (TryForce(w, frame, in, w.program.node_of[pc])) return;
  Value reference = w.Use(frame, in.b, in.aux & kLastB);
  DelayCell* cell = CellOf(reference);
  bool start = false;
  if (!Await(w, cell, {frame, pc}, &start)) return GiveForced(w, frame, in, w.program.node_of[pc], cell->value());
  if (start) StartCell(w, cell);
}

bool Await(Worker& w, DelayCell* cell, Waiter waiter, bool* start) {
  CellLock lock(cell);
  if (cell->IsFull()) return false;
  *start = Release(w, cell);
  if (w.team && !*start) {
    w.team->AddWaiter(cell, &w, waiter);
    cell->more_waiters = true;
  } else if (!cell->waiter) {
    cell->waiter = waiter.frame;
    cell->waiter_pc = waiter.pc;
  } else {
    w.waiters[cell].push_back(waiter);
    cell->more_waiters = true;
  }
  ++waiter.frame->refs;
  return true;
}

bool Ask(Worker& w, HostCell* cell, Waiter waiter) {
  if (cell->is_full()) return true;
  if (w.index == 0) {
    cell->Ask();
    return true;
  }
  auto message = std::make_unique<Message>(Message::Kind::AskHost, &w);
  message->value = Value::Retain(ValueKind::Reference, cell);
  message->frame = waiter.frame;
  message->number = waiter.pc;
  ++waiter.frame->refs;
  w.team->Send(w.team->worker(0), std::move(message));
  return false;
}

void AnswerQuestion(Worker& w) {
  Worker::Question question = std::move(w.questions.front());
  w.questions.pop_front();
  HostCellIn(question.reference.object())->Ask();
  auto message = std::make_unique<Message>(Message::Kind::Forced, &w);
  message->value = std::move(question.reference);
  message->frame = question.waiter.frame;
  message->number = question.waiter.pc;
  w.team->Send(*question.from, std::move(message));
}

bool Release(Worker& w, DelayCell* cell) {
  if (cell->Now() != DelayCell::State::Kept) return false;
  cell->Become(DelayCell::State::Released);
  ++w.stats.released;
  return IsReady(w, cell);
}

}  // namespace df::tagged

namespace df {

void FreeDelay(Object* object, DeadObjects& dead);
[[maybe_unused]] static const bool hooked = (free_delay = &FreeDelay, true);

void FreeDelay(Object* object, DeadObjects& dead) {
  using tagged::DelayCell;
  auto* cell = static_cast<DelayCell*>(object);
  Value* values = &cell->value();
  for (uint32_t i = 0, count = cell->num_values(); i < count; ++i) dead.Drop(values[i]);
  tagged::Worker& owner = tagged::TaggedExecution::OwnerOf(*cell->site);
  if (cell->state == DelayCell::State::Kept || cell->state == DelayCell::State::Released) {
    if (!cell->site->keeps_home) DropTag(cell->tag);
    else if (cell->home) owner.unpins.push_back(cell->home);
  }
  --owner.live_cells;
  cell->state = DelayCell::State::Free;
  owner.cells.Give(cell, cell->Bytes());
}

}  // namespace df
