#include "lang/budget.h"

namespace df {

thread_local constinit Budget* budget = nullptr;

void LeaveForBudget() {
  if (std::uncaught_exceptions() > 0) return;
  budget->answered.store(true);
  throw BudgetExceeded(budget->ended.load());
}

}  // namespace df
