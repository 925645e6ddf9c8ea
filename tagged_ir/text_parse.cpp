// Reads the text form of a tagged graph: see text.h, and docs/graph.md for the form.
//
// Names of types, scopes and nodes may be used before they are declared, so each use is noted and looked up
// at the end of what declares it: types and scopes at the end of the header, nodes at the end of the text.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "fmt/format.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"
#include "tagged_ir/text.h"
#include "tagged_ir/text_format.h"
#include "tagged_ir/text_lex.h"

namespace df::ir {
namespace {

template <typename Float, typename Bits>
bool ReadNumber(std::string_view text, int64_t* word) {
  Bits bits = 0;
  const char* end = text.data() + text.size();
  if (text.starts_with("0x")) {
    auto [last, status] = std::from_chars(text.data() + 2, end, bits, 16);
    if (status != std::errc() || last != end) return false;
  } else {
    Float value = 0;
    auto [last, status] = std::from_chars(text.data(), end, value);
    if (status != std::errc() || last != end) return false;
    std::memcpy(&bits, &value, sizeof bits);
  }
  *word = static_cast<int64_t>(bits);
  return true;
}

}  // namespace

bool text::ReadFloat(std::string_view text, bool is_double, int64_t* bits) {
  return is_double ? ReadNumber<double, uint64_t>(text, bits) : ReadNumber<float, uint32_t>(text, bits);
}

namespace {

using text::Lexer;
using text::Tok;
using text::Token;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { Advance(); }

  std::optional<Graph> Run(std::string* error) {
    if (Header() && ResolveHeader() && Body() && ResolveNodes()) {
      std::string fault = Verify(g);
      if (fault.empty()) return std::move(g);
      error_ = fault;
    }
    *error = error_;
    return std::nullopt;
  }

 private:
  // A use of a name that is looked up later.
  struct TypeUse {
    uint32_t line;
    std::string name;
    bool quoted;
    std::function<void(TypeId)> set;
  };
  struct PendingNode {
    uint32_t line;
    Token name;
    Op op;
    ScopeId scope;
    std::vector<Token> attribute;
    std::vector<Token> operands;
    std::vector<PortType> results;
    PosId pos;
  };

  bool Header();
  bool HeaderLine(const std::string& keyword);
  bool DataLine();
  bool TensorLine();
  bool ScopeLine(ScopeKind kind);
  bool SiteLine();
  bool ResolveHeader();
  bool Body();
  bool NodeLine(ScopeId scope);
  bool ResolveNodes();
  bool ResolveAttribute(const PendingNode& node, llvm::ArrayRef<Edge> in, uint32_t* attr);
  bool ResolveConstant(const PendingNode& node, uint32_t* attr);
  bool ConstructorIndex(const PendingNode& node, TypeId type, const Token& name, uint32_t* index);

  bool TypeName(std::function<void(TypeId)> set);
  bool LookUpType(const TypeUse& use, TypeId* type);
  bool LazyType(PortType* type);  // in the body, where all types are known
  bool LookUpScope(const Token& name, ScopeId* scope);
  bool Position(const std::string& function, PosId* pos);
  struct Places;
  bool PlaceNumber(uint32_t* number);
  bool ReadPlaces(const std::string& function, Places* places, uint32_t depth);
  bool AddPlaces(Places& places, llvm::ArrayRef<PosId> behind, PosId* pos);
  std::string FunctionOf(ScopeId id) const;
  bool Name(std::string* name);
  bool Quoted(std::string* text);
  bool Number(const Token& token, uint32_t* value);

  void Advance() { token_ = lexer_.Next(); }
  bool Is(std::string_view symbol) const { return token_.kind == Tok::Symbol && token_.text == symbol; }
  bool IsWord(std::string_view word) const { return token_.kind == Tok::Name && token_.text == word; }
  bool Accept(std::string_view text) {
    if (!Is(text) && !IsWord(text)) return false;
    Advance();
    return true;
  }
  bool Expect(std::string_view text) { return Accept(text) || Fail(fmt::format("`{}` expected", text)); }
  bool Fail(const std::string& message) {
    return FailAt(token_.line, token_.kind == Tok::Bad ? token_.text : message);
  }
  bool FailAt(uint32_t line, const std::string& message) {
    if (error_.empty()) error_ = fmt::format("line {}: {}", line, message);
    return false;
  }

