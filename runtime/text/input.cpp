// Inputs of a graph from the words of a command line, written as in the language: literals, tuples, lists,
// constructors.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <locale.h>

#include "fmt/format.h"
#include "lang/utf8.h"
#include "runtime/base/unicode.h"
#include "runtime/text/show.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"
#include "runtime/value/value_type.h"
#include "tagged_ir/action.h"

namespace df {
namespace {

using ir::TypeKind;

constexpr int kMostNesting = 1000;
constexpr size_t kMostShown = 60;  // bytes of a text, in messages

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '\'' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Recursive descent over the text, led by the type. Each function returns false where the text does not fit.
class Reader {
 public:
  Reader(const ir::Graph& graph, std::string_view text) : graph_(graph), text_(text) {}

  bool All(ir::TypeId type, Value* out) {
    TypeKind kind = graph_.types.Kind(type);
    if (Datum(type, out, 0) && Ends()) return true;
    // For a Maybe what its Just holds will do.
    at_ = 0;
    uint32_t nothing, just;
    if (ir::TypeId held = MaybeElement(graph_.types, type, &nothing, &just); held.valid()) {
      std::vector<Value> fields(1);
      if (Datum(held, &fields[0], 0) && Ends()) {
        *out = Build(just, fields);
        return true;
      }
    }
    // A bare character is what a shell leaves of 'c'.
    at_ = 0;
    uint32_t c;
    if (kind == TypeKind::Char && Utf8(&c) && at_ == text_.size()) {
      *out = Value::Word(c);
      return true;
    }
    return false;
  }

  // Where the text does not fit: what is expected there. Empty if it does not fit at all.
  std::string Fault() const {
    const size_t begin = text_.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || missed_.at <= begin) return "";
    std::string_view rest = text_.substr(missed_.at);
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(missed_.at), '\n');
    std::string in = text_.find('\n') < text_.size() - 1 ? fmt::format(" in line {}", line) : "";
    if (rest.empty()) return fmt::format(": {} is expected at the end", missed_.what);
    size_t most = std::min({rest.size(), rest.find('\n'), kMostShown / 3});
    while (most < rest.size() && most > 0 && IsUtf8Continuation(rest[most])) --most;
    return fmt::format(": {} is expected before `{}{}`{}", missed_.what, rest.substr(0, most), most < rest.size() ? "..." : "", in);
  }

 private:
  struct Missed {
    size_t at = 0;
    std::string what;
  };
  // The text does not fit here. What was read furthest is what was meant, and of several things there the one that holds the others.
  bool Miss(size_t at, std::string what) {
    if (at >= missed_.at) missed_ = {at, std::move(what)};
    return false;
  }
  bool Ends() {
    Blanks();
    return at_ == text_.size() || Miss(at_, "the end");
  }
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool Take(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    Blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    size_t end = at_ + word.size();
    if (end < text_.size() && IsWordChar(text_[end]) && IsWordChar(word.back())) return false;
    at_ = end;
    return true;
  }

  // A datum, possibly in parentheses that its type does not ask for.
  bool Datum(ir::TypeId type, Value* out, int nesting) {
    if (nesting > kMostNesting) return false;
    Blanks();
    size_t start = at_;
    if (Plain(type, out, nesting)) return true;
    at_ = start;
    if (Take('(') && Datum(type, out, nesting + 1)) return Take(')') || Miss(at_, "`)`");
    std::string name = ir::IsText(graph_.types, type) ? "String" : graph_.types.Print({type, false});
    return Miss(start, WithArticle(name));
  }

  bool Plain(ir::TypeId type, Value* out, int nesting) {
    switch (graph_.types.Kind(type)) {
      case TypeKind::Unit: return Take('(') && Take(')');
      case TypeKind::Bool:
        *out = Value::Word(1);
        if (Word("True")) return true;
        *out = Value::Word(0);
        return Word("False");
      case TypeKind::Char: return CharLiteral(out);
      case TypeKind::Int:
      case TypeKind::Integer: return Whole(graph_.types.Kind(type) == TypeKind::Int, out);
      case TypeKind::Float: {
        double d;
        float f;
        if (!Real(&d, &f)) return false;
        *out = Value::Float(f);
        return true;
      }
      case TypeKind::Double: {
        double d;
        float f;
        if (!Real(&d, &f)) return false;
        *out = Value::Double(d);
        return true;
      }
      case TypeKind::Text: return Text(out);
      case TypeKind::Data: return Constructed(type, out, nesting);
      case TypeKind::Tensor: return Tensor(type, out, nesting);
      case TypeKind::Trigger:
      case TypeKind::Alt:
      case TypeKind::Activations:
      case TypeKind::State:
      case TypeKind::Store:
      case TypeKind::Frozen: return false;
    }
    return false;
  }

