// Calls and delayed calls as packets, written and read by the worker that has them.
#include "runtime/engines/tagged/exec/far_packet.h"

#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"

namespace df::tagged {

namespace {

// What is larger costs more to send than most calls take.
constexpr size_t kMostBytes = size_t{64} << 20;
// Pieces: as much as a link may carry is far more.
constexpr size_t kMostPieces = size_t{1} << 30;

// What the packet of a delayed call begins with; of another its site.
constexpr int64_t kDelayed = -1;

// Delayed calls of this engine, as they are.
class Delays final : public PackReferences {
 public:
  // `given` was released to be given away, and nobody has begun it. `whole`: none may go.
  explicit Delays(const FarTypes& types, const DelayCell* given = nullptr, bool whole = false) : types_(types), given_(given), whole_(whole) {}
  Is Look(const Value& reference, ir::TypeId, Value* value, Call* call, std::string* why) override {
    if (const HostCell* host = HostCellIn(reference.object())) {
      if (!host->is_full()) return *why = "what the host is asked for", Is::NotGivable;
      *value = host->value;
      return Is::Value;
    }
    DelayCell* cell = CellOf(reference);
    CellLock lock(cell);
    if (cell->IsFull()) {
      *value = cell->value();
      return Is::Value;
    }
    if (whole_) return *why = "a delayed call", Is::NotGivable;
    const bool kept = cell->Now() == DelayCell::State::Kept || cell == given_;
    if (!kept || cell->missing || cell->site->keeps_home) return *why = "a delayed call that runs", Is::NotGivable;
    call->site = ir::SiteId(cell->site->label);
    call->tag = cell->tag;
    call->operands.assign(cell->operands(), cell->operands() + cell->num_operands());
    call->types = types_.OperandsOf(*cell->site);
    return Is::Delayed;
  }

 private:
  const FarTypes& types_;
  const DelayCell* const given_;
  const bool whole_;
};

void Give(Packet packet, PeerMessage& to) {
  to.bytes.assign(packet.bytes.view());
  to.parts.reserve(packet.parts.size());
  for (const PacketPart& part : packet.parts) to.parts.emplace_back(part.bytes);
}

}  // namespace

FarTypes::FarTypes(const Program& p, const ir::Graph& graph) : program(p), types(graph), operands(p.sites.size()) {
  for (size_t s = 0; s < p.sites.size(); ++s) {
    const SiteCode& site = p.sites[s];
    for (size_t i = 0; i < site.together.size(); ++i) {
      const Delivery& d = site.together[i];
      // A delayed call's operands follow its reference and its trigger; what nobody wants is a word.
      const bool wanted = d.to != kNone;
      const uint32_t port = site.type == SiteType::Delay ? static_cast<uint32_t>(i) + 2 : 0;
      operands[s].push_back(wanted ? graph.TypeOf({d.node, port}) : ir::PortType{graph.types.Builtin(ir::TypeKind::Unit)});
    }
  }
}

llvm::ArrayRef<ir::PortType> FarTypes::OperandsOf(const SiteCode& site) const {
  return operands[static_cast<size_t>(&site - program.sites.data())];
}

ir::PortType FarTypes::ReferenceOf(const SiteCode& site) const { return types.graph().TypeOf({site.trigger, 0}); }

bool PackCall(const FarTypes& types, const Message& message, KnownObjects& known, PeerMessage& to) {
  const DelayCell* given = message.site ? nullptr : CellOf(message.value);
  const ir::PortType number{types.types.graph().types.Builtin(ir::TypeKind::Int)};
  Delays delays(types, given);
  for (;;) {
    Packer packer(types.types, {.budget = kMostBytes}, &delays, &known);
    Packed done;
    if (given) {
      packer.Add(number, Value::Word(kDelayed));
      packer.Add(number, Value::Word(given->site->label));
      done = packer.Add(types.ReferenceOf(*given->site), message.value);
    } else {
      packer.Add(number, Value::Word(message.site - types.program.sites.data()));
      packer.Add(number, Value::Word(message.depth));
      packer.AddTag(message.tag);
      llvm::ArrayRef<ir::PortType> ports = types.OperandsOf(*message.site);
      done = Packed::Yes;
      for (size_t i = 0; i < ports.size() && done == Packed::Yes; ++i) done = packer.Add(ports[i], message.arguments[i]);
    }
    if (done != Packed::Yes) return false;
    if (known.NameTrees(&delays)) continue;
    Give(packer.Take(), to);
    return true;
  }
}

ir::PortType TypeOfResult(const FarTypes& types, const SiteCode& site, uint32_t result) {
  if (site.type == SiteType::Delay) return {types.ReferenceOf(site).type};
  return types.types.graph().TypeOf({site.returns[result].node, 0});
}

bool PackPieces(const FarTypes& types, ir::PortType type, const Value& list, PeerMessage& to) {
  Delays delays(types, nullptr, /*whole=*/true);
  Packer packer(types.types, {.budget = kMostPieces}, &delays);
  if (packer.Add(type, list) != Packed::Yes) return false;
  Give(packer.Take(), to);
  return true;
}

bool PackValue(const FarTypes& types, ir::PortType type, const Value& value, KnownObjects& known, PeerMessage& to) {
  Delays delays(types);
  Packer packer(types.types, {.budget = kMostBytes}, &delays, &known);
  if (packer.Add(type, value) != Packed::Yes) return false;
  Give(packer.Take(), to);
  return true;
}

namespace {

// Makes the delayed calls of a packet those of the worker that reads it.
class Arrivals final : public UnpackReferences {
 public:
  explicit Arrivals(Worker& worker) : worker_(worker), types_(worker.team->far()->types()) {}