  Lexer lexer_;
  Token token_;
  Graph g;
  std::string error_;
  std::vector<TypeUse> type_uses_;
  llvm::StringMap<TypeId> types_;
  llvm::StringMap<ScopeId> scopes_;
  std::vector<std::pair<ScopeId, Token>> parents_;
  std::vector<PendingNode> nodes_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string, uint32_t, uint32_t, bool>, PosId> positions_;
  std::map<std::tuple<uint32_t, int64_t, std::string>, ConstId> constants_;
};

bool Parser::Name(std::string* name) {
  if (token_.kind != Tok::Quoted && (token_.kind != Tok::Name || text::IsReserved(token_.text)))
    return Fail("a name expected");
  *name = token_.text;
  Advance();
  return true;
}

bool Parser::Quoted(std::string* text) {
  if (token_.kind != Tok::Quoted) return Fail("a quoted text expected");
  *text = token_.text;
  Advance();
  return true;
}

bool Parser::Number(const Token& token, uint32_t* value) {
  const std::string& text = token.text;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), *value);
  bool good = token.kind == Tok::Number && status == std::errc() && end == text.data() + text.size();
  return good || FailAt(token.line, "a number expected");
}

bool Parser::TypeName(std::function<void(TypeId)> set) {
  TypeUse use{token_.line, "", token_.kind == Tok::Quoted, std::move(set)};
  if (!Name(&use.name)) return false;
  type_uses_.push_back(std::move(use));
  return true;
}

bool Parser::LookUpType(const TypeUse& use, TypeId* type) {
  *type = use.quoted ? TypeId() : g.types.FindBuiltin(use.name);
  if (type->valid()) return true;
  auto it = types_.find(use.name);
  if (it == types_.end()) return FailAt(use.line, fmt::format("no type `{}`", use.name));
  *type = it->second;
  return true;
}

bool Parser::LazyType(PortType* type) {
  type->lazy = Accept("lazy");
  TypeUse use{token_.line, "", token_.kind == Tok::Quoted, nullptr};
  return Name(&use.name) && LookUpType(use, &type->type);
}

bool Parser::LookUpScope(const Token& name, ScopeId* scope) {
  auto it = scopes_.find(name.text);
  if (it == scopes_.end()) return FailAt(name.line, fmt::format("no scope `{}`", name.text));
  *scope = it->second;
  return true;
}

std::string Parser::FunctionOf(ScopeId id) const {
  const Scope& scope = g.scopes[id];
  return scope.pos.valid() ? g.positions[scope.pos].function : scope.name;
}

// [@line:column [in function] {at @line:column [in function]}]: the innermost place first. The places of a `given` may go on, `at 2`, with
// those behind the one that has it.
struct Parser::Places {
  std::vector<Pos> chain;
  std::vector<std::unique_ptr<Places>> given;  // of each, or null
  uint32_t joins = 0;                          // the number of the place that it goes on with; 0: none
};

bool Parser::PlaceNumber(uint32_t* number) {
  if (!Number(token_, number) || *number == 0) return Fail("the number of a place expected");
  Advance();
  return true;
}

bool Parser::ReadPlaces(const std::string& function, Places* places, uint32_t depth) {
  if (depth > text::kMostNested) return Fail("positions are nested too deep");
  while (token_.kind == Tok::Position) {
    Pos p;
    p.file = token_.numbers[0];
    p.line = token_.numbers[1];
    p.column = token_.numbers[2];
    p.function = function;
    Advance();
    p.giver = Accept("giver");
    if (p.giver) p.function.clear();
    if (Accept("in") && !Name(&p.function)) return false;
    std::unique_ptr<Places> given;
    if (Accept("given")) {
      given = std::make_unique<Places>();
      if (!Accept("(")) return Fail("`(` expected");
      if (token_.kind != Tok::Position && token_.kind != Tok::Number) return Fail("a position expected");
      if (!(token_.kind == Tok::Number ? PlaceNumber(&given->joins) : ReadPlaces(function, given.get(), depth + 1))) return false;
      if (!Accept(")")) return Fail("`)` expected");
    }
    places->chain.push_back(std::move(p));
    places->given.push_back(std::move(given));
    if (!Accept("at")) break;
    if (depth > 0 && token_.kind == Tok::Number) return PlaceNumber(&places->joins);
    if (token_.kind != Tok::Position) return Fail("a position expected");
  }
  return true;
}

