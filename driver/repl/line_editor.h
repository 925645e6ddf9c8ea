// driver/repl/line_editor.h
//
// Lines for the REPL: with history, completion and a prompt on a terminal (libedit), plain and without a prompt from
// a pipe or a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace df {

class LineEditor {
 public:
  // TooLong: a line of more than kMaxInput bytes, of which nothing is kept.
  enum class Got { Line, End, Interrupted, TooLong };
  static constexpr size_t kMaxInput = size_t{4} << 20;
  // All completions of the word that ends the text given, each as a whole word.
  using Completer = std::function<std::vector<std::string>(std::string_view)>;

  virtual ~LineEditor() = default;
  // One line without its end.
  virtual Got Read(std::string_view prompt, std::string& line) = 0;
  // Whether the next line is there already and begins with a blank, so that by the layout rule it belongs to what
  // was read last. Never waits for a person.
  virtual bool NextLineIsIndented() { return false; }
  // The next line, or the beginning of one, with its end: what a program at the prompt reads. Nothing where it has to be
  // read from the descriptor, of which what is not used of it is given back.
  virtual std::string TakeLine() { return {}; }
  virtual void GiveBack(std::string_view bytes) {}
  // The same of the rest of a line that a program has read in part: at a terminal it is none for the prompt.
  virtual void GiveBackRest(std::string_view bytes) { GiveBack(bytes); }
  // What was entered as one, for the history.
  virtual void Remember(std::string_view text) {}
  virtual bool interactive() const = 0;
};

// An editor for standard input, as it is a terminal or not.
std::unique_ptr<LineEditor> MakeLineEditor(LineEditor::Completer completer);
// One that has no lines: of a session whose inputs come as requests (cells.cpp).
std::unique_ptr<LineEditor> MakeNoEditor();

}  // namespace df
