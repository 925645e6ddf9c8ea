// Constraints that nothing fulfils, and types that nothing settles, as messages.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// What a constraint comes from, as a message names it.
std::string DescribeOrigin(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Use: return origin.name.valid() ? fmt::format("`{}`", Text(origin.name)) : "this type";
    case Origin::Number:
    case Origin::Fraction: return fmt::format("the number `{}`", Text(origin.name));
    case Origin::String: return fmt::format("the string {}", Text(origin.name));
    case Origin::LiteralPattern: return fmt::format("the pattern `{}`", Text(origin.name));
    case Origin::Sequence: return "the sequence";
    case Origin::Do: return "the `do`";
    case Origin::Negation: return "the negation";
    case Origin::Instance: return "the instance";
    case Origin::Deriving: return fmt::format("`deriving {}`", Text(origin.name));
    case Origin::Printing: return "printing the result";
  }
  return "";
}

bool IsWhole(Builtin builtin) { return builtin == Builtin::Int || builtin == Builtin::Integer; }
bool IsFraction(Builtin builtin) { return builtin == Builtin::Float || builtin == Builtin::Double; }

}  // namespace

std::string Checker::PrintPred(ClassId cls, const std::string& type, TypeId of) {
  bool atom = !unify_.IsFun(of, nullptr, nullptr) &&
              (types_.Kind(unify_.Prune(of)) != TypeKind::App || type.find(' ') == std::string::npos || (type[0] == '[' && type.back() == ']') ||
               (type[0] == '(' && type.back() == ')'));
  return fmt::format("{} {}", Text(program_.classes[cls].name), atom ? type : "(" + type + ")");
}

