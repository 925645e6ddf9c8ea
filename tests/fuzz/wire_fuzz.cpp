// Fuzzes what reads the wire: heads of batches, messages, and a link that gets one datagram after the other.
//
// What is decoded has to be encoded the same again, and a link must take a datagram or name what is wrong with it, within its limits.

#include <cstdlib>
#include <string>

#include "backends/net/link.h"
#include "llvm/Support/raw_ostream.h"

using namespace df::net;

namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  llvm::errs() << "broken promise: " << what << '\n';
  std::abort();
}

// The first byte says which message, the rest is its body.
void CheckMessage(std::string_view bytes) {
  if (bytes.empty()) return;
  const Kind kind = static_cast<Kind>(bytes[0]);
  const std::string_view body = bytes.substr(1);
  Require(!Dump(kind, body).empty(), "anything can be shown");
  switch (kind) {
#define DF_MESSAGE(number, Name, lane, direction, states, fields)                 \
  case Kind::Name: {                                                              \
    msg::Name message;                                                            \
    if (!Decode(body, message)) return;                                           \
    std::string again;                                                            \
    Encode(message, again);                                                       \
    Require(again == body, "what is decoded is encoded the same");                \
    return;                                                                       \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
  }
}

// Datagrams, each behind two bytes of its size; the bytes after `0xff` are a frame.
void CheckLink(std::string_view bytes) {
  LinkOptions options;
  options.window = 64 << 10;
  options.largest = 1 << 20;
  const Ends ends{{1, 1}, {2, 2}};
  Link link(options, ends, {options.window, options.largest}, Time{0});
  link.Send(Pack(msg::Result{1, 2, std::string(40000, 'x')}));
  Time now{0};
  while (bytes.size() >= 2) {
    const size_t size = std::min<size_t>(static_cast<uint8_t>(bytes[0]) | static_cast<uint8_t>(bytes[1]) << 8, bytes.size() - 2);
    std::string_view one = bytes.substr(2, size);
    bytes.remove_prefix(2 + size);
    Datagram datagram;
    if (const size_t at = one.find('\xff'); at != std::string_view::npos && at >= Head::kSize) {
      datagram.frames.push_back(OwnPart(std::string(one.substr(at + 1))));
      one = one.substr(0, at);
    }
    datagram.head = OwnPart(std::string(one));
    Reader in(datagram.head.bytes);
    Head head;
    if (!ReadHead(in, head)) continue;
    if (std::optional<std::string> wrong = link.Receive(head, std::move(datagram), now)) return Require(!wrong->empty(), "what is wrong has a name");
    Require(link.inbox().held() <= options.window + options.largest + LargeCost(kMostParts), "a link holds what it may hold");
    while (link.Poll(now)) {
    }
    while (link.TakeControl()) {
    }
    if (size % 2 == 0)
      while (link.TakeData()) {
      }
    now += std::chrono::milliseconds(1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckMessage(bytes);
  CheckLink(bytes);
  return 0;
}
