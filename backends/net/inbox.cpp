#include "backends/net/inbox.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace df::net {
namespace {

// Of tensors' elements.
constexpr size_t kAlignment = 64;
// A body is made as large as it will be at once; a larger one as it comes.
constexpr uint64_t kMostReserved = uint64_t{64} << 20;

// Memory that is not touched: what was announced and does not come takes none.
std::shared_ptr<char> NewBuffer(uint64_t size) {
  void* bytes = std::aligned_alloc(kAlignment, size / kAlignment * kAlignment + kAlignment);
  if (!bytes) return nullptr;
  return {static_cast<char*>(bytes), [](char* held) { std::free(held); }};
}

}  // namespace

bool Inbox::Spend(uint64_t cost) {
  received_ += cost;
  held_ += cost;
  return received_ <= told_;
}

std::optional<std::string> Inbox::Accept(const Head& head, Datagram datagram) {
  Reader in(datagram.head.bytes.substr(Head::kSize));
  size_t frame = 0;
  in_run_ = false;
  for (uint16_t i = 0; i < head.count; ++i) {
    const size_t before = in.left();
    const uint64_t kind = in.Fixed<uint8_t>();
    std::string_view body = in.Sized();
    if (!in.ok()) return "a batch that ends before its messages";
    if (kind == static_cast<uint64_t>(Kind::Piece)) {
      if (body.empty()) {
        if (frame == datagram.frames.size()) return "a piece without its frame";
        body = datagram.frames[frame++].bytes;
      }
      if (auto wrong = AddPiece(body)) return wrong;
    } else if (auto wrong = AddMessage(kind, body, datagram.head.bytes.substr(datagram.head.bytes.size() - before, before - in.left()), datagram.head.holder)) {
      return wrong;
    }
  }
  if (!in.AtEnd() || frame != datagram.frames.size()) return "a batch with more bytes than its messages have";
  accepted_ = head.sequence;
  return std::nullopt;
}

std::optional<std::string> Inbox::AddMessage(uint64_t number, std::string_view body, std::string_view bytes, const std::shared_ptr<const void>& holder) {
  const KindInfo* info = InfoOf(number);
  if (!info) return fmt::format("message {}, which is none", number);
  const Kind kind = static_cast<Kind>(number);
  if (kind != Kind::Large && info->lane == Lane::Data && in_run_) {
    if (!Spend(kMessageCost + body.size())) return "more than it was given credit for";
    Waiting& run = data_.back();
    run.run = {run.run.data(), run.run.size() + bytes.size()};
    ++run.left;
    return std::nullopt;
  }
  in_run_ = false;
  if (kind == Kind::Large) return Announce(body);
  if (info->lane == Lane::Control) {
    control_.push_back({kind, body, {}, holder});
    return std::nullopt;
  }
  if (growing_) return fmt::format("message {} within a large one", info->name);
  if (!Spend(kMessageCost + body.size())) return "more than it was given credit for";
  data_.push_back({{kind, {}, {}, holder}, bytes, 1});
  in_run_ = true;
  return std::nullopt;
}

std::optional<std::string> Inbox::Announce(std::string_view body) {
  msg::Large large;
  if (!Decode(body, large) || large.sizes.empty() || large.sizes.size() > kMostParts) return "a broken announcement";
  const KindInfo* info = InfoOf(large.kind);
  if (!info || info->lane != Lane::Data) return "an announcement of what is never large";
  if (growing_) return "a large message within another one";
  uint64_t total = 0;
  for (uint64_t size : large.sizes) {
    if (size > options_.largest || total + size > options_.largest) return fmt::format("a message of more than {} bytes", options_.largest);
    total += size;
  }
  const uint64_t cost = LargeCost(large.sizes.size());
  if (!Spend(cost)) return "more than it was given credit for";
  Growing& growing = growing_.emplace(Growing{});
  growing.sizes = std::move(large.sizes);
  growing.waiting.message.kind = static_cast<Kind>(large.kind);
  growing.waiting.cost = cost + total;
  growing.waiting.held = cost + total;
  if (growing.sizes[0] <= kMostReserved) growing.body->reserve(growing.sizes[0]);
  for (size_t i = 1; i < growing.sizes.size(); ++i)
    if (!growing.buffers.emplace_back(NewBuffer(growing.sizes[i]))) return fmt::format("a part of {} bytes, for which there is no memory", growing.sizes[i]);
  if (total > options_.window / 2) growing.extra = total - options_.window / 2;
  GrantExtra();
  FinishFullBuffers();
  return std::nullopt;
}

void Inbox::GrantExtra() {
  if (!growing_ || growing_->extra == 0 || growing_->waiting.extra || extras_ > 0) return;
  growing_->waiting.extra = true;
  growing_->waiting.cost -= growing_->extra;
  consumed_ += growing_->extra;
}

std::optional<std::string> Inbox::AddPiece(std::string_view bytes) {
  if (!growing_) return "a piece of nothing";
  Growing& growing = *growing_;
  if (bytes.empty() || bytes.size() > growing.sizes[growing.buffer] - growing.offset) return "a piece beyond its end";
  if (!Spend(bytes.size())) return "more than it was given credit for";
  if (growing.buffer == 0) *growing.body += bytes;
  else std::memcpy(growing.buffers[growing.buffer - 1].get() + growing.offset, bytes.data(), bytes.size());
  growing.offset += bytes.size();
  FinishFullBuffers();
  return std::nullopt;
}

void Inbox::FinishFullBuffers() {
  Growing& growing = *growing_;
  while (growing.buffer < growing.sizes.size() && growing.offset == growing.sizes[growing.buffer]) ++growing.buffer, growing.offset = 0;
  if (growing.buffer < growing.sizes.size()) return;
  for (size_t i = 0; i < growing.buffers.size(); ++i)
    growing.waiting.message.parts.push_back({{growing.buffers[i].get(), growing.sizes[i + 1]}, growing.buffers[i]});
  growing.waiting.message.body = *growing.body;
  growing.waiting.message.holder = growing.body;
  // One that had to wait for its extra and came without it costs what it is.
  extras_ += growing.waiting.extra;
  data_.push_back(std::move(growing.waiting));
  growing_.reset();
}

std::optional<Message> Inbox::TakeControl() {
  if (control_.empty()) return std::nullopt;
  return control_.Pop();
}

Message Inbox::TakeOfRun() {
  Waiting& run = data_.front();
  Reader in(run.run);
  Message message;
  message.kind = static_cast<Kind>(in.Fixed<uint8_t>());
  message.body = in.Sized();
  run.run.remove_prefix(run.run.size() - in.left());
  const uint64_t cost = kMessageCost + message.body.size();
  consumed_ += cost;
  held_ -= cost;
  if (--run.left > 0) message.holder = run.message.holder;
  else message.holder = std::move(data_.Pop().message.holder);
  return message;
}

std::optional<Message> Inbox::TakeData() {
  if (data_.empty()) return std::nullopt;
  if (data_.front().left > 0) return TakeOfRun();
  Waiting waiting = data_.Pop();
  consumed_ += waiting.cost;
  held_ -= waiting.held;
  extras_ -= waiting.extra;
  GrantExtra();
  return std::move(waiting.message);
}

}  // namespace df::net
