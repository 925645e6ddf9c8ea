// Which calls are inlined, and the instructions of unboxed code.
#include "runtime/engines/tagged/make/unboxed_maker.h"

#include "runtime/engines/tagged/code/frame.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostInstructions = 400;  // of a scope's unboxed code
constexpr uint32_t kMostUnboxedSlots = 128;     // of its frames: many of them should fit into the first cache
constexpr uint32_t kLongestTest = 6;         // instructions at the beginning of a callee, and on a side that ends at once

}  // namespace

// A value that goes from a slot to one of activation `owner` at the end of what is being emitted is computed there in the first place, if the
// instruction that computes it stands in the same straight line, and nobody looks at either slot meanwhile.
bool UnboxedMaker::Redirect(uint32_t from, uint32_t to, uint32_t owner, const std::vector<std::pair<uint32_t, uint32_t>>& moves) {
  for (auto [source, target] : moves)
    if ((source == from && target != to) || source == to) return false;
  for (uint32_t at = static_cast<uint32_t>(code_.size()); at-- > run_;) {
    ScheduledInstr& in = code_[at];
    WordKind kind = KindOf(in.op);
    bool writes = kind == WordKind::Binary || kind == WordKind::Constant || kind == WordKind::Unary || kind == WordKind::Load || in.op == Scheduled::GotWord;
    if (writes && in.d == from) {
      if (owners_[at] != point_.activation) return false;
      in.d = static_cast<uint16_t>(to);
      owners_[at] = owner;
      return true;
    }
    if (!writes || CanLeave(in.op) || in.d == to) return false;
    bool reads = kind == WordKind::Binary || kind == WordKind::Constant || kind == WordKind::Unary;
    if (reads && (in.a == from || in.a == to)) return false;
    if (kind == WordKind::Binary && (in.b == from || in.b == to)) return false;
  }
  return false;
}

void UnboxedMaker::EmitJump(uint32_t activation, uint32_t pc) {
  if (!code_.empty() && code_.size() > run_) {
    ScheduledInstr& last = code_.back();
    if (last.op == Scheduled::Move) {
      last.op = Scheduled::MoveJump;
    } else if (last.op == Scheduled::Load && last.imm == static_cast<int32_t>(last.imm)) {
      last.op = Scheduled::LoadJump;
      last.y = static_cast<uint32_t>(last.imm);
    } else {
      Add(Scheduled::Jump);
    }
  } else {
    Add(Scheduled::Jump);
  }
  patches_.push_back({static_cast<uint32_t>(code_.size()) - 1, false, activation, pc});
}

bool UnboxedMaker::MayInline(uint32_t activation, const ScopeCode& callee) const {
  if (places_.size() > kMostInstructions) return false;
  if (facts_.is_leaf[callee.id.index]) return true;
  int within = 0;
  for (uint32_t at = activation;; at = unboxed_.activations[at].parent) {
    within += places_[at].scope == &callee;
    if (at == 0) break;
  }
  return within <= unrolled_;
}

// `moves`: the arguments that change are put into slots of the activation's own.
uint32_t UnboxedMaker::Inline(uint32_t activation, const CallOfWords& call, bool moves) {
  const ScopeCode& callee = *call.site->callee;
  auto index = static_cast<uint32_t>(unboxed_.activations.size());
  InlinedActivation made;
  made.parent = activation;
  made.site = call.site;
  made.depth = unboxed_.activations[activation].depth + 1;
  made.return_pc = call.got;
  made.slots.resize(callee.num_slots, UINT16_MAX);
  const SlotsOnWords& of = SlotsOf(callee);
  made.constants = {facts_.slots[callee.id.index], &of.constants};
  uint32_t next = places_[activation].first_free;
  for (const CallOfWords::Argument& argument : call.arguments)
    if (!argument.constant && !of.changed[argument.to]) made.slots[argument.to] = Slot(activation, argument.from);
  for (size_t slot = 0; slot < made.slots.size(); ++slot)
    if (made.slots[slot] == UINT16_MAX) made.slots[slot] = of.stored[slot] ? Reserve(next++) : 0;
  Bind(of, made.slots);
  for (const CallOfWords::Argument& argument : call.arguments) {
    uint16_t to = made.slots[argument.to];
    if (!moves) continue;
    if (argument.constant) Add(Scheduled::Load, to).imm = argument.value;
    else if (to != Slot(activation, argument.from)) AddMove(to, Slot(activation, argument.from));
  }
  places_.push_back({&callee, next});
  unboxed_.activations.push_back(std::move(made));
  return index;
}

