// runtime/engines/tagged/exec/work_sharing.h
//
// Other workers: what is given away, what comes from them, and what a worker does that has nothing to do (docs/parallel.md). Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// Regions of `frame`, which a message woke, have run where the stack was `base` high: what others may take of what they left to do waits below
// the frame that was interrupted, which they cannot take. Returns where the rest belongs.
size_t OfferTails(Worker& w, Frame* frame, size_t base);
// The frame gives its results, so the one that waited for it goes on; and so have all younger ones.
void Unlist(Worker& w, Frame* frame);
// Before a call or an iteration in scheduled code. True: something has come that goes first.
bool PollInScheduled(Worker& w, Frame* frame);
// What other workers want, between two steps.
void Poll(Worker& w);
// What one has to do for the others, from StepCheck.
void CheckTeam(Worker& w);
// A result of a call whose caller is elsewhere.
void SendHome(Worker& w, Frame* proxy, const SiteCode& site, uint32_t result, Value value);
// A call that was given to this worker is done: its caller is told.
void FinishProxy(Worker& w, Frame* proxy);
// Until something has come. False, of the first worker: nothing can come.
bool FindWork(Worker& w);
// Before it is looked again whether somebody has something, longer each time.
void Rest(Worker& w);
bool ReadMail(Worker& w, bool all);
void ReceiveCall(Worker& w, Message& message);
// What a helper does from the beginning to the end.
void Serve(Worker& w);
// A number from this worker's own sequence, which the stress mode's seed begins.
uint64_t Random(Worker& w);

// For exec/work_sharing.cpp alone.
// What can be given away of what waits: a call that its turn will come to, or, on offer, what is left of a loop (Code::Offer).
enum class Work : uint8_t { None, Offered, Ready };
Work WorkOf(const Worker& w, Frame* frame);
Work WorkInUnboxed(const Worker& w, Frame* frame);
Work WorkAt(const Worker& w, Frame* frame, uint32_t resume);
Work WorkIn(const Worker& w, const Worker::Item& item);
bool IsDue(Worker& w, Frame* below);
bool TakeOffer(Worker& w, Frame* frame, uint32_t pc, Asker& thief);
Frame* WaiterOf(Frame* frame);
void Examine(Worker& w, Frame* running);
Frame* OldestCandidate(Worker& w, Frame* running);
bool GiveWork(Worker& w, Asker& thief, Frame* running);
bool GiveFrom(Worker& w, Frame* below, Asker& thief);
bool GiveEntry(Worker& w, size_t index, Asker& thief);
void AnswerThief(Worker& w, Frame* running);
void Refuse(const Worker& w, Asker& thief);
void Receive(Worker& w, Message& message);
void BeIdle(Worker& w);
void Steal(Worker& w);

}  // namespace df::tagged
