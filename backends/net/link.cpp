#include "backends/net/link.h"

#include <algorithm>

namespace df::net {

Link::Link(const LinkOptions& options, Ends ends, PeerLimits peer, Time now)
    : options_(options), ends_(ends), outbox_(options, peer), inbox_(options), sent_(now - options.keep_alive) {}

std::optional<std::string> Link::Receive(const Head& head, Datagram datagram, Time now) {
  ++counts_.datagrams_received;
  counts_.bytes_received += datagram.size();
  if (head.stamp <= seen_) {  // came before, or was overtaken: what it holds comes again
    ++counts_.duplicates;
    return std::nullopt;
  }
  seen_ = head.stamp;
  if (head.seen > stamp_ || !outbox_.Acknowledge(head.acknowledged, head.seen, head.credit, now)) return "an acknowledgement of what was never sent";
  if (head.sequence == 0) {
    if (head.count != 0 || !datagram.frames.empty()) return "messages without a number";
    return std::nullopt;
  }
  unacknowledged_ += datagram.size();
  if (head.sequence != inbox_.accepted() + 1) {
    ++(head.sequence <= inbox_.accepted() ? counts_.duplicates : counts_.gaps);
    acknowledge_by_ = now;  // so that the peer sees what is missing
    return std::nullopt;
  }
  const uint64_t before = inbox_.received();
  std::optional<std::string> wrong = inbox_.Accept(head, std::move(datagram));
  const Time by = now + (inbox_.received() != before ? options_.acknowledge_after : options_.acknowledge_control_after);
  acknowledge_by_ = std::min(acknowledge_by_.value_or(by), by);
  return wrong;
}

bool Link::OwesAcknowledgement(Time now) const {
  return unacknowledged_ >= options_.acknowledge_bytes || (acknowledge_by_ && now >= *acknowledge_by_) || inbox_.OwesCredit();
}

std::optional<Datagram> Link::Poll(Time now) {
  if (returns_) {
    returns_ = false;
    return Dispatch(nullptr, now);
  }
  if (Batch* batch = outbox_.Next(now)) {
    batch->stamp = stamp_ + 1;
    counts_.again += batch->again;
    return Dispatch(batch, now);
  }
  if (OwesAcknowledgement(now) || now - sent_ >= options_.keep_alive) return Dispatch(nullptr, now);
  return std::nullopt;
}

Datagram Link::Dispatch(const Batch* batch, Time now) {
  Head head;
  head.from = ends_.self;
  head.to = ends_.peer;
  head.stamp = ++stamp_;
  head.seen = seen_;
  head.acknowledged = inbox_.accepted();
  head.credit = inbox_.Tell();
  Datagram datagram;
  if (batch) {
    head.sequence = batch->sequence;
    head.count = batch->count;
    datagram.frames = batch->frames;
  }
  // What was sent before may still be read by who sends it.
  auto whole = !batch ? std::make_shared<std::string>(Head::kSize, '\0') : batch->again ? std::make_shared<std::string>(*batch->whole) : batch->whole;
  SetHead(*whole, head);
  datagram.head = {*whole, whole};
  sent_ = now;
  unacknowledged_ = 0;
  acknowledge_by_.reset();
  ++counts_.datagrams_sent;
  counts_.bytes_sent += datagram.size();
  return datagram;
}

Time Link::Deadline() const {
  if (returns_ || outbox_.HasNext() || unacknowledged_ >= options_.acknowledge_bytes || inbox_.OwesCredit()) return Time{0};
  return std::min(sent_ + options_.keep_alive, acknowledge_by_.value_or(Time::max()));
}

void Link::Reconnected() {
  outbox_.SendAgain();
  returns_ = true;  // what is sent again may take long on a slow line: first of all it is to be heard who is here
}

}  // namespace df::net
