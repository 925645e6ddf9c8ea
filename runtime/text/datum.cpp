// Data on one line, for traces.
#include "runtime/text/show.h"
#include "runtime/value/integer.h"
#include "runtime/value/io_error.h"
#include "runtime/value/tensor.h"

namespace df {
namespace {

constexpr int kShownNesting = 3;
constexpr size_t kMaxText = 40;

void Print(const ir::Graph& graph, ir::PortType type, const Value& value, llvm::raw_ostream& out, int nesting) {
  switch (value.kind()) {
    case ValueKind::Dead: out << '*'; return;
    case ValueKind::Error: out << "error(" << MessageOf(*static_cast<ErrorObject*>(value.object())) << ')'; return;
    case ValueKind::Reference: out << "ref"; return;
    default: break;
  }
  const ir::Type& t = graph.types[type.type];
  switch (t.kind) {
    case ir::TypeKind::Trigger:
    case ir::TypeKind::Unit: out << "()"; return;
    case ir::TypeKind::Alt: out << '#' << value.word(); return;
    case ir::TypeKind::Bool: out << (value.word() ? "True" : "False"); return;
    case ir::TypeKind::Char: out << ShowChar(static_cast<uint32_t>(value.word())); return;
    case ir::TypeKind::Int: out << value.word(); return;
    case ir::TypeKind::Integer: {
      if (!value.is_word() && mpz_size(static_cast<BigInteger*>(value.object())->value) > 16) out << "<large>";
      else out << integer::ToString(value);
      return;
    }
    case ir::TypeKind::Float: out << ShowFloat(value.as_float()); return;
    case ir::TypeKind::Double: out << ShowDouble(value.as_double()); return;
    case ir::TypeKind::Text: {
      if (value.is_word()) return;
      std::string_view text = static_cast<TextObject*>(value.object())->text();
      out << '"';
      out.write_escaped(llvm::StringRef(text).take_front(kMaxText));
      out << (text.size() > kMaxText ? "...\"" : "\"");
      return;
    }
    case ir::TypeKind::Tensor: {
      const TensorObject* tensor = TensorIn(value);
      constexpr size_t kMaxElements = 16;
      if (tensor && tensor->failure()) out << "failed " << t.name;
      else if (tensor && tensor->count() <= kMaxElements) ShowTensor(*tensor, [&](std::string_view text) { out << text; });
      else out << t.name;
      return;
    }
    case ir::TypeKind::Activations:
    case ir::TypeKind::State:
    case ir::TypeKind::Store:
    case ir::TypeKind::Frozen: out << t.name; return;
    case ir::TypeKind::Data: break;
  }
  const auto* data = value.is_word() ? nullptr : static_cast<const Data*>(value.object());
  uint32_t index = data ? data->constructor : static_cast<uint32_t>(value.word());
  if (index >= t.constructors.size()) return;
  const ir::Constructor& constructor = t.constructors[index];
  if (!data) {
    out << constructor.name;
    return;
  }
  out << '(' << constructor.name;
  for (uint32_t i = 0; i < data->size(); ++i) {
    out << ' ';
    if (nesting >= kShownNesting) out << "..";
    else Print(graph, constructor.fields[i].type, data->fields()[i], out, nesting + 1);
  }
  out << ')';
}

}  // namespace

void PrintDatum(const ir::Graph& graph, ir::PortType type, const Value& value, llvm::raw_ostream& out) {
  Print(graph, type, value, out, 0);
}

}  // namespace df
