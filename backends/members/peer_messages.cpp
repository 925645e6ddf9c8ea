#include "backends/members/peer_messages.h"

namespace df {

namespace msg = net::msg;

namespace {

net::Name128 NameOf(const PieceName& pieces) { return {pieces.call[0], pieces.call[1]}; }

// Of a Want, a Share or a Lacks.
template <typename Message>
PieceName PiecesOf(const Message& message) {
  return {{message.name.high, message.name.low}, message.first, message.past};
}

net::Message Packed(PeerMessage& message) {
  std::vector<net::Part> parts;
  for (std::string& part : message.parts) parts.push_back(net::OwnPart(std::move(part)));
  switch (message.kind) {
    case PeerMessage::Kind::Ask: return net::Pack(msg::Ask{message.ticket, message.number != 0});
    case PeerMessage::Kind::Refuse: return net::Pack(msg::Refuse{});
    case PeerMessage::Kind::Call: return net::Pack(msg::Call{.ticket = message.ticket, .arguments = message.bytes}, std::move(parts));
    case PeerMessage::Kind::Result: return net::Pack(msg::Result{message.ticket, message.number, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Finished: return net::Pack(msg::Finished{message.ticket});
    case PeerMessage::Kind::Home: return net::Pack(msg::Failed{.ticket = message.ticket});
    case PeerMessage::Kind::Object: return net::Pack(msg::Object{message.ticket, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Dropped: return net::Pack(msg::Dropped{message.ticket});
    case PeerMessage::Kind::Want: return net::Pack(msg::Want{NameOf(message.pieces), message.pieces.first, message.pieces.past});
    case PeerMessage::Kind::Pieces:
      return net::Pack(msg::Share{NameOf(message.pieces), message.pieces.first, message.pieces.past, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Token: return net::Pack(msg::Token{message.number, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Lacks: return net::Pack(msg::Lacks{NameOf(message.pieces), message.pieces.first, message.pieces.past});
    case PeerMessage::Kind::Wave:
    case PeerMessage::Kind::Counts: break;  // they speak of members: NodePeers
  }
  return {};
}

}  // namespace

net::Message Encoded(PeerMessage& message) {
  net::Message packed = Packed(message);
  message.bytes = {};
  struct Held {
    std::shared_ptr<const void> bytes;
    std::shared_ptr<const Carried> carried;
  };
  const auto carried = std::make_shared<const Carried>(std::move(message.carried));
  auto hold = [&](std::shared_ptr<const void>& holder) { holder = std::make_shared<const Held>(Held{std::move(holder), carried}); };
  hold(packed.holder);
  for (net::Part& part : packed.parts) hold(part.holder);
  return packed;
}

std::vector<uint64_t> Counts(const PeerFigures& figures) {
  return {
#define DF_FIGURE(field, key) figures.field,
      DF_PEER_FIGURES(DF_FIGURE)
#undef DF_FIGURE
  };
}

std::optional<PeerFigures> FiguresOf(const std::vector<uint64_t>& counts) {
  PeerFigures figures;
  size_t next = 0;
#define DF_FIGURE(field, key) figures.field = next < counts.size() ? counts[next] : 0, ++next;
  DF_PEER_FIGURES(DF_FIGURE)
#undef DF_FIGURE
  if (next != counts.size()) return std::nullopt;
  return figures;
}

std::optional<PeerMessage> Decoded(const net::Message& message) {
  PeerMessage to;
  for (const net::Part& part : message.parts) to.parts.emplace_back(part.bytes);
  if (auto ask = net::Unpack<msg::Ask>(message)) {
    to.kind = PeerMessage::Kind::Ask;
    to.ticket = ask->keeps;
    to.number = ask->knows;
  } else if (auto refuse = net::Unpack<msg::Refuse>(message)) {
    to.kind = PeerMessage::Kind::Refuse;
  } else if (auto call = net::Unpack<msg::Call>(message)) {
    to.kind = PeerMessage::Kind::Call;
    to.ticket = call->ticket;
    to.bytes = call->arguments;
  } else if (auto result = net::Unpack<msg::Result>(message)) {
    to.kind = PeerMessage::Kind::Result;
    to.ticket = result->ticket;
    to.number = result->number;
    to.bytes = result->value;
  } else if (auto finished = net::Unpack<msg::Finished>(message)) {
    to.kind = PeerMessage::Kind::Finished;
    to.ticket = finished->ticket;
  } else if (auto failed = net::Unpack<msg::Failed>(message)) {
    to.kind = PeerMessage::Kind::Home;
    to.ticket = failed->ticket;
  } else if (auto object = net::Unpack<msg::Object>(message)) {
    to.kind = PeerMessage::Kind::Object;
    to.ticket = object->name;
    to.bytes = object->value;
  } else if (auto dropped = net::Unpack<msg::Dropped>(message)) {
    to.kind = PeerMessage::Kind::Dropped;
    to.ticket = dropped->name;
  } else if (auto want = net::Unpack<msg::Want>(message)) {
    to.kind = PeerMessage::Kind::Want;
    to.pieces = PiecesOf(*want);
  } else if (auto share = net::Unpack<msg::Share>(message)) {
    to.kind = PeerMessage::Kind::Pieces;
    to.pieces = PiecesOf(*share);
    to.bytes = share->value;
  } else if (auto lacks = net::Unpack<msg::Lacks>(message)) {
    to.kind = PeerMessage::Kind::Lacks;
    to.pieces = PiecesOf(*lacks);
  } else if (auto token = net::Unpack<msg::Token>(message)) {
    to.kind = PeerMessage::Kind::Token;
    to.number = token->part;
    to.bytes = token->tokens;
  } else {
    return std::nullopt;
  }
  return to;
}

}  // namespace df
