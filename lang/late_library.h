// lang/late_library.h
//
// A shared library of the system that is loaded when it is first needed: with what it brings along it would cost every run milliseconds of its
// start. Only its header is needed to build.
#pragma once

#include <string>

namespace df {

class LateLibrary {
 public:
  // `soname`: as the linker would have it, "libzip.so.4". It stays loaded.
  explicit LateLibrary(const char* soname);
  // Null, and why() says so, if there is none of that name.
  void* Find(const char* function);
  // Why it cannot be used; empty: it can.
  const std::string& why() const { return why_; }

 private:
  std::string soname_;
  void* handle_;
  std::string why_;
};

}  // namespace df
