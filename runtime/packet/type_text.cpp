#include "runtime/packet/type_text.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include "runtime/value/value_type.h"

namespace df {

using ir::TypeKind;

namespace {

// On one line.
std::string Escaped(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '\\') out += "\\\\";
    else if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

// A part of a line with types by their names.
std::string Named(const TypeText& text, llvm::StringRef rest) {
  std::string out;
  while (!rest.empty()) {
    const size_t at = rest.find('#');
    out += rest.take_front(at);
    rest = rest.drop_front(std::min(at, rest.size()));
    size_t number = 0;
    if (!rest.consume_front("#")) break;
    if (rest.consumeInteger(10, number) || number >= text.names.size()) {  // of another name
      out += '#';
      continue;
    }
    out += text.names[number];
  }
  return out;
}

}  // namespace

std::array<uint64_t, 2> TypeText::Fingerprint() const {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(all.data()), all.size()));
  return {hash.low64, hash.high64};
}

std::string TypeText::Print() const {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += names[i] + "\n" + lines[i] + "\n";
  return out;
}

std::optional<TypeText> TypeText::Parse(std::string_view text) {
  TypeText parsed;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    for (std::vector<std::string>* to : {&parsed.names, &parsed.lines}) {
      const size_t end = rest.find('\n');
      if (end == llvm::StringRef::npos) return std::nullopt;
      to->push_back(rest.take_front(end).str());
      rest = rest.drop_front(end + 1);
    }
  }
  if (parsed.names.empty()) return std::nullopt;
  return parsed;
}

std::optional<TypeText> TextOf(const ir::Graph& graph, ir::TypeId type, std::string* why) {
  TypeText text;
  std::vector<ir::TypeId> types;
  llvm::DenseMap<uint32_t, size_t> numbers;
  auto number = [&](ir::TypeId id) {
    auto [at, fresh] = numbers.try_emplace(id.index, types.size());
    if (fresh) types.push_back(id);
    return at->second;
  };
  number(type);
  for (size_t i = 0; i < types.size(); ++i) {
    const ir::Type& row = graph.types[types[i]];
    const std::string name = Escaped(graph.types.Print({types[i]}));
    if (row.kind == TypeKind::Trigger || row.kind == TypeKind::Alt || (row.kind >= TypeKind::Activations && row.kind < TypeKind::Frozen) || name.find(" -> ") != std::string::npos) {
      *why = row.kind == TypeKind::Data ? fmt::format("a function, `{}`", name) : WithArticle(name);
      return std::nullopt;
    }
    text.names.push_back(name);
    std::string& line = text.lines.emplace_back();
    if (row.kind != TypeKind::Data) {
      line = name;
      continue;
    }
    for (size_t c = 0; c < row.constructors.size(); ++c) {
      line += (c ? " | " : "") + Escaped(row.constructors[c].name);
      for (const ir::FieldType& field : row.constructors[c].fields) {
        line += " " + (field.name.empty() ? "" : Escaped(field.name) + ":");
        const TypeKind kind = graph.types.Kind(field.type.type);
        line += kind == TypeKind::Data || kind == TypeKind::Tensor ? fmt::format("#{}", number(field.type.type)) : graph.types.Print({field.type.type});
      }
    }
  }
  return text;
}

std::string DifferenceOf(const TypeText& held, const TypeText& expected) {
  if (held.names[0] != expected.names[0])
    return fmt::format("the file holds {}, and {} is expected", WithArticle(held.names[0]), WithArticle(expected.names[0]));
  const size_t common = std::min(held.lines.size(), expected.lines.size());
  size_t line = 0;
  while (line < common && held.lines[line] == expected.lines[line]) ++line;
  if (line == common) line = 0;
  if (held.names[line] != expected.names[line])
    return fmt::format("the file holds a `{}` of another program: where it has {}, {} is expected", held.names[0], WithArticle(held.names[line]),
                       WithArticle(expected.names[line]));
  llvm::SmallVector<llvm::StringRef> has, wants;
  llvm::StringRef(held.lines[line]).split(has, ' ');
  llvm::StringRef(expected.lines[line]).split(wants, ' ');
  size_t at = 0;
  while (at < std::min(has.size(), wants.size()) && has[at] == wants[at]) ++at;
  auto part = [at](const TypeText& text, llvm::ArrayRef<llvm::StringRef> parts) {
    return at < parts.size() ? "`" + Named(text, parts[at]) + "`" : "nothing more";
  };
  return fmt::format("the file holds a `{}` of another program: in `{}` it has {} where {} is expected", held.names[0], held.names[line],
                     part(held, has), part(expected, wants));
}

}  // namespace df
