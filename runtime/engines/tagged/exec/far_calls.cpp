// Calls that go to other processes and calls that come from there, on the thread of the worker that has the frames: docs/distributed.md.
//
// A call that is given away is a ticket. It stays as it was handed over, with its arguments, until the last result is here; so whoever has
// lost it is not needed to do it again.
#include "runtime/engines/tagged/exec/far_calls.h"

#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/far_packet.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

using Clock = std::chrono::steady_clock;

// What a site's result is: of a delayed call what fills its reference.
ir::PortType TypeOfResult(const FarTypes& types, const SiteCode& site, uint32_t result) {
  if (site.type == SiteType::Delay) return {types.ReferenceOf(site).type};
  return types.types.graph().TypeOf({site.returns[result].node, 0});
}

// The answer of a call that this worker gave away and does itself: its ticket takes it as it would take another process's.
void AnswerHere(Worker& w, const FarCall& call, PeerMessage answer, Value value) {
  auto message = std::make_unique<Message>(Message::Kind::FarAnswer, &call.home);
  message->far = std::make_unique<PeerMessage>(std::move(answer));
  message->value = std::move(value);
  w.team->Leave(w, std::move(message));
}

void NoteFlow(const Worker& w, TimelineCall::What what, const FarPeer& peer, uint64_t ticket) {
  if (w.run.timeline) w.run.timeline->calls().Note(what, w.index, peer.id, ticket);
}

// Before the last word of it goes.
void NoteAnswered(const Worker& w, const FarCall& call) {
  if (&call.home != &w.team->far()->here() && !call.returned) NoteFlow(w, TimelineCall::What::Answered, call.home, call.ticket);
}

}  // namespace

// ---------------------------------------------------------------- given away

// The process behind `thief` gets this. False: that cannot be, and it is done here.
bool HandFar(Worker& w, FarPeer& thief, std::unique_ptr<Message> message) {
  Far& far = *w.team->far();
  PeerMessage sent{PeerMessage::Kind::Call};
  if (!PackCall(far.types(), *message, sent)) {
    ++far.stats.kept_back;
    w.team->Leave(w, std::move(message));
    return false;
  }
  ++far.stats.given;
  sent.ticket = w.tickets++ * Far::kMostWorkers + w.index;
  Worker::FarTicket& ticket = w.away[sent.ticket];
  if (message->site) ticket.taken.assign(message->site->returns.size(), false);
  ticket.message = std::move(message);
  ticket.peer = &thief;
  ticket.counted = CountedTicket(far.stats, sent.size());
  NoteFlow(w, TimelineCall::What::Given, thief, sent.ticket);
  w.team->BeginWork();  // until it is done
  far.Send(thief, std::move(sent));
  return true;
}

void ReceiveFarAnswer(Worker& w, Message& message) {
  PeerMessage& answer = *message.far;
  auto it = w.away.find(answer.ticket);
  // Who has lost a call, or given it back, may still speak of it.
  if (it == w.away.end() || it->second.peer != message.from) return;
  Worker::FarTicket& ticket = it->second;
  FarPeer& peer = *ticket.peer;
  Far& far = *w.team->far();
  const bool here = &peer == &far.here();
  const SiteCode* site = ticket.message->site;  // null: a delayed call
  if (answer.kind == PeerMessage::Kind::Home) return DoFarHere(w, answer.ticket, ticket);
  if (answer.kind == PeerMessage::Kind::Finished) {
    for (size_t i = 0; site && i < ticket.taken.size(); ++i)
      if (site->returns[i].slot != kNone && !ticket.taken[i]) site = nullptr;
    if (!site) return far.Fault(peer, "it has finished a call without all of its results");
    Frame* frame = ticket.message->frame;
    NoteFlow(w, TimelineCall::What::Done, peer, answer.ticket);
    w.away.erase(it);
    w.Unref(frame);
    return w.team->EndWork();
  }
  DelayCell* cell = site ? nullptr : CellOf(ticket.message->value);
  const SiteCode& of = site ? *site : *cell->site;
  const uint32_t number = site ? answer.number : of.cell_result;
  const bool wanted = number < of.returns.size() && (!site || (!ticket.taken[number] && of.returns[number].slot != kNone));
  if (!wanted) {
    // What is done here again may have come before its member was lost.
    if (!here) far.Fault(peer, "it gives a result that its call does not have");
    return;
  }
  Value value = std::move(message.value);
  std::string fault;
  if (!here && !UnpackFarValue(w, TypeOfResult(far.types(), of, number), answer, value, fault)) return far.Fault(peer, fault);
  if (!site) {
    Value reference = std::move(ticket.message->value);  // lives until it is full
    NoteFlow(w, TimelineCall::What::Done, peer, answer.ticket);
    w.away.erase(it);
    FillAway(w, cell, std::move(value));
    return w.team->EndWork();
  }
  ticket.taken[number] = true;
  Frame* frame = ticket.message->frame;
  const ReturnTo& to = of.returns[number];
  const bool failed = value.is_error();
  frame->Set(to.slot, std::move(value));
  w.Fire(frame, to.event);
  if (failed) PassError(w, frame, {to.node, 0});
}

// A released cell whose body ran elsewhere has its value.
void FillAway(Worker& w, DelayCell* cell, Value value) {
  std::vector<Value> operands;  // freed when the lock is
  {
    CellLock lock(cell);
    DropTag(cell->tag);
    cell->body = nullptr;
    for (uint32_t i = 0; i < cell->num_values(); ++i) operands.push_back(std::exchange((&cell->value())[i], Value::Word(0)));
  }
  Fill(w, cell, std::move(value));
}

