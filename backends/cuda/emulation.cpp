// See emulation.h. A thread is a context (ucontext.h) with a small stack; at a barrier it hands over to the scheduler, which goes round all
// that have not ended.
#include "backends/cuda/emulation.h"

#include <ucontext.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace df::cuda::emulation {

Place at;

namespace {

constexpr size_t kStack = 64 << 10;

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool ended = false;
};

ucontext_t scheduler;
std::vector<Thread> threads;
const std::function<void()>* body;

void Enter() {
  (*body)();
  threads[at.thread].ended = true;
}

void Prepare(Thread& thread) {
  thread.ended = false;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = kStack;
  thread.context.uc_link = &scheduler;
  makecontext(&thread.context, Enter, 0);
}

}  // namespace

void Yield() { swapcontext(&threads[at.thread].context, &scheduler); }

void Run(size_t blocks, unsigned count, size_t shared, const std::function<void()>& kernel) {
  while (threads.size() < count) {
    threads.emplace_back();
    threads.back().stack.reset(new char[kStack]);
  }
  // As where a GPU has it: nothing known is in it.
  std::vector<char> memory(shared + 16);
  at.shared = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
  at.blocks = static_cast<unsigned>(blocks);
  body = &kernel;
  for (at.block = 0; at.block < blocks; ++at.block) {
    std::fill(memory.begin(), memory.end(), char(0xA5));
    for (unsigned t = 0; t < count; ++t) Prepare(threads[t]);
    for (bool more = true; more;) {
      more = false;
      for (unsigned t = 0; t < count; ++t) {
        if (threads[t].ended) continue;
        at.thread = t;
        swapcontext(&scheduler, &threads[t].context);
        more |= !threads[t].ended;
      }
    }
  }
}

}  // namespace df::cuda::emulation
