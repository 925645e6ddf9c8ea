// runtime/run/action_log.h
//
// What an action at a prompt was told and how far it came: with this it can be done again without asking or writing anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace df {

struct ActionLog {
  // Each time that something went on with a reply: 'a' an answer, 'r' a failure that a handler was told by number and text, 't' a value
  // that was thrown. A failure that nobody caught is an entry too.
  struct Entry {
    char kind;
    uint64_t steps;  // since the last entry
    int64_t number;
    std::string text;
    bool contents;  // the text is what was read bit by bit, until the action was done
  };
  std::vector<Entry> entries;
  // It was stopped, by a limit or an interrupt or since it waits for itself, after this many steps behind the last entry. No handler is told.
  bool cut = false;
  uint64_t steps = 0;
};

// What a PrimAsk asks of a root that does earlier actions again (stdlib/Prelude/Prompt.df): here the next of them begins; here it has ended.
inline constexpr int64_t kRedoBegins = -1, kRedoEnds = -2;

}  // namespace df
