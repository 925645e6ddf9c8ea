// Which run a thread works on.
#include "runtime/run/repeat.h"

namespace df {

thread_local constinit Repeatable* Repeatable::entered = nullptr;

}  // namespace df
