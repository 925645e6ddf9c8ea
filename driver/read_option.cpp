#include "driver/read_option.h"

#include <charconv>
#include <cmath>

#include "runtime/run/limits.h"

namespace df {

OptionWords& WordsOfOptions() {
  static OptionWords words;
  return words;
}

std::vector<std::string> NamedWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    words.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  std::erase_if(words, [](const std::string& word) { return word.find_first_of("0123456789") != std::string::npos; });
  return words;
}

bool ParseCount(std::string_view text, uint64_t& count) {
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && rest == text.data() + text.size() && count != 0;
}

bool ParseThreads(std::string_view text, uint32_t& threads) {
  static_assert(kMostThreads == 256, "the message of --threads says so");
  uint64_t count;
  if (!ParseCount(text, count) || count > kMostThreads) return false;
  threads = static_cast<uint32_t>(count);
  return true;
}

void AddModuleFolders(CLI::App& app, Options& options) {
  app.add_option("-i,--modules", options.module_folders,
                 "one more folder of the program's own modules; first comes that of the main file; may be repeated")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false);
}

bool ParseBytes(std::string_view text, uint64_t& bytes) {
  uint64_t number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest == text.data()) return false;
  std::string_view unit(rest, text.data() + text.size() - rest);
  if (unit.ends_with("iB")) unit.remove_suffix(2);
  else if (unit.size() == 2 && unit.ends_with("B")) unit.remove_suffix(1);
  unsigned shift = 0;
  if (unit == "K" || unit == "k") shift = 10;
  else if (unit == "M") shift = 20;
  else if (unit == "G") shift = 30;
  else if (unit == "T") shift = 40;
  else if (!unit.empty() && unit != "B") return false;
  if (number == 0 || number > (UINT64_MAX >> shift)) return false;
  bytes = number << shift;
  return true;
}

bool ParseDuration(std::string_view text, std::chrono::milliseconds& duration) {
  double number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return false;
  std::string_view unit(rest, text.data() + text.size() - rest);
  double scale;
  if (unit == "ms") scale = 1;
  else if (unit == "s" || unit.empty()) scale = 1000;
  else if (unit == "m" || unit == "min") scale = 60000;
  else if (unit == "h") scale = 3600000;
  else return false;
  double milliseconds = std::ceil(number * scale);
  if (!(milliseconds >= 1) || milliseconds > 1e15) return false;
  duration = std::chrono::milliseconds(static_cast<int64_t>(milliseconds));
  return true;
}

}  // namespace df
