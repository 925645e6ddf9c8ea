// runtime/engines/tagged/exec/spread/spread.h
//
// Calls that several processes share, whose spines all come to them: each makes some pieces and takes the others from those that make them.
// Private to the tagged engine; docs/spread.md.
//
// The call of a scope that is spread has no activation as long as it is shared. What is made here are activations of the same scope, under the
// same tag, for some of the pieces; a Proxy stands for their caller. When all pieces are there, their lists, one behind the other, are the
// call's result. If some cannot come, the call is made here as if it had never been shared.
#pragma once

#include <chrono>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/engines/tagged/code/frame.h"
#include "runtime/peers/exchange.h"
#include "runtime/peers/pieces.h"
#include "runtime/run/bounded_tag.h"

namespace df::tagged {

struct Worker;
struct Message;
struct FarCall;
struct FarPeer;

// Some pieces of a shared call: of this process, or of another one that is to send them.
struct SpreadRange {
  Pieces::Range range;
  uint32_t rank;
  bool making = false, here = false;
  Value list = {};
  std::vector<uint32_t> others = {};  // that have it too, if that one has not
};

// Of the worker that has the frame of the caller.
struct SpreadCall {
  SpreadCall() = default;
  SpreadCall(const SpreadCall&) = delete;
  SpreadCall& operator=(const SpreadCall&) = delete;
  ~SpreadCall() { DropTag(tag); }

  Frame* caller = nullptr;       // one ref, as that of a callee; a Proxy perhaps
  const SiteCode* site = nullptr;
  std::vector<Value> arguments;  // by SiteCode::together
  TagNode* tag = nullptr;        // of the caller; counted
  uint32_t depth = 0;            // of the caller
  std::vector<SpreadRange> ranges;
  uint32_t missing = 0;
  // Of processes that exchange what they have joined: what this one gives, and whether it has begun to join it.
  struct Gift : Exchange::Gift {
    bool begun = false;
  };
  std::vector<Gift> gifts;
  bool joins = false;
  bool stuck = false;            // a piece that is made here: nothing goes on in this process
  std::chrono::steady_clock::time_point began, waits_since;  // the latter: nothing is made here any more
};

// The call of a scope that is spread, with its arguments, which are taken. It is shared, or is a call as others are.
void CallSpread(Worker& w, Frame* caller, const SiteCode& site, llvm::MutableArrayRef<Value> arguments);
// What was made here, or has come: the kind Message::Kind::Pieces.
void ReceivePieces(Worker& w, Message& message);
// Pieces that are made here: their list.
void SendPieces(Worker& w, const FarCall& call, const Value& list);
// A process is lost: what it was to send those that are left make, this one a part of it.
void LoseSpread(Worker& w, const FarPeer& peer);
// Of a worker that has nothing to do: pieces that do not come for long are made here, and a call of which a piece that is made here gets stuck is
// made as a whole. Whether there is one; does it.
bool SpreadHasToMove(Worker& w);
bool MoveSpread(Worker& w);

}  // namespace df::tagged
