// runtime/base/long_operation.h
//
// Operations on numbers of many megabytes: one multiplication or `show` may take minutes inside GMP, where nothing is
// looked at. Such a call can be given up from a signal handler of its thread, by a long jump out of it. That is sound
// because GMP computes on memory of its own and keeps no state besides: what it has allocated is known here, and freed.
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstddef>

#include "runtime/base/stop.h"

namespace df {

// Thrown out of an operation that was given up; the engines end the run as they do at a limit.
struct OperationAborted {
  Stop stop;
};

// Asks the calling thread to give up the long operation that it is in, and those that it begins, until
// ClearAbort. From a signal handler: it does not return if it stands in such an operation.
void AbortLongOperation(Stop stop) noexcept;
void ClearAbort() noexcept;

namespace long_operation {

struct State {
  volatile std::sig_atomic_t running = 0;   // between Enter and Leave
  volatile std::sig_atomic_t shielded = 0;  // inside malloc, which must not be left by a jump
  volatile std::sig_atomic_t wanted = 0;    // the Stop to end with, or 0
  sigjmp_buf context = {};
};
extern thread_local constinit State state;

// For the allocation functions given to GMP. Inside a Shield no jump happens; it is made up for at its end.
class Shield {
 public:
  Shield() { state.shielded = 1; }
  ~Shield();
  Shield(const Shield&) = delete;
  Shield& operator=(const Shield&) = delete;
};
// Both inside a Shield.
void Took(void* at, size_t bytes);
void Gave(void* at);

void Enter();
void Leave() noexcept;
[[noreturn]] void Abandon();  // frees what was taken, throws OperationAborted

}  // namespace long_operation

// Runs `call`, which calls GMP and nothing else: nothing in it may need a destructor. If it is given up the mpz_t that
// it writes to has lost its memory; `forget` makes it fresh. `limbs` says how much work it is.
template <typename Call, typename Forget>
void RunLongOperation(size_t limbs, Call call, Forget forget) {
  constexpr size_t kLong = 4096;  // a product of this size takes about a tenth of a millisecond
  if (limbs < kLong) {
    call();
    return;
  }
  if (sigsetjmp(long_operation::state.context, 1) == 0) {
    long_operation::Enter();
    call();
    long_operation::Leave();
  } else {
    forget();
    long_operation::Abandon();
  }
}

}  // namespace df