// Whether the code from `pc` on does little, cannot be left, and returns.
bool UnboxedMaker::EndsAtOnce(uint32_t pc) const {
  for (uint32_t length = 0; length < kLongestTest; ++length, ++pc) {
    pc = PassJumps(pc);
    Scheduled op = At(pc).op;
    if (KindOf(op) == WordKind::Return || KindOf(op) == WordKind::ReturnConstant) return true;
    if (CanLeave(op)) return false;
  }
  return false;
}

// Whether a scope begins with a branch, before which it cannot be left, of which a side EndsAtOnce.
bool UnboxedMaker::BeginsWithTest(const ScopeCode& scope) const {
  uint32_t pc = scope.plain;
  for (uint32_t length = 0; length < kLongestTest; ++length, ++pc) {
    pc = PassJumps(pc);
    ScheduledInstr in = At(pc);
    WordKind kind = KindOf(in.op);
    if (kind == WordKind::Branch || kind == WordKind::Branch1 || kind == WordKind::Branch2) return EndsAtOnce(in.x) || EndsAtOnce(in.y);
    if (CanLeave(in.op)) return false;
  }
  return false;
}

// Of a callee that BeginsWithTest: the activation for the test, which has all arguments where the caller has them.
uint32_t UnboxedMaker::InlineTest(uint32_t activation, const CallOfWords& call) {
  uint32_t full = Inline(activation, call, false);
  InlinedActivation test = unboxed_.activations[full];
  for (const CallOfWords::Argument& argument : call.arguments) {
    if (!argument.constant) test.slots[argument.to] = Slot(activation, argument.from);
    else if (argument.to != call.site->callee->iteration_slot) Add(Scheduled::Load, test.slots[argument.to]).imm = argument.value;
  }
  Bind(SlotsOf(*call.site->callee), test.slots);
  unboxed_.activations.push_back(std::move(test));
  places_.push_back(places_[full]);
  places_.back().full = full;
  return static_cast<uint32_t>(places_.size()) - 1;
}

// One of several in a row: two of them are one instruction.
void UnboxedMaker::AddMove(uint32_t to, uint32_t from) {
  if (code_.size() > run_ && code_.back().op == Scheduled::Move) {
    Forget(to);
    code_.back().op = Scheduled::MoveTwo;
    code_.back().x = from;
    code_.back().y = to;
  } else {
    Add(Scheduled::Move, to, from);
  }
}

void UnboxedMaker::GoOnInFull(uint32_t activation) {
  uint32_t full = places_[activation].full;
  const ScopeCode& scope = *places_[activation].scope;
  for (uint32_t slot = 0; slot < scope.num_slots; ++slot)
    if (SlotsOf(scope).stored[slot] && Slot(full, slot) != Slot(activation, slot)) AddMove(Slot(full, slot), Slot(activation, slot));
  if (scope.iteration_slot == kNone) return;
  uint16_t number = Slot(full, scope.iteration_slot);
  if (code_.size() > run_ && code_.back().op == Scheduled::MoveTwo) {
    code_.back().op = Scheduled::MoveTwoZero;
    code_.back().b = number;
  } else {
    Add(Scheduled::Load, number).imm = 0;
  }
}

// The activation for the test at the beginning of a callee that gets a frame if it is not done by then; kNone if there is no
// such test. It may stand in the loop that is all that the callee does.
uint32_t UnboxedMaker::TestOfReal(uint32_t activation, uint32_t pc, const CallOfWords& call) {
  if (!tests_ || p_.count) return kNone;
  const ScopeCode& callee = *call.site->callee;
  uint32_t test = kNone;
  if (BeginsWithTest(callee)) {
    test = InlineTest(activation, call);
  } else if (uint32_t begin = PassJumps(callee.plain); KindOf(At(begin).op) == WordKind::Call) {
    CallOfWords loop = ReadCall(p_, begin);
    if (loop.site->type != SiteType::Loop || !BeginsWithTest(*loop.site->callee) || !EndsAtOnce(loop.got + 1)) return kNone;
    test = InlineTest(Inline(activation, call, true), loop);
  } else {
    return kNone;
  }
  places_[test].full = kNone;
  places_[test].caller = activation;
  places_[test].call_pc = pc;
  return test;
}

