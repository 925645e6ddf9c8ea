// Calls that go to other processes and calls that come from there, on the thread of the worker that has the frames: docs/distributed.md.
//
// A call that is given away is a ticket. It stays as it was handed over, with its arguments, until the last result is here; so whoever has
// lost it is not needed to do it again.
#include "runtime/engines/tagged/exec/far_calls.h"

#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/far_packet.h"
#include "runtime/engines/tagged/exec/spread/placed.h"
#include "runtime/engines/tagged/exec/spread/spread.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

using Clock = std::chrono::steady_clock;

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

const SiteCode* SiteOf(const Message& message) { return message.site ? message.site : CellOf(message.value)->site; }

// A call whose results could not come home was computed twice. Of its site none goes for a while, longer each time: else calls within
// calls would be computed again and again, twice as often with each that is within another.
void NoteHome(Worker& w, const Message& message) {
  constexpr uint32_t kMostTimes = 20;
  Worker::CameHome& home = w.came_home[SiteOf(message)];
  home.times = std::min(home.times + 1, kMostTimes);
  home.stay = uint32_t{1} << home.times;
}

bool MayGo(Worker& w, const Message& message) {
  if (w.came_home.empty()) return true;
  auto home = w.came_home.find(SiteOf(message));
  if (home == w.came_home.end() || home->second.stay == 0) return true;
  --home->second.stay;
  return false;
}

}  // namespace

// ---------------------------------------------------------------- given away

// The process behind `thief` gets this. False: that cannot be, and it is done here.
bool HandFar(Worker& w, FarPeer& thief, std::unique_ptr<Message> message) {
  Far& far = *w.team->far();
  PeerMessage sent{PeerMessage::Kind::Call};
  SentObjects::ForPacket known(far.sent(), thief.id, /*all=*/true, w.received.get());
  if (!MayGo(w, *message) || !PackCall(far.types(), *message, known, sent)) {
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
  w.team->BeginAway();  // until it is done
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
  if (answer.kind == PeerMessage::Kind::Home) {
    NoteHome(w, *ticket.message);
    return DoFarHere(w, answer.ticket, ticket);
  }
  if (answer.kind == PeerMessage::Kind::Finished) {
    for (size_t i = 0; site && i < ticket.taken.size(); ++i)
      if (site->returns[i].slot != kNone && !ticket.taken[i]) site = nullptr;
    if (!site) return far.Fault(peer, "it has finished a call without all of its results");
    Frame* frame = ticket.message->frame;
    NoteFlow(w, TimelineCall::What::Done, peer, answer.ticket);
    w.away.erase(it);
    w.Unref(frame);
    if (!here) w.team->EndAway();
    return;
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
  if (!here && !UnpackFarValue(w, peer.id, TypeOfResult(far.types(), of, number), answer, value, fault)) {
    // Of a result with what has gone here nothing is known: it is computed again.
    return fault.empty() ? DoFarHere(w, answer.ticket, ticket) : far.Fault(peer, fault);
  }
  if (!site) {
    Value reference = std::move(ticket.message->value);  // lives until it is full
    NoteFlow(w, TimelineCall::What::Done, peer, answer.ticket);
    w.away.erase(it);
    FillAway(w, cell, std::move(value));
    return w.team->EndAway();
  }
  ticket.taken[number] = true;
  Frame* frame = ticket.message->frame;
  const ReturnTo& to = of.returns[number];
  GiveBack(w, frame, to, std::move(value));
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
    return w.team->EndAway();
  }
  // What results have come is known to the ticket, so they come to it again.
  FarPeer& here = w.team->far()->here();
  ticket.peer = &here;
  w.team->EndAway();
  Message again(Message::Kind::Call, &here);
  again.site = message.site;
  again.arguments = std::move(message.arguments);
  again.tag = std::exchange(message.tag, nullptr);
  again.depth = message.depth;
  again.call = *w.far_calls.insert(new FarCall{here, number, Clock::now()}).first;
  ReceiveCall(w, again);
}

void LoseFar(Worker& w, const FarPeer& peer) {
  w.received->RemoveAll(peer.id);
  std::vector<uint64_t> lost;
  for (const auto& [number, ticket] : w.away)
    if (ticket.peer == &peer) lost.push_back(number);
  for (uint64_t number : lost) {
    ++w.team->far()->stats.lost;
    DoFarHere(w, number, w.away.at(number));
  }
  for (FarCall* call : w.far_calls)
    if (&call->home == &peer) call->returned = true;  // nobody wants it
  LoseSpread(w, peer);
}

// ---------------------------------------------------------------- computed for others

// Kept as bytes until a packet names it. Far has seen to it that there is room, and that names are told apart.
void ReceiveFarObject(Worker& w, Message& message) {
  const PeerId from = static_cast<FarPeer&>(*message.from).id;
  const std::shared_ptr<PeerMessage>& far = message.far;
  if (far->kind == PeerMessage::Kind::Dropped) w.received->Remove(from, far->ticket);
  else w.received->Add(from, far->ticket, far->bytes, {far->parts.begin(), far->parts.end()}, far);
}

void ReceiveFarCall(Worker& w, Message& message) {
  auto& peer = static_cast<FarPeer&>(*message.from);
  Far& far = *w.team->far();
  Message call(Message::Kind::Call, &peer);
  std::string fault;
  if (!UnpackFarCall(w, peer.id, *message.far, call, fault))
    return fault.empty() ? far.Send(peer, {PeerMessage::Kind::Home, 0, message.far->ticket}) : far.Fault(peer, fault);
  ++far.stats.taken;
  NoteFlow(w, TimelineCall::What::Taken, peer, message.far->ticket);
  call.call = *w.far_calls.insert(new FarCall{peer, message.far->ticket, Clock::now()}).first;
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
  if (call.IsPieces()) return SendPieces(w, call, value);
  if (call.returned) return;
  Far& far = *w.team->far();
  PeerMessage sent{PeerMessage::Kind::Result, result, call.ticket};
  if (&call.home == &far.here()) {
    return AnswerHere(w, call, std::move(sent), value);
  }
  // Most results are nobody's but the caller's.
  SentObjects::ForPacket known(far.sent(), call.home.id, /*all=*/false, w.received.get());
  if (!PackValue(far.types(), TypeOfResult(far.types(), site, result), value, known, sent)) {
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
  if (call->IsPieces()) return EndFar(w, call);
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
  w.far_calls.erase(call);
  delete call;
}

void LeaveForFar(Worker& w) {
  w.team->far()->NoteLeaving();
  w.execution.LeaveAllScheduled();
}

// What a process does for the root of a run until that is over. If nothing goes on here it waits: what it has of others waits for itself, or
// for what they have, and only all of them together can tell (far_waves.cpp).
void ServeFar(Worker& w) {
  Far& far = *w.team->far();
  far.Serve();
  try {
    while (!far.over()) {
      while (!w.stack.empty()) w.Step();
      FindWork(w);
    }
  } catch (const Ending&) {
  }
}

}  // namespace df::tagged
