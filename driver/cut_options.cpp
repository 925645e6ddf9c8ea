#include "driver/cut_options.h"

#include <fmt/format.h>

#include "backends/devices.h"
#include "driver/read_option.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

template <typename Value>
struct Word {
  std::string_view text;
  Value value;
};
constexpr Word<RecvRule> kReceives[] = {{"by-name", RecvRule::ByName}, {"scheduled", RecvRule::Scheduled}};
constexpr Word<DeadTokens> kDead[] = {{"sent", DeadTokens::Sent}, {"withheld", DeadTokens::Withheld}, {"none", DeadTokens::None}};
constexpr Word<EmitCut> kCutEmits[] = {{"parts", EmitCut::Parts}, {"dot", EmitCut::Dot}, {"skeleton", EmitCut::Skeleton}, {"graph", EmitCut::Graph}, {"outlined", EmitCut::Outlined}};

template <const auto& words, typename Value>
bool ParseWord(std::string_view text, Value& value) {
  const auto* word = llvm::find_if(words, [text](const auto& row) { return row.text == text; });
  if (word == std::end(words)) return false;
  value = word->value;
  return true;
}

// "1=simulated".
void AddDevicePart(std::string_view word, CutArguments& cut) {
  const size_t equals = word.find('=');
  const std::string name(equals == std::string_view::npos ? "" : word.substr(equals + 1));
  uint32_t part = 0;
  if (name.empty() || llvm::StringRef(word.data(), equals).getAsInteger(10, part) || part >= ir::kMostParts)
    throw CLI::ValidationError("--part", fmt::format("`{}`: expected the number of a part, up to {}, and a device, as in `1=simulated`", word, ir::kMostParts - 1));
  if (part == 0) throw CLI::ValidationError("--part", fmt::format("part 0 is where a run begins and ends: `--device={}` is for all that is placed nowhere", name));
  if (!IsDevice(name)) throw CLI::ValidationError("--part", fmt::format("there is no device `{}`; this build has {}", name, DeviceNames()));
  if (llvm::any_of(cut.devices, [part](const ir::DevicePart& device) { return device.part == part; }))
    throw CLI::ValidationError("--part", fmt::format("part {} is named twice", part));
  cut.devices.push_back({part, name});
}

// Of a graph whose parts are devices, which the tagged engine runs.
void FinishDevices(const Options& options, llvm::ArrayRef<CLI::Option*> given, bool processes) {
  auto fail = [](const char* why) { throw CLI::ValidationError("--part", why); };
  if (options.engine != EngineKind::Tagged) fail("devices are the tagged engine's: parts of the reference engine are processes");
  for (const CLI::Option* option : given)
    if (option->count() > 0 && option->get_name() != "--parts") fail("`--recv`, `--dead` and `--losses` are for parts that are no devices");
  if (processes) fail("other processes do not use this one's devices");
  if (options.batch == 0) fail("a device computes batches, and `--batch=off` makes none");
}

// Processes, or members of this one, that compute calls: of functions that stand on their parts, and of pieces of others.
void FinishCalls(Options& options, llvm::ArrayRef<CLI::Option*> given, bool processes) {
  for (const CLI::Option* option : given)
    if (option->count() > 0 && option->get_name() != "--parts")
      throw CLI::ValidationError(option->get_name(), "it is for --engine=reference: with tagged what goes between parts are calls");
  if (!processes) {
    if (options.cut.parts == 0) throw CLI::ValidationError("--engine=tagged", "parts of it within one process: `--parts 2` says how many");
    options.members = options.cut.parts;
  }
  options.cut.asked = false;
  options.cut.calls = true;
}

}  // namespace

CLI::Option* AddCutOptions(CLI::App& app, Options& options, const char* seed) {
  app.add_option("--placement", options.cut.placement, "a file that says what is on which part: lines like `fact 1`, `fact:8:15 1` and `%12 1`")
      ->type_name("FILE");
  app.add_option_function<std::vector<std::string>>(
         "--part",
         [&](const std::vector<std::string>& words) {
           for (const std::string& word : words) AddDevicePart(word, options.cut);
         },
         "part K is a device, which computes the ops on tensors that stand there (tagged engine): cpu, cuda or simulated; may be repeated")
      ->type_name("K=NAME")
      ->allow_extra_args(false);
  AddRead(app, seed, options.cut.seed, ParseCount, "a whole number from 1 on, such as `7`", "what has no place is put on any part, node by node")
      ->type_name("N");
  return app.add_option("--parts", options.cut.parts, "into how many parts, counted from 0; default: as many as placements ask for, or as there are processes")
      ->type_name("N")
      ->check(CLI::Range(1u, ir::kMostParts));
}

void AddEmitCut(CLI::App& app, Options& options) {
  AddRead(app, "--emit", options.cut.emit, ParseWord<kCutEmits, EmitCut>, "`parts`, `dot`, `skeleton`, `graph` or `outlined`",
          "parts (default): what is where, and what goes between; dot: drawn for Graphviz; skeleton: tag tracking; graph: with Sends and Recvs; "
          "outlined: with calls of what stands elsewhere, as the tagged engine runs it")
      ->type_name("WHAT");
}

std::vector<CLI::Option*> AddCutRun(CLI::App& app, Options& options) {
  CutArguments& cut = options.cut;
  std::vector<CLI::Option*> all = {AddCutOptions(app, options, "--cut-seed")};
  all.push_back(AddRead(app, "--recv", cut.receive, ParseWord<kReceives, RecvRule>, "`by-name` or `scheduled`",
                        "how parts take tokens (reference engine, --parts): by-name (default), or scheduled, by skeletons that make their tags")
                    ->type_name("HOW"));
  all.push_back(AddRead(app, "--dead", cut.dead, ParseWord<kDead, DeadTokens>, "`sent`, `withheld` or `none`",
                        "dead tokens of a graph that is cut: sent (default), withheld between parts, or none at all; to compare with")
                    ->type_name("HOW"));
  all.push_back(app.add_option("--losses", cut.losses, "of a graph that is cut: so many times a part is lost, and begins anew (with --seed)")
                    ->type_name("N")
                    ->check(CLI::Range(0, 1000)));
  return all;
}

void FinishCut(Options& options, llvm::ArrayRef<CLI::Option*> given, bool has_engine, bool has_seed) {
  CutArguments& cut = options.cut;
  cut.asked = cut.seed != 0 || !cut.placement.empty() || !cut.devices.empty();
  for (const CLI::Option* option : given) cut.asked |= option->count() > 0;
  if (!cut.asked) return;
  const bool processes = options.local_workers > 1 || !options.workers.empty() || options.launched || options.members > 1;
  if (!cut.devices.empty()) return FinishDevices(options, given, processes);
  if (has_engine && options.engine == EngineKind::Tagged) return FinishCalls(options, given, processes);
  if (has_engine && options.engine != EngineKind::Reference) throw CLI::ValidationError("a graph that is cut runs on --engine=reference, or on tagged");
  if (cut.losses != 0 && processes)
    throw CLI::ValidationError("--losses", "parts are lost on purpose where one process has all of them");
  if (cut.losses != 0 && !has_seed) throw CLI::ValidationError("--losses", "parts are lost at random: `--seed=N` says when");
  options.engine = EngineKind::Reference;
}

}  // namespace df
