// Literals at ground types become constants. See specialise.h.
#include "lower/mono/specialise.h"

#include "lang/utf8.h"
#include "lang/whole_number.h"
#include "llvm/Support/ErrorHandling.h"

namespace df::mono {
namespace {

int64_t CodePointOf(std::string_view character) {
  size_t at = 0;
  return character.empty() ? 0 : NextUtf8(character, &at);
}

int64_t DoubleBits(const std::string& text) {
  double value = std::strtod(text.c_str(), nullptr);
  int64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

int64_t FloatBits(const std::string& text) {
  float value = std::strtof(text.c_str(), nullptr);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

// `text` is an integer's, or a fraction's if `kind` says so; both conversions round correctly to nearest even.
ir::Constant Specialiser::NumberConstant(df::Builtin builtin, core::LiteralKind kind, std::string_view text) {
  std::string digits;
  if (kind == core::LiteralKind::Integer) {
    digits = DecimalDigits(text);
  } else {
    for (char c : text)
      if (c != '_') digits += c;
  }
  switch (builtin) {
    case df::Builtin::Int: return {p_.ir_types.Builtin(ir::TypeKind::Int), WrappedToWord(digits), ""};
    case df::Builtin::Integer: return {p_.ir_types.Builtin(ir::TypeKind::Integer), 0, digits};
    case df::Builtin::Float: return {p_.ir_types.Builtin(ir::TypeKind::Float), FloatBits(digits), ""};
    default: return {p_.ir_types.Builtin(ir::TypeKind::Double), DoubleBits(digits), ""};
  }
}

Expr* Specialiser::Literal(core::LiteralKind kind, std::string_view text, df::TypeId type, Span span) {
  ir::PosId pos = Pos(span);
  if (kind == core::LiteralKind::Char)
    return p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Char), CodePointOf(text), ""}, type, pos);
  if (kind == core::LiteralKind::String)
    return StringLiteral(text, type, span);
  // The type itself, not what a newtype holds: a newtype has an instance of its own.
  df::Builtin builtin = p_.core.types.BuiltinOf(type);
  bool floating = builtin == df::Builtin::Float || builtin == df::Builtin::Double;
  bool integral = builtin == df::Builtin::Int || builtin == df::Builtin::Integer;
  if (floating || (integral && kind == core::LiteralKind::Integer))
    return p_.NewConst(NumberConstant(builtin, kind, text), type, pos);
  // A number where a tensor is wanted fills it.
  if (df::TypeId of; p_.core.types.IsTensor(type, &of)) {
    Expr* filled = p_.NewOp(ir::Op::Expand, {Literal(kind, text, of, span)}, type, pos);
    return CheckTensors("a number", filled, span) ? filled : p_.NewFail("no literal", 1, type, pos);
  }
  // A type of the program has a `negate` of its own.
  if (text.substr(0, 1) == "-")
    return LiteralByClass("Num", "negate", Literal(kind, text.substr(1), type, span), type, span);
  df::TypeId integer = p_.core.types.Scalar(df::Builtin::Integer);
  if (kind == core::LiteralKind::Integer) {
    Expr* number = p_.NewConst(NumberConstant(df::Builtin::Integer, kind, text), integer, pos);
    return LiteralByClass("Num", "fromInteger", number, type, span);
  }
  // 1.25e-3 is the reduced fraction of two Integers: digits over a power of ten; `fromRational` of a type gets it.
  std::string mantissa;
  int64_t exponent = 0;
  bool after_point = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') after_point = true;
    else if (text[i] != '_') {
      mantissa += text[i];
      if (after_point) --exponent;
    }
  }
  if (i < text.size()) exponent += std::atoll(std::string(text.substr(i + 1)).c_str());
  while (exponent < 0 && mantissa.size() > 1 && mantissa.back() == '0') {
    mantissa.pop_back();
    ++exponent;
  }
  core::VarId ratio;
  for (uint32_t v = 0; v < p_.core.vars.size(); ++v) {
    const core::Var& var = p_.core.vars[core::VarId(v)];
    if (var.kind == core::VarKind::Top && var.from_library && Text(var.name) == "%") ratio = core::VarId(v);
  }
  if (!ratio.valid() || exponent > 10000 || exponent < -10000) {
    Diagnostics& diag = p_.diags.Report(Diag::NoLiteral, span, p_.core.types.Print(type));
    if (ratio.valid()) diag.Hint("with an exponent this large it would be a fraction of more than 10000 digits; `10 ^ n` is computed when it is needed");
    return p_.NewFail("no literal", 1, type, pos);
  }
  std::string power = "1" + std::string(static_cast<size_t>(std::abs(exponent)), '0');
  if (exponent > 0) mantissa += power.substr(1);
  Expr* numerator = p_.NewConst(NumberConstant(df::Builtin::Integer, core::LiteralKind::Integer, mantissa), integer, pos);
  Expr* denominator = p_.NewConst(
      NumberConstant(df::Builtin::Integer, core::LiteralKind::Integer, exponent < 0 ? power : "1"), integer, pos);
  llvm::SmallVector<df::TypeId> params;
  df::TypeId divide_type = p_.core.types.Substitute(p_.core.vars[ratio].scheme.type, p_.core.vars[ratio].scheme.tyvars,
                                                    integer);
  df::TypeId rational = p_.core.types.SplitFun(divide_type, params);
  Expr* divide = p_.NewFun(Instance(ratio, {integer}, span), divide_type, pos);
  Expr* fraction = p_.NewApp(divide, {numerator, denominator}, rational, pos);
  return LiteralByClass("Fractional", "fromRational", fraction, type, span);
}