  bool Make(ir::SiteId id, TagNode* tag, ir::TypeId type, Call* call, std::string* why) override {
    struct Held {
      TagNode* tag;
      ~Held() { DropTag(tag); }
    } held{tag};
    if (!worker_.graph.sites.Contains(id) || worker_.graph.sites[id].kind != ir::SiteKind::Delay) return *why = "no site of a delayed call", false;
    const SiteCode& site = worker_.program.sites[id.index];
    if (!site.callee || site.keeps_home || types_.ReferenceOf(site).type != type) return *why = "a delayed call of another type", false;
    DelayCell* cell = Cell(site, tag);
    call->reference = Value::Adopt(ValueKind::Reference, cell);
    call->operands = {cell->operands(), cell->num_operands()};
    call->types = types_.OperandsOf(site);
    return true;
  }

  void Made(const Value& reference) override {
    DelayCell* cell = CellOf(reference);
    cell->starts_scheduled = GoesScheduled(worker_, *cell);
    worker_.made_late = true;  // it may hold what was read later
  }

  // A full cell, of whichever site: nothing but its size is the site's.
  Value Knot(const Value& object, ir::TypeId) override {
    auto is_delay = [](const SiteCode& site) { return site.type == SiteType::Delay && site.callee && !site.keeps_home; };
    const auto& sites = worker_.program.sites;
    auto site = std::find_if(sites.begin(), sites.end(), is_delay);
    if (site == sites.end()) return {};
    DelayCell* cell = Cell(*site, nullptr);
    cell->value() = object;
    cell->body = nullptr;
    cell->Become(DelayCell::State::Full);
    worker_.made_late = true;
    return Value::Adopt(ValueKind::Reference, cell);
  }

 private:
  // All places for values hold one.
  DelayCell* Cell(const SiteCode& site, TagNode* tag) {
    DelayCell* cell = worker_.NewScheduledCell(tag, &site);
    cell->starts_scheduled = false;
    for (uint32_t i = site.own_place; i < cell->num_values(); ++i) ::new (&cell->value() + i) Value();
    return cell;
  }

  Worker& worker_;
  const FarTypes& types_;
};

SentObjects* OwnOf(Worker& worker) { return worker.team->far()->KnowsOwn() ? &worker.team->far()->sent() : nullptr; }

// A packet that has come.
struct Arrived {
  Arrived(Worker& worker, PeerId sender, const PeerMessage& from)
      : parts(from.parts.begin(), from.parts.end()), references(worker), kept(*worker.received, sender, OwnOf(worker)),
        unpacker(worker.team->far()->types().types, from.bytes, parts, &references, &kept) {}
  std::vector<std::string_view> parts;
  Arrivals references;
  ReceivedObjects::Of kept;
  Unpacker unpacker;
};

}  // namespace

bool UnpackFarCall(Worker& w, PeerId sender, const PeerMessage& from, Message& call, std::string& fault) {
  const FarTypes& types = w.team->far()->types();
  Arrived arrived(w, sender, from);
  Unpacker& in = arrived.unpacker;
  const ir::PortType number{w.graph.types.Builtin(ir::TypeKind::Int)};
  auto refuse = [&] {
    if (!in.HasGone()) fault = in.fault().empty() ? "a call that the graph does not have" : in.fault();
    return false;
  };
  std::optional<Value> first = in.Next(number);
  if (!first || first->is_error()) return refuse();
  if (first->word() == kDelayed) {
    std::optional<Value> label = in.Next(number);
    if (!label || label->is_error() || label->word() < 0 || label->word() >= w.graph.sites.size()) return refuse();
    const SiteCode& site = w.program.sites[static_cast<size_t>(label->word())];
    if (!site.callee || site.type != SiteType::Delay) return refuse();
    std::optional<Value> reference = in.Next(types.ReferenceOf(site));
    if (!reference || !reference->is_reference() || !in.Finish()) return refuse();
    DelayCell* cell = CellOf(*reference);
    if (cell->site != &site || cell->Now() != DelayCell::State::Kept) return refuse();
    call.value = std::move(*reference);
    return true;
  }
  if (first->word() < 0 || first->word() >= static_cast<int64_t>(w.program.sites.size())) return refuse();
  const SiteCode& site = w.program.sites[static_cast<size_t>(first->word())];
  if (!site.callee || (site.type != SiteType::Call && site.type != SiteType::Loop) || site.child_slot != kNone || !site.late.empty() || !site.next_late.empty())
    return refuse();
  std::optional<Value> depth = in.Next(number);
  if (!depth || depth->is_error() || depth->word() < 0 || depth->word() > UINT32_MAX) return refuse();
  if (!in.NextTag(&call.tag)) return refuse();
  for (ir::PortType port : types.OperandsOf(site)) {
    std::optional<Value> argument = in.Next(port);
    if (!argument) return refuse();
    call.arguments.push_back(std::move(*argument));
  }
  if (!in.Finish()) return refuse();
  call.site = &site;
  call.depth = static_cast<uint32_t>(depth->word());
  return true;
}

bool UnpackFarValue(Worker& w, PeerId sender, ir::PortType type, const PeerMessage& from, Value& value, std::string& fault) {
  Arrived arrived(w, sender, from);
  std::optional<Value> read = arrived.unpacker.Next(type);
  if (!read || !arrived.unpacker.Finish()) {
    if (!arrived.unpacker.HasGone()) fault = arrived.unpacker.fault();
    return false;
  }
  value = std::move(*read);
  return true;
}

}  // namespace df::tagged
