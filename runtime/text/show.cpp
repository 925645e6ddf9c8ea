// Values as text. A work list takes the place of recursion; what is lazy is forced when its turn comes, so
// that an infinite list can be printed until its reader has enough.
#include "runtime/text/show.h"

#include <new>

#include "lang/utf8.h"
#include "runtime/base/long_operation.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"

namespace df {
namespace {

using ir::TypeKind;

// Precedences of showsPrec: what needs parentheses in which place.
constexpr int kMinus = 6;
constexpr int kInfix = 9;  // of a constructor operator
constexpr int kApply = 10;

bool IsOperator(std::string_view name) { return !name.empty() && name[0] == ':'; }
bool IsOperatorName(std::string_view field) {
  unsigned char c = static_cast<unsigned char>(field[0]);
  return !(std::isalpha(c) || c == '_' || c >= 0x80);
}
bool IsTuple(std::string_view name) { return name.starts_with("(,"); }

// A list: its alternatives are "[]" and ":".
bool IsList(const ir::Type& type) {
  return type.constructors.size() == 2 &&
         ((type.constructors[0].name == "[]" && type.constructors[1].name == ":") ||
          (type.constructors[1].name == "[]" && type.constructors[0].name == ":"));
}
const ir::Constructor& Cons(const ir::Type& list) { return list.constructors[list.constructors[0].name == ":" ? 0 : 1]; }


// One character as it stands in a literal, without quotes.
std::string LiteralChar(uint32_t c) {
  static constexpr const char* kNames[] = {"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "a",   "b",  "t",  "n",
                                           "v",   "f",   "r",   "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
                                           "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS", "US"};
  if (c > 127) return "\\" + std::to_string(c);
  if (c == 127) return "\\DEL";
  if (c == '\\') return "\\\\";
  if (c >= ' ') return std::string(1, static_cast<char>(c));
  return std::string("\\") + kNames[c];
}

// Characters of a string literal, one after the other: an escape that the next character would lengthen gets
// "\&".
class LiteralString {
 public:
  std::string Next(uint32_t c) {
    std::string text;
    if ((after_number_ && c >= '0' && c <= '9') || (after_so_ && c == 'H')) text = "\\&";
    after_number_ = c > 127;
    after_so_ = c == 14;
    return text + (c == '"' ? "\\\"" : LiteralChar(c));
  }

 private:
  bool after_number_ = false;
  bool after_so_ = false;
};

class Shower {
 public:
  Shower(Execution& execution, const ir::Graph& graph, llvm::raw_ostream& out)
      : execution_(execution), graph_(graph), out_(out) {}

  Outcome Run(ir::PortType type, Value value) {
    Push(type, std::move(value), 0);
    while (!work_.empty()) {
      Item item = std::move(work_.back());
      work_.pop_back();
      if (item.what == Item::Text) {
        out_ << item.text;
        continue;
      }
      Outcome outcome = execution_.Force(item.value);
      if (!outcome.ok()) return outcome;
      switch (item.what) {
        case Item::Whole: Whole(item); break;
        case Item::ListRest: ListRest(item); break;
        case Item::StringRest: StringRest(item); break;
        case Item::StringChar:
          out_ << literals_.back().Next(static_cast<uint32_t>(item.value.word()));
          break;
        case Item::RawText: RawText(item); break;
        case Item::RawChar: {
          std::string bytes;
          AppendUtf8(static_cast<uint32_t>(item.value.word()), bytes);
          out_ << bytes;
          break;
        }
        case Item::Text: break;
      }
    }
    return {};
  }

 private:
  struct Item {
    enum What : uint8_t { Text, Whole, ListRest, StringRest, StringChar, RawText, RawChar } what;
    int precedence = 0;
    ir::PortType type;
    Value value;
    std::string text;
  };

  void Push(ir::PortType type, Value value, int precedence) {
    work_.push_back({Item::Whole, precedence, type, std::move(value), {}});
  }
  void PushText(std::string text) { work_.push_back({Item::Text, 0, {}, {}, std::move(text)}); }
  void PushRest(Item::What what, ir::PortType type, Value value) {
    work_.push_back({what, 0, type, std::move(value), {}});
  }

