// Regions -> fast code. A region that does something else than compute, and then one thing that goes on (a branch, an
// event, results, a tail), is left to tagged_step.cpp from there on: correctness never depends on what is translated here.
#include <algorithm>

#include "runtime/tagged_code.h"
#include "runtime/tagged_fast.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

constexpr uint32_t kLongestInlined = 12;  // instructions of a region that is copied to where its event happens
constexpr uint32_t kDeepestInlined = 3;

class FastMaker {
 public:
  explicit FastMaker(Program& p) : p_(p), g_(*p.graph) {}
  void Run();

 private:
  struct Patch {
    uint32_t at;       // fast instruction
    bool y;            // which target
    uint32_t region;
  };

  void MakeScope(ScopeCode& scope);
  void MakeRegion(uint32_t pc, uint32_t depth);
  void MakeTail(uint32_t pc);
  bool MakeOp(uint32_t pc, uint32_t start);
  bool IsLast(uint32_t pc) const { return p_.code[pc + 1].code == Code::End; }
  bool OnlyResultsFollow(uint32_t pc) const;
  void MakeEvent(uint32_t event, uint32_t start, uint32_t depth);
  bool CanBranch(uint32_t pc) const;
  void MakeBranch(uint32_t pc, uint32_t compare_pc, uint32_t region_pc);
  bool IsSimple(uint32_t event) const;
  void SideTarget(uint32_t event, uint32_t at, bool y);
  const Target* OnlyTarget(uint32_t event) const;
  uint32_t Length(uint32_t pc) const;
  bool IsFusable(uint32_t pc, uint32_t branch_pc) const;

  bool Fits(uint32_t slot) const { return slot < 65536; }
  int64_t Constant(uint32_t operand) const { return p_.constants[operand & ~kConstant].word(); }
  bool IsWord(uint32_t operand) const { return !IsConstant(operand) || p_.constants[operand & ~kConstant].is_word(); }
  FastInstr& Add(Fast op, uint32_t pc, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0) {
    FastInstr in;
    in.op = static_cast<uint16_t>(op);
    in.d = static_cast<uint16_t>(d);
    in.a = static_cast<uint16_t>(a);
    in.b = static_cast<uint16_t>(b);
    p_.fast.push_back(in);
    p_.fast_pc.push_back(pc);
    return p_.fast.back();
  }
  uint32_t Here() const { return static_cast<uint32_t>(p_.fast.size()); }
  // d = operand
  void Copy(uint32_t pc, Fast move, Fast load, uint32_t d, uint32_t operand) {
    if (IsConstant(operand)) Add(load, pc, d).imm = Constant(operand);
    else Add(move, pc, d, operand);
  }

  Program& p_;
  const ir::Graph& g_;
  ScopeCode* scope_ = nullptr;
  std::vector<Patch> patches_;
  uint32_t end_ = 0;
};

const Target* FastMaker::OnlyTarget(uint32_t event) const {
  const Event& e = scope_->events[event];
  return e.num_targets == 1 ? &scope_->targets[e.first_target] : nullptr;
}

bool FastMaker::IsSimple(uint32_t event) const { return event == kNone || scope_->events[event].num_targets <= 1; }

uint32_t FastMaker::Length(uint32_t pc) const {
  uint32_t n = 0;
  while (p_.code[pc + n].code != Code::End) ++n;
  return n;
}

// What happens last in a region: an event that wakes at most one.
void FastMaker::MakeEvent(uint32_t event, uint32_t start, uint32_t depth) {
  const Target* target = OnlyTarget(event);
  if (!target) {
    Add(Fast::End, start);
    return;
  }
  if (target->mask != kNone) {
    Add(Fast::FireMasked, start, 0, target->mask, target->bit);
    patches_.push_back({Here() - 1, false, target->region});
    return;
  }
  uint32_t to = scope_->regions[target->region].pc;
  if (depth < kDeepestInlined && Length(to) <= kLongestInlined) return MakeRegion(to, depth + 1);
  Add(Fast::Jump, start);
  patches_.push_back({Here() - 1, false, target->region});
}

// Where a side of a branch goes on; instruction `at` is the branch.
void FastMaker::SideTarget(uint32_t event, uint32_t at, bool y) {
  const Target* target = event == kNone ? nullptr : OnlyTarget(event);
  uint32_t to = end_;
  if (target && target->mask == kNone) {
    patches_.push_back({at, y, target->region});
    return;
  }
  if (target) {
    to = Here();
    Add(Fast::FireMasked, p_.fast_pc[at], 0, target->mask, target->bit);
    patches_.push_back({to, false, target->region});
  }
  (y ? p_.fast[at].y : p_.fast[at].x) = to;
}