  // 16 or 8 where digits of that base follow 0x or 0o at `at`, else 10.
  int Base(size_t at) const {
    if (at + 2 >= text_.size() || text_[at] != '0') return 10;
    char mark = text_[at + 1];
    int base = mark == 'x' || mark == 'X' ? 16 : mark == 'o' || mark == 'O' ? 8 : 10;
    return base != 10 && IsDigitOf(base, text_[at + 2]) ? base : 10;
  }
  static bool IsDigitOf(int base, char c) {
    return base == 8 ? c >= '0' && c <= '7' : IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }

  // The decimal numeral of the number at at_, whose digits of this base begin two after `prefix`.
  std::string Prefixed(int base, size_t prefix) {
    size_t end = prefix + 2;
    while (end < text_.size() && IsDigitOf(base, text_[end])) ++end;
    Value value;
    if (!integer::Parse(text_.substr(prefix + 2, end - prefix - 2), &value, base)) return "";
    std::string numeral = (text_[at_] == '-' ? "-" : "") + integer::ToString(value);
    at_ = end;
    return numeral;
  }

  // The characters of a number that starts here.
  std::string Numeral(bool real) {
    Blanks();
    size_t end = at_;
    if (end < text_.size() && text_[end] == '-') {
      ++end;
      while (end < text_.size() && text_[end] == ' ') ++end;
    }
    size_t digits = end;
    if (int base = Base(end); base != 10) return Prefixed(base, digits);
    while (end < text_.size() && IsDigit(text_[end])) ++end;
    if (end == digits) return "";
    if (real && end + 1 < text_.size() && text_[end] == '.' && IsDigit(text_[end + 1]))
      for (++end; end < text_.size() && IsDigit(text_[end]);) ++end;
    if (real && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t power = end + 1;
      if (power < text_.size() && (text_[power] == '-' || text_[power] == '+')) ++power;
      if (power < text_.size() && IsDigit(text_[power]))
        for (end = power; end < text_.size() && IsDigit(text_[end]);) ++end;
    }
    std::string numeral = (text_[at_] == '-' ? "-" : "") + std::string(text_.substr(digits, end - digits));
    at_ = end;
    return numeral;
  }

  bool Whole(bool is_int, Value* out) {
    std::string numeral = Numeral(false);
    return !numeral.empty() && integer::Parse(numeral, out) && (!is_int || out->is_word());
  }

  bool Real(double* d, float* f) {
    Blanks();
    bool negative = Take('-');
    if (Word("NaN")) {
      *d = *f = std::nan("");
      return true;
    }
    if (Word("Infinity")) {
      *d = *f = negative ? -HUGE_VAL : HUGE_VAL;
      return true;
    }
    if (negative) --at_;
    std::string numeral = Numeral(true);
    if (numeral.empty()) return false;
    // Whatever locale an embedding program has set: the point is a point.
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    *d = strtod_l(numeral.c_str(), nullptr, c_locale);
    *f = strtof_l(numeral.c_str(), nullptr, c_locale);
    return true;
  }

  bool Utf8(uint32_t* c) {
    if (at_ >= text_.size()) return false;
    unsigned char lead = static_cast<unsigned char>(text_[at_++]);
    int more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : -1;
    if (more < 0) return false;
    *c = more ? lead & (0x3F >> more) : lead;
    for (; more > 0; --more) {
      if (at_ >= text_.size() || (static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) return false;
      *c = *c << 6 | (static_cast<unsigned char>(text_[at_++]) & 63);
    }
    return *c <= unicode::kMaxChar;
  }

  // What follows a backslash.
  bool Escape(uint32_t* c) {
    static constexpr std::pair<std::string_view, uint32_t> kNamed[] = {
        {"NUL", 0}, {"SOH", 1}, {"STX", 2}, {"ETX", 3}, {"EOT", 4}, {"ENQ", 5}, {"ACK", 6},
        {"BEL", 7}, {"BS", 8}, {"HT", 9}, {"LF", 10}, {"VT", 11}, {"FF", 12}, {"CR", 13},
        {"SO", 14}, {"SI", 15}, {"DLE", 16}, {"DC1", 17}, {"DC2", 18}, {"DC3", 19}, {"DC4", 20},
        {"NAK", 21}, {"SYN", 22}, {"ETB", 23}, {"CAN", 24}, {"EM", 25}, {"SUB", 26}, {"ESC", 27},
        {"FS", 28}, {"GS", 29}, {"RS", 30}, {"US", 31}, {"SP", 32}, {"DEL", 127}, {"a", 7},
        {"b", 8}, {"f", 12}, {"n", 10}, {"r", 13}, {"t", 9}, {"v", 11}, {"\\", 92},
        {"\"", 34}, {"'", 39}};
    if (at_ < text_.size() && IsDigit(text_[at_])) {
      uint64_t code = 0;
      for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_)
        code = std::min<uint64_t>(code * 10 + static_cast<uint64_t>(text_[at_] - '0'), UINT32_MAX);
      *c = static_cast<uint32_t>(code);
      return code <= unicode::kMaxChar;
    }
    for (auto [name, code] : kNamed) {
      if (!text_.substr(at_).starts_with(name)) continue;
      at_ += name.size();
      *c = code;
      return true;
    }
    return false;
  }