// The callee gets a frame.
void UnboxedMaker::EmitReal(uint32_t activation, const CallOfWords& call) {
  std::vector<std::pair<uint16_t, uint16_t>> arguments;
  uint32_t scratch = places_[activation].first_free;
  for (const CallOfWords::Argument& argument : call.arguments) {
    uint16_t from = argument.constant ? Reserve(scratch++) : Slot(activation, argument.from);
    if (argument.constant) Add(Scheduled::Load, from).imm = argument.value;
    arguments.emplace_back(from, static_cast<uint16_t>(argument.to));
  }
  uint32_t deeper = unboxed_.activations[activation].depth + 1;
  auto count = static_cast<uint32_t>(arguments.size());
  // One after the other, four to an instruction that is never run itself.
  constexpr Scheduled kOps[] = {Scheduled::Call0, Scheduled::Call1, Scheduled::Call2, Scheduled::Call3, Scheduled::Call4};
  ScheduledInstr& in = Add(count <= 4 ? kOps[count] : Scheduled::CallMany, deeper, 0, count);
  in.x = call.site_index;
  if (count == 1) {
    in.a = arguments[0].first;
    in.y = arguments[0].second;
  } else {
    for (uint32_t i = 0; i < count; i += 2) {
      ScheduledInstr& list = Add(Scheduled::Arguments, 0, arguments[i].first, arguments[i].second);
      if (i + 1 == count) continue;
      list.x = arguments[i + 1].first;
      list.y = arguments[i + 1].second;
    }
  }
  point_.pc = call.got;
  Add(Scheduled::GotWord, Slot(activation, p_.scheduled.code[call.got].d));
}

void UnboxedMaker::EmitNext(uint32_t activation, const ScheduledInstr& next) {
  std::vector<std::pair<uint32_t, uint32_t>> moves;  // source and target
  std::vector<std::pair<uint32_t, int64_t>> loads;
  for (uint32_t i = 0; i < next.b; ++i) {
    uint32_t from = p_.scheduled.operands[next.x + 2 * i];
    uint16_t to = Slot(activation, p_.scheduled.operands[next.x + 2 * i + 1] & kOperandIndex);
    if (from & kConstant) loads.emplace_back(to, p_.constants[from & ~kConstant].word());
    else if (uint16_t source = Slot(activation, from & kOperandIndex); source != to) moves.emplace_back(source, to);
  }
  for (size_t i = 0; i < moves.size();) {
    if (Redirect(moves[i].first, moves[i].second, activation, moves)) moves.erase(moves.begin() + static_cast<ptrdiff_t>(i));
    else ++i;
  }
  // First the moves whose targets no other one reads; of a cycle one source is put aside.
  uint32_t scratch = places_[activation].first_free;
  while (!moves.empty()) {
    auto free = std::find_if(moves.begin(), moves.end(), [&](auto& move) {
      return std::none_of(moves.begin(), moves.end(), [&](auto& other) { return &other != &move && other.first == move.second; });
    });
    if (free == moves.end()) {
      uint16_t aside = Reserve(scratch++);
      AddMove(aside, moves[0].first);
      moves[0].first = aside;
      continue;
    }
    AddMove(free->second, free->first);
    moves.erase(free);
  }
  for (auto [to, value] : loads) Add(Scheduled::Load, to).imm = value;
  uint32_t entry = places_[activation].scope->plain;
  uint16_t number = Slot(activation, places_[activation].scope->iteration_slot);
  if (activation != 0 && code_.size() > run_ && code_.back().op == Scheduled::Move) {
    ScheduledInstr& move = code_.back();
    move.op = Scheduled::MoveTick;
    move.b = move.d;
    move.d = number;
  } else if (activation != 0 && code_.size() > run_ && code_.back().op == Scheduled::MoveTwo) {
    ScheduledInstr& move = code_.back();
    move.op = Scheduled::MoveTwoTick;
    move.b = move.d;
    move.d = number;
    move.y = move.y << 16 | move.x;
  } else {
    Add(activation == 0 ? Scheduled::TickOwn : Scheduled::Tick, number);
  }
  patches_.push_back({static_cast<uint32_t>(code_.size()) - 1, false, activation, entry});
  todo_.push_back({activation, entry, {}});
}

// The slot is written.
void UnboxedMaker::Forget(uint32_t slot) {
  std::erase_if(known_, [&](const KnownTest& known) {
    return known.test.a == slot || (KindOf(known.test.op) == WordKind::Branch2 && known.test.b == slot);
  });
}

// A branch of scheduled code with the slots of an activation.
ScheduledInstr UnboxedMaker::TestAt(uint32_t activation, uint32_t pc) const {
  ScheduledInstr in = At(pc);
  bool two = KindOf(in.op) == WordKind::Branch2;
  return InstrOf(in.op, 0, Slot(activation, in.a), two ? Slot(activation, in.b) : in.b);
}