void Checker::ReportMissing(const Wanted& wanted, const Wanted& missing) {
  const Origin& origin = wanted.origin;
  if (Tainted(origin.span)) return;
  TypeId type = unify_.Zonk(missing.type), head = unify_.Head(missing.type);
  bool rigid = types_.Kind(head) == TypeKind::Var;
  Builtin builtin = types_.Kind(head) == TypeKind::Con ? types_.cons[types_.ConOf(head)].builtin : Builtin::None;
  ClassId fractional = KnownClass("Fractional");
  auto is_fractional = [&](ClassId cls) { return fractional.valid() && Entails(fractional, cls); };
  bool whole_as_fraction = IsWhole(builtin) && is_fractional(missing.cls);
  // `x + 1` needs the same instance twice, and `floor (sqrt n)` two of one kind: once is enough to say, for this
  // definition.
  for (const auto& [cls, other, at] : reported_)
    if ((cls == missing.cls || (whole_as_fraction && is_fractional(cls)) || (rigid && Entails(missing.cls, cls))) && other == type &&
        (at == definition_ || rigid))
      return;
  if (IsRefused(missing.cls, missing.type)) return;
  reported_.push_back({missing.cls, type, definition_});
  std::vector<std::string> text = PrintTypes({missing.type, wanted.type});
  std::string_view cls = Text(program_.classes[missing.cls].name);
  std::string pred = PrintPred(missing.cls, text[0], missing.type);
  // Who uses the variable that asks for the constraint, and where its definition does.
  auto explain_asked = [&] {
    if (origin.kind != Origin::Use || !origin.var.valid() || !Shown(origin.asked).valid()) return;
    if (program_.vars[origin.var].kind == core::VarKind::Method)
      return NoteOnce(origin.asked, fmt::format("`{}` is a method of this class", Text(origin.name)));
    NoteOnce(origin.asked, signature_of_.count(origin.var.index)
                               ? fmt::format("the signature of `{}` asks for it", Text(origin.name))
                               : fmt::format("`{}` needs it for this", Text(origin.name)));
  };
  if (rigid) {
    TyVarId var = types_.VarOf(head);
    bool derived = origin.kind == Origin::Deriving;
    auto instance = llvm::find_if(instances_, [&](const auto& entry) {
      return llvm::is_contained(program_.instances[entry.second].tyvars, var);
    });
    bool of_instance = instance != instances_.end() && !derived;
    Error(Diag::MissingConstraint, origin.span, DescribeOrigin(origin), pred,
          derived ? "a derived instance" : of_instance ? "the instance" : "the signature");
    if (const Span place = types_.vars[var].span; place.valid() && !Shown(place).valid())
      NoteOnce(Span(), fmt::format("nothing is known of `{}` but what the method's type says", Text(types_.vars[var].name)));
    else if (place.valid())
      NoteOnce(place,
               fmt::format("nothing is known of `{}` but what {} says", Text(types_.vars[var].name),
                           derived ? "its type" : of_instance ? "the instance's context" : "its signature"));
    explain_asked();
    if (derived) {
      diags_.Hint(fmt::format("an instance that is written out can have the context: `instance {} => ..`", pred));
    } else if (!of_instance && types_.vars[var].span.valid() && !Shown(types_.vars[var].span).valid()) {
      // The signature is that of a method of the library's, `foldMap` for one: nobody can add to it.
      if (origin.name.valid() && Text(origin.name) == "+") diags_.Hint("`<>` joins two values of a `Monoid`");
    } else if (cls == "Fractional" && origin.name.valid() && Text(origin.name) == "/" && KnownClass("Integral").valid() &&
               IsGiven({KnownClass("Integral"), missing.type, {}})) {
      diags_.Hint("`div` divides whole numbers; `fromIntegral` turns one into a number of any type");
    } else if (!HintAtTypeVariable(var)) {
      diags_.Hint(of_instance ? fmt::format("add the context to the instance: `instance {} => ..`", pred)
                              : fmt::format("add `{}` to the context of the signature", pred));
    }
    return;
  }
  if (origin.kind == Origin::Number && !IsNumberType(missing.type)) {
    Error(Diag::NumberMismatch, origin.span, DescribeOrigin(origin), text[0]);
    unify_.MarkAny(wanted.type);  // of the `a` in `IO a` nothing more can be said
    ExplainPlace(wanted.type, origin.span);
    return;
  }
  if (origin.kind == Origin::Fraction && IsWhole(builtin)) {
    Error(Diag::FractionMismatch, origin.span, Text(origin.name), text[0]);
  } else {
    Error(Diag::NoInstance, origin.span, DescribeOrigin(origin), pred);
    InstanceId found;
    llvm::SmallVector<TypeId> bound;
    if (types_.Kind(head) == TypeKind::Con && FindInstance(missing.cls, missing.type, found, bound) == Fit::Rigid)
      diags_.Note(Span(), "there is one for some of the types that it may stand for");
    if (llvm::SmallVector<TypeId> parts; types_.IsTuple(type, &parts) && parts.size() > 15)
      diags_.Hint("tuples have instances up to fifteen components; a `data` type with `deriving` has them for any number");
  }
  if (unify_.Zonk(missing.type) != unify_.Zonk(wanted.type))
    diags_.Note(Span(), fmt::format("it is needed for `{}`", PrintPred(wanted.cls, text[1], wanted.type)));
  ExplainPlace(wanted.type, origin.span);
  explain_asked();
  PlaceIndex place = unify_.PlaceOf(wanted.type);
  std::string_view culprit = place < places_.size() && !places_[place].used ? diags_.sources().Text(places_[place].span) : std::string_view();
  bool simple = culprit.find(' ') == std::string_view::npos || culprit[0] == '(';
  auto order = llvm::find_if(order_hints_, [&](const auto& entry) { return entry.first == origin.span; });
  if (order != order_hints_.end()) {
    diags_.Hint(order->second);
  } else if (types_.IsTangent(type)) {
    diags_.Hint("`asValue v g` of `Gradient` is the gradient `g` at `v` as a value of `v`'s type");
  } else if (cls == "MonadFail" && origin.name.valid() && Text(origin.name) == "fail" && origin.span.valid() &&
      diags_.sources().Text(origin.span) != "fail") {
    diags_.Hint("this pattern may not fit, and `fail` is what the action does then; `~` before it says that it always fits");
  } else if (cls == "Objective" && builtin == Builtin::Tensor) {
    diags_.Hint("a gradient is that of a number: `sum` of a tensor, or `item` of one without dimensions");
  } else if (HintAtTensorModule(head)) {
    // Told.
  } else if (cls == "Element" && builtin == Builtin::List) {
    diags_.Hint(kRowsAreATensor);
  } else if (cls == "Element" && builtin == Builtin::Tensor) {
    diags_.Hint(kStackOfTensors);
  } else if (cls == "Element") {
    diags_.Hint("the elements of a tensor are of the type `Float`, `Double`, `Int` or `Bool`");
  } else if (cls == "Ord" && builtin == Builtin::Tensor) {
    diags_.Hint("`less`, `greater` .. of `Tensor` compare element by element; `select` takes each element from one tensor or another by what they say");
  } else if (builtin == Builtin::Function && origin.kind == Origin::Deriving) {
    diags_.Hint(fmt::format("a field of the type `{}` stands in the way", text[0]));
  } else if (cls == "Num" && builtin == Builtin::List && origin.name.valid() && Text(origin.name) == "+") {
    diags_.Hint("`++` joins strings and lists");
  } else if (builtin == Builtin::Function) {
    diags_.Hint("functions have no such instance: is an argument missing?");
  } else if (cls == "Integral" && IsFraction(builtin)) {
    diags_.Hint("`truncate`, `round`, `floor` and `ceiling` turn a fraction into a whole number");
  } else if (whole_as_fraction && types_.BuiltinOf(unify_.Head(wanted.type)) == Builtin::Tensor) {
    diags_.Hint("`convert x` of `Tensor` has elements of another number type");
  } else if (whole_as_fraction) {
    std::string converted =
        culprit.empty() || culprit.size() > 30 || origin.kind == Origin::Fraction
            ? fmt::format("`fromIntegral` turns an `{}` into a number of any type", text[0])
            : fmt::format("`fromIntegral {}` is a number of any type", simple ? std::string(culprit)
                                                                              : fmt::format("({})", culprit));
    std::string_view name = origin.name.valid() ? Text(origin.name) : std::string_view();
    if (name == "/") converted += "; `div` divides whole numbers";
    if (name == "**") converted = "`^` raises to a whole power; " + converted;
    diags_.Hint(converted);
  } else if (builtin == Builtin::IO && !env_.kinds.IsArrow(env_.class_kinds[missing.cls.index])) {
    diags_.Hint("an action stands here: `let x = ..` names a value, and `return x` is an action that gives it");
  } else if (types_.Kind(head) == TypeKind::Con && builtin == Builtin::None &&
             Shown(types_.cons[types_.ConOf(head)].span).valid()) {
    NoteOnce(types_.cons[types_.ConOf(head)].span, "the type is declared here");
    for (const char* derivable : {"Eq", "Ord", "Show", "Enum", "Bounded"})
      if (cls == derivable) diags_.Hint(fmt::format("add `deriving {}` to its declaration", cls));
  }
}