  bool CharLiteral(Value* out) {
    if (!Take('\'')) return false;
    uint32_t c;
    if (at_ < text_.size() && text_[at_] == '\'') return false;
    if (!Utf8(&c) || (c == '\\' && !Escape(&c))) return false;
    *out = Value::Word(c);
    return at_ < text_.size() && text_[at_++] == '\'';
  }

  // Nested lists, as deep as the tensor has dimensions.
  bool Tensor(ir::TypeId type, Value* out, int nesting) {
    const ir::Type& row = graph_.types[type];
    *out = MakeTensor(row.element, row.dims);
    size_t next = 0;
    return TensorAxis(row, 0, *TensorIn(*out), &next, nesting);
  }
  bool TensorAxis(const ir::Type& row, size_t axis, TensorObject& to, size_t* next, int nesting) {
    if (axis == row.dims.size()) {
      Value element;
      if (!Datum(graph_.types.Builtin(row.element), &element, nesting + 1)) return false;
      SetElement(to, (*next)++, element);
      return true;
    }
    if (!Take('[')) return false;
    for (int64_t i = 0; i < row.dims[axis]; ++i)
      if ((i > 0 && !Take(',') && !Miss(at_, fmt::format("`,` and element {} of {}", i + 1, row.dims[axis]))) ||
          !TensorAxis(row, axis + 1, to, next, nesting))
        return false;
    return Take(']') || Miss(at_, fmt::format("`]` behind {} element{}", row.dims[axis], row.dims[axis] == 1 ? "" : "s"));
  }

  // The characters of a string literal.
  bool StringLiteral(std::vector<uint32_t>* out) {
    if (!Take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      uint32_t c;
      if (text_.substr(at_).starts_with("\\&")) {
        at_ += 2;
        continue;
      }
      if (!Utf8(&c) || (c == '\\' && !Escape(&c))) return false;
      out->push_back(c);
    }
    return at_++ < text_.size();
  }

  bool Text(Value* out) {
    std::vector<uint32_t> chars;
    if (!StringLiteral(&chars)) return false;
    std::string bytes;
    for (uint32_t c : chars) AppendUtf8(c, bytes);
    *out = Value::Adopt(ValueKind::Object, new TextObject(std::move(bytes)));
    return true;
  }

  bool Constructed(ir::TypeId id, Value* out, int nesting) {
    const ir::Type& type = graph_.types[id];
    int cons = -1, nil = -1;
    for (size_t i = 0; i < type.constructors.size(); ++i) {
      if (type.constructors[i].name == ":") cons = static_cast<int>(i);
      if (type.constructors[i].name == "[]") nil = static_cast<int>(i);
    }
    if (cons >= 0 && nil >= 0) return List(type, static_cast<uint32_t>(cons), static_cast<uint32_t>(nil), out, nesting);
    size_t start = at_;
    for (uint32_t i = 0; i < type.constructors.size(); ++i) {
      const ir::Constructor& c = type.constructors[i];
      at_ = start;
      std::vector<Value> fields(c.fields.size());
      if (c.name.starts_with("(,") ? Tuple(c, fields, nesting) : Prefix(c, fields, nesting)) {
        *out = Build(i, fields);
        return true;
      }
    }
    return false;
  }

  bool Tuple(const ir::Constructor& c, std::vector<Value>& fields, int nesting) {
    if (!Take('(')) return false;
    for (size_t k = 0; k < fields.size(); ++k)
      if ((k > 0 && !Take(',') && !Miss(at_, "`,`")) || !Datum(c.fields[k].type.type, &fields[k], nesting + 1)) return false;
    return Take(')') || Miss(at_, "`)`");
  }