  void Number(const std::string& digits, int precedence) {
    bool parentheses = digits[0] == '-' && precedence > kMinus;
    if (parentheses) out_ << '(';
    out_ << digits;
    if (parentheses) out_ << ')';
  }

  void Whole(Item& item) {
    const Value& value = item.value;
    const ir::Type& type = graph_.types[item.type.type];
    switch (type.kind) {
      case TypeKind::Trigger:
      case TypeKind::Unit: out_ << "()"; return;
      case TypeKind::Bool: out_ << (value.word() ? "True" : "False"); return;
      case TypeKind::Char: out_ << ShowChar(static_cast<uint32_t>(value.word())); return;
      case TypeKind::Alt:
      case TypeKind::Int: Number(std::to_string(value.word()), item.precedence); return;
      case TypeKind::Integer: Number(integer::ToString(value), item.precedence); return;
      case TypeKind::Float: Number(ShowFloat(value.as_float()), item.precedence); return;
      case TypeKind::Double: Number(ShowDouble(value.as_double()), item.precedence); return;
      case TypeKind::Text: PackedString(value); return;
      case TypeKind::Tensor: Tensor(*TensorIn(value), item.precedence); return;
      case TypeKind::Activations:
      case TypeKind::State:
      case TypeKind::Store:
      case TypeKind::Frozen: return;  // none leaves a graph
      case TypeKind::Data: break;
    }
    if (IsList(type)) List(item, type);
    else Constructed(item, type);
  }

  void Tensor(const TensorObject& tensor, int precedence) {
    if (tensor.dims().empty()) return Number(ShowElement(tensor, 0), precedence);
    ShowTensor(tensor, [&](std::string_view text) { out_ << text; });
  }

  void PackedString(const Value& value) {
    LiteralString literal;
    out_ << '"';
    std::string_view text = static_cast<TextObject*>(value.object())->text();
    for (size_t i = 0; i < text.size();) out_ << literal.Next(NextUtf8(text, &i));
    out_ << '"';
  }

  void List(Item& item, const ir::Type& type) {
    bool string = graph_.types.Kind(Cons(type).fields[0].type.type) == TypeKind::Char;
    if (item.value.is_word()) {
      out_ << (string ? "\"\"" : "[]");
      return;
    }
    auto* cell = static_cast<Data*>(item.value.object());
    const auto& fields = Cons(type).fields;
    if (string) {
      out_ << '"';
      literals_.emplace_back();
      PushRest(Item::StringRest, fields[1].type, cell->fields()[1]);
      PushRest(Item::StringChar, fields[0].type, cell->fields()[0]);
      return;
    }
    out_ << '[';
    PushRest(Item::ListRest, fields[1].type, cell->fields()[1]);
    Push(fields[0].type, cell->fields()[0], 0);
  }

  void ListRest(Item& item) {
    if (item.value.is_word()) {
      out_ << ']';
      return;
    }
    const auto& fields = Cons(graph_.types[item.type.type]).fields;
    auto* cell = static_cast<Data*>(item.value.object());
    out_ << ',';
    PushRest(Item::ListRest, fields[1].type, cell->fields()[1]);
    Push(fields[0].type, cell->fields()[0], 0);
  }

  void StringRest(Item& item) {
    if (item.value.is_word()) {
      out_ << '"';
      literals_.pop_back();
      return;
    }
    const auto& fields = Cons(graph_.types[item.type.type]).fields;
    auto* cell = static_cast<Data*>(item.value.object());
    PushRest(Item::StringRest, fields[1].type, cell->fields()[1]);
    PushRest(Item::StringChar, fields[0].type, cell->fields()[0]);
  }

