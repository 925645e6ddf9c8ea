// runtime/engines/tagged/code/scheduled.h
//
// Scheduled code (docs/tagged-engine/scheduled-code.md): the instructions, and how a frame that runs it is handed to event code.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace df::tagged {

// An activation of a scope with late parameters gives its early results, and goes on when those come.
enum class Stage : uint8_t { First, Waits, Last };

enum class Scheduled : uint16_t {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) name##RR, name##RK, name##KR,
#define DF_SCHEDULED_COMPARE(name, expression) name##RR, name##RK, name##KR, Branch##name##RR, Branch##name##RK,
#define DF_SCHEDULED_UNARY(name, type, condition, expression) name,
#define DF_SCHEDULED_INTEGER(name, expression) name##ZRR, name##ZRK, name##ZKR,
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) name##ZRR, name##ZRK, name##ZKR, Branch##name##ZRR, Branch##name##ZRK,
#define DF_SCHEDULED(name, operands) name,
#include "runtime/engines/tagged/code/scheduled_ops.def"
};
const char* NameOf(Scheduled op);

struct ScheduledInstr {
  Scheduled op = Scheduled::Jump;
  uint16_t d = 0, a = 0, b = 0;
  union {
    int64_t imm = 0;
    struct {
      uint32_t x, y;
    };
  };
};
static_assert(sizeof(ScheduledInstr) == 16);

inline ScheduledInstr InstrOf(Scheduled op, uint32_t d, uint32_t a, uint32_t b) {
  ScheduledInstr in;
  in.op = op;
  in.d = static_cast<uint16_t>(d);
  in.a = static_cast<uint16_t>(a);
  in.b = static_cast<uint16_t>(b);
  return in;
}

inline constexpr uint16_t kLastUse = 0x8000;            // in ScheduledInstr::a and b
inline constexpr uint32_t kMostScheduledSlots = 0x4000;
inline constexpr uint32_t kMostNext = 64;             // values that change from one iteration to the next
// In ScheduledCode::operands, beside kConstant.
inline constexpr uint32_t kLastOperand = 0x40000000;
inline constexpr uint32_t kPlainOperand = 0x20000000;
inline constexpr uint32_t kOperandIndex = 0x1fffffff;

// What event code needs to go on with a frame that stands before an instruction of scheduled code, or whose callee works.
struct ScheduledState {
  uint32_t pc = 0;                // in the middle of a region, or kNone
  uint32_t fused = 0;             // of a predicate that should be there, which scheduled code computes when it branches; or kNone
  std::vector<uint32_t> ready;    // regions
  std::vector<uint32_t> tails;    // pcs, the first to be run last
  std::vector<uint8_t> masks;
  std::vector<uint8_t> states;    // by slot: kPresent for a word, or what was moved out; kKept for an
                                  // open slot in use, or a late parameter that may have come; or 0
  std::vector<std::pair<uint32_t, uint32_t>> words;  // slots, and the operands whose words they have: nothing was moved there
  Stage stage = Stage::First;
  std::vector<uint32_t> children; // slots of callees that wait for late arguments
  std::vector<std::pair<uint32_t, uint32_t>> held;  // results, and the operands that they are
};
inline constexpr uint8_t kKept = 1;

struct ScheduledCode {
  std::vector<ScheduledInstr> code;
  uint32_t first_unboxed = 0;         // from this instruction on it is unboxed code
  std::vector<uint32_t> operands;
  std::vector<ScheduledState> states;
  std::vector<uint32_t> state_of;  // by instruction, or kNone
  std::vector<uint32_t> pc_of;     // by instruction: of event code, or kNone
  // By scope and slot: by its type it holds a word; an Integer.
  std::vector<std::vector<bool>> plain, integers;
  std::vector<std::vector<uint32_t>> parameters;  // by scope: the slots that a call, or the iteration before, fills
};

// Frameless code (code/frameless.h). Lists are as those of scheduled code, without marks of last uses.
struct FramelessChain {
  uint32_t site = 0;             // of the delayed call that the last field is
  uint32_t constructor = 0;
  uint32_t fields = 0;           // how many
  uint32_t list = 0;             // first of them in `lists`
  uint32_t captured = 0;         // likewise, of what a cell of the site captures
  uint32_t moves = 0, num_moves = 0;  // what its body gets: pairs of operand and slot there
};
struct FramelessCode {
  std::vector<ScheduledInstr> code;
  std::vector<uint32_t> lists;
  std::vector<FramelessChain> chains;
};
inline constexpr uint32_t kMostFramelessSlots = 64;

struct Options;
struct Program;

// Fills Program::scheduled, and where it begins in each scope that has a schedule. `pause`: as MakeFastCode.
void MakeScheduled(Program& program, const Options& options, llvm::function_ref<void()> pause);

}  // namespace df::tagged