  bool Prefix(const ir::Constructor& c, std::vector<Value>& fields, int nesting) {
    if (!Word(c.name)) return false;
    if (!fields.empty() && !c.fields[0].name.empty() && Take('{')) return Record(c, fields, nesting);
    for (size_t k = 0; k < fields.size(); ++k)
      if (!Datum(c.fields[k].type.type, &fields[k], nesting + 1)) return false;
    return true;
  }

  // What follows `P {`: each field once, in any order.
  bool Record(const ir::Constructor& c, std::vector<Value>& fields, int nesting) {
    std::vector<bool> given(fields.size());
    for (size_t count = 0; count < fields.size(); ++count) {
      auto left = [&] {
        std::string names;
        for (size_t k = 0; k < fields.size(); ++k)
          if (!given[k]) names += fmt::format("{}`{}`", names.empty() ? "" : " or ", c.fields[k].name);
        return names;
      };
      if (count > 0 && !Take(',')) return Miss(at_, "`,` and the field " + left());
      Blanks();
      const size_t begin = at_;
      size_t k = 0;
      while (k < fields.size() && !(Word(c.fields[k].name))) ++k;
      if (k == fields.size() || given[k]) return Miss(begin, "the field " + left());
      given[k] = true;
      if ((!Take('=') && !Miss(at_, "`=`")) || !Datum(c.fields[k].type.type, &fields[k], nesting + 1)) return false;
    }
    return Take('}') || Miss(at_, "`}`");
  }

  bool List(const ir::Type& type, uint32_t cons, uint32_t nil, Value* out, int nesting) {
    ir::TypeId element = type.constructors[cons].fields[0].type.type;
    std::vector<Value> elements;
    std::vector<uint32_t> chars;
    size_t start = at_;
    if (graph_.types.Kind(element) == TypeKind::Char && StringLiteral(&chars)) {
      for (uint32_t c : chars) elements.push_back(Value::Word(c));
    } else {
      at_ = start;
      if (!Take('[')) return false;
      if (!Take(']')) {
        do {
          if (!Datum(element, &elements.emplace_back(), nesting + 1)) return false;
        } while (Take(','));
        if (!Take(']')) return Miss(at_, "`,` or `]`");
      }
    }
    *out = Value::Word(nil);
    for (; !elements.empty(); elements.pop_back()) {
      std::vector<Value> fields{std::move(elements.back()), std::move(*out)};
      *out = Build(cons, fields);
    }
    return true;
  }

  static Value Build(uint32_t constructor, std::vector<Value>& fields) {
    if (fields.empty()) return Value::Word(constructor);
    Data* data = Data::New(constructor, static_cast<uint32_t>(fields.size()));
    for (size_t k = 0; k < fields.size(); ++k) data->fields()[k] = std::move(fields[k]);
    return Value::Adopt(ValueKind::Object, data);
  }

  const ir::Graph& graph_;
  std::string_view text_;
  size_t at_ = 0;
  Missed missed_;
};

}  // namespace

std::optional<Value> ParseInput(const ir::Graph& graph, ir::PortType type, std::string_view text, std::string* error) {
  Value value;
  Reader reader(graph, text);
  if (reader.All(type.type, &value)) return value;
  uint32_t nothing, just;
  ir::TypeId held = MaybeElement(graph.types, type.type, &nothing, &just);
  ir::TypeId plain = held.valid() ? held : type.type;
  // What a shell leaves of "text" is that text, also if it begins as a list of characters would.
  bool is_text = graph.types.Kind(plain) == TypeKind::Text || ir::IsText(graph.types, plain);
  if (is_text && !text.starts_with('"')) {
    std::string quoted = "\"";
    for (char c : text) quoted.append(c == '"' || c == '\\' ? "\\" : "").push_back(c);
    if (Reader(graph, quoted + '"').All(type.type, &value)) return value;
  }
  std::string name = is_text ? "String" : graph.types.Print({plain, false});
  size_t most = std::min({text.size(), text.find('\n'), kMostShown});
  while (most < text.size() && most > 0 && IsUtf8Continuation(text[most])) --most;
  std::string shown(text.substr(0, most));
  if (most < text.size()) shown += "...";
  const TypeKind kind = graph.types.Kind(plain);
  const bool has_parts = !is_text && (kind == TypeKind::Data || kind == TypeKind::Tensor);
  *error = "`" + shown + "` is not " + WithArticle(name) + (has_parts ? reader.Fault() : "");
  return std::nullopt;
}

}  // namespace df
