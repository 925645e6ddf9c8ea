// parser/parse_family.cpp
//
// Type families, their equations, and roles: declarations that begin with `type` and are no synonyms.
#include "parser/parser.h"

namespace df {

using namespace ast;

bool Parser::IsRole() const { return next().kind == Kind::VarId && SameSpelling(next(), "role") && TokenAt(pos_ + 2).kind == Kind::ConId; }

bool Parser::AtFamily(Scope scope) const {
  return scope == Scope::Class || scope == Scope::Instance || next().kind == Kind::Instance ||
         (next().kind == Kind::VarId && SameSpelling(next(), "family"));
}

// `F [a] = a`, `Z + m = m`
TypeEquation Parser::ParseTypeEquation() {
  Span begin = token().span;
  if (IsWord("forall") || IsOp("∀")) {
    llvm::SmallVector<Name> binders;
    ParseForall(binders);
  }
  const bool outer = std::exchange(in_equation_, true);
  Type* left = ParseDimType();
  in_equation_ = outer;
  Expect(Kind::Equals, "`=` and what the type is");
  Type* right = ParseType();
  return {left, right, From(begin)};
}

// At the top `type family F a [:: k] [where ..]` and `type instance F [a] = a`. In a class `type [family] F a [:: k]` and, for the default,
// `type [instance] F a = t`; in an instance `type [instance] F [a] = a`.
Decl* Parser::ParseTypeFamily(Scope scope) {
  Span begin = token().span;
  NeedExtension("TypeFamilies", begin, "a type family");
  Advance();
  if (scope != Scope::Module && scope != Scope::Class && scope != Scope::Instance) {
    FailWith(Diag::NotAllowedHere, begin, "`type`", "a local block of declarations");
    return ast_.New<ErrorDecl>(From(begin));
  }
  const bool instance = Take(Kind::Instance) || scope == Scope::Instance;
  if (instance) {
    const TypeEquation equation = ParseTypeEquation();
    return ast_.New<TypeInstanceDecl>(From(begin), equation);
  }
  const bool family = IsWord("family");
  if (family) Advance();
  Type* head = ParseDimType();
  if (scope == Scope::Class && !family && Is(Kind::Equals)) {
    Advance();
    Type* right = ParseType();
    return ast_.New<TypeInstanceDecl>(From(begin), TypeEquation{head, right, From(begin)});
  }
  Type* result = nullptr;
  if (Is(Kind::DoubleColon)) {
    Advance();
    const bool outer = std::exchange(in_kind_, true);
    result = ParseType();
    in_kind_ = outer;
  }
  if (Is(Kind::Equals)) NotSupported(token().span, "injective type families (`TypeFamilyDependencies`) are");
  Name name{};
  llvm::SmallVector<Name> params;
  if (!panic_) SplitTypeHead(head, name, params);
  llvm::SmallVector<TypeEquation> equations;
  const bool closed = Is(Kind::Where) && scope == Scope::Module;
  if (closed) {
    const Span keyword = token().span;
    Advance();
    Block(keyword, "`where`", [&] {
      if (!AtAType() && !Is(Kind::Underscore)) return;
      equations.push_back(ParseTypeEquation());
    });
  }
  if (!name.text.valid()) return ast_.New<ErrorDecl>(From(begin));
  return ast_.New<TypeFamilyDecl>(From(begin), name, Copy(params), result, closed, Copy(equations));
}

// `type role T nominal _ representational`
Decl* Parser::ParseRole() {
  Span begin = token().span;
  NeedExtension("RoleAnnotations", begin, "a declaration of roles");
  Advance();
  Advance();
  const Name name = NameOf(token());
  Advance();
  llvm::SmallVector<Name> roles;
  for (;;) {
    const std::string_view text = diags_.sources().Text(token().span);
    if (!Is(Kind::Underscore) && !(Is(Kind::VarId) && (text == "nominal" || text == "representational" || text == "phantom"))) break;
    roles.push_back(NameOf(std::string(text), token().span));
    Advance();
  }
  if (Is(Kind::VarId)) Fail("`nominal`, `representational` or `phantom`");
  return ast_.New<RoleDecl>(From(begin), name, Copy(roles));
}

}  // namespace df
