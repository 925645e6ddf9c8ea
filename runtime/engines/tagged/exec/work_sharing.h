// runtime/engines/tagged/exec/work_sharing.h
//
// Other workers: what is given away, what comes from them, and what a worker does that has nothing to do (docs/parallel.md). Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

size_t OfferTails(Worker& w, Frame* frame, size_t base);
void Unlist(Worker& w, Frame* frame);
bool PollInScheduled(Worker& w, Frame* frame);
void Poll(Worker& w);
void CheckTeam(Worker& w);
void SendHome(Worker& w, Frame* proxy, const SiteCode& site, uint32_t result, Value value);
void FinishProxy(Worker& w, Frame* proxy);
bool FindWork(Worker& w);
// Before it is looked again whether somebody has something, longer each time.
void Rest(Worker& w);
bool ReadMail(Worker& w, bool all);
void ReceiveCall(Worker& w, Message& message);
void Serve(Worker& w);
uint64_t Random(Worker& w);

// For exec/work_sharing.cpp alone.
bool HasWork(const Worker& w, Frame* frame);
bool HasWorkInUnboxed(const Worker& w, Frame* frame);
bool HasWorkAt(const Worker& w, Frame* frame, uint32_t resume);
bool HasWork(const Worker& w, const Worker::Item& item);
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
