#include "driver/system/deep_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdint>

#include "lang/sanitizers.h"

namespace df {
namespace {

constexpr size_t kLargestStack = size_t{1} << 30;
constexpr size_t kSmallestStack = size_t{8} << 20;
constexpr size_t kRoom = size_t{16} << 20;  // for all else

// Whether there are so many addresses: a limit may leave few.
bool HasAddresses(size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  ::munmap(at, bytes);
  return true;
}

void* Enter(void* body) {
  (*static_cast<llvm::function_ref<void()>*>(body))();
  return nullptr;
}

}  // namespace

void OnDeepStack(llvm::function_ref<void()> body) {
  for (size_t size = kLargestStack; size >= kSmallestStack; size /= 2) {
    if (size > kSmallestStack && !HasAddresses(size + kRoom)) continue;
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
      for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) sigaddset(&interrupts, signal);
      pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
      pthread_join(thread, nullptr);
      return;
    }
  }
  body();  // no thread at all: the stack that there is
}

void GiveBackDeepStack() {
#ifndef DFC_SANITIZED
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t size = 0, guard = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  constexpr uintptr_t kPage = 4096, kKept = uintptr_t{1} << 20;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(low) + guard + kPage - 1) & -kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - kKept) & -kPage;
  if (begin < end && end - begin < size) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

}  // namespace df
