#include "lang/source.h"

#include <algorithm>

#include <fmt/format.h>

namespace df {

Span Cover(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

FileId SourceManager::Add(std::string name, std::string text, uint32_t first_line, std::string shown) {
  auto buffer = std::make_unique<Buffer>();
  buffer->name = std::move(name);
  buffer->text = std::move(text);
  buffer->first_line = first_line;
  buffer->shown = std::move(shown);
  buffers_.push_back(std::move(buffer));
  return FileId(static_cast<uint32_t>(buffers_.size() - 1));
}

std::string_view SourceManager::Name(FileId file) const { return buffers_[file.index]->name; }

std::string_view SourceManager::Text(FileId file) const { return buffers_[file.index]->text; }

std::string_view SourceManager::Text(Span span) const {
  return Text(span.file).substr(span.begin, span.end - span.begin);
}

const std::vector<uint32_t>& SourceManager::LineStarts(const Buffer& buffer) const {
  if (buffer.line_starts.empty()) {
    buffer.line_starts.push_back(0);
    for (size_t i = 0; i < buffer.text.size(); ++i)
      if (buffer.text[i] == '\n') buffer.line_starts.push_back(static_cast<uint32_t>(i + 1));
  }
  return buffer.line_starts;
}

LineColumn SourceManager::Locate(FileId file, uint32_t offset) const {
  const Buffer& buffer = *buffers_[file.index];
  const auto& starts = LineStarts(buffer);
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  LineColumn place;
  place.line = static_cast<uint32_t>(next - starts.begin()) + buffer.first_line - 1;
  uint32_t begin = *(next - 1);
  uint32_t end = std::min<uint32_t>(offset, static_cast<uint32_t>(buffer.text.size()));
  place.column = 1;
  for (uint32_t i = begin; i < end; ++i)
    if ((static_cast<unsigned char>(buffer.visible()[i]) & 0xC0) != 0x80) ++place.column;
  return place;
}

std::string_view SourceManager::LineAt(FileId file, uint32_t offset, uint32_t* line_begin) const {
  const Buffer& buffer = *buffers_[file.index];
  const auto& starts = LineStarts(buffer);
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  uint32_t begin = *(next - 1);
  size_t end = next == starts.end() ? buffer.text.size() : *next - 1;
  if (end > begin && buffer.text[end - 1] == '\r') --end;
  if (line_begin) *line_begin = begin;
  return std::string_view(buffer.visible()).substr(begin, end - begin);
}

std::string SourceManager::Describe(Span span) const {
  if (!span.valid()) return "<no place>";
  LineColumn at = Locate(span.file, span.begin);
  return fmt::format("{}:{}:{}", Name(span.file), at.line, at.column);
}

}  // namespace df
