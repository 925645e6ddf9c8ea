// The settings of the REPL: `:set`, `:unset`, `:engine`. One more setting is one more row.
#include "driver/repl/repl.h"
#include "lang/render.h"
#include "runtime/engines/engines.h"
#include "runtime/run/limits.h"

namespace df {
namespace {

std::string OnOff(bool flag) { return flag ? "on" : "off"; }

// "on" or "off"; a switch without a value is on.
bool ReadFlag(std::string_view value, bool& flag) {
  if (!value.empty() && value != "on" && value != "off") return false;
  flag = value != "off";
  return true;
}

// A limit: "off" is none, and all else is for `parse`.
template <typename Limit>
bool ReadLimit(std::string_view value, Limit& limit, bool (*parse)(std::string_view, Limit&)) {
  if (value != "off") return parse(value, limit);
  limit = {};
  return true;
}

}  // namespace

llvm::ArrayRef<Repl::Setting> Repl::Settings() {
  static constexpr Setting kSettings[] = {
      {"engine", "which engine runs graphs: tagged, reference, demand or expanding",
       [](const Repl& r) { return std::string(EngineName(r.options_.engine)); },
       [](Repl& r, std::string_view value) { return ParseEngine(value, r.options_.engine); },
       [](Repl& r) { r.options_.engine = EngineKind::Tagged; }},
      {"timeout", "how long an input may take: 10s, 500ms",
       [](const Repl& r) {
         return r.options_.timeout.count() ? fmt::format("{}ms", r.options_.timeout.count()) : std::string("off");
       },
       [](Repl& r, std::string_view value) { return ReadLimit(value, r.options_.timeout, ParseDuration); },
       [](Repl& r) { r.options_.timeout = {}; }},
      {"max-memory", "bytes that an input may take: 2G, 512M; off is 80% of the machine",
       [](const Repl& r) { return r.options_.max_memory ? PrintBytes(r.options_.max_memory) : std::string("off"); },
       [](Repl& r, std::string_view value) { return ReadLimit(value, r.options_.max_memory, ParseBytes); },
       [](Repl& r) { r.options_.max_memory = 0; }},
      {"max-frames", "calls that may be live at once",
       [](const Repl& r) { return r.options_.max_frames ? fmt::format("{}", r.options_.max_frames) : std::string("off"); },
       [](Repl& r, std::string_view value) { return ReadLimit(value, r.options_.max_frames, ParseBytes); },
       [](Repl& r) { r.options_.max_frames = 0; }},
      {"optimize", "inlining and the like, as -O0 switches off",
       [](const Repl& r) { return OnOff(r.options_.lower.optimize); },
       [](Repl& r, std::string_view value) { return ReadFlag(value, r.options_.lower.optimize); },
       [](Repl& r) { r.options_.lower.optimize = false; }},
      {"stats", "after an evaluation, what it did; json: as an object",
       [](const Repl& r) {
         return std::string(r.options_.stats == StatsFormat::Json ? "json" : OnOff(r.options_.stats != StatsFormat::None));
       },
       [](Repl& r, std::string_view value) {
         if (ParseStatsFormat(value, r.options_.stats)) return true;
         bool on = false;
         if (!ReadFlag(value, on)) return false;
         r.options_.stats = on ? StatsFormat::Text : StatsFormat::None;
         return true;
       },
       [](Repl& r) { r.options_.stats = StatsFormat::None; }},
      {"trace", "each firing (reference and demand engines)",
       [](const Repl& r) { return OnOff(r.options_.trace); },
       [](Repl& r, std::string_view value) {
         if (!ReadFlag(value, r.options_.trace)) return false;
         if (r.options_.trace && r.options_.engine == EngineKind::Tagged) r.options_.engine = EngineKind::Reference;
         return true;
       },
       [](Repl& r) { r.options_.trace = false; }},
      {"+s", "after an evaluation, its time and memory",
       [](const Repl& r) { return OnOff(r.show_time_); },
       [](Repl& r, std::string_view value) { return ReadFlag(value, r.show_time_); },
       [](Repl& r) { r.show_time_ = false; }},
      {"+t", "after an evaluation, the type of its value",
       [](const Repl& r) { return OnOff(r.show_type_); },
       [](Repl& r, std::string_view value) { return ReadFlag(value, r.show_type_); },
       [](Repl& r) { r.show_type_ = false; }},
  };
  return kSettings;
}

const Repl::Setting* Repl::SettingNamed(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Setting& setting : Settings()) {
    if (setting.name == name) return &setting;
    names.push_back(setting.name);
  }
  Diagnostics& diag = pipeline_->diags.Report(Diag::UnknownSetting, {}, name);
  std::string_view near = NearestName(name, names);
  // Of GHC's options those alone mean something here.
  if (name.starts_with('-')) diag.Hint("`:set -XName` switches an extension on; `:set` lists the settings");
  else diag.Hint(near.empty() ? "`:set` lists the settings" : fmt::format("did you mean `{}`?", near));
  return nullptr;
}

void Repl::Set(std::string_view argument) {
  if (argument.empty()) {
    for (const Setting& setting : Settings())
      console_.out() << fmt::format("{:<11} {:<10} {}\n", setting.name, setting.get(*this), setting.help);
    return;
  }
  if (argument.starts_with("-X")) {
    while (!argument.empty()) {
      std::string_view word = argument.substr(0, argument.find_first_of(" \t"));
      argument = Trim(argument.substr(word.size()));
      if (word.starts_with("-X")) SetExtension(word.substr(2));
      else pipeline_->diags.Report(Diag::UnknownSetting, {}, word);
    }
    return;
  }
  if (argument.starts_with('+')) {  // switches: several at once
    while (!argument.empty()) {
      size_t blank = argument.find_first_of(" \t");
      if (const Setting* setting = SettingNamed(argument.substr(0, blank))) setting->set(*this, "");
      argument = blank == std::string_view::npos ? "" : Trim(argument.substr(blank));
    }
    return;
  }
  size_t end = argument.find_first_of(" \t=");
  const Setting* setting = SettingNamed(argument.substr(0, end));
  std::string_view value = end == std::string_view::npos ? "" : Trim(argument.substr(end + 1));
  if (setting && !setting->set(*this, value))
    pipeline_->diags.Report(Diag::BadSetting, {}, value, setting->name).Hint(setting->help);
}

void Repl::Unset(std::string_view argument) {
  while (!argument.empty()) {
    size_t blank = argument.find_first_of(" \t");
    if (const Setting* setting = SettingNamed(argument.substr(0, blank))) setting->unset(*this);
    argument = blank == std::string_view::npos ? "" : Trim(argument.substr(blank));
  }
}

void Repl::Engine(std::string_view argument) {
  if (argument.empty() || ParseEngine(argument, options_.engine))
    console_.out() << EngineName(options_.engine) << '\n';
  else
    pipeline_->diags.Report(Diag::BadSetting, {}, argument, "engine").Hint("`tagged`, `reference`, `demand` or `expanding`");
}

}  // namespace df
