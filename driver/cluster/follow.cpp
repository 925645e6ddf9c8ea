#include "driver/cluster/follow.h"

#include <fcntl.h>
#include <unistd.h>

#include "driver/run_graph.h"
#include "lang/source.h"
#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"
#include "tagged_ir/action.h"
#include "tagged_ir/spread.h"

namespace df {
namespace {

// Texts that are read as they are looked at.
class ReadTexts final : public PackReferences {
 public:
  Is Look(const Value& reference, ir::TypeId, Value* value, Call*, std::string* why) override {
    HostCell* host = HostCellIn(reference.object());
    if (!host) return *why = "a delayed call", Is::NotGivable;
    host->Ask();
    *value = host->value;
    return Is::Value;
  }
};

// Of a process that is not to be heard.
class NoHost final : public Host {
 public:
  Input Read(std::string&) override { return Input::End; }
  bool Write(std::string_view) override { return true; }
  bool WriteError(std::string_view) override { return true; }
};

struct Nowhere {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ~Nowhere() { ::close(descriptor); }
};

}  // namespace

bool RunsEverywhere(const ir::Graph& graph, const Options& options) {
  return !options.trace && !options.cut.asked && ir::SpineOf(graph) == ir::Spine::Everywhere;
}

PackedInputs PackInputs(const ir::Graph& graph, const std::vector<Value>& inputs, const std::vector<std::string>& arguments) {
  const PacketTypes types(graph);
  ReadTexts texts;
  Packer packer(types, {}, &texts);
  NoHost host;
  Performance performance(graph, host);
  for (size_t i = 0; i < graph.graph_inputs.size(); ++i) {
    const ir::Port& port = graph.graph_inputs[i];
    const Value value = ir::IsHostInput(port.name) ? performance.HostInput(port.type, port.name, graph.name, arguments) : inputs[i];
    packer.Add(port.type, value);
  }
  const Packet packet = packer.Take();
  PackedInputs packed{std::string(packet.bytes.view()), {}};
  for (const PacketPart& part : packet.parts) packed.parts.emplace_back(part.bytes);
  return packed;
}

std::optional<std::vector<Value>> UnpackInputs(const ir::Graph& graph, const PackedInputs& packed, std::string* why) {
  const PacketTypes types(graph);
  const std::vector<std::string_view> parts(packed.parts.begin(), packed.parts.end());
  Unpacker unpacker(types, packed.bytes, parts);
  std::vector<Value> inputs;
  for (const ir::Port& port : graph.graph_inputs) {
    std::optional<Value> value = unpacker.Next(port.type);
    if (!value) return *why = unpacker.fault(), std::nullopt;
    inputs.push_back(std::move(*value));
  }
  if (!unpacker.Finish()) return *why = unpacker.fault(), std::nullopt;
  return inputs;
}

Outcome Follow(const ir::Graph& graph, const Options& options, const PackedInputs& packed, const std::atomic<bool>* interrupt, Execution& execution) {
  const auto left = [](std::string why) {
    Outcome outcome;
    outcome.stop = Stop::Internal;
    outcome.detail = std::move(why);
    return outcome;
  };
  std::string why;
  std::optional<std::vector<Value>> inputs = UnpackInputs(graph, packed, &why);
  if (!inputs) return left("the root sent inputs that are none of its graph: " + why);
  Nowhere nowhere;
  Console console(nowhere.descriptor);
  SourceManager sources;
  Diagnostics diags(sources);
  const bool records = options.command == Command::Run && RecordOf(graph);
  const std::vector<ir::Port> parts = records ? std::vector<ir::Port>{RecordPort(graph)} : graph.graph_results;
  std::optional<Outputs> outputs = Outputs::Make(graph, parts, graph.action ? std::vector<OutputArgument>() : options.outputs, diags);
  if (!outputs) return left("the root sent names of outputs that its graph does not have");
  std::optional<RecordRun> record_run;
  if (records) record_run.emplace(graph, options, *outputs, console, /*quiet=*/true);
  NoHost host;
  Performance performance(graph, host);
  Outcome outcome = RunGraph(graph, execution, std::move(*inputs), performance, record_run, outputs, console);
  // The run may be over at the root, which ends this one, too.
  const bool over = outcome.stop == Stop::Interrupted && !(interrupt && interrupt->load());
  return over || outcome.stop == Stop::Failed ? Outcome() : outcome;
}

}  // namespace df
