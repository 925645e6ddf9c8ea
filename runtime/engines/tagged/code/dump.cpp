// The regions of a compiled graph as text, a region a paragraph:
//
//   scope fib: 5 slots, 80 bytes
//     region 1 after e2 e3 (mask 0)
//       Op            %21 Add     s4 = s2, s3
#include <map>
#include <string>

#include "runtime/engines/tagged/code/code.h"

namespace df::tagged {

namespace {

constexpr const char* kCodeNames[] = {
#define DF_CODE(name, meaning) #name,
    DF_TAGGED_CODES(DF_CODE)
#undef DF_CODE
};

void PrintOperand(uint32_t operand, llvm::raw_ostream& out) {
  if (operand == kNone) out << " _";
  else if (IsConstant(operand)) out << " c" << (operand & ~kConstant);
  else out << ' ' << operand;
}

// Where the code of each scope begins says its field `start`.
void PrintCode(const Program& program, const char* kind, llvm::ArrayRef<ScheduledInstr> code, uint32_t ScopeCode::*start, llvm::raw_ostream& out) {
  std::map<uint32_t, std::string> starts;
  for (const ScopeCode& scope : program.scopes)
    if (scope.*start != kNone) starts[scope.*start] = program.graph->scopes[scope.id].name;
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (auto it = starts.find(i); it != starts.end()) out << kind << " code of " << it->second << '\n';
    const ScheduledInstr& in = code[i];
    out << "  " << i << ' ' << NameOf(in.op);
    for (uint16_t operand : {in.d, in.a, in.b}) out << ' ' << (operand & 0x7fff) << (operand & kLastUse ? "!" : "");
    out << "  x " << in.x << " y " << in.y << '\n';
  }
}

}  // namespace

void Dump(const Program& program, llvm::raw_ostream& out, llvm::function_ref<bool(std::string_view)> chosen) {
  const ir::Graph& graph = *program.graph;
  for (const ScopeCode& scope : program.scopes) {
    if (!chosen(graph.scopes[scope.id].name)) continue;
    out << "scope " << graph.scopes[scope.id].name << ": " << scope.num_slots << " slots, " << scope.frame_bytes
        << " bytes, activation e" << scope.activation << '\n';
    for (size_t r = 0; r < scope.regions.size(); ++r) {
      const Region& region = scope.regions[r];
      out << "  region " << r << " after";
      for (uint32_t event : region.events) out << " e" << event;
      if (region.mask != kNone) out << " (mask " << region.mask << ")";
      out << '\n';
      for (uint32_t pc = region.pc;; ++pc) {
        const Instr& in = program.code[pc];
        if (in.code == Code::End) break;
        out << "    " << pc << ' ' << kCodeNames[static_cast<size_t>(in.code)];
        if (ir::NodeId node = program.node_of[pc]; node.valid())
          out << " %" << node.index << ' ' << llvm::StringRef(ir::InfoOf(graph.nodes[node].op).name);
        for (uint32_t operand : {in.a, in.b, in.c}) PrintOperand(operand, out);
        if (in.code == Code::Construct || in.code == Code::OpMany || in.code == Code::Check || in.code == Code::DelayAll) {
          uint32_t first = in.code != Code::DelayAll ? in.b : in.c;
          size_t count = in.code != Code::DelayAll ? in.c : program.sites[in.b].together.size();
          for (size_t k = 0; k < count; ++k) {
            PrintOperand(ListOperand(program.lists[first + k]), out);
            if (!IsConstant(program.lists[first + k]) && program.lists[first + k] & kLast) out << " last";
          }
        }
        if (in.aux & kLastB) out << " last b";
        if (in.aux & kLastC) out << " last c";
        if (in.code == Code::Branch)
          for (uint32_t side : scope.branches[in.b].sides) out << (side == kNone ? " -" : " e" + std::to_string(side));
        out << '\n';
      }
    }
  }
  PrintCode(program, "scheduled", program.scheduled.code, &ScopeCode::scheduled, out);
  PrintCode(program, "frameless", program.frameless.code, &ScopeCode::frameless, out);
}

}  // namespace df::tagged