// `behind`: the places that a number names.
bool Parser::AddPlaces(Places& places, llvm::ArrayRef<PosId> behind, PosId* pos) {
  if (places.joins > behind.size()) return Fail(fmt::format("no place {} to go on with", places.joins));
  PosId outer = places.joins ? behind[places.joins - 1] : PosId();
  // From the next one on; of what is gone on with, too.
  std::vector<PosId> outward(behind.begin() + (places.joins ? places.joins - 1 : behind.size()), behind.end());
  for (size_t i = places.chain.size(); i-- > 0;) {
    Pos& p = places.chain[i];
    p.inlined_at = outer;
    if (places.given[i] && !AddPlaces(*places.given[i], outward, &p.given)) return false;
    auto [it, is_new] = positions_.try_emplace({p.file, p.line, p.column, p.function, outer.index, p.given.index, p.giver}, PosId());
    if (is_new) it->second = g.positions.Add(std::move(p));
    outer = it->second;
    outward.insert(outward.begin(), outer);
  }
  *pos = outer;
  return true;
}

bool Parser::Position(const std::string& function, PosId* pos) {
  Places places;
  return ReadPlaces(function, &places, 0) && AddPlaces(places, {}, pos);
}

// ---- header

bool Parser::Header() {
  if (!Expect("tagged") || !Quoted(&g.name)) return false;
  while (token_.kind == Tok::Name && token_.text != "scope") {
    std::string keyword = token_.text;
    if (!HeaderLine(keyword)) return false;
  }
  return true;
}

bool Parser::HeaderLine(const std::string& keyword) {
  if (keyword == "data") return DataLine();
  if (keyword == "tensor") return TensorLine();
  if (keyword == "root") return ScopeLine(ScopeKind::Root);
  if (keyword == "function") return ScopeLine(ScopeKind::Function);
  if (keyword == "loop") return ScopeLine(ScopeKind::Loop);
  if (keyword == "site") return SiteLine();
  if (keyword == "file") {
    Advance();
    std::string name;
    if (!Quoted(&name)) return false;
    g.files.push_back(std::move(name));
    return true;
  }
  if (keyword == "demanded" || keyword == "unshown") {
    Advance();
    (keyword == "demanded" ? g.demanded : g.unshown) = true;
    return true;
  }
  if (keyword != "input" && keyword != "result" && keyword != "action") return Fail(fmt::format("`{}` begins nothing", keyword));
  Advance();
  bool is_input = keyword == "input";
  g.action |= keyword == "action";
  std::vector<Port>& ports = is_input ? g.graph_inputs : g.graph_results;
  Port port;
  if (!Quoted(&port.name) || !Expect(":")) return false;
  port.type.lazy = Accept("lazy");
  ports.push_back(std::move(port));
  size_t index = ports.size() - 1;
  return TypeName([this, is_input, index](TypeId type) {
    (is_input ? g.graph_inputs : g.graph_results)[index].type.type = type;
  });
}