// The list of the characters: one constant, unpacked by the library where the list is used. A list of at most one
// character is built at once, and so are lone surrogates, which no packed text has.
Expr* Specialiser::StringLiteral(std::string_view text, df::TypeId type, Span span) {
  ir::PosId pos = Pos(span);
  Expr* list = p_.New(Kind::Con, type, pos);
  list->con = p_.core.nil_con;
  auto cons = [&](uint32_t code) {
    Expr* cell = p_.New(Kind::Con, type, pos);
    cell->con = p_.core.cons_con;
    df::TypeId character = p_.core.types.Scalar(df::Builtin::Char);
    cell->args = {p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Char), static_cast<int64_t>(code), ""}, character, pos), list};
    list = cell;
  };
  // What stands between two surrogates.
  auto put = [&](std::string_view part) {
    size_t first = 0;
    uint32_t code = part.empty() ? 0 : NextUtf8(part, &first);
    if (part.empty()) return;
    if (first == part.size()) return cons(code);
    core::VarId unpack = LibraryFunction("primTextAppend");
    df::TypeId integer = p_.core.types.Scalar(df::Builtin::Int);
    Expr* from = p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Int), 0, ""}, integer, pos);
    Expr* head = p_.NewFun(Instance(unpack, {}, span), p_.core.vars[unpack].scheme.type, pos);
    list = p_.NewApp(head, {p_.NewText(std::string(part), pos), from, list}, type, pos);
  };
  size_t end = text.size();
  for (size_t at = end; at-- > 0;) {
    size_t next = at;
    if (IsUtf8Continuation(text[at])) continue;
    if (uint32_t code = NextUtf8(text, &next); code >= 0xD800 && code <= 0xDFFF) {
      put(text.substr(next, end - next));
      cons(code);
      end = at;
    }
  }
  put(text.substr(0, end));
  return list;
}

core::VarId Specialiser::LibraryFunction(std::string_view name) {
  core::VarId& found = library_functions_[name];
  if (found.valid()) return found;
  for (const core::Definition& definition : p_.core.definitions) {
    const core::Var& var = p_.core.vars[definition.var];
    if (var.from_library && Text(var.name) == name) return found = definition.var;
  }
  llvm::report_fatal_error("the library lacks a function that the compiler needs");
}

// The method of the library's class: classes of the same name that a user declares come after it.
core::VarId Specialiser::LibraryMethod(std::string_view cls, std::string_view method) const {
  for (const core::Class& row : p_.core.classes) {
    if (Text(row.name) != cls) continue;
    for (core::VarId var : row.methods)
      if (Text(p_.core.vars[var].name) == method) return var;
    break;
  }
  return {};
}

// `method @type argument`, where `method` is the library's.
Expr* Specialiser::LiteralByClass(const char* cls, const char* method, Expr* argument, df::TypeId type, Span span) {
  if (core::VarId var = LibraryMethod(cls, method); var.valid()) {
    Expr* head = TopVariable(var, {type}, p_.core.types.Fun(argument->type, type), span);
    return p_.NewApp(head, argument, type, Pos(span));
  }
  p_.diags.Report(Diag::NoLiteral, span, p_.core.types.Print(type));
  return p_.NewFail("no literal", 1, type, Pos(span));
}

}  // namespace df::mono
