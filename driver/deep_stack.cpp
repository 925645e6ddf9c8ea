#include "driver/deep_stack.h"

#include <pthread.h>
#include <signal.h>

namespace df {
namespace {

constexpr size_t kLargestStack = size_t{1} << 30;
constexpr size_t kSmallestStack = size_t{8} << 20;

void* Enter(void* body) {
  (*static_cast<llvm::function_ref<void()>*>(body))();
  return nullptr;
}

}  // namespace

void OnDeepStack(llvm::function_ref<void()> body) {
  for (size_t size = kLargestStack; size >= kSmallestStack; size /= 2) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    bool started = pthread_attr_setstacksize(&attributes, size) == 0 &&
                   pthread_create(&thread, &attributes, Enter, &body) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
      // Interrupts go to the thread that works, where they also wake up a read.
      sigset_t interrupts;
      sigemptyset(&interrupts);
      sigaddset(&interrupts, SIGINT);
      sigaddset(&interrupts, SIGTERM);
      pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
      pthread_join(thread, nullptr);
      return;
    }
  }
  body();  // no thread at all: the stack that there is
}

}  // namespace df