const KnownTest* UnboxedMaker::Find(const ScheduledInstr& test) const {
  if (!facts_.clean) return nullptr;
  for (const KnownTest& known : known_)
    if (known.test.op == test.op && known.test.a == test.a && known.test.b == test.b) return &known;
  return nullptr;
}

// From an instruction of scheduled code on, as one activation runs it, to the end.
void UnboxedMaker::Emit(uint32_t activation, uint32_t pc) {
  run_ = static_cast<uint32_t>(code_.size());
  bool begins = true;   // at the target of a branch
  bool joined = false;  // other ways lead here, too
  bool alone = false;   // no others, after all: into a callee, but not into its loop
  // At the target of a branch: that.
  KnownTest came = known_.empty() ? KnownTest{} : known_.back(), entered;
  while (code_.size() <= kMostInstructions) {
    ScheduledInstr in = At(pc);
    if (in.op == Scheduled::Jump) {
      pc = in.x;
      continue;
    }
    bool at_side = begins && (places_[activation].full != kNone || places_[activation].caller != kNone) && !EndsAtOnce(pc);
    bool returns = KindOf(in.op) == WordKind::Return || KindOf(in.op) == WordKind::ReturnConstant;
    if (!returns || begins) {  // a Return is copied to where it is needed
      if (start_.contains({activation, pc})) return EmitJump(activation, pc);
      if (joined || facts_.ways[pc]) run_ = static_cast<uint32_t>(code_.size());
      if ((joined && !alone) || facts_.ways[pc] > (begins ? 1 : 0)) known_.clear();
      if (entered.pc != kNone && facts_.ways[pc] == 1) known_.push_back(entered);
      start_[{activation, pc}] = static_cast<uint32_t>(code_.size());
    }
    begins = joined = alone = false;
    KnownTest from = std::exchange(came, KnownTest{});
    entered = {};
    point_ = {activation, pc};
    if (at_side && places_[activation].full != kNone) {
      GoOnInFull(activation);
      activation = places_[activation].full;
      // The loop's own iterations come here by the same branch.
      if (from.pc != kNone) entered = {TestAt(activation, from.pc), from.result, from.pc};
      continue;
    }
    if (at_side) {
      pc = places_[activation].call_pc;
      activation = places_[activation].caller;
      CallOfWords call = ReadCall(p_, pc);
      point_ = {activation, pc};
      EmitReal(activation, call);
      pc = call.got + 1;
      joined = true;
      continue;
    }
    auto slot = [&](uint32_t s) { return Slot(activation, s); };
    // Whether it is known which side is taken; then the code goes on there.
    auto branch = [&] {
      ScheduledInstr test = TestAt(activation, pc);
      if (const KnownTest* known = Find(test)) {
        came = {test, known->result, pc};
        pc = PassJumps(known->result ? in.x : in.y);
        begins = true;
        return true;
      }
      Add(in.op, 0, test.a, test.b);
      auto at = static_cast<uint32_t>(code_.size()) - 1;
      patches_.push_back({at, false, activation, in.x});
      patches_.push_back({at, true, activation, in.y});
      for (bool result : {false, true}) {
        std::vector<KnownTest> known = known_;
        known.push_back({test, result, pc});
        todo_.push_back({activation, result ? in.x : in.y, std::move(known)});
      }
      return false;
    };
    switch (KindOf(in.op)) {
      case WordKind::Binary: Add(in.op, slot(in.d), slot(in.a), slot(in.b)); break;
      case WordKind::Constant: Add(in.op, slot(in.d), slot(in.a)).imm = in.imm; break;
      case WordKind::Unary:
        if (in.op != Scheduled::Move || slot(in.d) != slot(in.a)) Add(in.op, slot(in.d), slot(in.a));
        break;
      case WordKind::Load:
        if (!SlotsOf(*places_[activation].scope).IsConstant(in.d)) Add(in.op, slot(in.d)).imm = in.imm;
        break;
      case WordKind::Branch2:
      case WordKind::Branch1:
      case WordKind::Branch:
        if (branch()) continue;
        return;
      case WordKind::Skip: break;
      case WordKind::Count: Add(in.op).imm = in.imm; break;
      case WordKind::CountCall: Add(in.op, in.d + unboxed_.activations[activation].depth).imm = in.imm; break;
      case WordKind::Call:
      case WordKind::CallWord: {
        CallOfWords call = ReadCall(p_, pc);
        for (const ScheduledInstr& count : call.counts) Add(count.op, count.d + unboxed_.activations[activation].depth).imm = count.imm;
        if (MayInline(activation, *call.site->callee)) {
          bool test = call.site->type == SiteType::Loop && BeginsWithTest(*call.site->callee);
          activation = test ? InlineTest(activation, call) : Inline(activation, call, true);
          pc = call.site->callee->plain;
          joined = true;
          alone = test || call.site->type != SiteType::Loop;
        } else if (uint32_t test = TestOfReal(activation, pc, call); test != kNone) {
          activation = test;
          pc = places_[test].scope->plain;
          joined = alone = true;
        } else {
          EmitReal(activation, call);
          pc = call.got + 1;
        }
        continue;
      }
      case WordKind::Next: return EmitNext(activation, in);
      case WordKind::Return:
      case WordKind::ReturnConstant: {
        bool constant = in.op == Scheduled::ReturnConstant;
        if (activation == 0) {
          ScheduledInstr& give = Add(in.op, constant ? in.d : 0, constant ? 0 : slot(in.a), in.b);
          give.imm = in.imm;
          return;
        }
        const InlinedActivation& made = unboxed_.activations[activation];
        uint16_t to = Slot(made.parent, p_.scheduled.code[made.return_pc].d);
        if (constant) Add(Scheduled::Load, to).imm = static_cast<int16_t>(in.d);
        else if (slot(in.a) != to && !Redirect(slot(in.a), to, made.parent, {})) Add(Scheduled::Move, to, slot(in.a));
        if (!code_.empty() && (code_.back().op == Scheduled::Load || code_.back().op == Scheduled::Move) && code_.back().d == to)
          owners_.back() = made.parent;
        pc = made.return_pc + 1;
        activation = made.parent;
        joined = true;
        continue;
      }
      default: return;  // Arg, Enter and Got belong to a call
    }
    ++pc;
  }
}

