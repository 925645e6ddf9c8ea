// What unboxed code has to know of scheduled code: kinds of instructions, calls, scopes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/code/code.h"

namespace df::tagged {

enum class WordKind : uint8_t { None, Binary, Constant, Unary, Load, Branch2, Branch1, Branch, Jump, Count, CountCall, Call, CallWord,
                            Arg, ArgConstant, Enter, Got, Next, Return, ReturnConstant, Skip };

// The instruction at `pc` of scheduled code as it is on words: an Integer is one there, and no use is marked as the last. Ops that
// may give a number beyond a word stay what they are.
ScheduledInstr OnWords(const Program& p, uint32_t pc);

// What an instruction is (see OnWords), if unboxed code may have it. Binary: d, a, b. Constant: d, a and a constant. Skip: nothing.
WordKind KindOf(Scheduled op);

// Whether it leaves unboxed code where its result is beyond a word.
bool MayOverflow(Scheduled op);

// Whether an instruction may be left, so that what stands before it in the frame is looked at.
bool CanLeave(Scheduled op);

// A call in scheduled code.
struct CallOfWords {
  const SiteCode* site = nullptr;
  uint32_t site_index = 0;
  struct Argument {
    uint32_t to;
    bool constant;
    uint32_t from;
    int64_t value;
  };
  std::vector<Argument> arguments;
  std::vector<ScheduledInstr> counts;
  uint32_t got = 0;  // the Got behind it
};

// The call whose first instruction stands at `pc`.
CallOfWords ReadCall(const Program& p, uint32_t pc);

// Calls nothing and has no loop: such a scope is always inlined, and called by others it is left in scheduled code.
bool IsLeaf(const Program& p, const ScopeCode& scope);

// What becomes of a scope's slots in unboxed code.
struct SlotsOnWords {
  std::vector<bool> changed;         // a Next writes it; other parameters keep what the call has put there
  // A slot into which only one other is ever moved is not needed, nor is one into which only one constant is loaded that
  // nobody reads: both are mostly what merges leave on a path that is known. A slot is written once in an activation, so the
  // other one holds the value as long as anybody may ask for it.
  std::vector<uint16_t> source;      // by slot: the one that has its value, most often itself
  std::vector<bool> stored;          // there is something to keep in it
  // What the others hold, which matters only to the frames of activations that leave unboxed code.
  std::vector<std::pair<uint16_t, int64_t>> constants;
  bool IsConstant(uint32_t slot) const { return !stored[slot] && source[slot] == slot; }
};
// Not `clean`: every slot has a place.
SlotsOnWords FindSlotsOnWords(const Program& p, const ScopeCode& scope, bool clean);

}  // namespace df::tagged
