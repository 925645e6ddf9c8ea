// Verify, the names that its messages use, and the tables of a graph, each for itself: see verify.h. The other parts are in verify_nodes.cpp,
// verify_wiring.cpp and verify_branches.cpp.

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "tagged_ir/action.h"
#include "tagged_ir/entries.h"
#include "tagged_ir/spread.h"
#include "tagged_ir/tensor_type.h"
#include "tagged_ir/verify.h"

namespace df::ir {
namespace {

// An op's attribute names a field as constructor * 65536 + field.
constexpr size_t kMaxConstructors = 65536;
constexpr size_t kMaxFields = 65536;

bool IsUtf8(const std::string& text) {
  if (llvm::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

// The decimal digits of an Integer as they are always written: no leading zeros, no plus, no "-0".
bool IsDecimal(llvm::StringRef text) {
  if (text == "0") return true;
  text.consume_front("-");
  return !text.empty() && text.front() != '0' &&
         text.find_first_not_of("0123456789") == llvm::StringRef::npos;
}

}  // namespace

bool Verifier::CheckTables() {
  if (!IsUtf8(g.name)) return Fail("the graph's name is not UTF-8");
  for (const std::string& file : g.files)
    if (!IsUtf8(file)) return Fail("a file's name is not UTF-8");
  return CheckTypes() && CheckPositions() && CheckScopes() && LayOutScopes() && CheckSites() &&
         CheckConstants() && CheckPorts();
}

bool Verifier::CheckTypes() {
  uint32_t builtins = static_cast<uint32_t>(TypeKind::Data);
  if (g.types.size() < builtins) return Fail("the type table lacks built-in types");
  llvm::StringSet<> names;
  for (uint32_t i = 0; i < g.types.size(); ++i) {
    const Type& type = g.types[TypeId(i)];
    if (i < builtins) {
      if (type.kind != static_cast<TypeKind>(i))
        return Fail("type {} is not the built-in type it has to be", i);
      continue;
    }
    if (type.kind == TypeKind::Tensor) {
      if (std::string fault = TensorTypeFault(type); !fault.empty()) return Fail("type {}, a tensor: {}", i, fault);
      if (!names.insert(type.name).second) return Fail("two types are named `{}`", type.name);
      continue;
    }
    if (type.kind != TypeKind::Data) return Fail("type {} is not a data type", i);
    if (type.name.empty() || !IsUtf8(type.name)) return Fail("type {}: its name is empty or not UTF-8", i);
    if (!names.insert(type.name).second) return Fail("two types are named `{}`", type.name);
    if (type.constructors.size() > kMaxConstructors)
      return Fail("type `{}` has too many constructors", type.name);
    llvm::StringSet<> constructors;
    for (const Constructor& c : type.constructors) {
      if (c.name.empty() || !IsUtf8(c.name))
        return Fail("type `{}`: a constructor's name is empty or not UTF-8", type.name);
      if (!constructors.insert(c.name).second)
        return Fail("type `{}`: two constructors are named `{}`", type.name, c.name);
      if (c.fields.size() > kMaxFields) return Fail("constructor `{}` has too many fields", c.name);
      for (size_t k = 0; k < c.fields.size(); ++k) {
        const FieldType& field = c.fields[k];
        if (!IsUtf8(field.name)) return Fail("constructor `{}`, field {}: its name is not UTF-8", c.name, k);
        if (!g.types.Contains(field.type.type))
          return Fail("constructor `{}`, field {}: no type {}", c.name, k, field.type.type.index);
        TypeKind kind = g.types.Kind(field.type.type);
        if (kind == TypeKind::Trigger || kind == TypeKind::Alt || kind == TypeKind::Activations)
          return Fail("constructor `{}`, field {}: a {} cannot be held", c.name, k,
                      g.types.Print(field.type));
        if (field.strict && field.type.lazy)
          return Fail("constructor `{}`, field {}: both strict and lazy", c.name, k);
      }
    }
  }
  return true;
}

bool Verifier::CheckPos(PosId pos, const std::string& owner) {
  if (pos.valid() && !g.positions.Contains(pos)) return Fail("{}: no position {}", owner, pos.index);
  return true;
}

bool Verifier::CheckPositions() {
  uint32_t count = g.positions.size();
  for (uint32_t i = 0; i < count; ++i) {
    const Pos& pos = g.positions[PosId(i)];
    if (pos.line != 0 && pos.file >= g.files.size()) return Fail("position {}: no file {}", i, pos.file);
    if (!IsUtf8(pos.function)) return Fail("position {}: its function's name is not UTF-8", i);
    if (pos.inlined_at.valid() && !g.positions.Contains(pos.inlined_at))
      return Fail("position {}: inlined at position {}, which does not exist", i, pos.inlined_at.index);
    if (pos.given.valid() && !g.positions.Contains(pos.given))
      return Fail("position {}: given the result at position {}, which does not exist", i, pos.given.index);
    if (pos.giver && (pos.file != 0 || pos.line != 0 || pos.column != 0 || !pos.function.empty() || pos.given.valid()))
      return Fail("position {}: a giver is no place", i);
  }
  // What positions refer to ends. seen[i]: 1 while what i refers to is looked at, 2 afterwards.
  std::vector<uint8_t> seen(count, 0);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < count; ++i) {
    if (seen[i] == 0) open.push_back(i);
    while (!open.empty()) {
      const uint32_t at = open.back();
      if (seen[at] != 0) {
        seen[at] = 2;
        open.pop_back();
        continue;
      }
      seen[at] = 1;
      for (PosId next : {g.positions[PosId(at)].inlined_at, g.positions[PosId(at)].given}) {
        if (!next.valid() || seen[next.index] == 2) continue;
        if (seen[next.index] == 1) return Fail("position {} is inlined into itself", next.index);
        open.push_back(next.index);
      }
    }
  }
  return true;
}

bool Verifier::CheckScopes() {
  if (g.scopes.empty()) return Fail("there is no root scope");
  llvm::StringSet<> names;
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    const Scope& scope = g.scopes[ScopeId(i)];
    if (scope.name.empty() || !IsUtf8(scope.name)) return Fail("scope {}: its name is empty or not UTF-8", i);
    if (!names.insert(scope.name).second) return Fail("two scopes are named `{}`", scope.name);
    if (scope.kind > ScopeKind::Loop) return Fail("scope `{}` is of no known kind", scope.name);
    if ((scope.kind == ScopeKind::Root) != (i == 0))
      return Fail("scope `{}`: scope 0, and no other, is the root", scope.name);
    if (scope.parent.valid() && !g.scopes.Contains(scope.parent))
      return Fail("scope `{}`: its parent, scope {}, does not exist", scope.name, scope.parent.index);
    if (scope.kind == ScopeKind::Root && scope.parent.valid()) return Fail("the root scope has a parent");
    if (scope.kind == ScopeKind::Loop && !scope.parent.valid())
      return Fail("loop `{}` stands nowhere", scope.name);
    if (scope.place != kAnywhere && scope.kind != ScopeKind::Function) return Fail("scope `{}` is on a part, and is not a function", scope.name);
    if (scope.place != kAnywhere && scope.place >= kMostParts)
      return Fail("scope `{}` is on part {}, and there are at most {}", scope.name, scope.place, kMostParts);
    if (!CheckPos(scope.pos, "scope `" + scope.name + "`")) return false;
  }
  return true;
}

// Numbers the scopes so that Encloses is two comparisons, and finds scopes that are their own ancestors.
bool Verifier::LayOutScopes() {
  uint32_t count = g.scopes.size();
  std::vector<uint32_t> child(count, UINT32_MAX), sibling(count, UINT32_MAX);
  for (uint32_t i = count; i-- > 0;) {
    ScopeId parent = g.scopes[ScopeId(i)].parent;
    if (!parent.valid()) continue;
    sibling[i] = child[parent.index];
    child[parent.index] = i;
  }
  first_.assign(count, UINT32_MAX);
  last_.assign(count, 0);
  uint32_t number = 0;
  std::vector<uint32_t> stack;
  for (uint32_t root = 0; root < count; ++root) {
    if (g.scopes[ScopeId(root)].parent.valid()) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      uint32_t at = stack.back();
      if (first_[at] == UINT32_MAX) first_[at] = number++;
      uint32_t next = child[at];
      if (next == UINT32_MAX) {
        last_[at] = number;
        stack.pop_back();
      } else {
        child[at] = sibling[next];
        stack.push_back(next);
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i)
    if (first_[i] == UINT32_MAX) return Fail("scope `{}` is its own ancestor", g.scopes[ScopeId(i)].name);
  return true;
}

bool Verifier::CheckSites() {
  sites_into_.assign(g.scopes.size(), 0);
  for (uint32_t i = 0; i < g.sites.size(); ++i) {
    const Site& site = g.sites[SiteId(i)];
    if (site.kind > SiteKind::Delay) return Fail("site {} is of no known kind", i);
    if (!g.scopes.Contains(site.caller))
      return Fail("site {}: no scope {} to call from", i, site.caller.index);
    if (!g.scopes.Contains(site.callee)) return Fail("site {}: no scope {} to call", i, site.callee.index);
    const Scope& callee = g.scopes[site.callee];
    if (callee.kind != ScopeKind::Function) return Fail("site {}: `{}` is not a function", i, callee.name);
    if (callee.parent.valid() && !Encloses(callee.parent, site.caller))
      return Fail("site {}: `{}` is called from `{}`, outside of `{}`, which it may refer to", i, callee.name,
                  g.scopes[site.caller].name, g.scopes[callee.parent].name);
    if (!IsUtf8(site.reason)) return Fail("site {}: its reason is not UTF-8", i);
    if (site.kind == SiteKind::Call && !site.reason.empty()) return Fail("site {}: a Call has no reason", i);
    if (!CheckPos(site.pos, fmt::format("site {}", i))) return false;
    ++sites_into_[site.callee.index];
  }
  return true;
}

bool Verifier::CheckConstants() {
  for (uint32_t i = 0; i < g.constants.size(); ++i) {
    const Constant& constant = g.constants[ConstId(i)];
    if (!g.types.Contains(constant.type)) return Fail("constant {}: no type {}", i, constant.type.index);
    TypeKind kind = g.types.Kind(constant.type);
    int64_t word = constant.word;
    bool has_text = kind == TypeKind::Integer || kind == TypeKind::Text || kind == TypeKind::Tensor;
    bool good = true;
    switch (kind) {
      case TypeKind::Trigger:
      case TypeKind::Alt:
      case TypeKind::Activations:
      case TypeKind::State:
      case TypeKind::Store:
      case TypeKind::Frozen:
      case TypeKind::Data: return Fail("constant {}: no constant is a {}", i, g.types.Print({constant.type}));
      case TypeKind::Unit:
      case TypeKind::Integer:
      case TypeKind::Text:
      case TypeKind::Tensor: good = word == 0; break;
      case TypeKind::Bool: good = word == 0 || word == 1; break;
      case TypeKind::Char: good = word >= 0 && word <= 0x10ffff; break;
      case TypeKind::Float: good = word >= 0 && word <= 0xffffffff; break;
      case TypeKind::Int:
      case TypeKind::Double: break;
    }
    if (!good) return Fail("constant {}: {} is not a {}", i, word, g.types.Print({constant.type}));
    if (!has_text && !constant.text.empty())
      return Fail("constant {}: a text that its type has no use for", i);
    if (kind == TypeKind::Integer && !IsDecimal(constant.text))
      return Fail("constant {}: not a decimal number", i);
    if (kind == TypeKind::Tensor)
      if (std::string fault = TensorConstantFault(g.types[constant.type], constant.text); !fault.empty())
        return Fail("constant {}: {}", i, fault);
    if (kind == TypeKind::Text && !IsUtf8(constant.text)) return Fail("constant {}: not UTF-8", i);
  }
  return true;
}

bool Verifier::CheckPorts() {
  auto check = [&](const std::vector<Port>& ports, const char* what) {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (!IsUtf8(ports[i].name)) return Fail("{} {}: its name is not UTF-8", what, i);
      if (!g.types.Contains(ports[i].type.type))
        return Fail("{} {}: no type {}", what, i, ports[i].type.type.index);
      TypeKind kind = g.types.Kind(ports[i].type.type);
      if (kind == TypeKind::Trigger || kind == TypeKind::Alt || (kind >= TypeKind::Activations && kind < TypeKind::Data))
        return Fail("{} {}: a {} does not leave the graph", what, i, g.types.Print(ports[i].type));
    }
    return true;
  };
  if (!check(g.graph_inputs, "input") || !check(g.graph_results, "result")) return false;
  llvm::StringSet<> names;
  for (size_t i = 0; i < g.graph_inputs.size(); ++i) {
    const Port& port = g.graph_inputs[i];
    // `%` begins the names of edges in graph files.
    if (port.name.empty() || port.name.front() == '%')
      return Fail("input {}: `{}` is not a name", i, port.name);
    if (!names.insert(port.name).second) return Fail("two inputs are named `{}`", port.name);
    if (port.type.lazy && !ComesLater(port.name)) return Fail("input `{}`: an input is a value", port.name);
  }
  if (g.graph_results.empty()) return Fail("the graph has no result");
  if (std::string fault = CheckHostInputs(g); !fault.empty()) return Fail("{}", fault);
  if (std::string fault = CheckEntries(g); !fault.empty()) return Fail("{}", fault);
  if (g.action)
    if (std::string fault = CheckAction(g, nullptr); !fault.empty()) return Fail("{}", fault);
  return true;
}

std::string Verifier::Run() {
  if (CheckTables() && CheckNodes() && CheckWiring() && CheckCycles() && CheckBranches() && CheckTokens()) return CheckSpread(g);
  return error_;
}

std::string Verifier::Name(NodeId id) const {
  const Node& node = g.nodes[id];
  bool known = static_cast<uint32_t>(node.op) < OpCount();
  return fmt::format("node {} ({})", id.index, known ? InfoOf(node.op).name : "?");
}

std::string Verifier::ScopeName(ScopeId id) const { return "`" + g.scopes[id].name + "`"; }

std::string Verify(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace df::ir