bool Checker::IsRefused(ClassId cls, TypeId type) {
  for (const auto& [other, of, at] : reported_)
    if (at == kNowhere && other == cls && of == unify_.Head(type)) return true;
  return false;
}

void Checker::ReportAmbiguous(llvm::ArrayRef<Wanted> preds) {
  const Wanted& first = preds[0];
  if (Tainted(first.origin.span)) return;
  auto name = [](const Wanted& pred) {
    return pred.origin.name.valid() ? std::string(Text(pred.origin.name)) : std::string("this");
  };
  // No type is both whole and a fraction: that is the trouble, and not that the type is not known.
  ClassId integral = KnownClass("Integral"), fractional = KnownClass("Fractional");
  const Wanted *whole = nullptr, *fraction = nullptr;
  for (const Wanted& pred : preds) {
    if (!whole && integral.valid() && Entails(integral, pred.cls)) whole = &pred;
    if (!fraction && fractional.valid() && Entails(fractional, pred.cls)) fraction = &pred;
  }
  if (whole && fraction) {
    std::string other = fraction->origin.kind == Origin::Fraction
                            ? fmt::format("`{}` is none", name(*fraction))
                            : fmt::format("`{}` on fractions", name(*fraction));
    Error(Diag::WholeAndFraction, whole->origin.span, name(*whole), other);
    NoteOnce(fraction->origin.span, fraction->origin.kind == Origin::Fraction ? "this is a fraction"
                                                                              : "this works on fractions");
    if (name(*whole) == "^") diags_.Hint("`**` raises to a power that is a fraction");
    else if (std::string what = name(*whole); what == "round" || what == "truncate" || what == "floor" || what == "ceiling")
      diags_.Hint(fmt::format("`fromIntegral ({} ..)` is a number of any type", what));
    else diags_.Hint("`truncate`, `round`, `floor` and `ceiling` turn a fraction into a whole number");
    return;
  }
  // `length 3`: whatever `t a` is, it is no number.
  for (const Wanted& pred : preds)
    if ((pred.origin.kind == Origin::Number || pred.origin.kind == Origin::Fraction) &&
        types_.Kind(unify_.Prune(pred.type)) == TypeKind::App) {
      Error(Diag::NumberMismatch, pred.origin.span, DescribeOrigin(pred.origin), PrintType(pred.type));
      unify_.MarkAny(pred.type);  // of what it would hold nothing more can be said
      ExplainPlace(pred.type, pred.origin.span);
      for (const Wanted& other : preds)
        if (&other != &pred && Shown(other.origin.span).valid())
          NoteOnce(other.origin.span, fmt::format("`{}` works on any `{}`", name(other), Text(program_.classes[other.cls].name)));
      return;
    }
  std::vector<std::string> classes;
  for (const Wanted& pred : preds) classes.push_back(fmt::format("`{}`", Text(program_.classes[pred.cls].name)));
  Error(Diag::AmbiguousType, first.origin.span, name(first), fmt::format("{}", fmt::join(classes, " and ")));
  for (const Wanted& pred : preds)
    if (Shown(pred.origin.span).valid())
      NoteOnce(pred.origin.span, fmt::format("`{}` is used at the same type", name(pred)));
  // A type that would do, shown as an annotation: a well-known one, else one that the program declares.
  std::string example;
  auto fits = [&](TypeId candidate) {
    for (const Wanted& pred : preds)
      if (!HasInstance(pred.cls, candidate)) return false;
    return true;
  };
  bool constructor = env_.kinds.IsArrow(env_.class_kinds[first.cls.index]);
  if (constructor) {
    if (fits(types_.Con(types_.Known(Builtin::List)))) example = "[Int]";
  } else {
    for (Builtin builtin : {Builtin::Int, Builtin::Double, Builtin::Char, Builtin::Bool})
      if (example.empty() && fits(types_.Scalar(builtin))) example = types_.Print(types_.Scalar(builtin));
    for (uint32_t i = 0; i < types_.cons.size(); ++i)
      if (TyConId con(i); example.empty() && types_.cons[con].arity == 0 && Shown(types_.cons[con].span).valid() &&
          fits(types_.Con(con)))
        example = Text(types_.cons[con].name);
  }
  // `area 3`, where no number is a `Shape`.
  auto has_all = [&](TyConId con) {
    return llvm::all_of(preds, [&](const Wanted& pred) { return env_.instances.count({pred.cls.index, con.index}); });
  };
  bool nothing = preds.size() > 1 && example.empty() && !constructor && llvm::all_of(preds, [&](const Wanted& pred) {
    return types_.Kind(unify_.Prune(pred.type)) == TypeKind::Meta;
  });
  for (uint32_t i = 0; i < types_.cons.size() && nothing; ++i) nothing = !has_all(TyConId(i));
  if (nothing)
    return void(diags_.Hint(fmt::format("no type is an instance of {}{}", preds.size() == 2 ? "both " : "", fmt::join(classes, " and "))));
  // Under OverloadedStrings a string literal may be anything.
  const auto* string = llvm::find_if(preds, [](const Wanted& pred) { return pred.origin.kind == Origin::String; });
  if (string != preds.end()) diags_.Hint(fmt::format("an annotation says it, as in `({} :: String)`", name(*string)));
  else if (example.empty()) diags_.Hint("an annotation, as in `(e :: T)`, says it");
  else diags_.Hint(fmt::format("an annotation says it, as in `(e :: {})` for one of the expressions", example));
}

}  // namespace df::check
