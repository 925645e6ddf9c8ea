// runtime/engines/tagged/exec/delayed_calls.h
//
// Delayed calls: cells are made, started by the first Force, filled. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

bool RunAheadOfAll(Worker& w, DelayCell* cell);
void MakeCell(Worker& w, Frame* frame, const Instr& in);
void CellOperand(Worker& w, Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index, Value value);
bool TryForce(Worker& w, Frame* frame, const Instr& in, ir::NodeId node);
void Wait(Worker& w, Frame* frame, uint32_t pc);
bool Await(Worker& w, DelayCell* cell, Waiter waiter, bool* start);
bool Release(Worker& w, DelayCell* cell);
void StartCell(Worker& w, DelayCell* cell);
void Fill(Worker& w, DelayCell* cell, Value value);
void Answer(Worker& w, const Waiter& waiter, const Value& value);
bool Ask(Worker& w, HostCell* cell, Waiter waiter);
void AnswerQuestion(Worker& w);

// For exec/delayed_calls.cpp alone.
DelayCell* NewCell(Worker& w, Frame* frame, const SiteCode* site);
bool IsReady(const Worker& w, DelayCell* cell);
void GiveForced(Worker& w, Frame* frame, const Instr& in, ir::NodeId node, Value value);

}  // namespace df::tagged
