// driver/system/crash.h
//
// The last line of defence: a crash (a broken pointer, a stack that overflowed) ends the program with code 70 and a
// message that names the pass, not with a bare signal.
#pragma once

#include <string>
#include <string_view>

namespace df {

// What the user reads of an internal error.
std::string InternalErrorText(const char* pass, std::string_view fault);

// Catches crash signals of this thread on a stack of its own while it lives. Off under sanitizers, which report
// crashes better.
class CrashGuard {
 public:
  CrashGuard();
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  void* stack_ = nullptr;
};

}  // namespace df