// data Name = Constructor (field: strict Type) (lazy Type) | Constructor ...
bool Parser::DataLine() {
  Advance();
  uint32_t line = token_.line;
  std::string name;
  if (!Name(&name)) return false;
  if (!types_.try_emplace(name, g.types.next_id()).second)
    return FailAt(line, fmt::format("type `{}` is declared twice", name));
  TypeId id = g.types.AddData(name);
  if (!Accept("=")) return true;
  do {
    Constructor constructor;
    if (!Name(&constructor.name)) return false;
    while (Accept("(")) {
      FieldType field;
      TypeUse use;
      // A name that a colon follows is the field's.
      for (;;) {
        if (Accept("strict")) {
          field.strict = true;
        } else if (Accept("lazy")) {
          field.type.lazy = true;
        } else {
          break;
        }
      }
      use = {token_.line, "", token_.kind == Tok::Quoted, nullptr};
      if (!Name(&use.name)) return false;
      if (Accept(":")) {
        field.name = use.name;
        field.strict = Accept("strict");
        field.type.lazy = Accept("lazy");
        use = {token_.line, "", token_.kind == Tok::Quoted, nullptr};
        if (!Name(&use.name)) return false;
      }
      if (!Expect(")")) return false;
      size_t at = g.types[id].constructors.size(), k = constructor.fields.size();
      use.set = [this, id, at, k](TypeId type) { g.types[id].constructors[at].fields[k].type.type = type; };
      type_uses_.push_back(std::move(use));
      constructor.fields.push_back(std::move(field));
    }
    g.types[id].constructors.push_back(std::move(constructor));
  } while (Accept("|"));
  return true;
}

// tensor "Tensor Float [2, 3]"
bool Parser::TensorLine() {
  Advance();
  uint32_t line = token_.line;
  std::string name;
  TypeKind element;
  std::vector<int64_t> dims;
  if (!Name(&name)) return false;
  if (!ParseTensorName(name, &element, &dims)) return FailAt(line, fmt::format("`{}` is no type of tensors", name));
  TypeId next = g.types.next_id();
  if (!types_.try_emplace(name, next).second || g.types.Tensor(element, dims) != next)
    return FailAt(line, fmt::format("type `{}` is declared twice", name));
  return true;
}

// function name [in parent] [spread] [part number] [position]
bool Parser::ScopeLine(ScopeKind kind) {
  Advance();
  uint32_t line = token_.line;
  Scope scope;
  scope.kind = kind;
  if (!Name(&scope.name)) return false;
  if (!scopes_.try_emplace(scope.name, g.scopes.next_id()).second)
    return FailAt(line, fmt::format("scope `{}` is declared twice", scope.name));
  if (Accept("in")) {
    Token parent = token_;
    std::string name;
    if (!Name(&name)) return false;
    parents_.emplace_back(g.scopes.next_id(), std::move(parent));
  }
  scope.spread = Accept("spread");
  if (Accept("part")) {
    uint32_t place = 0;
    if (!Number(token_, &place)) return false;
    if (place >= kAnywhere) return Fail("a part's number is too large");
    scope.place = static_cast<uint16_t>(place);
    Advance();
  }
  if (!Position(scope.name, &scope.pos)) return false;
  g.scopes.Add(std::move(scope));
  return true;
}

// site number call|delay caller -> callee ["reason"] [position]
bool Parser::SiteLine() {
  Advance();
  uint32_t number = 0;
  if (!Number(token_, &number)) return false;
  if (number != g.sites.size()) return Fail(fmt::format("site {} expected", g.sites.size()));
  Advance();
  Site site;
  if (!IsWord("call") && !IsWord("delay")) return Fail("`call` or `delay` expected");
  site.kind = IsWord("call") ? SiteKind::Call : SiteKind::Delay;
  Advance();
  std::string name;
  Token caller = token_;
  if (!Name(&name) || !LookUpScope(caller, &site.caller) || !Expect("->")) return false;
  Token callee = token_;
  if (!Name(&name) || !LookUpScope(callee, &site.callee)) return false;
  if (token_.kind == Tok::Quoted && !Quoted(&site.reason)) return false;
  if (!Position(FunctionOf(site.caller), &site.pos)) return false;
  g.sites.Add(std::move(site));
  return true;
}

bool Parser::ResolveHeader() {
  for (const TypeUse& use : type_uses_) {
    TypeId type;
    if (!LookUpType(use, &type)) return false;
    use.set(type);
  }
  for (const auto& [scope, name] : parents_)
    if (!LookUpScope(name, &g.scopes[scope].parent)) return false;
  return true;
}

