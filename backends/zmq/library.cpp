#include "backends/zmq/library.h"

#include "lang/late_library.h"

namespace df::net {
namespace {

struct Loaded {
  LateLibrary library{DFC_ZMQ_SONAME};
  ZmqLibrary functions;

  Loaded() {
#define DF_ZMQ_FUNCTION(name) functions.name = reinterpret_cast<decltype(&::name)>(library.Find(#name));
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
  *why = Load().library.why();
  return why->empty();
}

const ZmqLibrary& Zmq() {
  static const ZmqLibrary& functions = Load().functions;
  return functions;
}

}  // namespace df::net