// Whoever had it does not do it.
void DoFarHere(Worker& w, uint64_t number, Worker::FarTicket& ticket) {
  Message& message = *ticket.message;
  if (!message.site) {
    DelayCell* cell = CellOf(message.value);
    cell->refs.Retain();
    w.stack.push_back({nullptr, cell, 0});
    w.away.erase(number);
    return w.team->EndWork();
  }
  // What results have come is known to the ticket, so they come to it again.
  FarPeer& here = w.team->far()->here();
  ticket.peer = &here;
  Message again(Message::Kind::Call, &here);
  again.site = message.site;
  again.arguments = std::move(message.arguments);
  again.tag = std::exchange(message.tag, nullptr);
  again.depth = message.depth;
  again.call = *w.far_calls.insert(new FarCall{here, number, Clock::now()}).first;
  w.team->far()->BeginCall();
  ReceiveCall(w, again);
}

void LoseFar(Worker& w, const FarPeer& peer) {
  std::vector<uint64_t> lost;
  for (const auto& [number, ticket] : w.away)
    if (ticket.peer == &peer) lost.push_back(number);
  for (uint64_t number : lost) {
    ++w.team->far()->stats.lost;
    DoFarHere(w, number, w.away.at(number));
  }
  for (FarCall* call : w.far_calls)
    if (&call->home == &peer) call->returned = true;  // nobody wants it
}

// ---------------------------------------------------------------- computed for others

void ReceiveFarCall(Worker& w, Message& message) {
  auto& peer = static_cast<FarPeer&>(*message.from);
  Far& far = *w.team->far();
  Message call(Message::Kind::Call, &peer);
  std::string fault;
  if (!UnpackFarCall(w, *message.far, call, fault)) return far.Fault(peer, fault);
  ++far.stats.taken;
  NoteFlow(w, TimelineCall::What::Taken, peer, message.far->ticket);
  call.call = *w.far_calls.insert(new FarCall{peer, message.far->ticket, Clock::now()}).first;
  far.BeginCall();
  if (call.site) return ReceiveCall(w, call);
  DelayCell* cell = CellOf(call.value);
  call.call->reference = std::move(call.value);
  {
    CellLock lock(cell);
    Release(w, cell);
    w.team->AddWaiter(cell, &w, {nullptr, kNone, call.call});
    cell->more_waiters = true;
  }
  StartCell(w, cell);
}

// A result of a call that another process gave, or gave back.
void SendFar(Worker& w, FarCall& call, const SiteCode& site, uint32_t result, const Value& value) {
  if (call.returned) return;
  Far& far = *w.team->far();
  PeerMessage sent{PeerMessage::Kind::Result, result, call.ticket};
  if (&call.home == &far.here()) {
    return AnswerHere(w, call, std::move(sent), value);
  }
  if (!PackValue(far.types(), TypeOfResult(far.types(), site, result), value, sent)) {
    ++far.stats.kept_back;
    call.returned = true;
    sent = {PeerMessage::Kind::Home, 0, call.ticket};
  }
  far.Send(call.home, std::move(sent));
}

// The delayed call is full.
void AnswerFar(Worker& w, FarCall& call, const Value& value) {
  const SiteCode& site = *CellOf(call.reference)->site;
  NoteAnswered(w, call);
  SendFar(w, call, site, site.cell_result, value);
  EndFar(w, &call);
}

void FinishFar(Worker& w, FarCall* call) {
  Far& far = *w.team->far();
  PeerMessage sent{PeerMessage::Kind::Finished, 0, call->ticket};
  if (&call->home == &far.here()) {
    AnswerHere(w, *call, std::move(sent), {});
  } else if (!call->returned) {
    NoteAnswered(w, *call);
    far.Send(call->home, std::move(sent));
  }
  EndFar(w, call);
}

void EndFar(Worker& w, FarCall* call) {
  Far& far = *w.team->far();
  if (&call->home != &far.here()) far.NoteGrain(Clock::now() - call->began);
  far.EndCall();
  w.far_calls.erase(call);
  delete call;
}

// Nothing goes on in this process, so what it has of others waits for itself, or for what they have: they see that better.
void ReturnFar(Worker& w) {
  Far& far = *w.team->far();
  for (FarCall* call : w.far_calls) {
    if (call->returned || &call->home == &far.here()) continue;
    call->returned = true;
    far.Send(call->home, {PeerMessage::Kind::Home, 0, call->ticket});
  }
}

// What a process does for the root of a run until that is over.
void ServeFar(Worker& w) {
  Far& far = *w.team->far();
  uint64_t returned = 0;  // calls that were given back and stay
  try {
    while (!far.over()) {
      while (!w.stack.empty()) w.Step();
      if (FindWork(w) || far.over()) continue;
      w.execution.CheckLimits();  // there is an interrupt, perhaps
      if (far.calls() == returned) {
        far.AskFor(w);
        w.mailbox.idle.store(true);
        if (!w.mailbox.HasMail()) Rest(w);
        w.mailbox.idle.store(false);
        continue;
      }
      // As at the end of a run on several threads: frames that wait in scheduled code may have something else to do.
      w.execution.LeaveAllScheduled();
      if (FindWork(w) || !w.stack.empty() || w.execution.HasLeft()) continue;
      w.execution.ForEachWorker([&w](Worker& worker) { w.team->Leave(worker, std::make_unique<Message>(Message::Kind::FarReturn, &w)); });
      ReadMail(w, true);
      returned = far.calls();
    }
  } catch (const Ending&) {
  }
}

}  // namespace df::tagged
