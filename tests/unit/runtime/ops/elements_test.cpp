// Ops on each element: a number and a tensor without dimensions have the same bits.
#include <cmath>

#include "runtime/ops/kernels.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/signature.h"
#include "tests/unit/catch.h"

using namespace df;

// What late numbers stand on: a tensor without dimensions has the bits of the number. So each op on elements has a kernel for both.
TEST_CASE("an op on each element does the same to a number and to a tensor without dimensions") {
  const double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.75, 1e10, -1e300, INFINITY, NAN};
  for (uint32_t i = 0; i < ir::OpCount(); ++i) {
    const auto op = static_cast<ir::Op>(i);
    const ir::Signature& row = ir::SignatureOf(op);
    if (ir::FactsOf(op).late != ir::Late::KeptLate || row.operands[0].pattern == ir::Pattern::Truth) continue;
    for (ir::TypeKind kind : {ir::TypeKind::Int, ir::TypeKind::Float, ir::TypeKind::Double}) {
      if (kind == ir::TypeKind::Int && row.operands[0].pattern == ir::Pattern::Floating) continue;
      const ir::Type type{ir::TypeKind::Tensor, "Tensor", {}, kind, {}};
      for (double x : kNumbers)
        for (double y : {0.5, -0.0, -3.0, static_cast<double>(INFINITY)}) {
          INFO(ir::InfoOf(op).name << " of " << x << " and " << y);
          std::vector<Value> numbers, tensors;
          for (double number : {x, y}) {
            if (numbers.size() == row.operands.size()) continue;
            Value tensor = MakeTensor(kind, {});
            if (kind == ir::TypeKind::Int) {
              const auto word = static_cast<int64_t>(std::isfinite(number) ? std::fmod(number, 1e15) : 5.0);
              numbers.push_back(Value::Word(word));
              *TensorIn(tensor)->as<int64_t>() = word;
            } else if (kind == ir::TypeKind::Float) {
              numbers.push_back(Value::Float(static_cast<float>(number)));
              *TensorIn(tensor)->as<float>() = static_cast<float>(number);
            } else {
              numbers.push_back(Value::Double(number));
              *TensorIn(tensor)->as<double>() = number;
            }
            tensors.push_back(std::move(tensor));
          }
          KernelError error;
          bool failed = false;
          const Value number = ApplyTyped(op, {kind, kind}, 0, numbers, &error, &failed, UINT64_MAX);
          REQUIRE(!failed);
          const Value tensor = ApplyTyped(op, {ir::TypeKind::Tensor, ir::TypeKind::Tensor, &type}, 0, tensors, &error, &failed, UINT64_MAX);
          REQUIRE(!failed);
          const TensorObject& made = *TensorIn(tensor);
          if (kind == ir::TypeKind::Int) REQUIRE(*made.as<int64_t>() == number.word());
          else if (kind == ir::TypeKind::Float) REQUIRE((*made.as<float>() == number.as_float() || (std::isnan(*made.as<float>()) && std::isnan(number.as_float()))));
          else REQUIRE((*made.as<double>() == number.as_double() || (std::isnan(*made.as<double>()) && std::isnan(number.as_double()))));
        }
    }
  }
}
