// driver/pages/option_pages.h
//
// What is made of the tables of options: completion for shells, and the manual page. Nothing here knows an option by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}

namespace df {

// The words that an option takes, where they are a few.
using OptionWords = std::map<const CLI::Option*, std::vector<std::string>>;

// A script that bash, zsh or fish reads, so that it completes the commands of `app`, their options and the options' words. "" for another shell.
std::string CompletionScript(const CLI::App& app, const OptionWords& words, std::string_view shell);

// The page dfc(1), as troff with the macros `man`. `footer`: exit codes and the like.
std::string ManualPage(const CLI::App& app, std::string_view version, std::string_view footer);

}  // namespace df
