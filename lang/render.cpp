// lang/render.cpp
//
// Diagnostics as text for people:
//
//   error[DF0203]: the branches of `if` have types `Int` and `Bool`
//    --> fact.df:3:12
//     |
//   2 |   if c
//     |      - the condition is here
//   3 |     then 1 else True
//     |                 ^^^^
//     = hint: ..
//
// The lines of one file stand in one snippet, in order; each mark has a row of its own, so that labels never
// meet.
#include "lang/render.h"

#include <algorithm>

#include "lang/utf8.h"
#include "llvm/Support/Unicode.h"

namespace df {
namespace {

constexpr uint32_t kTab = 8;

struct Colors {
  bool on;
  const char* Use(const char* code) const { return on ? code : ""; }
  const char* error() const { return Use("\x1b[1;31m"); }
  const char* warning() const { return Use("\x1b[1;33m"); }
  const char* bold() const { return Use("\x1b[1m"); }
  const char* gutter() const { return Use("\x1b[1;34m"); }
  const char* note() const { return Use("\x1b[36m"); }
  const char* hint() const { return Use("\x1b[32m"); }
  const char* off() const { return Use("\x1b[0m"); }
};

// The length of the UTF-8 character at text[at], 0 if it is malformed (only the shape is looked at).
uint32_t CharLength(std::string_view text, size_t at) {
  unsigned char c = static_cast<unsigned char>(text[at]);
  uint32_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  if (at + length > text.size()) return 0;
  for (uint32_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  return length;
}

// What is shown for the character at text[at]: never a control character, which could steer a terminal.
// Advances `at`; `column` is the display column before and after.
std::string_view ShowChar(std::string_view text, size_t& at, uint32_t& column) {
  static constexpr std::string_view kSpaces = "        ";
  unsigned char c = static_cast<unsigned char>(text[at]);
  if (c == '\t') {
    ++at;
    uint32_t width = kTab - column % kTab;
    column += width;
    return kSpaces.substr(0, width);
  }
  uint32_t length = CharLength(text, at);
  bool control =
      c < 0x20 || c == 0x7F || (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
  if (length == 0 || control) {
    at += std::max(1u, length);
    ++column;
    return "\xEF\xBF\xBD";  // U+FFFD
  }
  std::string_view shown = text.substr(at, length);
  at += length;
  if (length == 1) {
    ++column;
    return shown;
  }
  int width = llvm::sys::unicode::columnWidthUTF8(llvm::StringRef(shown.data(), shown.size()));
  if (width < 0) {  // not printable: direction marks, private use
    ++column;
    return "\xEF\xBF\xBD";
  }
  column += static_cast<uint32_t>(width);
  return shown;
}

// A name in it may have millions of characters: most of a long text is left out.
std::string ShowText(std::string_view text) {
  constexpr size_t kMostShown = 10000, kEnd = 500;
  std::string shown;
  uint32_t column = 0;
  for (size_t at = 0; at < text.size();) {
    if (text.size() > kMostShown && at >= kMostShown - kEnd && at < text.size() - kEnd) {
      at = text.size() - kEnd;
      while (at < text.size() && IsUtf8Continuation(text[at])) ++at;
      shown += " ... ";
      continue;
    }
    if (text[at] == '\n') {
      shown += text[at++];
      continue;
    }
    shown += ShowChar(text, at, column);
  }
  return shown;
}

struct Mark {
  Span span;
  std::string_view label;
  bool primary;
  LineColumn place;
  uint32_t line_begin;
  std::string_view line;
};

class Renderer {
 public:
  Renderer(const SourceManager& sources, llvm::raw_ostream& out, const RenderOptions& options)
      : sources_(sources), out_(out), options_(options), colors_{options.color} {}

  void Run(const Diagnostic& diagnostic) {
    const DiagInfo& info = InfoOf(diagnostic.id);
    bool error = info.severity == Severity::Error;
    accent_ = error ? colors_.error() : colors_.warning();
    out_ << accent_ << (error ? "error[" : "warning[") << info.code << "]" << colors_.off() << colors_.bold()
         << ": " << ShowText(diagnostic.message) << colors_.off() << "\n";

    std::vector<Mark> marks;
    if (diagnostic.span.valid()) marks.push_back(MarkOf(diagnostic.span, {}, true));
    for (const DiagNote& note : diagnostic.notes)
      if (note.span.valid()) marks.push_back(MarkOf(note.span, note.text, false));
    uint32_t last_line = 1;
    for (const Mark& mark : marks) last_line = std::max(last_line, mark.place.line);
    margin_ = fmt::format("{}", last_line).size();

    // The file of the message first, the others in the order of their notes.
    std::vector<FileId> files;
    for (const Mark& mark : marks)
      if (std::find(files.begin(), files.end(), mark.span.file) == files.end())
        files.push_back(mark.span.file);
    for (size_t i = 0; i < files.size(); ++i) {
      std::vector<Mark> here;
      for (const Mark& mark : marks)
        if (mark.span.file == files[i]) here.push_back(mark);
      const Mark& first = here.front();
      out_ << std::string(margin_, ' ') << colors_.gutter() << (i == 0 ? "--> " : "::: ") << colors_.off()
           << ShowText(sources_.Name(files[i])) << ':' << first.place.line << ':' << first.place.column
           << "\n";
      Snippet(std::move(here));
    }
    for (const DiagNote& note : diagnostic.notes)
      if (!note.span.valid()) Remark("note", colors_.note(), note.text);
    if (!diagnostic.hint.empty()) Remark("hint", colors_.hint(), diagnostic.hint);
  }

 private:
  Mark MarkOf(Span span, std::string_view label, bool primary) const {
    Mark mark{span, label, primary, sources_.Locate(span.file, span.begin), 0, {}};
    mark.line = sources_.LineAt(span.file, span.begin, &mark.line_begin);
    return mark;
  }

  void Gutter(std::string_view number) {
    out_ << colors_.gutter() << std::string(margin_ - number.size(), ' ') << number << " |" << colors_.off();
  }

  void Remark(const char* word, const char* color, std::string_view text) {
    std::string indent(margin_ + 3 + std::string_view(word).size() + 2, ' ');
    out_ << std::string(margin_ + 1, ' ') << colors_.gutter() << "= " << colors_.off() << color << word
         << colors_.off() << ": ";
    for (char c : ShowText(text)) {
      out_ << c;
      if (c == '\n') out_ << indent;
    }
    out_ << "\n";
  }

  void Snippet(std::vector<Mark> marks) {
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.span.begin < b.span.begin; });
    Gutter("");
    out_ << "\n";
    for (size_t i = 0; i < marks.size();) {
      size_t end = i + 1;
      while (end < marks.size() && marks[end].line_begin == marks[i].line_begin) ++end;
      if (i > 0 && marks[i].place.line > marks[i - 1].place.line + 1)
        out_ << colors_.gutter() << std::string(margin_, ' ') << "..." << colors_.off() << "\n";
      // A long line is shown once per mark, around it.
      bool is_long = marks[i].line.size() > options_.max_line_columns;
      for (size_t from = i; from < end;) {
        size_t to = is_long ? from + 1 : end;
        Line(llvm::ArrayRef<Mark>(marks).slice(from, to - from), is_long);
        from = to;
      }
      i = end;
    }
  }

  // One source line and a row for each mark on it.
  void Line(llvm::ArrayRef<Mark> marks, bool is_long) {
    const Mark& first = marks.front();
    std::string_view line = first.line;
    size_t from = 0, to = line.size();
    if (is_long) {
      size_t at = std::min<size_t>(first.span.begin - first.line_begin, line.size());
      size_t before = options_.max_line_columns / 3;
      from = at > before ? at - before : 0;
      to = std::min<size_t>(line.size(), from + options_.max_line_columns);
      auto align = [&](size_t& i) {
        while (i > 0 && i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) --i;
      };
      align(from);
      align(to);
    }
    std::string shown = from > 0 ? "..." : "";
    uint32_t column = static_cast<uint32_t>(shown.size());
    // The display column of each byte of the part that is shown.
    std::vector<uint32_t> columns(to - from + 1);
    for (size_t at = from; at < to;) {
      size_t begin = at;
      uint32_t here = column;
      shown += ShowChar(line.substr(0, to), at, column);
      for (size_t i = begin; i < at; ++i) columns[i - from] = here;
    }
    columns[to - from] = column;
    if (to < line.size()) shown += "...";
    while (!shown.empty() && shown.back() == ' ') shown.pop_back();
    Gutter(fmt::format("{}", first.place.line));
    out_ << (shown.empty() ? "" : " ") << shown << "\n";

    for (const Mark& mark : marks) {
      auto column_of = [&](uint32_t offset) {
        size_t at = std::clamp<size_t>(offset < mark.line_begin ? 0 : offset - mark.line_begin, from, to);
        return columns[at - from];
      };
      uint32_t begin = column_of(mark.span.begin);
      bool goes_on = mark.span.end > mark.line_begin + line.size() + 1;
      uint32_t end = std::max(goes_on ? columns[to - from] : column_of(mark.span.end), begin + 1);
      Gutter("");
      out_ << ' ' << std::string(begin, ' ') << (mark.primary ? accent_ : colors_.note())
           << std::string(end - begin, mark.primary ? '^' : '-');
      if (goes_on) {
        uint32_t last = sources_.Locate(mark.span.file, mark.span.end - 1).line;
        out_ << " ... to line " << last;
      }
      if (!mark.label.empty()) out_ << (goes_on ? ": " : " ") << ShowText(mark.label);
      out_ << colors_.off() << "\n";
    }
  }

  const SourceManager& sources_;
  llvm::raw_ostream& out_;
  const RenderOptions& options_;
  Colors colors_;
  const char* accent_ = "";
  size_t margin_ = 1;
};

}  // namespace

std::vector<const Diagnostic*> InOrderOfPlace(const Diagnostics& diagnostics) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& diagnostic : diagnostics.all()) order.push_back(&diagnostic);
  auto key = [](const Diagnostic* d) {
    return std::pair(d->span.valid() ? static_cast<uint64_t>(d->span.file.index) + 1 : 0, d->span.begin);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  return order;
}

void Render(const Diagnostic& diagnostic, const SourceManager& sources, llvm::raw_ostream& out,
            const RenderOptions& options) {
  Renderer(sources, out, options).Run(diagnostic);
}

void Render(const Diagnostics& diagnostics, llvm::raw_ostream& out, const RenderOptions& options) {
  bool first = true;
  for (const Diagnostic* diagnostic : InOrderOfPlace(diagnostics)) {
    if (!first) out << "\n";
    first = false;
    Render(*diagnostic, diagnostics.sources(), out, options);
  }
  if (diagnostics.dropped() > 0)
    out << fmt::format("\n{} further error{} not shown\n", diagnostics.dropped(),
                       diagnostics.dropped() == 1 ? " is" : "s are");
}

}  // namespace df
