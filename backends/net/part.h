// backends/net/part.h
//
// Bytes that somebody holds while they are on their way, and the queue by which their owner gets them back.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace df::net {

// Large bytes beside a message's own: a tensor's elements. They are sent from where they lie; `holder` keeps them there until the peer
// has said that they came, and may let go of them on any thread.
struct Part {
  std::string_view bytes;
  std::shared_ptr<const void> holder;
};

// A part of bytes that nobody else holds.
inline Part OwnPart(std::string bytes) {
  auto held = std::make_shared<const std::string>(std::move(bytes));
  return {*held, held};
}

// Counts of holders in the engine are plain numbers, which only the thread that has the value may touch; a transport lets go of a part on a
// thread of its own. So what it lets go of is put here as a number, and the owner, when it looks, gives back what the number stands for.
// Keep is for the owner; what it gave may end on any thread, also after the queue.
class ReturnQueue {
 public:
  // A holder of what the owner calls `number`.
  std::shared_ptr<const void> Keep(uint64_t number) {
    return std::shared_ptr<const void>(this, [list = list_, number](const void*) {
      std::lock_guard lock(list->mutex);
      list->numbers.push_back(number);
    });
  }

  // The numbers that have come back since the last time.
  std::vector<uint64_t> Drain() {
    std::lock_guard lock(list_->mutex);
    return std::exchange(list_->numbers, {});
  }

 private:
  struct List {
    std::mutex mutex;
    std::vector<uint64_t> numbers;
  };
  std::shared_ptr<List> list_ = std::make_shared<List>();
};

}  // namespace df::net
