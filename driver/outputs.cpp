// Parts of a result as files: see outputs.h.
#include "driver/outputs.h"

#include "driver/system/files.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/text/show.h"
#include "runtime/text/show_json.h"
#include "runtime/value/value_type.h"

namespace df {
namespace {

// The fields of a type with one constructor; null if it is another.
const ir::Constructor* OnlyConstructor(const ir::TypeTable& types, ir::TypeId type) {
  const std::vector<ir::Constructor>& rows = types[type].constructors;
  return rows.size() == 1 && !rows[0].fields.empty() ? &rows[0] : nullptr;
}

// Whether every value of the type is of several arrays: then no .npy file holds one, and that need not be found out by a run.
bool HoldsSeveral(const ir::TypeTable& types, Presence& presence, ir::TypeId type, int depth = 0) {
  const ir::Constructor* c = OnlyConstructor(types, type);
  if (!c || depth > 64) return false;
  size_t there = 0;
  for (const ir::FieldType& field : c->fields) {
    if (HoldsSeveral(types, presence, field.type.type, depth + 1)) return true;
    there += presence.Always(field.type.type);
  }
  return there > 1;
}

bool IsShownText(const ir::Graph& graph, ir::TypeId type) {
  const ir::Constructor* c = OnlyConstructor(graph.types, type);
  return c && c->name == ir::kShownText;
}

}  // namespace

std::optional<Outputs::Format> Outputs::FormatOf(const std::string& file) {
  llvm::StringRef name(file);
  if (name.ends_with(".npy")) return Format::Npy;
  if (name.ends_with(".npz")) return Format::Npz;
  if (name.ends_with(".safetensors")) return Format::Safetensors;
  if (name.ends_with(".txt")) return Format::Text;
  if (name.ends_with(".json")) return Format::Json;
  if (name.ends_with(".packet")) return Format::Packet;
  return std::nullopt;
}

std::optional<Outputs> Outputs::Make(const ir::Graph& graph, llvm::ArrayRef<ir::Port> results,
                                     const std::vector<OutputArgument>& arguments, Diagnostics& diags) {
  Outputs outputs(graph, results);
  Presence presence(graph.types);
  for (const OutputArgument& argument : arguments) {
    Target target{argument, {}, 0, {}, {}, {}};
    if (std::optional<Format> format = FormatOf(argument.file)) {
      target.format = *format;
      if (!outputs.Find(target, diags)) continue;
      if (*format == Format::Npy && HoldsSeveral(graph.types, presence, target.type.type)) {
        const std::string type = graph.types.Print({target.type.type});
        diags.Report(Diag::NoParts, {}, argument.file, fmt::format("a .npy file holds one array, and {} is of several", WithArticle(type)))
            .Hint("a .npz or .safetensors file holds arrays with names");
        continue;
      }
      std::string why;
      if (*format == Format::Npz && !CanUseZip(&why)) {
        diags.Report(Diag::NoParts, {}, argument.file, why).Hint("a .safetensors file holds arrays with names, too");
        continue;
      }
      if (*format == Format::Packet) {
        std::optional<TypeText> text = TextOf(graph, target.type.type, &why);
        if (!text) {
          diags.Report(Diag::NoParts, {}, argument.file, fmt::format("it would hold {}, which no file does", why));
          continue;
        }
        target.text = std::move(*text);
      }
      outputs.targets_.push_back(std::move(target));
    } else {
      diags.Report(Diag::OutputFormat, {}, argument.file).Hint("the name ends in .npy, .npz, .safetensors, .packet, .txt or .json");
    }
  }
  if (diags.has_errors()) return std::nullopt;
  outputs.taken_.resize(outputs.targets_.size());
  return outputs;
}

// Follows the path: a field's name or number at each step.
bool Outputs::Find(Target& target, Diagnostics& diags) const {
  if (llvm::any_of(results_, [&](const ir::Port& port) { return IsShownText(*graph_, port.type.type); })) {
    diags.Report(Diag::NoParts, {}, target.argument.file, "the result is a text")
        .Hint("its type has a `Show` instance of its own, and the graph was compiled to print that: run the source");
    return false;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(target.argument.name).split(parts, '.', -1, /*KeepEmpty=*/false);
  size_t next = 0;
  if (results_.size() > 1) {
    if (parts.empty() || parts[0].getAsInteger(10, target.result) || target.result >= results_.size()) {
      diags.Report(Diag::NoSuchPart, {}, target.argument.name)
          .Hint(fmt::format("it is a tuple, whose parts are 0 to {}", results_.size() - 1));
      return false;
    }
    next = 1;
  }
  target.type = results_[target.result].type;
  for (; next < parts.size(); ++next) {
    const ir::Constructor* c = OnlyConstructor(graph_->types, target.type.type);
    std::string names;
    uint32_t k = 0, found = UINT32_MAX;
    for (; c && k < c->fields.size(); ++k) {
      std::string name = FieldPart(*c, k);
      if (name == parts[next]) found = k;
      names += (k ? ", `" : "`") + name + "`";
    }
    if (found == UINT32_MAX) {
      std::string type = graph_->types.Print({target.type.type});
      diags.Report(Diag::NoSuchPart, {}, target.argument.name)
          .Hint(c ? fmt::format("the parts of {} are {}", WithArticle(type), names) : fmt::format("{} has no parts with names", WithArticle(type)));
      return false;
    }
    target.fields.push_back(found);
    target.type = c->fields[found].type;
  }
  return true;
}

bool Outputs::Takes(size_t index) const {
  return llvm::any_of(targets_, [&](const Target& t) { return t.fields.empty() || (t.fields.size() == 1 && t.fields[0] == index); });
}

Outcome Outputs::Take(Execution& execution, llvm::ArrayRef<Value> results, std::string* fault) {
  std::vector<Taken> taken(targets_.size());
  for (size_t i = 0; i < targets_.size(); ++i)
    if (Outcome outcome = TakeOne(execution, results, targets_[i], &taken[i], fault); !outcome.ok() || !fault->empty()) {
      if (!fault->empty()) *fault = fmt::format("`{}`: {}", targets_[i].argument.file, *fault);
      return outcome;
    }
  taken_ = std::move(taken);
  pending_ = !targets_.empty();
  return {};
}

Outcome Outputs::TakeOne(Execution& execution, llvm::ArrayRef<Value> results, const Target& target, Taken* taken,
                         std::string* fault) const {
  Value value = results[target.result];
  ir::PortType type = results_[target.result].type;
  std::string name = "result";
  for (uint32_t field : target.fields) {
    if (Outcome outcome = execution.Force(value); !outcome.ok()) return outcome;
    const ir::Constructor& c = graph_->types[type.type].constructors[0];
    value = Value(static_cast<Data*>(value.object())->fields()[field]);
    type = c.fields[field].type;
    name = FieldPart(c, field);
  }
  return TakeValue(execution, target, type, std::move(value), name, taken, fault);
}

Outcome Outputs::TakeValue(Execution& execution, const Target& target, ir::PortType type, Value value, const std::string& name,
                           Taken* taken, std::string* fault) const {
  Outcome outcome;
  switch (target.format) {
    case Format::Text:
      if (graph_->types.Kind(type.type) == ir::TypeKind::Text || ir::IsText(graph_->types, type.type))
        return WriteRaw(execution, *graph_, type, std::move(value), &taken->bytes);
      {
        llvm::raw_string_ostream out(taken->bytes);
        outcome = Show(execution, *graph_, type, std::move(value), out);
      }
      taken->bytes += '\n';
      return outcome;
    case Format::Json:
      outcome = ShowJson(execution, *graph_, type, std::move(value), &taken->bytes, fault);
      taken->bytes += '\n';
      return outcome;
    case Format::Packet: return PackValue(execution, *graph_, type, std::move(value), &taken->packet, fault);
    default: break;
  }
  outcome = TakeApart(execution, *graph_, type, std::move(value), name, &taken->arrays, fault);
  if (outcome.ok() && fault->empty() && target.format == Format::Npy && taken->arrays.size() != 1)
    *fault = fmt::format("a .npy file holds one array, and this is {}: write an .npz", taken->arrays.size());
  return outcome;
}

bool Outputs::Write(Diagnostics& diags) {
  pending_ = false;
  bool written = true;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const std::string& file = targets_[i].argument.file;
    std::vector<ArrayToWrite> arrays = ToWrite(taken_[i].arrays);
    switch (targets_[i].format) {
      case Format::Npy: written &= WriteFile(file, WriteNpy(arrays[0]), diags); break;
      case Format::Npz: written &= WriteFile(file, WriteNpz(arrays), diags); break;
      case Format::Safetensors: written &= WriteFile(file, WriteSafetensors(arrays), diags); break;
      case Format::Packet: written &= WriteFile(file, WritePacketFile(targets_[i].text, taken_[i].packet), diags); break;
      case Format::Text:
      case Format::Json: written &= WriteFile(file, taken_[i].bytes, diags); break;
    }
  }
  return written;
}

std::string Outputs::Files() const {
  std::string list;
  for (const Target& target : targets_) list += (list.empty() ? "" : ", ") + target.argument.file;
  return list;
}

}  // namespace df
