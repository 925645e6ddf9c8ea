#include "backends/net/outbox.h"

#include <algorithm>

namespace df::net {
namespace {

uint64_t SizeOf(const Message& message) {
  uint64_t size = message.body.size();
  for (const Part& part : message.parts) size += part.bytes.size();
  return size;
}

}  // namespace

Outbox::Outbox(const LinkOptions& options, PeerLimits peer)
    : options_(options), peer_(peer), credit_(peer.window), window_(std::min(options.least_in_flight, peer.window)) {}

bool Outbox::Push(Message message) {
  const uint64_t size = SizeOf(message);
  if (InfoOf(message.kind).lane == Lane::Control) {
    if (size > options_.batch || !message.parts.empty()) return false;
    control_.push_back(std::move(message));
  } else {
    if (size > peer_.largest || message.parts.size() >= kMostParts) return false;
    queued_ += size;
    data_.push_back(std::move(message));
  }
  return true;
}

// Whether a batch may hold data. A rest of credit too small for a whole small message does no harm: the next grant comes.
bool Outbox::MayStartData() const {
  if (data_.empty() || in_flight_ >= window_) return false;
  const Message& message = data_.front();
  const uint64_t left = credit_ - spent_;
  if (announced_) return left > 0;
  if (message.parts.empty() && message.body.size() <= options_.batch) return left >= kMessageCost + message.body.size();
  return left >= LargeCost(1 + message.parts.size());
}

bool Outbox::HasNext() const { return next_ < kept_.size() || !control_.empty() || MayStartData(); }

Batch* Outbox::Next(Time now) {
  if (next_ < kept_.size()) {
    Batch& batch = kept_[next_++];
    batch.again = true;
    return &batch;
  }
  if (in_flight_ >= window_ && !data_.empty()) window_bound_ = true;
  if (!HasNext()) return nullptr;
  Batch batch;
  batch.sequence = ++sequence_;
  AddControl(batch);
  AddData(batch);
  batch.bytes = batch.body.size();
  for (const Part& frame : batch.frames) batch.bytes += frame.bytes.size();
  batch.sent = now;
  in_flight_ += batch.bytes;
  kept_.push_back(std::move(batch));
  next_ = kept_.size();
  return &kept_.back();
}

void Outbox::AddControl(Batch& batch) {
  for (; !control_.empty() && batch.count < UINT16_MAX - 2; control_.pop_front()) {
    if (batch.count > 0 && batch.body.size() + control_.front().body.size() > options_.batch) return;
    AddSmall(batch, control_.front());
  }
}

void Outbox::AddData(Batch& batch) {
  while (control_.empty() && batch.count < UINT16_MAX - 2 && MayStartData()) {
    Message& message = data_.front();
    const uint64_t size = message.body.size();
    if (!announced_ && message.parts.empty() && size <= options_.batch) {
      if (batch.count > 0 && batch.body.size() + size > options_.batch) return;
      AddSmall(batch, message);
      spent_ += kMessageCost + size;
      queued_ -= size;
      data_.pop_front();
    } else if (!AddLarge(batch)) {
      return;
    }
  }
}

void Outbox::AddSmall(Batch& batch, const Message& message) {
  batch.body += static_cast<char>(message.kind);
  PutSized(batch.body, message.body);
  ++batch.count;
}

// Goes on with the message at the head: its announcement, then pieces. False: the batch is full.
bool Outbox::AddLarge(Batch& batch) {
  if (!announced_) {
    // Buffers of a message are held by all its pieces; the body becomes one of them.
    large_ = std::make_shared<const Message>(std::move(data_.front()));
    msg::Large large{static_cast<Small>(large_->kind), {large_->body.size()}};
    for (const Part& part : large_->parts) large.sizes.push_back(part.bytes.size());
    AddSmall(batch, Pack(large));
    spent_ += LargeCost(large.sizes.size());
    announced_ = true;
    buffer_ = 0, offset_ = 0;
  }
  for (; buffer_ <= large_->parts.size(); ++buffer_, offset_ = 0) {
    const Part buffer = buffer_ == 0 ? Part{large_->body, large_} : large_->parts[buffer_ - 1];
    while (offset_ < buffer.bytes.size()) {
      uint64_t carried = batch.body.size();
      for (const Part& frame : batch.frames) carried += frame.bytes.size();
      const uint64_t room = carried < options_.piece ? options_.piece - carried : 0;
      const uint64_t left = buffer.bytes.size() - offset_, size = std::min({left, room, credit_ - spent_});
      // Not a crumb because a rest of room or of credit is one.
      if (size == 0 || (size < left && size < std::min<uint64_t>(kOwnFrame, options_.piece) && batch.count > 0)) return false;
      if (batch.count >= UINT16_MAX - 2) return false;
      PutPiece(batch, {buffer.bytes.substr(offset_, size), buffer.holder});
      offset_ += size;
      spent_ += size;
      queued_ -= size;
    }
  }
  announced_ = false;
  large_ = nullptr;
  data_.pop_front();
  return true;
}

void Outbox::PutPiece(Batch& batch, Part piece) {
  batch.body += static_cast<char>(Kind::Piece);
  ++batch.count;
  const bool inside = piece.bytes.size() < kOwnFrame;
  PutVarint(batch.body, inside ? piece.bytes.size() : 0);
  if (inside) batch.body += piece.bytes;
  else batch.frames.push_back(std::move(piece));
}

bool Outbox::Acknowledge(uint64_t acknowledged, uint64_t seen, uint64_t credit, Time now) {
  if (acknowledged > sequence_) return false;
  credit_ = std::max(credit_, credit);
  size_t gone = 0;
  for (; !kept_.empty() && kept_.front().sequence <= acknowledged; kept_.pop_front(), ++gone) {
    in_flight_ -= kept_.front().bytes;
    // A batch that was acknowledged before it was sent again says nothing about the line.
    if (!kept_.front().again) Measure(kept_.front(), now);
  }
  next_ -= std::min(next_, gone);
  // Datagrams of a route do not overtake each other: what was sent before one that came, and did not come, is lost. Stamps grow along
  // kept_, and the peer takes nothing behind a gap: so all is sent again.
  if (next_ > 0 && kept_.front().stamp <= seen) next_ = 0;
  return true;
}

void Outbox::Measure(const Batch& batch, Time now) {
  const Time took = now - batch.sent;
  if (now - window_changed_ < took) return;  // this batch knows nothing of the last change
  if (took > options_.slow) {
    window_ = std::max(std::min(options_.least_in_flight, peer_.window), window_ - window_ / 4);
  } else if (took < options_.fast && window_bound_) {
    window_ = std::min(window_ * 2, peer_.window);
  } else {
    return;
  }
  window_changed_ = now;
  window_bound_ = false;
}

}  // namespace df::net
