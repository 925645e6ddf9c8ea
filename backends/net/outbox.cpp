#include "backends/net/outbox.h"

#include <algorithm>

namespace df::net {
namespace {

constexpr uint16_t kMostInRun = 512, kMostInBatch = 60000;

uint64_t SizeOf(const Message& message) {
  uint64_t size = message.body.size();
  for (const Part& part : message.parts) size += part.bytes.size();
  return size;
}

}  // namespace

Outbox::Outbox(const LinkOptions& options, PeerLimits peer)
    : options_(options), peer_(peer), credit_(peer.window), window_(std::min(options.least_in_flight, peer.window)) {}

bool Outbox::Push(Kind kind, std::string_view body) {
  if (InfoOf(kind).lane == Lane::Control) {
    if (body.size() > options_.batch) return false;
    PutMessage(control_.push_back({}), kind, body);
    return true;
  }
  if (body.size() > options_.batch) {
    Part held = OwnPart(std::string(body));
    return Push({kind, held.bytes, {}, held.holder});
  }
  if (body.size() > peer_.largest) return false;
  PushRun(kind, body);
  return true;
}

bool Outbox::Push(Message message) {
  if (message.parts.empty() && (message.body.size() <= options_.batch || InfoOf(message.kind).lane == Lane::Control)) return Push(message.kind, message.body);
  const uint64_t size = SizeOf(message);
  if (InfoOf(message.kind).lane == Lane::Control || size > peer_.largest || message.parts.size() >= kMostParts) return false;
  queued_ += size;
  data_.push_back({nullptr, 0, 0, size, std::move(message)});
  return true;
}

// To the run at the end, if it has room: runs are what goes into a batch whole, so neither their bytes nor their credit may be many.
void Outbox::PushRun(Kind kind, std::string_view body) {
  const uint64_t cost = kMessageCost + body.size();
  queued_ += body.size();
  small_ += body.size();
  if (data_.empty() || data_.back().count == 0 || data_.back().count >= kMostInRun || data_.back().run->size() + body.size() > options_.batch ||
      data_.back().cost + cost > peer_.window / 4)
    data_.push_back({NewRun()});
  Item& item = data_.back();
  PutMessage(*item.run, kind, body);
  ++item.count;
  item.cost += cost;
  item.size += body.size();
}

void Outbox::PutMessage(std::string& bytes, Kind kind, std::string_view body) {
  const size_t size = bytes.size();
  if (bytes.capacity() < size + body.size() + 11) bytes.reserve(2 * size + body.size() + 11);
  bytes += static_cast<char>(kind);
  PutSized(bytes, body);
}

// Whether a batch may hold data. A rest of credit too small for a whole small message does no harm: the next grant comes.
bool Outbox::MayStartData() const {
  if (data_.empty() || in_flight_ >= window_) return false;
  const Item& item = data_.front();
  const uint64_t left = credit_ - spent_;
  if (item.count > 0) return left >= item.cost;
  return announced_ ? left > 0 : left >= LargeCost(1 + item.large.parts.size());
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
  batch.bytes = batch.whole->size();
  for (const Part& frame : batch.frames) batch.bytes += frame.bytes.size();
  batch.sent = now;
  in_flight_ += batch.bytes;
  kept_bytes_ += batch.whole->size();
  kept_.push_back(std::move(batch));
  next_ = kept_.size();
  return &kept_.back();
}

void Outbox::AddControl(Batch& batch) {
  while (!control_.empty() && batch.count < kMostInBatch) {
    if (!batch.whole) batch.whole = NewRun();
    if (batch.count > 0 && batch.whole->size() + control_.front().size() > options_.batch) return;
    *batch.whole += control_.Pop();
    ++batch.count;
  }
}

void Outbox::AddData(Batch& batch) {
  const uint64_t before = spent_;
  PutData(batch);
  batch.data = spent_ != before;
}

void Outbox::PutData(Batch& batch) {
  while (control_.empty() && batch.count < kMostInBatch && MayStartData()) {
    if (data_.front().count == 0) {
      if (!AddLarge(batch)) return;
      continue;
    }
    if (batch.count > 0 && batch.whole->size() + data_.front().run->size() > options_.batch) return;
    Item item = data_.Pop();
    if (batch.count == 0) batch.whole = std::move(item.run);
    else batch.whole->append(*item.run, Head::kSize);
    batch.count = static_cast<uint16_t>(batch.count + item.count);
    spent_ += item.cost;
    queued_ -= item.size;
    small_ -= item.size;
  }
}

// Goes on with the message at the head: its announcement, then pieces. False: the batch is full.
bool Outbox::AddLarge(Batch& batch) {
  const Message& message = data_.front().large;
  if (!batch.whole) batch.whole = NewRun();
  if (!announced_) {
    msg::Large large{static_cast<Small>(message.kind), {message.body.size()}};
    for (const Part& part : message.parts) large.sizes.push_back(part.bytes.size());
    std::string body;
    Encode(large, body);
    PutMessage(*batch.whole, Kind::Large, body);
    ++batch.count;
    spent_ += LargeCost(large.sizes.size());
    announced_ = true;
    buffer_ = 0, offset_ = 0;
  }
  for (; buffer_ <= message.parts.size(); ++buffer_, offset_ = 0) {
    const Part buffer = buffer_ == 0 ? Part{message.body, message.holder} : message.parts[buffer_ - 1];
    while (offset_ < buffer.bytes.size()) {
      uint64_t carried = batch.whole->size();
      for (const Part& frame : batch.frames) carried += frame.bytes.size();
      const uint64_t room = carried < options_.piece ? options_.piece - carried : 0;
      const uint64_t left = buffer.bytes.size() - offset_, size = std::min({left, room, credit_ - spent_});
      // Not a crumb because a rest of room or of credit is one.
      if (size == 0 || (size < left && size < std::min<uint64_t>(kOwnFrame, options_.piece) && batch.count > 0)) return false;
      if (batch.count >= kMostInBatch) return false;
      PutPiece(batch, {buffer.bytes.substr(offset_, size), buffer.holder});
      offset_ += size;
      spent_ += size;
      queued_ -= size;
    }
  }
  announced_ = false;
  data_.Pop();
  return true;
}

void Outbox::PutPiece(Batch& batch, Part piece) {
  *batch.whole += static_cast<char>(Kind::Piece);
  ++batch.count;
  const bool inside = piece.bytes.size() < kOwnFrame;
  PutVarint(*batch.whole, inside ? piece.bytes.size() : 0);
  if (inside) *batch.whole += piece.bytes;
  else batch.frames.push_back(std::move(piece));
}

bool Outbox::Acknowledge(uint64_t acknowledged, uint64_t seen, uint64_t credit, Time now) {
  if (acknowledged > sequence_) return false;
  credit_ = std::max(credit_, credit);
  size_t gone = 0;
  for (; !kept_.empty() && kept_.front().sequence <= acknowledged; kept_.pop_front(), ++gone) {
    in_flight_ -= kept_.front().bytes;
    kept_bytes_ -= kept_.front().whole->size();
    // A batch that was acknowledged before it was sent again says nothing about the line, and one without data is acknowledged late.
    if (!kept_.front().again && kept_.front().data) Measure(kept_.front(), now);
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
