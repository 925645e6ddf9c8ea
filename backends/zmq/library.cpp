#include "backends/zmq/library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace df::net {
namespace {

struct Loaded {
  ZmqLibrary library;
  std::string why;

  Loaded() {
    void* handle = ::dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why = fmt::format("this needs libzmq, which cannot be loaded: {}", ::dlerror());
      return;
    }
#define DF_ZMQ_FUNCTION(name)                                            \
  library.name = reinterpret_cast<decltype(&::name)>(::dlsym(handle, #name)); \
  if (!library.name) why = "the libzmq of this machine has no " #name;
    DF_ZMQ_FUNCTIONS(DF_ZMQ_FUNCTION)
#undef DF_ZMQ_FUNCTION
  }
};

const Loaded& Load() {
  static const Loaded loaded;
  return loaded;
}

}  // namespace

bool LoadZmq(std::string* why) {
  *why = Load().why;
  return why->empty();
}

const ZmqLibrary& Zmq() {
  static const ZmqLibrary& library = Load().library;
  return library;
}

}  // namespace df::net