  // A list of characters without quotes and escapes.
  void RawText(Item& item) {
    if (item.value.is_word()) return;
    const auto& fields = Cons(graph_.types[item.type.type]).fields;
    auto* cell = static_cast<Data*>(item.value.object());
    PushRest(Item::RawText, fields[1].type, cell->fields()[1]);
    PushRest(Item::RawChar, fields[0].type, cell->fields()[0]);
  }

  // Whether it says that its field is a text to be printed as it is; graphs may come from anywhere.
  bool IsShownText(const ir::Constructor& c) const {
    if (c.name != ir::kShownText || c.fields.size() != 1) return false;
    const ir::Type& list = graph_.types[c.fields[0].type.type];
    return IsList(list) && graph_.types.Kind(Cons(list).fields[0].type.type) == TypeKind::Char;
  }

  void Constructed(Item& item, const ir::Type& type) {
    const auto* data = item.value.is_word() ? nullptr : static_cast<const Data*>(item.value.object());
    const ir::Constructor& c = type.constructors[data ? data->constructor : static_cast<uint32_t>(item.value.word())];
    std::string name = IsOperator(c.name) ? "(" + c.name + ")" : c.name;
    if (!data) {
      out_ << name;
      return;
    }
    if (IsShownText(c)) {
      PushRest(Item::RawText, c.fields[0].type, data->fields()[0]);
      return;
    }
    uint32_t n = data->size();
    auto field = [&](uint32_t i, int precedence) { Push(c.fields[i].type, data->fields()[i], precedence); };
    if (IsTuple(c.name)) {
      PushText(")");
      for (uint32_t i = n; i-- > 0;) {
        field(i, 0);
        if (i > 0) PushText(",");
      }
      out_ << '(';
      return;
    }
    bool record = !c.fields[0].name.empty();
    bool infix = IsOperator(c.name) && n == 2 && !record;
    bool parentheses = item.precedence > (infix ? kInfix : kApply);
    if (parentheses) {
      out_ << '(';
      PushText(")");
    }
    if (record) {
      PushText("}");
      for (uint32_t i = n; i-- > 0;) {
        field(i, 0);
        const std::string& label = c.fields[i].name;
        PushText((i > 0 ? ", " : "") + (IsOperatorName(label) ? "(" + label + ")" : label) + " = ");
      }
      out_ << name << " {";
    } else if (infix) {
      field(1, kInfix + 1);
      PushText(" " + c.name + " ");
      field(0, kInfix + 1);
    } else {
      for (uint32_t i = n; i-- > 0;) {
        field(i, kApply + 1);
        PushText(" ");
      }
      out_ << name;
    }
  }

  Execution& execution_;
  const ir::Graph& graph_;
  llvm::raw_ostream& out_;
  std::vector<Item> work_;
  std::vector<LiteralString> literals_;  // the string in hand
};

}  // namespace

Outcome WriteRaw(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string* out) {
  if (graph.types.Kind(type.type) == ir::TypeKind::Text) {
    Outcome outcome = execution.Force(value);
    if (outcome.ok()) *out += static_cast<TextObject*>(value.object())->text();
    return outcome;
  }
  for (;;) {
    Outcome outcome = execution.Force(value);
    if (!outcome.ok() || value.is_word()) return outcome;
    auto* cell = static_cast<Data*>(value.object());
    Value head = cell->fields()[0];
    value = Value(cell->fields()[1]);
    if (outcome = execution.Force(head); !outcome.ok()) return outcome;
    AppendUtf8(static_cast<uint32_t>(head.word()), *out);
  }
}

std::string ShowChar(uint32_t code) { return "'" + (code == '\'' ? "\\'" : LiteralChar(code)) + "'"; }

Outcome Show(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, llvm::raw_ostream& out) {
  try {
    return Shower(execution, graph, out).Run(type, std::move(value));
  } catch (const OperationAborted& aborted) {
    return execution.GiveUp(aborted.stop);
  } catch (const std::bad_alloc&) {
    Outcome outcome;
    outcome.stop = Stop::MemoryLimit;
    outcome.detail = "no memory is left to print the result";
    return outcome;
  }
}

}  // namespace df
