// lang/source.h
//
// Source buffers and places in them. A Span is 12 bytes and means nothing without its SourceManager.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/id.h"

namespace df {

using FileId = Id<struct FileTag>;

// Bytes [begin, end) of one source buffer.
struct Span {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file.valid(); }
  friend auto operator<=>(const Span&, const Span&) = default;
};

// The smallest span that covers both; either may be invalid.
Span Cover(Span a, Span b);

// Line and column count from 1; the column counts Unicode scalar values, a tab counting as one.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

// Owns the text of every file of a compilation. Buffers never move.
class SourceManager {
 public:
  // Takes the text over. `name` is what diagnostics print ("fact.df", "<stdin>", "Prelude").
  // `first_line` is the number of its first line: a prompt's input is a piece of a longer session.
  // `shown`: the same text as messages show it, byte for byte, where that is another.
  FileId Add(std::string name, std::string text, uint32_t first_line = 1, std::string shown = {});

  uint32_t FileCount() const { return static_cast<uint32_t>(buffers_.size()); }
  std::string_view Name(FileId file) const;
  std::string_view Text(FileId file) const;
  std::string_view Text(Span span) const;
  LineColumn Locate(FileId file, uint32_t offset) const;
  // The line (without its end) that holds `offset`, and the offset at which that line begins.
  std::string_view LineAt(FileId file, uint32_t offset, uint32_t* line_begin = nullptr) const;
  // "fact.df:3:7".
  std::string Describe(Span span) const;

 private:
  struct Buffer {
    std::string name;
    std::string text;
    uint32_t first_line;
    std::string shown;  // empty: the text itself
    const std::string& visible() const { return shown.empty() ? text : shown; }
    mutable std::vector<uint32_t> line_starts;  // built on first use
  };
  const std::vector<uint32_t>& LineStarts(const Buffer& buffer) const;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace df