// ---- body

bool Parser::Body() {
  while (Accept("scope")) {
    Token name = token_;
    std::string text;
    ScopeId scope;
    if (!Name(&text) || !LookUpScope(name, &scope) || !Expect("{")) return false;
    while (!Accept("}"))
      if (!NodeLine(scope)) return false;
  }
  return token_.kind == Tok::End || Fail("`scope` expected");
}

// %name = Op attribute %operand, ... : type, ... position
bool Parser::NodeLine(ScopeId scope) {
  if (token_.kind != Tok::Node || token_.port != 0) return Fail("a node expected");
  PendingNode node;
  node.line = token_.line;
  node.name = token_;
  node.scope = scope;
  Advance();
  if (!Expect("=")) return false;
  std::optional<Op> op = token_.kind == Tok::Name ? OpNamed(token_.text) : std::nullopt;
  if (!op) return Fail(fmt::format("no op `{}`", token_.text));
  node.op = *op;
  Advance();
  auto is_attribute = [&] {
    return token_.kind == Tok::Name || token_.kind == Tok::Quoted || token_.kind == Tok::Number ||
           token_.kind == Tok::Char || Is("()");
  };
  while (is_attribute() && node.attribute.size() < 2) {
    node.attribute.push_back(token_);
    Advance();
  }
  while (token_.kind == Tok::Node) {
    node.operands.push_back(token_);
    Advance();
    if (!Accept(",")) break;
    if (token_.kind != Tok::Node) return Fail("an operand expected");
  }
  if (Accept(":")) {
    do {
      PortType type;
      if (!LazyType(&type)) return false;
      node.results.push_back(type);
    } while (Accept(","));
  }
  if (!Position(FunctionOf(scope), &node.pos)) return false;
  nodes_.push_back(std::move(node));
  return true;
}

bool Parser::ResolveNodes() {
  // If the names are the numbers 0, 1, ... in some order, nodes get these numbers, otherwise their places in
  // the text.
  llvm::StringMap<uint32_t> places;
  std::vector<uint32_t> order(nodes_.size(), UINT32_MAX);  // of each number: the place in the text
  bool numbered = true;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Token& name = nodes_[i].name;
    if (!places.try_emplace(name.text, i).second)
      return FailAt(name.line, fmt::format("node `{}` is declared twice", name.text));
    uint32_t number = 0;
    llvm::StringRef digits = llvm::StringRef(name.text).drop_front();
    if (digits.getAsInteger(10, number) || number >= nodes_.size() || order[number] != UINT32_MAX)
      numbered = false;
    else
      order[number] = i;
  }
  std::vector<uint32_t> number_of(nodes_.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!numbered) order[i] = i;
    number_of[order[i]] = i;
  }
  // Nodes first, then attributes: a Field's constructor is found through its operand's type.
  for (uint32_t place : order) {
    const PendingNode& node = nodes_[place];
    std::vector<Edge> in;
    for (const Token& operand : node.operands) {
      auto it = places.find(operand.text);
      if (it == places.end()) return FailAt(operand.line, fmt::format("no node `{}`", operand.text));
      in.push_back({NodeId(number_of[it->second]), operand.port});
    }
    g.AddNode(node.op, node.scope, in, node.results, 0, node.pos);
  }
  for (uint32_t i = 0; i < order.size(); ++i) {
    NodeId id(i);
    if (!ResolveAttribute(nodes_[order[i]], g.InputsOf(id), &g.nodes[id].attr)) return false;
  }
  return true;
}

bool Parser::ConstructorIndex(const PendingNode& node, TypeId type, const Token& name, uint32_t* index) {
  if (!type.valid()) return FailAt(node.line, "a constructor of no type");
  const std::vector<Constructor>& all = g.types[type].constructors;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].name != name.text) continue;
    *index = i;
    return true;
  }
  return FailAt(name.line, fmt::format("`{}` has no constructor `{}`", g.types[type].name, name.text));
}

