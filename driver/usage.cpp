#include "driver/usage.h"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lang/render.h"

namespace df {
namespace {

bool LooksLikeOption(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// "--input" of "--input=x=3".
std::string NameIn(const std::string& word) { return word.substr(0, word.find('=')); }

// All spellings of the command's options: "--input", "-i".
std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool Has(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> names = OptionsOf(command);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string CommandText(const CLI::App& app, const CLI::App& command) {
  return &app == &command ? "dfc FILE" : "dfc " + command.get_name();
}

// The command's option that was meant: one that begins so, or is spelt nearly so, with one dash less perhaps.
std::string NearOption(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> names = OptionsOf(command);
  const std::string_view plain = std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
  std::vector<std::string_view> longs;
  std::string begun;
  size_t count = 0;
  for (const std::string& other : names) {
    if (!other.starts_with("--")) continue;
    longs.push_back(std::string_view(other).substr(2));
    if (longs.back() == plain && name != other) return other;
    if (plain.size() > 1 && longs.back().starts_with(plain)) begun = other, ++count;
  }
  if (count == 1) return begun;
  if (plain.size() == 1) {  // `-I` for `-i`
    for (const std::string& other : names)
      if (other.size() == 2 && std::tolower(static_cast<unsigned char>(other[1])) == std::tolower(static_cast<unsigned char>(plain[0]))) return other;
    return "";
  }
  const std::string_view near = NearestName(plain, longs);
  return near.empty() ? "" : fmt::format("--{}", near);
}

std::string UnknownOptionText(const CLI::App& app, const CLI::App& command, const std::string& name) {
  if (Has(command, name)) return fmt::format("the option `{}` of `{}` stands behind the command", name, CommandText(app, command));
  std::vector<std::string> others;
  if (&command != &app && Has(app, name)) others.push_back(CommandText(app, app));
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; }))
    if (other != &command && Has(*other, name)) others.push_back(CommandText(app, *other));
  if (!others.empty())
    return fmt::format("`{}` has no option `{}`; `{}` {} it", CommandText(app, command), name, fmt::join(others, "` and `"), others.size() == 1 ? "has" : "have");
  const std::string near = NearOption(command, name);
  return fmt::format("there is no option `{}`{}", name, near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
}

}  // namespace

std::string UnusedWordsText(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<const CLI::App*> chosen = [&] {
    std::vector<const CLI::App*> apps;
    for (const CLI::App* sub : app.get_subcommands()) apps.push_back(sub);
    return apps;
  }();
  const CLI::App& command = chosen.empty() ? app : *chosen[0];
  // The parser hands them back in no order.
  std::vector<std::string> unused = app.remaining(/*recurse=*/true), ordered;
  for (const std::string& word : words) {
    auto at = std::find(unused.begin(), unused.end(), word);
    if (at == unused.end()) continue;
    ordered.push_back(word);
    unused.erase(at);
  }
  ordered.insert(ordered.end(), unused.begin(), unused.end());
  std::string text;
  // `-input` was taken for `-i nput`.
  for (const std::string& word : words)
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && Has(command, "-" + NameIn(word)) &&
        std::find(ordered.begin(), ordered.end(), word) == ordered.end())
      text += (text.empty() ? "" : "\ndfc: ") + UnknownOptionText(app, command, NameIn(word));
  for (const std::string& word : ordered)
    if (LooksLikeOption(word)) text += (text.empty() ? "" : "\ndfc: ") + UnknownOptionText(app, command, NameIn(word));
  if (!text.empty() || ordered.empty()) return text;
  // What follows a misspelt option as a word of its own may be its value; without one there are too many words.
  for (const std::string& word : ordered) text += (text.empty() ? "`" : ", `") + word + "`";
  const char* takes = command.get_name() == "explain" ? "one CODE" : command.get_name() == "keygen" ? "options only"
                      : command.get_name() == "completion" ? "one SHELL" : command.get_name() == "manual" ? "nothing" : "one FILE";
  return fmt::format("{} {} too many: `{}` takes {}", text, ordered.size() == 1 ? "is" : "are",
                     &command == &app ? "dfc" : CommandText(app, command), takes);
}

}  // namespace df
