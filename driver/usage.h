// driver/usage.h
//
// What is said of a command line with words that mean nothing: options that are misspelt or of another command, and too many files.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace df {

// Of the words that the parser of the options could not use; "" if there are none. `words`: the whole command line, without the program.
std::string UnusedWordsText(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace df
