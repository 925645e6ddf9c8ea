#include "runtime/text/show_json.h"

#include <cmath>

#include "fmt/format.h"
#include "lang/utf8.h"
#include "llvm/Support/JSON.h"
#include "runtime/text/show.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"
#include "runtime/value/value_type.h"

namespace df {
namespace {

using ir::TypeKind;

constexpr int kMaxNesting = 1000;

class JsonShower {
 public:
  JsonShower(Execution& execution, const ir::Graph& graph, std::string* out, std::string* fault)
      : execution_(execution), graph_(graph), out_(*out), fault_(*fault) {}

  Outcome Show(ir::TypeId type, Value value, int nesting) {
    if (nesting > kMaxNesting) fault_ = "it is nested too deep";
    if (!fault_.empty()) return {};
    if (Outcome outcome = execution_.Force(value); !outcome.ok()) return outcome;
    const ir::Type& row = graph_.types[type];
    switch (row.kind) {
      case TypeKind::Unit: out_ += "null"; return {};
      case TypeKind::Bool: out_ += value.word() ? "true" : "false"; return {};
      case TypeKind::Int: out_ += std::to_string(value.word()); return {};
      case TypeKind::Integer: out_ += integer::ToString(value); return {};
      case TypeKind::Float: Real(ShowFloat(value.as_float()), value.as_float()); return {};
      case TypeKind::Double: Real(ShowDouble(value.as_double()), value.as_double()); return {};
      case TypeKind::Char: {
        std::string text;
        AppendUtf8(static_cast<uint32_t>(value.word()), text);
        out_ += JsonString(text);
        return {};
      }
      case TypeKind::Text: out_ += JsonString(static_cast<TextObject*>(value.object())->text()); return {};
      case TypeKind::Tensor: Tensor(*TensorIn(value)); return {};
      case TypeKind::Data: return Structure(type, row, std::move(value), nesting);
      default: fault_ = "it is of type " + graph_.types.Print({type}); return {};
    }
  }

 private:
  void Real(const std::string& shown, double value) { out_ += std::isfinite(value) ? shown : "null"; }

  void Tensor(const TensorObject& tensor) {
    std::string text;
    ShowTensor(tensor, [&](std::string_view piece) { text += piece; });
    // Numbers stand there as in JSON, but for those that are not finite and for truth values.
    auto replace = [&](std::string_view word, std::string_view by) {
      for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) text.replace(at, word.size(), by);
    };
    for (std::string_view word : {"-Infinity", "Infinity", "NaN"}) replace(word, "null");
    replace("True", "true");
    replace("False", "false");
    out_ += text;
  }

  Outcome Structure(ir::TypeId type, const ir::Type& row, Value value, int nesting) {
    ir::ListType list;
    if (ir::TypeId element = ListElement(graph_.types, type, &list); element.valid()) return List(element, std::move(value), nesting);
    uint32_t nothing, just;
    if (ir::TypeId held = MaybeElement(graph_.types, type, &nothing, &just); held.valid()) {
      if (!value.is_word()) return Show(held, static_cast<Data*>(value.object())->fields()[0], nesting + 1);
      out_ += "null";
      return {};
    }
    const Data* data = value.is_word() ? nullptr : static_cast<const Data*>(value.object());
    const ir::Constructor& c = row.constructors[data ? data->constructor : static_cast<uint32_t>(value.word())];
    if (!data) {
      out_ += JsonString(c.name);
      return {};
    }
    bool alone = row.constructors.size() == 1, named = !c.fields[0].name.empty();
    if (!alone) out_ += "{" + JsonString(c.name) + ":";
    out_ += named ? '{' : '[';
    for (uint32_t k = 0; k < data->size(); ++k) {
      if (k) out_ += ',';
      if (named) out_ += JsonString(c.fields[k].name) + ":";
      if (Outcome outcome = Show(c.fields[k].type.type, data->fields()[k], nesting + 1); !outcome.ok()) return outcome;
    }
    out_ += named ? '}' : ']';
    if (!alone) out_ += '}';
    return {};
  }

  Outcome List(ir::TypeId element, Value value, int nesting) {
    bool text = graph_.types.Kind(element) == TypeKind::Char;
    std::string chars;
    if (!text) out_ += '[';
    for (bool first = true;; first = false) {
      if (Outcome outcome = execution_.Force(value); !outcome.ok()) return outcome;
      if (value.is_word() || !fault_.empty()) break;
      auto* cell = static_cast<Data*>(value.object());
      Value head = cell->fields()[0];
      value = Value(cell->fields()[1]);
      Outcome outcome;
      if (text) {
        if ((outcome = execution_.Force(head)).ok()) AppendUtf8(static_cast<uint32_t>(head.word()), chars);
      } else {
        if (!first) out_ += ',';
        outcome = Show(element, std::move(head), nesting + 1);
      }
      if (!outcome.ok()) return outcome;
    }
    out_ += text ? JsonString(chars) : "]";
    return {};
  }

  Execution& execution_;
  const ir::Graph& graph_;
  std::string& out_;
  std::string& fault_;
};

}  // namespace

Outcome ShowJson(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string* out, std::string* fault) {
  return JsonShower(execution, graph, out, fault).Show(type.type, std::move(value), 0);
}

std::string JsonString(std::string_view text) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  stream << llvm::json::Value(llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size())));
  return out;
}

}  // namespace df
