// backends/net/inbox.h
//
// The receiving half of a link: batches in order become messages, large ones are put together, and credit is given for what was taken.
//
// A message that is larger than half the credit could never come whole: what it has beyond that is granted when it is announced, but only
// while no other message of the kind waits to be taken. So at most window + largest bytes are held here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/net/messages.h"
#include "backends/net/outbox.h"

namespace df::net {

class Inbox {
 public:
  explicit Inbox(const LinkOptions& options) : options_(options) {}

  // The batch that follows all before. What is wrong with it, if anything.
  std::optional<std::string> Accept(const Head& head, Datagram datagram);
  std::optional<Message> TakeControl();
  std::optional<Message> TakeData();

  uint64_t accepted() const { return accepted_; }  // number of the last batch
  // What the peer may have sent in all; Tell notes that it is told.
  uint64_t grant() const { return options_.window + consumed_; }
  uint64_t Tell() { return told_ = grant(); }
  // Enough credit came free to say so.
  bool OwesCredit() const { return grant() - told_ >= options_.window / 4; }
  // What came of data, with what each message costs.
  uint64_t received() const { return received_; }
  // Bytes that came and were not taken, parts of messages included.
  uint64_t held() const { return held_; }

 private:
  // One message, or a run of small ones as they stand in their batch, which the message's holder has.
  struct Waiting {
    Message message;
    std::string_view run;
    uint32_t left = 0;      // messages of the run
    uint64_t cost = 0;      // credit that comes free when it is taken; of a run each costs its own
    uint64_t held = 0;
    bool extra = false;     // some of it was granted before
  };
  struct Growing {
    Waiting waiting;
    std::shared_ptr<std::string> body = std::make_shared<std::string>();
    std::vector<uint64_t> sizes;
    std::vector<std::shared_ptr<char>> buffers;  // of the parts; the body grows as it comes
    size_t buffer = 0;
    uint64_t offset = 0, extra = 0;
  };

  // `bytes`: the message as it stands in the batch, with kind and size.
  std::optional<std::string> AddMessage(uint64_t kind, std::string_view body, std::string_view bytes, const std::shared_ptr<const void>& holder);
  Message TakeOfRun();
  std::optional<std::string> Announce(std::string_view body);
  std::optional<std::string> AddPiece(std::string_view bytes);
  bool Spend(uint64_t cost);
  void GrantExtra();
  void FinishFullBuffers();

  LinkOptions options_;
  Fifo<Message> control_;
  Fifo<Waiting> data_;
  std::optional<Growing> growing_;
  bool in_run_ = false;  // the last of data_ is a run of the batch at hand
  size_t extras_ = 0;  // messages in data_ that have `extra`
  uint64_t accepted_ = 0, consumed_ = 0, received_ = 0, held_ = 0;
  uint64_t told_ = options_.window;
};

}  // namespace df::net
