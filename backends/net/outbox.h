// backends/net/outbox.h
//
// The sending half of a link: messages wait in two lanes, become numbered batches within credit and window, and are kept until the peer has
// them.
//
// Credit is the peer's: bytes of data that it has room for. The window is our own: bytes that may be on their way at once. It grows as long
// as acknowledgements come soon, so that on a slow line a control message never stands behind more than a fraction of a second of data.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/net/fifo.h"
#include "backends/net/messages.h"

namespace df::net {

using Time = std::chrono::nanoseconds;  // since some beginning, by a transport's clock

struct LinkOptions {
  uint64_t window = uint64_t{64} << 20;       // credit that this side gives: data that came and was not taken yet
  uint64_t largest = uint64_t{4} << 30;       // message that this side takes
  uint32_t batch = 16 << 10;                  // bytes of small messages in a batch; what is larger goes in pieces
  uint32_t piece = 256 << 10;                 // bytes of a large message in a batch
  uint64_t least_in_flight = 512 << 10;
  Time slow = std::chrono::milliseconds(100), fast = std::chrono::milliseconds(50);  // acknowledgements, for the window
  Time acknowledge_after = std::chrono::milliseconds(10);
  // Where only control messages came: by then something is said anyway, Progress for example, and the acknowledgement goes with it. Nothing waits for it but a
  // copy of these few bytes.
  Time acknowledge_control_after = std::chrono::milliseconds(150);
  uint64_t acknowledge_bytes = 128 << 10;
  Time keep_alive = std::chrono::milliseconds(200);
};

struct PeerLimits {
  uint64_t window = uint64_t{64} << 20, largest = uint64_t{4} << 30;
};

// Bytes of credit that a message costs beside those of its body and parts: an empty one takes room, too.
inline constexpr uint64_t kMessageCost = 64;
inline constexpr size_t kMostParts = 4096;
// Pieces below this size stand in the batch itself.
inline constexpr size_t kOwnFrame = 8 << 10;

// What an announcement of a large message costs.
inline uint64_t LargeCost(size_t buffers) { return kMessageCost + 8 * buffers; }

struct Batch {
  uint64_t sequence = 0;
  uint16_t count = 0;
  // Messages behind room for a head. The datagram that carries it first is these bytes themselves; they change no more then.
  std::shared_ptr<std::string> whole;
  std::vector<Part> frames;
  uint64_t bytes = 0;
  uint64_t stamp = 0;    // of the datagram that carried it last
  Time sent{0};
  bool again = false;    // was sent more than once
  bool data = false;     // it has some: it is acknowledged soon, and so says how fast the line is
};

class Outbox {
 public:
  Outbox(const LinkOptions& options, PeerLimits peer);

  // Queues it. False: it is larger than the peer takes, or, on the control lane, than a batch.
  bool Push(Message message);
  // One without parts; the bytes are copied if they are few.
  bool Push(Kind kind, std::string_view body);
  // The batch to send now, or null. The caller gives it a stamp; it stays here until it is acknowledged.
  Batch* Next(Time now);
  // Whether Next has something.
  bool HasNext() const;
  // What the peer says. False: it acknowledges what was never sent.
  bool Acknowledge(uint64_t acknowledged, uint64_t seen, uint64_t credit, Time now);
  // All that is not acknowledged may be lost.
  void SendAgain() { next_ = 0; }

  bool Idle() const { return kept_.empty() && control_.empty() && data_.empty(); }
  uint64_t queued() const { return queued_; }
  uint64_t in_flight() const { return in_flight_; }
  // Bytes of its own: small messages that wait, and what batches have beside frames, until they are acknowledged.
  uint64_t held() const { return small_ + kept_bytes_; }
  uint64_t window() const { return window_; }
  // Cost of all data ever sent, and what the peer allows.
  uint64_t spent() const { return spent_; }
  uint64_t credit() const { return credit_; }

 private:
  // Of the data lane: small messages, as they stand in a batch, or a large one.
  struct Item {
    std::shared_ptr<std::string> run;  // behind room for a head
    uint16_t count = 0;    // of the run
    uint64_t cost = 0;     // in credit, of the run
    uint64_t size = 0;     // bytes of bodies and parts
    Message large;
  };

  bool MayStartData() const;
  void PushRun(Kind kind, std::string_view body);
  void AddControl(Batch& batch);
  void AddData(Batch& batch);
  void PutData(Batch& batch);
  static void PutMessage(std::string& bytes, Kind kind, std::string_view body);
  static std::shared_ptr<std::string> NewRun() { return std::make_shared<std::string>(Head::kSize, '\0'); }
  bool AddLarge(Batch& batch);
  void PutPiece(Batch& batch, Part piece);
  void Measure(const Batch& batch, Time now);

  LinkOptions options_;
  PeerLimits peer_;
  Fifo<std::string> control_;  // each as it stands in a batch
  Fifo<Item> data_;
  uint64_t queued_ = 0, small_ = 0, kept_bytes_ = 0;
  // Of the large message at the head of the data lane: announced, and where its next byte is (buffer 0 is the body).
  bool announced_ = false;
  size_t buffer_ = 0;
  uint64_t offset_ = 0;
  std::deque<Batch> kept_;
  size_t next_ = 0;  // first of kept_ that has to be sent again
  uint64_t sequence_ = 0, spent_ = 0, credit_, in_flight_ = 0, window_;
  bool window_bound_ = false;  // the window was full since it last changed
  Time window_changed_{0};
};

}  // namespace df::net
