// See progress.h.
#include "runtime/run/progress.h"

namespace df {

constinit thread_local std::atomic<uint64_t>* watched_steps = nullptr;

}  // namespace df
