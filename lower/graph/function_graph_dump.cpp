// Function graphs as text: one line a node, blocks indented under their Branch, a reason beside each Delay.
#include "llvm/ADT/DenseMap.h"
#include "lower/graph/function_graph.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/tensor_type.h"

namespace df::fg {
namespace {

class Dumper {
 public:
  Dumper(const Program& program, const Function& function, llvm::raw_ostream& out)
      : program_(program), function_(function), out_(out) {}

  void Run() {
    out_ << (function_.delayed ? "delayed " : function_.spread ? "spread function " : "function ") << function_.name << '(';
    for (size_t i = 0; i < function_.params.size(); ++i) {
      if (i) out_ << ", ";
      out_ << ParamName(i) << ": " << program_.types.Print(function_.params[i].type);
    }
    out_ << ") -> ";
    if (function_.results.size() != 1) out_ << '[';
    for (size_t i = 0; i < function_.results.size(); ++i) {
      if (i) out_ << ", ";
      out_ << program_.types.Print(function_.results[i]);
    }
    if (function_.results.size() != 1) out_ << ']';
    out_ << " {\n";
    DumpBlock(function_.body, 2);
    out_ << "}\n";
  }

 private:
  std::string ParamName(size_t index) const {
    const std::string& name = function_.params[index].name;
    return name.empty() ? "p" + std::to_string(index) : name;
  }

  // Nodes are numbered as they are printed, so that a dump does not depend on what earlier passes removed. A knot
  // names a node that comes later: it gets its number when it is first seen.
  uint32_t NumberOf(NodeId node) { return numbers_.try_emplace(node.index, numbers_.size()).first->second; }

  void DumpValue(Value value) {
    const Node& node = function_.nodes[value.node];
    if (node.kind == NodeKind::Param) {
      out_ << '%' << ParamName(node.attr);
      return;
    }
    out_ << '%' << NumberOf(value.node);
    if (node.results.size() > 1) out_ << '.' << value.result;
  }

  void DumpValues(llvm::ArrayRef<Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i) out_ << ", ";
      DumpValue(values[i]);
    }
  }

  void DumpConstant(const ir::Constant& constant) {
    switch (program_.types.Kind(constant.type)) {
      case ir::TypeKind::Unit: out_ << "()"; return;
      case ir::TypeKind::Bool: out_ << (constant.word ? "True" : "False"); return;
      case ir::TypeKind::Integer: out_ << constant.text; return;
      case ir::TypeKind::Text:
        out_ << '"';
        out_.write_escaped(constant.text);
        out_ << '"';
        return;
      case ir::TypeKind::Tensor: {
        constexpr size_t kLongest = 200;
        std::string text = ir::TensorText(program_.types[constant.type], constant.text);
        out_ << (text.size() <= kLongest ? text : text.substr(0, kLongest) + "...");
        return;
      }
      case ir::TypeKind::Char: out_ << fmt::format("'\\x{:x}'", constant.word); return;
      case ir::TypeKind::Double: {
        double value;
        std::memcpy(&value, &constant.word, 8);
        out_ << fmt::format("{}", value);
        return;
      }
      case ir::TypeKind::Float: {
        uint32_t low = static_cast<uint32_t>(constant.word);
        float value;
        std::memcpy(&value, &low, 4);
        out_ << fmt::format("{}", value);
        return;
      }
      default: out_ << constant.word; return;
    }
  }

  void DumpOp(const Node& node) {
    out_ << ir::InfoOf(node.op).name;
    switch (node.op) {
      case ir::Op::Const:
        out_ << ' ';
        DumpConstant(program_.constants[ir::ConstId(node.attr)]);
        break;
      case ir::Op::Construct: {
        const ir::Type& type = program_.types[node.results[0].type];
        out_ << ' ' << (node.attr < type.constructors.size() ? type.constructors[node.attr].name : "<bad>");
        break;
      }
      case ir::Op::Field: out_ << ' ' << (node.attr >> 16) << '.' << (node.attr & 0xffff); break;
      default:
        if (ir::HasNumber(node.op)) out_ << ' ' << node.attr;
        break;
    }
    if (!node.operands.empty()) out_ << ' ';
    DumpValues(node.operands);
  }

  void DumpNode(NodeId id, uint32_t indent) {
    const Node& node = function_.nodes[id];
    if (node.kind == NodeKind::Param) return;
    out_.indent(indent) << '%' << NumberOf(id) << " = ";
    switch (node.kind) {
      case NodeKind::Param: break;
      case NodeKind::Op: DumpOp(node); break;
      case NodeKind::Apply:
      case NodeKind::Delay:
        out_ << (node.kind == NodeKind::Apply ? "Apply " : "Delay ") << program_.functions[node.callee].name << '(';
        DumpValues(node.operands);
        out_ << ')';
        break;
      case NodeKind::Diff:
        out_ << (DiffMode(node.attr) == DiffMode::Vjp ? "Vjp " : DiffMode(node.attr) == DiffMode::Jvp ? "Jvp " : "Stop ");
        if (node.callee.valid()) out_ << program_.functions[node.callee].name;
        out_ << '(';
        DumpValues(node.operands);
        out_ << ')';
        break;
      case NodeKind::Branch:
        out_ << "Branch ";
        DumpValues(node.operands);
        break;
    }
    out_ << " : ";
    for (size_t i = 0; i < node.results.size(); ++i) out_ << (i ? ", " : "") << program_.types.Print(node.results[i]);
    if (!node.name.empty() || !node.reason.empty()) out_ << "  --";
    if (!node.name.empty()) out_ << ' ' << node.name;
    if (!node.reason.empty()) out_ << (node.name.empty() ? " " : "; ") << "delayed: " << node.reason;
    out_ << '\n';
    if (node.kind == NodeKind::Branch) DumpBranch(node, indent);
  }

  void DumpBranch(const Node& node, uint32_t indent) {
    ir::TypeId predicate = function_.TypeOf(node.operands[0]).type;
    bool boolean = program_.types.Kind(predicate) == ir::TypeKind::Bool;
    for (size_t k = 0; k < node.blocks.size(); ++k) {
      out_.indent(indent + 2);
      if (boolean) out_ << (k == 0 ? "true" : "false");
      else out_ << "alternative " << k;
      out_ << ":\n";
      DumpBlock(node.blocks[k], indent + 4);
    }
  }

  void DumpBlock(BlockId id, uint32_t indent) {
    const Block& block = function_.blocks[id];
    for (NodeId node : block.nodes) DumpNode(node, indent);
    out_.indent(indent) << (block.again ? "again " : "yield ");
    DumpValues(block.yields);
    out_ << '\n';
  }

  const Program& program_;
  const Function& function_;
  llvm::raw_ostream& out_;
  llvm::DenseMap<uint32_t, uint32_t> numbers_;
};

}  // namespace

std::optional<DiffMode> DiffModeNamed(std::string_view name) {
  if (name == "Vjp") return DiffMode::Vjp;
  if (name == "Jvp") return DiffMode::Jvp;
  if (name == "StopGradient") return DiffMode::Stop;
  return std::nullopt;
}

void Dump(const Program& program, llvm::raw_ostream& out, const DumpOptions& options) {
  bool first = true;
  for (const Function& function : program.functions) {
    llvm::StringRef name = function.name;
    if (!options.only.empty() && name != options.only && !name.starts_with(options.only + ".")) continue;
    if (!first) out << '\n';
    first = false;
    Dumper(program, function, out).Run();
  }
}

}  // namespace df::fg
