// Scheduled code -> unboxed code: which scopes hold words alone, and how far each is unrolled.
#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/make/unboxed_maker.h"

namespace df::tagged {

namespace {

constexpr int kMostUnrolled = 7;             // calls of a scope within itself, one inside the other

// Takes out who calls a scope that is not fit.
void ExcludeCallers(const Program& p, std::vector<bool>& fit) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p.scopes.size(); ++i)
      for (uint32_t pc = p.scopes[i].plain; fit[i] && pc < p.scopes[i].plain_end; ++pc) {
        const ScheduledInstr& in = p.scheduled.code[pc];
        if ((in.op == Scheduled::Call || in.op == Scheduled::CallWord) && !fit[p.sites[in.x].callee->id.index]) {
          fit[i] = false;
          changed = true;
        }
      }
  }
}

// Whether unboxed code can have the instruction at `pc`.
bool IsFit(const Program& p, uint32_t pc) {
  ScheduledInstr in = OnWords(p, pc);
  WordKind kind = KindOf(in.op);
  for (uint32_t i = 0; kind == WordKind::Next && i < in.b; ++i)
    if (uint32_t from = p.scheduled.operands[in.x + 2 * i]; from & kConstant && !p.constants[from & ~kConstant].is_word()) return false;
  return kind != WordKind::None;
}

// The scopes that hold words, or Integers, alone, have one result, do nothing that unboxed code cannot do, and call only such.
std::vector<bool> FindFit(const Program& p, bool integers) {
  std::vector<bool> fit(p.scopes.size());
  for (size_t i = 0; i < p.scopes.size(); ++i) {
    const ScopeCode& scope = p.scopes[i];
    fit[i] = scope.plain != kNone && scope.num_results == 1;
    for (uint32_t slot = 0; fit[i] && slot < scope.num_slots; ++slot)
      fit[i] = p.scheduled.plain[i][slot] || (integers && p.scheduled.integers[i][slot]);
    for (uint32_t pc = scope.plain; fit[i] && pc < scope.plain_end; ++pc) fit[i] = IsFit(p, pc);
  }
  ExcludeCallers(p, fit);
  return fit;
}

// Whether the next instruction follows.
bool GoesOn(WordKind kind) {
  switch (kind) {
    case WordKind::Branch: case WordKind::Branch1: case WordKind::Branch2: case WordKind::Jump: case WordKind::Next:
    case WordKind::Return: case WordKind::ReturnConstant: return false;
    default: return true;
  }
}

// By instruction: on how many ways branches and jumps of a scope that is fit lead there; what stands before it is one more.
std::vector<uint8_t> FindWays(const Program& p, const std::vector<bool>& fit) {
  std::vector<uint8_t> ways(p.scheduled.code.size(), 0);
  auto add = [&](uint32_t pc) { ways[pc] = static_cast<uint8_t>(std::min(ways[pc] + 1, 2)); };
  for (const ScopeCode& scope : p.scopes)
    for (uint32_t pc = scope.plain; fit[scope.id.index] && pc < scope.plain_end; ++pc) {
      ScheduledInstr in = OnWords(p, pc);
      WordKind kind = KindOf(in.op);
      bool branches = kind == WordKind::Branch || kind == WordKind::Branch1 || kind == WordKind::Branch2;
      for (int side = 0; side < (branches ? 2 : kind == WordKind::Jump); ++side)
        for (uint32_t to = side ? in.y : in.x;; to = p.scheduled.code[to].x) {
          add(to);
          if (p.scheduled.code[to].op != Scheduled::Jump) break;
        }
    }
  for (const ScopeCode& scope : p.scopes)
    for (uint32_t pc = scope.plain; fit[scope.id.index] && pc + 1 < scope.plain_end; ++pc)
      if (ways[pc + 1] && GoesOn(KindOf(OnWords(p, pc).op))) add(pc + 1);
  return ways;
}

}  // namespace

void MakeUnboxed(Program& p, const Options& options, llvm::function_ref<void()> pause) {
  std::vector<bool> fit = FindFit(p, options.small_integers);
  Facts facts{FindWays(p, fit), {}, {}, options.clean_words};
  for (const ScopeCode& scope : p.scopes) {
    bool is_fit = fit[scope.id.index];
    facts.is_leaf.push_back(is_fit && IsLeaf(p, scope));
    facts.slots.push_back(is_fit ? std::make_shared<const SlotsOnWords>(FindSlotsOnWords(p, scope, options.clean_words)) : nullptr);
  }
  std::vector<std::unique_ptr<UnboxedMaker>> made(p.scopes.size());
  for (bool again = true; again;) {
    again = false;
    for (ScopeCode& scope : p.scopes) {
      uint32_t index = scope.id.index;
      if (!fit[index] || made[index] || facts.is_leaf[index]) continue;
      pause();
      for (int unrolled = options.unroll ? kMostUnrolled : 0; unrolled >= kLeaves && !made[index]; --unrolled) {
        auto maker = std::make_unique<UnboxedMaker>(p, scope, facts, unrolled, options.unroll && unrolled >= 0);
        if (maker->Run()) made[index] = std::move(maker);
      }
      if (made[index]) continue;
      fit[index] = false;
      again = true;
    }
    if (again) ExcludeCallers(p, fit);
  }
  for (size_t i = 0; i < made.size(); ++i)
    if (fit[i] && made[i]) made[i]->Finish();
  // All have their lengths and their places now.
  for (ScopeCode& scope : p.scopes) {
    if (!scope.unboxed) continue;
    const_cast<UnboxedCode&>(*scope.unboxed).first = p.scheduled.code.data() + scope.unboxed->begin;
    uint32_t free_list = FramePool::ListOf(scope.frame_bytes);
    auto patch = [&](uint32_t begin, uint32_t end) {
      for (uint32_t pc = begin; pc < end; ++pc)
        if (Scheduled op = p.scheduled.code[pc].op; op == Scheduled::Return || op == Scheduled::ReturnOpen || op == Scheduled::ReturnConstant)
          p.scheduled.code[pc].b = static_cast<uint16_t>(free_list);
    };
    patch(scope.plain, scope.plain_end);
    patch(scope.unboxed->begin, scope.unboxed->end);
  }
}

}  // namespace df::tagged
