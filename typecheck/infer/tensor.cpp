// Tensor literals, and what is to be said of equations between dimensions.
#include "typecheck/infer/tensor.h"

#include "typecheck/explain/tensor.h"
#include "typecheck/infer/app.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

using Elements = llvm::ArrayRef<const ast::Expr*>;

// Of a list in brackets its elements; `[]` is a constructor to the parser.
std::optional<Elements> ElementsOf(const ast::Expr* expr) {
  expr = StripParens(expr);
  if (const auto* con = llvm::dyn_cast<ast::ConExpr>(expr); con && IsEmptyList(con->name)) return Elements();
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (!list) return std::nullopt;
  return Elements(list->elements.data(), list->elements.size());
}

}  // namespace

core::Expr* CheckTensorLiteral(State& s, const ast::Expr* expr, TypeId expected, const Reason& why) {
  std::vector<const ast::Expr*> level = {expr};
  llvm::SmallVector<TypeId> dims;
  bool even = true;
  while (std::optional<Elements> first = level.empty() ? std::nullopt : ElementsOf(level[0])) {
    std::vector<const ast::Expr*> next;
    const ast::Expr* row = level[0];
    for (const ast::Expr* item : level) {
      std::optional<Elements> list = ElementsOf(item);
      size_t want = first->size();
      if (even && (!list || list->size() != want)) {
        even = false;
        auto elements = [](size_t count) { return fmt::format("{} {}", count, count == 1 ? "element" : "elements"); };
        s.Error(Diag::TensorRagged, item->span, list ? elements(list->size()) : "a single element", elements(want))
            .Note(row->span, fmt::format("this has {}", elements(want)));
      }
      if (list) next.insert(next.end(), list->begin(), list->end());
    }
    dims.push_back(s.types.Dim(static_cast<int64_t>(first->size())));
    level = std::move(next);
  }
  TypeId element = s.unify.Fresh();
  bool ok = even && Expect(s, expected, s.types.Tensor(element, s.types.Shape(dims)), expr->span, why);
  std::vector<core::Expr*> elements;
  Reason part = PartOf(why);
  for (const ast::Expr* item : level) elements.push_back(even ? Check(s, item, element, part) : Infer(s, item));
  const VarId literal = KnownVar(s, "primTensorLiteral");
  if (ok && !literal.valid()) {
    s.Error(Diag::ConstructUnavailable, expr->span, "a tensor literal", "Tensor");
    HintAtTensorModule(s, s.unify.Head(expected));
  }
  if (!ok || !literal.valid()) return ErrorNode(s, expected, expr->span);
  return CallKnown(s, literal, {ListNode(s, elements, element, expr->span)}, expr->span, expected, Reason{});
}

}  // namespace df::check
