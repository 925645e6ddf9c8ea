// runtime/engines/tagged/exec/far_calls.h
//
// Calls that go to other processes and calls that come from there, by the worker that has their frames. Private to the tagged engine;
// docs/far-calls.md.
#pragma once

#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// What was about to be handed to a worker goes to the process behind `thief`. False: that cannot be, and it is done here.
bool HandFar(Worker& w, FarPeer& thief, std::unique_ptr<Message> message);
// The kinds of messages that Far leaves.
void ReceiveFarCall(Worker& w, Message& message);
void ReceiveFarAnswer(Worker& w, Message& message);
void ReceiveFarObject(Worker& w, Message& message);
void LoseFar(Worker& w, const FarPeer& peer);
// Nothing goes on in any process: frames that wait in scheduled code may have something else to do.
void LeaveForFar(Worker& w);
// A result of a call that another process gave; it is finished; the delayed call has its value.
void SendFar(Worker& w, FarCall& call, const SiteCode& site, uint32_t result, const Value& value);
void FinishFar(Worker& w, FarCall* call);
void AnswerFar(Worker& w, FarCall& call, const Value& value);
// What a process does for the root of a run until that is over.
void ServeFar(Worker& w);

// Private to far_calls.cpp.
void FillAway(Worker& w, DelayCell* cell, Value value);
void DoFarHere(Worker& w, uint64_t number, Worker::FarTicket& ticket);
void EndFar(Worker& w, FarCall* call);

}  // namespace df::tagged
