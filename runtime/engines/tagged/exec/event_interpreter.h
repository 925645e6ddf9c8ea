// runtime/engines/tagged/exec/event_interpreter.h
//
// Event code (code/code.h), one instruction after another, with every slot's state looked at. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// From the region at `pc`, if that is not kNone, which is taken to be ready too. Without `on`, what it leaves to do stays on the stack.
void RunReady(Worker& w, Frame* frame, uint32_t pc = kNone, bool on = true);
// Onto the stack where it was `base` high: what has become ready since goes first.
void PushTails(Worker& w, Frame* frame, size_t base);
// One step of a tail; the rest comes when what is entered now has nothing left to do.
void RunTail(Worker& w, Frame* frame, uint32_t pc);
// One op on operands that are there. A failure is passed on.
void RunOp(Worker& w, Frame* frame, const Instr& in, uint32_t pc, ir::NodeId node);

// For exec/event_interpreter.cpp alone.
uint32_t RunRegion(Worker& w, Frame* frame, uint32_t pc);
bool IsLateFor(const Worker& w, uint32_t tail, uint32_t site);
void RunOpMany(Worker& w, Frame* frame, const Instr& in, uint32_t pc, ir::NodeId node);
bool IsInRange(const Worker& w, Frame* frame, const Instr& in, ir::NodeId node);
bool RunDefer(Worker& w, Frame* frame, const TensorGroup& group);
void RunAgain(Worker& w, Frame* frame, const TensorGroup& group);
bool RunField(Worker& w, Frame* frame, const Instr& in, const OpCode& n);
void RunConstruct(Worker& w, Frame* frame, const Instr& in, ir::NodeId node);
void RunBranch(Worker& w, Frame* frame, const Instr& in);
Value MakeError(Worker& w, Frame* frame, ir::NodeId node, KernelError error);

}  // namespace df::tagged
