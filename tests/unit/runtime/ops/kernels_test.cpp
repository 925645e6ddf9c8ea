// Kernels against GHC: every row of ghc_table.inc.
#include "runtime/ops/kernels.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/evaluated.h"

using namespace df;
using namespace df::test;

namespace {

constexpr const char* kTable[] = {
#include "tests/unit/runtime/ops/ghc_table.inc"
};

ir::TypeKind KindNamed(const ir::TypeTable& types, std::string_view name) {
  for (uint32_t k = 0; k <= static_cast<uint32_t>(ir::TypeKind::Text); ++k)
    if (types[ir::TypeId(k)].name == name) return static_cast<ir::TypeKind>(k);
  FAIL("no type " << name);
  return {};
}

// The type of an operand after the first.
ir::TypeKind SecondKind(ir::Op op, ir::TypeKind first) {
  bool distance = op == ir::Op::ShiftL || op == ir::Op::ShiftR || op == ir::Op::EncodeFloat;
  return distance ? ir::TypeKind::Int : first;
}

std::string Compute(const ir::Graph& graph, const std::vector<std::string>& row) {
  auto op = ir::OpNamed(row[0]);
  REQUIRE(op.has_value());
  KernelTypes types{KindNamed(graph.types, row[1]), KindNamed(graph.types, row[2])};
  std::vector<Value> operands;
  for (size_t k = 3; k + 1 < row.size(); ++k) {
    ir::TypeKind kind = k == 3 ? types.operand : SecondKind(*op, types.operand);
    std::string error;
    auto value = ParseInput(graph, {graph.types.Builtin(kind), false}, row[k], &error);
    if (!value) return error;
    operands.push_back(*value);
  }
  KernelError error;
  bool failed = false;
  Value result = ApplyTyped(*op, types, 0, operands, &error, &failed, UINT64_MAX);
  return failed ? "!" + error.message : Shown(graph, {graph.types.Builtin(types.result), false}, result);
}

}  // namespace

TEST_CASE("kernels give what GHC gives") {
  ir::Graph graph;
  for (std::string_view line : kTable) {
    std::vector<std::string> row;
    for (std::string_view rest = line;;) {
      size_t end = rest.find(';');
      row.emplace_back(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    INFO(line);
    CHECK(Compute(graph, row) == row.back());
  }
}
