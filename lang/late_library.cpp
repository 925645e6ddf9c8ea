#include "lang/late_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace df {

LateLibrary::LateLibrary(const char* soname) : soname_(soname), handle_(::dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) why_ = fmt::format("this needs {}, which cannot be loaded: {}", soname_, ::dlerror());
}

void* LateLibrary::Find(const char* function) {
  void* found = handle_ ? ::dlsym(handle_, function) : nullptr;
  if (!found && why_.empty()) why_ = fmt::format("the {} of this machine has no {}", soname_, function);
  return found;
}

}  // namespace df