bool Parser::ResolveAttribute(const PendingNode& node, llvm::ArrayRef<Edge> in, uint32_t* attr) {
  const Attribute kind = FactsOf(node.op).attribute;
  size_t wanted = kind == Attribute::NoAttribute ? 0 : kind == Attribute::FieldNumber ? 2 : 1;
  if (node.attribute.size() != wanted)
    return FailAt(node.line, "an attribute is missing, or there is one too many");
  switch (kind) {
    case Attribute::LoopScope:
    case Attribute::OuterScope: {
      ScopeId scope;
      if (!LookUpScope(node.attribute[0], &scope)) return false;
      *attr = scope.index;
      return true;
    }
    case Attribute::ConstantNumber: return ResolveConstant(node, attr);
    case Attribute::ConstructorNumber:
      return ConstructorIndex(node, node.results.empty() ? TypeId() : node.results[0].type, node.attribute[0],
                              attr);
    case Attribute::FieldNumber: {
      bool known = in.size() == 1 && in[0].port < g.nodes[in[0].node].num_results;
      uint32_t constructor = 0, field = 0;
      if (!ConstructorIndex(node, known ? g.TypeOf(in[0]).type : TypeId(), node.attribute[0], &constructor) ||
          !Number(node.attribute[1], &field))
        return false;
      if (field > 0xffff || constructor > 0xffff) return FailAt(node.line, "no such field");
      *attr = constructor << 16 | field;
      return true;
    }
    case Attribute::NoAttribute: return true;
    case Attribute::InputNumber:
    case Attribute::ResultNumber:
    case Attribute::SiteNumber:
    case Attribute::FailureKind:
    case Attribute::Axes:
    case Attribute::EntryNumber: return Number(node.attribute[0], attr);
  }
  return false;
}

bool Parser::ResolveConstant(const PendingNode& node, uint32_t* attr) {
  if (node.results.size() != 1) return FailAt(node.line, "a constant has one result");
  const Token& literal = node.attribute[0];
  const std::string& written = literal.text;
  Constant constant;
  constant.type = node.results[0].type;
  bool good = false;
  switch (g.types.Kind(constant.type)) {
    case TypeKind::Unit: good = literal.kind == Tok::Symbol; break;
    case TypeKind::Bool:
      good = literal.kind == Tok::Name && (written == "True" || written == "False");
      constant.word = written == "True";
      break;
    case TypeKind::Char:
      good = literal.kind == Tok::Char;
      constant.word = literal.code;
      break;
    case TypeKind::Int: {
      auto [end, status] = std::from_chars(written.data(), written.data() + written.size(), constant.word);
      good = literal.kind == Tok::Number && status == std::errc() && end == written.data() + written.size();
      break;
    }
    case TypeKind::Integer:
      good = literal.kind == Tok::Number;
      constant.text = written;
      break;
    case TypeKind::Float: good = text::ReadFloat(written, false, &constant.word); break;
    case TypeKind::Double: good = text::ReadFloat(written, true, &constant.word); break;
    case TypeKind::Text:
      good = literal.kind == Tok::Quoted;
      constant.text = written;
      break;
    case TypeKind::Tensor: good = literal.kind == Tok::Quoted && ParseTensorText(g.types[constant.type], written, &constant.text); break;
    default: break;
  }
  if (!good)
    return FailAt(literal.line, fmt::format("`{}` is not a {}", written, g.types.Print({constant.type})));
  auto [it, is_new] = constants_.try_emplace({constant.type.index, constant.word, constant.text}, ConstId());
  if (is_new) it->second = g.constants.Add(std::move(constant));
  *attr = it->second.index;
  return true;
}

}  // namespace

bool LooksLikeGraphText(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  for (;;) {
    size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (!text.starts_with("--")) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  constexpr std::string_view kKeyword = "tagged";
  if (!text.starts_with(kKeyword)) return false;
  text.remove_prefix(kKeyword.size());
  size_t name = text.find_first_not_of(kBlank);
  return name != 0 && name != std::string_view::npos && text[name] == '"';
}

std::optional<Graph> ParseText(std::string_view text, std::string* error) { return Parser(text).Run(error); }

}  // namespace df::ir
