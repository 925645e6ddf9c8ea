// parser/directives.h
//
// Lines for the C preprocessor (`{-# LANGUAGE CPP #-}`): `#if` and its like, `#define` of a name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace df {

class Directives {
 public:
  Directives();
  bool on = false;
  // What is wrong with a directive: it is not supported, or `text` stands where `expected` does.
  struct Fault {
    std::string unsupported, text, expected;
    bool any() const { return !unsupported.empty() || !expected.empty(); }
  };
  // Reads a line that begins with `#`.
  Fault Read(std::string_view line);
  // Whether the lines here are program.
  bool Active() const { return branches_.empty() || branches_.back().active; }
  bool IsOpen() const { return !branches_.empty(); }
  // What a name of the program stands for; null if it is no macro.
  const std::string* ValueOf(std::string_view name) const;
  // Its macros, where no line is left out.
  Directives MacrosAlone() const {
    Directives alone = *this;
    alone.branches_.clear();
    return alone;
  }
  void Undefine(std::string_view name) { macros_.erase(std::string(name)); }

 private:
  struct Branch {
    bool outer;      // the lines around it are program
    bool active;     // those of this branch are
    bool taken;      // this branch or one before
    bool last = false;  // after `#else`
  };
  Fault Define(std::string_view rest);
  bool Holds(std::string_view condition, Fault* fault) const;

  std::map<std::string, std::string, std::less<>> macros_;
  std::vector<Branch> branches_;
};

}  // namespace df