bool UnboxedMaker::Run() {
  InlinedActivation own;
  const SlotsOnWords& of = SlotsOf(scope_);
  own.constants = {facts_.slots[scope_.id.index], &of.constants};
  for (uint32_t slot = 0; slot < scope_.num_slots; ++slot) own.slots.push_back(Reserve(slot));
  Bind(of, own.slots);
  // The slots of others stand behind all that event code has in the frame.
  num_slots_ = (scope_.frame_bytes - static_cast<uint32_t>(sizeof(Frame))) / sizeof(uint64_t);
  places_.push_back({&scope_, num_slots_});
  unboxed_.activations.push_back(std::move(own));
  Add(Scheduled::Unboxed).y = scope_.plain;
  todo_.push_back({0, scope_.plain, {}});
  while (!todo_.empty()) {
    Todo next = std::move(todo_.back());
    todo_.pop_back();
    uint32_t pc = PassJumps(next.pc);
    known_ = std::move(next.known);
    if (!start_.contains({next.activation, pc})) Emit(next.activation, pc);
    if (code_.size() > kMostInstructions || num_slots_ > kMostUnboxedSlots) return false;
  }
  return true;
}

void UnboxedMaker::Finish() {
  for (const Patch& patch : patches_) {
    uint32_t pc = PassJumps(patch.pc);
    auto offset = static_cast<int32_t>(start_.at({patch.activation, pc})) - static_cast<int32_t>(patch.at);
    (patch.second ? code_[patch.at].y : code_[patch.at].x) = static_cast<uint32_t>(offset * static_cast<int32_t>(sizeof(ScheduledInstr)));
  }
  unboxed_.begin = static_cast<uint32_t>(p_.scheduled.code.size());
  unboxed_.end = unboxed_.begin + static_cast<uint32_t>(code_.size());
  unboxed_.points[0] = {0, scope_.plain};
  ScheduledInstr& entry = code_[0];
  entry.x = static_cast<uint32_t>(p_.scheduled.operands.size());
  for (uint32_t slot : p_.scheduled.parameters[scope_.id.index]) {
    if (p_.scheduled.plain[scope_.id.index][slot]) continue;
    p_.scheduled.operands.push_back(slot);
    ++entry.b;
  }
  entry.a = std::any_of(code_.begin(), code_.end(), [](const ScheduledInstr& in) { return MayOverflow(in.op); });
  p_.scheduled.code.insert(p_.scheduled.code.end(), code_.begin(), code_.end());
  scope_.scheduled = unboxed_.begin;
  scope_.frame_bytes = std::max<uint32_t>(scope_.frame_bytes, static_cast<uint32_t>(sizeof(Frame) + num_slots_ * sizeof(uint64_t)));
  scope_.unboxed = std::make_shared<const UnboxedCode>(std::move(unboxed_));
}

}  // namespace df::tagged
