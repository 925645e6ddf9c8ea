// driver/read_option.h
//
// Options of the command line whose word is read by a function. For the files that know CLI11 alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "driver/pages/option_pages.h"
#include "driver/options.h"

namespace df {

// The words that options take, for completion.
OptionWords& WordsOfOptions();
// Those that a message names between backticks, if they are words and not examples of numbers.
std::vector<std::string> NamedWords(std::string_view text);

template <typename T, typename Parse>
CLI::callback_t Reads(const char* option, T& to, Parse parse, const char* example) {
  return [option, &to, parse, example](const CLI::results_t& words) {
    if (!parse(words.back(), to))
      throw CLI::ValidationError(std::string("`") + option + " " + words.back() + "`: expected " + example);
    return true;
  };
}

// An option whose word `parse` reads; `example`: what a message says is expected.
template <typename T, typename Parse>
CLI::Option* AddRead(CLI::App& app, const char* name, T& to, Parse parse, const char* example, const char* text = "") {
  CLI::Option* option = app.add_option(name, Reads(name, to, parse, example), text);
  if (std::vector<std::string> words = NamedWords(example); !words.empty()) WordsOfOptions()[option] = std::move(words);
  return option;
}

// A flag that may carry a word behind `=`, and means `without` if it carries none. What follows it as a word of its own
// is not its: `--stats p.df` has a file.
template <typename T, typename Parse>
CLI::Option* AddWordFlag(CLI::App& app, const char* name, const char* without, T& to, Parse parse, const char* example,
                         const char* text) {
  auto with_default = [read = Reads(name, to, parse, example), without](CLI::results_t words) {
    if (words.back() == "true") words.back() = without;  // what CLI11 says of a flag without a word
    return read(words);
  };
  CLI::Option* option = app.add_option(name, std::move(with_default), text)->expected(0)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (std::vector<std::string> words = NamedWords(example); !words.empty()) WordsOfOptions()[option] = std::move(words);
  return option;
}

// A whole number from 1 on.
bool ParseCount(std::string_view text, uint64_t& count);
bool ParseThreads(std::string_view text, uint32_t& threads);
// `-i DIR`
void AddModuleFolders(CLI::App& app, Options& options);

}  // namespace df