std::optional<Fast> CompareOf(Op op, bool rr, bool branch) {
  switch (op) {
#define DF_FAST_BINARY(name, type, condition, expression)
#define DF_FAST_UNARY(name, type, condition, expression)
#define DF_FAST(name, operands)
#define DF_FAST_COMPARE(name, expression) \
  case Op::name: return branch ? (rr ? Fast::Branch##name##RR : Fast::Branch##name##RK) : Fast::name##RR;
#include "runtime/tagged_fast_ops.def"
    default: return std::nullopt;
  }
}

bool IsWordType(TypeKind kind) {
  return kind == TypeKind::Int || kind == TypeKind::Integer || kind == TypeKind::Bool || kind == TypeKind::Char;
}

// Whether the comparison at `pc` is only asked for by the branch at `branch_pc`, and both fit into one instruction.
bool FastMaker::IsFusable(uint32_t pc, uint32_t branch_pc) const {
  const Instr& in = p_.code[pc];
  if (in.code != Code::Op || in.a != p_.code[branch_pc].a) return false;
  NodeId node = p_.node_of[pc];
  if (!IsWordType(p_.types[node.index].operand) || !CompareOf(g_.nodes[node].op, true, true)) return false;
  if (IsConstant(in.b)) return false;
  if (IsConstant(in.c)) {
    if (!IsWord(in.c) || Constant(in.c) < INT16_MIN || Constant(in.c) > INT16_MAX) return false;
  }
  for (ir::Edge use : p_.users[p_.RowOf({node, 0})]) {
    Op op = g_.nodes[use.node].op;
    if (!((op == Op::Switch || op == Op::BranchMerge || op == Op::Exit) && use.port == 0)) return false;
  }
  const Branch& branch = scope_->branches[p_.code[branch_pc].b];
  return !branch.watched;
}

// Whether the branch at `pc` can be the last thing of a fast region.
bool FastMaker::CanBranch(uint32_t pc) const {
  const Instr& in = p_.code[pc];
  const Branch& branch = scope_->branches[in.b];
  if (!IsLast(pc) || !branch.is_bool || IsConstant(in.a)) return false;
  for (uint32_t event : branch.sides) {
    if (!IsSimple(event)) return false;
    const Target* target = event == kNone ? nullptr : OnlyTarget(event);
    if (target && target->mask != kNone && !Fits(target->mask)) return false;
  }
  return true;
}

void FastMaker::MakeBranch(uint32_t pc, uint32_t compare_pc, uint32_t region_pc) {
  const Instr& in = p_.code[pc];
  const Branch& branch = scope_->branches[in.b];
  uint32_t yes = branch.sides.size() > 0 ? branch.sides[0] : kNone;
  uint32_t no = branch.sides.size() > 1 ? branch.sides[1] : kNone;
  if (compare_pc != kNone) {
    const Instr& compare = p_.code[compare_pc];
    bool rr = !IsConstant(compare.c);
    Add(*CompareOf(g_.nodes[p_.node_of[compare_pc]].op, rr, true), region_pc, 0, compare.b,
        rr ? compare.c : static_cast<uint16_t>(Constant(compare.c)));
  } else {
    if (branch.watched) Add(Fast::Record, region_pc, 0, in.a);
    Add(Fast::Branch, region_pc, 0, in.a);
  }
  uint32_t at = Here() - 1;
  SideTarget(yes, at, false);
  SideTarget(no, at, true);
}

// An ordinary op. False if the fast code has no instruction for it.
bool FastMaker::MakeOp(uint32_t pc, uint32_t start) {
  const Instr& in = p_.code[pc];
  NodeId id = p_.node_of[pc];
  const ir::Node& node = g_.nodes[id];
  KernelTypes types = p_.types[id.index];
  if (!IsWord(in.b) || (node.num_inputs > 1 && !IsWord(in.c))) return false;
  bool is_int = types.operand == TypeKind::Int, is_z = types.operand == TypeKind::Integer;
  bool is_double = types.operand == TypeKind::Double;
  auto binary = [&](Fast rr) {
    bool x = IsConstant(in.b), y = IsConstant(in.c);
    if (x && y) return false;
    auto form = [&](int i) { return static_cast<Fast>(static_cast<uint16_t>(rr) + i); };  // RR, RK, KR
    if (y) Add(form(1), start, in.a, in.b).imm = Constant(in.c);
    else if (x) Add(form(2), start, in.a, in.c).imm = Constant(in.b);
    else Add(rr, start, in.a, in.b, in.c);
    return true;
  };
  auto unary = [&](Fast op) {
    if (IsConstant(in.b)) return false;
    Add(op, start, in.a, in.b);
    return true;
  };
  if (is_double) {
    switch (node.op) {
      case Op::Add: return binary(Fast::AddDRR);
      case Op::Sub: return binary(Fast::SubDRR);
      case Op::Mul: return binary(Fast::MulDRR);
      case Op::FDiv: return binary(Fast::DivDRR);
      case Op::Eq: return binary(Fast::EqDRR);
      case Op::Ne: return binary(Fast::NeDRR);
      case Op::Lt: return binary(Fast::LtDRR);
      case Op::Le: return binary(Fast::LeDRR);
      case Op::Gt: return binary(Fast::GtDRR);
      case Op::Ge: return binary(Fast::GeDRR);
      case Op::Neg: return unary(Fast::NegD);
      case Op::Sqrt: return unary(Fast::SqrtD);
      default: return false;
    }
  }
  if (IsWordType(types.operand))
    if (std::optional<Fast> compare = CompareOf(node.op, true, false)) return binary(*compare);
  if (types.operand == TypeKind::Bool) return node.op == Op::Not ? unary(Fast::Not)
                                              : node.op == Op::BoolToInt ? unary(Fast::Move) : false;
  if (types.operand == TypeKind::Char) return node.op == Op::Ord ? unary(Fast::Move) : false;
  if (!is_int && !is_z) return false;
  switch (node.op) {
    case Op::Add: return binary(is_z ? Fast::AddZRR : Fast::AddRR);
    case Op::Sub: return binary(is_z ? Fast::SubZRR : Fast::SubRR);
    case Op::Mul: return binary(is_z ? Fast::MulZRR : Fast::MulRR);
    case Op::Quot: return binary(Fast::QuotRR);
    case Op::Rem: return binary(Fast::RemRR);
    case Op::Div: return binary(Fast::DivRR);
    case Op::Mod: return binary(Fast::ModRR);
    case Op::BitAnd: return binary(Fast::BitAndRR);
    case Op::BitOr: return binary(Fast::BitOrRR);
    case Op::BitXor: return binary(Fast::BitXorRR);
    case Op::Neg: return unary(is_z ? Fast::NegZ : Fast::Neg);
    case Op::Abs: return unary(is_z ? Fast::AbsZ : Fast::Abs);
    case Op::Convert:
      if (types.result == TypeKind::Int || types.result == TypeKind::Integer) return unary(Fast::Move);
      return types.result == TypeKind::Double && unary(Fast::ToDouble);
    default: return false;
  }
}

bool FastMaker::OnlyResultsFollow(uint32_t pc) const {
  for (; p_.code[pc].code != Code::End; ++pc)
    if (p_.code[pc].code != Code::Return && p_.code[pc].code != Code::Exit) return false;
  return true;
}

// Where the fast code cannot go on, the region is run again from its start: until its last step it has only computed.
void FastMaker::MakeRegion(uint32_t start, uint32_t depth) {
  uint32_t last = start;
  while (p_.code[last].code != Code::End) ++last;
  uint32_t branch = last > start && p_.code[last - 1].code == Code::Branch && CanBranch(last - 1) ? last - 1 : kNone;
  uint32_t fused = kNone;
  if (branch != kNone)
    for (uint32_t at = start; at < branch; ++at)
      if (IsFusable(at, branch)) fused = at;
  for (uint32_t pc = start;; ++pc) {
    const Instr& in = p_.code[pc];
    auto slow = [&] { Add(Fast::Slow, start); };
    switch (in.code) {
      case Code::End: Add(Fast::End, start); return;
      case Code::Op:
        if (pc != fused && !MakeOp(pc, start)) return slow();
        continue;
      case Code::Merge:
        if (in.aux & kTrigger) continue;
        if (!IsWord(in.b)) return slow();
        Copy(start, Fast::Move, Fast::Load, in.a, in.b);
        continue;
      case Code::Force:
        if (IsConstant(in.b) || !IsLast(pc + (p_.code[pc + 1].code == Code::Wait)) || !IsSimple(in.c)) return slow();
        Add(Fast::Force, start, in.a, in.b);
        MakeEvent(in.c, start, depth);
        return;
      case Code::Fire:
        if (!IsLast(pc) || !IsSimple(in.c)) return slow();
        MakeEvent(in.c, start, depth);
        return;
      case Code::Branch:
        if (pc != branch) return slow();
        MakeBranch(pc, fused, start);
        return;
      case Code::Return:
      case Code::Exit:
        if (!OnlyResultsFollow(pc) || !IsWord(in.b) || in.a >= 65536) return slow();
        if (IsLast(pc)) return Copy(start, Fast::Return, Fast::ReturnK, in.a, in.b);
        Copy(start, Fast::Send, Fast::SendK, in.a, in.b);
        continue;
      default:
        if (IsTail(in.code)) MakeTail(pc);
        else slow();
        return;
    }
  }
}

// One step of a tail; `Call` says where the rest is.
void FastMaker::MakeTail(uint32_t pc) {
  while (p_.code[pc].code == Code::Wait) ++pc;  // a word was passed on by Force
  const Instr& in = p_.code[pc];
  if (in.code == Code::End) {
    Add(Fast::End, pc);
    return;
  }
  if (in.code == Code::Call || in.code == Code::Next) {
    const SiteCode& site = p_.sites[in.b];
    bool call = in.code == Code::Call;
    const std::vector<Delivery>& list = call ? site.together : site.next_together;
    bool good = site.plain && site.late.empty() && site.next_late.empty() && Fits(site.callee->num_slots) &&
                list.size() <= kMostArguments;
    for (const Delivery& d : list) good &= IsWord(d.from);
    if (good) {
      FastInstr& head = Add(call ? Fast::Call : Fast::Next, pc);
      head.x = in.b;
      head.y = IsLast(pc) ? kNone : pc + 1;
      uint16_t count = 0;
      size_t at = p_.fast.size() - 1;
      for (const Delivery& d : list) {
        if (!call && d.from == d.to) continue;
        Copy(pc, Fast::Arg, Fast::ArgK, d.to, d.from);
        ++count;
      }
      p_.fast[at].b = count;
      return;
    }
  }
  Add(Fast::SlowTail, pc);
}

void FastMaker::MakeScope(ScopeCode& scope) {
  scope_ = &scope;
  // What Outers read must be seen to be there.
  if (!Fits(scope.num_slots) || scope.read_by_outers) return;
  for (Region& region : scope.regions) {
    region.fast = Here();
    MakeRegion(region.pc, 0);
  }
  for (const Patch& patch : patches_) {
    FastInstr& in = p_.fast[patch.at];
    (patch.y ? in.y : in.x) = scope.regions[patch.region].fast;
  }
  patches_.clear();
  if (const Target* target = OnlyTarget(scope.activation); target && target->mask == kNone)
    scope.start = scope.regions[target->region].fast;
}

void FastMaker::Run() {
  end_ = Here();
  Add(Fast::End, 0);
  for (ScopeCode& scope : p_.scopes) MakeScope(scope);
  p_.fast_of.assign(p_.code.size(), kNone);
  for (uint32_t pc = 0; pc < p_.code.size(); ++pc) {
    scope_ = &p_.scopes[p_.scope_of[pc]];
    if (!IsTail(p_.code[pc].code) || !Fits(scope_->num_slots) || scope_->read_by_outers) continue;
    p_.fast_of[pc] = Here();
    MakeTail(pc);
  }
  for (SiteCode& site : p_.sites) {
    if (!site.callee || !site.caller) continue;
    const ScopeCode& callee = *site.callee;
    if (callee.start != kNone) site.fast.start = p_.fast.data() + callee.start;
    site.fast.returns = site.returns.data();
    site.fast.init = callee.init.data();
    site.fast.init_offset = callee.init_offset;
    site.fast.init_words = static_cast<uint32_t>(callee.init.size());
    site.fast.num_results = callee.num_results;
    site.fast.num_slots = callee.num_slots;
    site.fast.iteration_slot = callee.iteration_slot;
    scope_ = &p_.scopes[site.caller->id.index];
    for (ReturnTo& to : site.returns) {
      if (to.slot == kNone || to.event == kNone) continue;
      const Event& event = scope_->events[to.event];
      if (event.num_targets == 0) continue;
      const Target& target = scope_->targets[event.first_target];
      to.wakes = event.num_targets > 1 ? Wakes::Many : target.mask == kNone ? Wakes::One : Wakes::Masked;
      to.region = target.region;
      to.bit = target.bit;
      to.mask_offset = static_cast<uint32_t>(scope_->mask_offset + (target.mask == kNone ? 0 : target.mask));
      if (uint32_t fast = scope_->regions[target.region].fast; fast != kNone) to.fast = p_.fast.data() + fast;
    }
  }
}

}  // namespace

void MakeFast(Program& program) { FastMaker(program).Run(); }

}  // namespace df::tagged
