// runtime/engines/tagged/exec/mailbox.h
//
// How the workers of a run reach each other: messages, and asking for work. Private to the tagged engine; docs/parallel.md.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engines/tagged/code/frame.h"
#include "runtime/peers/peers.h"

namespace df::tagged {

struct Worker;
struct Asker;
struct FarCall;

// What one worker tells another.
struct Message {
  enum class Kind : uint8_t {
    Call,         // given away: the call `site` with its `arguments`; results to `frame` of `from`
    Cell,         // given away: the delayed call of `value`, which was released
    Result,       // of the call `site`, number `number`, for `frame`
    Finished,     // a call that was given away, of `frame`
    Forced,       // `value` refers to a cell that is full; `frame` waited at `number`
    Operand,      // `value`, operand `number` of the delayed call of `reference`, whose body the receiver runs
    AskHost,      // `frame` of `from` waits at `number` for what `value` refers to, which only the first worker may ask
    LeaveScheduled,  // nothing goes on anywhere
    FarCall,      // `far`, which another process gave away, of `from`
    FarAnswer,    // `far`, of what was given to another process; its result is `value` if it was computed here
    FarGone,      // the process of `from` is lost
    FarLeave,     // nothing goes on in any process
    FarObject,    // `far`, a large object of the process of `from`, or that it is dropped; all workers get it
    Pieces,       // `far`, of a call that processes share; their list is `value` if they were made here
  };
  Kind kind;
  Message* next = nullptr;
  Asker* from = nullptr;
  Frame* frame = nullptr;
  FarCall* call = nullptr;  // instead of a frame, where another process waits
  const SiteCode* site = nullptr;
  uint32_t number = 0;
  Value value, reference;
  // Of Call: the tag of `frame`, with a count, and its length.
  std::vector<Value> arguments;
  TagNode* tag = nullptr;
  uint32_t depth = 0;
  std::shared_ptr<PeerMessage> far;

  Message(Kind k, Asker* sender) : kind(k), from(sender) {}
  ~Message() { DropTag(tag); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
};

// Stands for the caller of a call that another worker gave away: the parent of its frame here. What the call gives goes home by
// message.
struct Proxy : Frame {
  Asker* home;
  union {
    Frame* caller;
    FarCall* call;  // if the home is far
  };
};

// Where others reach a worker.
class Mailbox {
 public:
  ~Mailbox();

  // Anybody: leaves a message; the receiver is woken if it sleeps.
  void Put(std::unique_ptr<Message> message);
  // The owner: all messages, the oldest first, or null; they are the caller's to delete.
  Message* TakeAll();
  bool HasMail() const { return mail_.load() != nullptr; }

  // A thief: asks. False if somebody else has asked, and not been answered.
  bool Ask(Asker* thief);
  // A thief that does not want to wait any more. False: the answer is on its way.
  bool Retract(Asker* thief);
  // The owner: who asks.
  Asker* TakeAsking() { return asking_.load() ? asking_.exchange(nullptr) : nullptr; }

  // The owner sleeps until something comes, at most so long.
  void Sleep(std::chrono::microseconds longest);
  void Wake();

  std::atomic<bool> idle{false};      // the owner has nothing to do
  std::atomic<bool> refused{false};   // the owner asked somebody, who has nothing to give

 private:
  std::atomic<Message*> mail_{nullptr};  // the newest first
  std::atomic<Asker*> asking_{nullptr};
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// Who asks for work and gets messages: a worker, or the stand-in of another process.
struct Asker {
  explicit Asker(bool far) : is_far(far) {}
  const bool is_far;
  Mailbox mailbox;
};

}  // namespace df::tagged
