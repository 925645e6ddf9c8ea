// runtime/engines/tagged/exec/delayed_calls.h
//
// Delayed calls: cells are made, started by the first Force, filled. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// RunAhead where no frame asks. Counts as a step; what else a step may have to do is left to the usual way.
bool RunAheadOfAll(Worker& w, DelayCell* cell);
// At a Delay of event code.
void MakeCell(Worker& w, Frame* frame, const Instr& in);
// An operand of a cell that was made before it had come.
void CellOperand(Worker& w, Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index, Value value);
// Passes a value, or what a reference stands for if that is known. False: it has to be waited for.
bool TryForce(Worker& w, Frame* frame, const Instr& in, ir::NodeId node);
// At the Wait of a tail: the frame goes on when the value is there.
void Wait(Worker& w, Frame* frame, uint32_t pc);
// False: the cell is full. Else the waiter will be told; `start` says whether it is for the caller to start the cell.
bool Await(Worker& w, DelayCell* cell, Waiter waiter, bool* start);
// True: it can be started.
bool Release(Worker& w, DelayCell* cell);
// The body's frame, under the tag of the Delay.
void StartCell(Worker& w, DelayCell* cell);
// The cell has its value; whoever waits is answered.
void Fill(Worker& w, DelayCell* cell, Value value);
// Whoever waited has the value, and works no longer for it.
void Answer(Worker& w, const Waiter& waiter, const Value& value);
// What only the host knows, only the first worker may ask it for. False: it is asked, and the waiter will be told.
bool Ask(Worker& w, HostCell* cell, Waiter waiter);
// The first of what other workers want to know of the host.
void AnswerQuestion(Worker& w);

// For exec/delayed_calls.cpp alone.
DelayCell* NewCell(Worker& w, Frame* frame, const SiteCode* site);
bool IsReady(const Worker& w, DelayCell* cell);
void GiveForced(Worker& w, Frame* frame, const Instr& in, ir::NodeId node, Value value);

}  // namespace df::tagged
