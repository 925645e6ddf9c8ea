// Constraints that nothing fulfils, and types that nothing settles, as messages.
#include "typecheck/explain/class.h"
#include "typecheck/explain/clash_rows.h"

#include "typecheck/explain/explain.h"
#include "typecheck/explain/family.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/tensor.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

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

// A constraint while it is reported that there is no instance for it.
struct MissingView {
  State& s;
  const Wanted& wanted;
  const Wanted& missing;  // the part of it that has none
  TypeId type, head;      // of `missing`
  Builtin builtin = Builtin::None;
  bool whole_as_fraction = false;
  std::string shown, shown_whole;  // the types of `missing` and `wanted`
  std::string_view cls;
  std::string pred;

  const Origin& origin() const { return wanted.origin; }
  bool IsOf(std::string_view name) const { return origin().name.valid() && Text(origin().name) == name; }
};

bool IsFractional(State& s, ClassId cls) {
  const ClassId fractional = KnownClass(s, "Fractional");
  return fractional.valid() && Entails(s, fractional, cls);
}

// `x + 1` needs the same instance twice, and `floor (sqrt n)` two of one kind: once is enough to say, for this definition.
bool IsReported(const MissingView& m, bool rigid) {
  return llvm::any_of(m.s.reported, [&](const auto& entry) {
    const auto& [cls, other, at] = entry;
    const bool same = cls == m.missing.cls || (m.whole_as_fraction && IsFractional(m.s, cls)) || (rigid && Entails(m.s, m.missing.cls, cls));
    return same && other == m.type && (at == m.s.definition || rigid);
  });
}

// Who uses the variable that asks for the constraint, and where its definition does.
void ExplainAsked(const MissingView& m) {
  State& s = m.s;
  const Origin& origin = m.origin();
  if (origin.kind != Origin::Use || !origin.var.valid() || !Shown(s, origin.asked).valid()) return;
  if (s.program.vars[origin.var].kind == core::VarKind::Method)
    return NoteOnce(s, origin.asked, fmt::format("`{}` is a method of this class", Text(origin.name)));
  NoteOnce(s, origin.asked, s.signature_of.count(origin.var.index) ? fmt::format("the signature of `{}` asks for it", Text(origin.name))
                                                                   : fmt::format("`{}` needs it for this", Text(origin.name)));
}

// Of a variable of a signature, or of an instance's head: the context lacks it.
void ReportMissingConstraint(const MissingView& m) {
  State& s = m.s;
  TyVarId var = s.types.VarOf(m.head);
  bool derived = m.origin().kind == Origin::Deriving;
  auto instance = llvm::find_if(s.instances, [&](const auto& entry) {
    return llvm::is_contained(s.program.instances[entry.second].tyvars, var);
  });
  bool of_instance = instance != s.instances.end() && !derived;
  // What a constructor hides has its own variable in each row, which stands where the constructor's does.
  const Span at = s.types.vars[var].span;
  const bool hidden = at.valid() && llvm::any_of(s.program.constructors, [&](const core::DataCon& con) {
    return llvm::any_of(con.exists, [&](TyVarId own) { return s.types.vars[own].span == at; });
  });
  if (hidden && !derived && !of_instance) {
    s.Error(Diag::MissingConstraint, m.origin().span, DescribeOrigin(m.origin()), m.pred, "the constructor");
    if (Shown(s, at).valid()) NoteOnce(s, at, fmt::format("nothing is known of `{}` but what the constructor's context says", Text(s.types.vars[var].name)));
    ExplainAsked(m);
    return void(s.diags.Hint(fmt::format("add `{}` to the context of the constructor: then each value brings it along", m.pred)));
  }
  s.Error(Diag::MissingConstraint, m.origin().span, DescribeOrigin(m.origin()), m.pred,
          derived ? "a derived instance" : of_instance ? "the instance" : "the signature");
  const Span place = s.types.vars[var].span;
  const bool of_method = place.valid() && !Shown(s, place).valid();
  if (of_method)
    NoteOnce(s, Span(), fmt::format("nothing is known of `{}` but what the method's type says", Text(s.types.vars[var].name)));
  else if (place.valid())
    NoteOnce(s, place, fmt::format("nothing is known of `{}` but what {} says", Text(s.types.vars[var].name),
                                   derived ? "its type" : of_instance ? "the instance's context" : "its signature"));
  ExplainAsked(m);
  if (derived) {
    s.diags.Hint(fmt::format("an instance that is written out can have the context: `instance {} => ..`", m.pred));
  } else if (!of_instance && of_method) {
    // The signature is that of a method of the library's, `foldMap` for one: nobody can add to it.
    if (m.IsOf("+")) s.diags.Hint("`<>` joins two values of a `Monoid`");
  } else if (m.cls == "Fractional" && m.IsOf("/") && KnownClass(s, "Integral").valid() && IsGiven(s, {KnownClass(s, "Integral"), m.missing.type, {}})) {
    s.diags.Hint("`div` divides whole numbers; `fromIntegral` turns one into a number of any type");
  } else if (!HintAtTypeVariable(s, var)) {
    s.diags.Hint(of_instance ? fmt::format("add the context to the instance: `instance {} => ..`", m.pred)
                             : fmt::format("add `{}` to the context of the signature", m.pred));
  }
}

void ReportNoInstance(const MissingView& m) {
  State& s = m.s;
  if (m.origin().kind == Origin::Fraction && IsWhole(m.builtin)) {
    s.Error(Diag::FractionMismatch, m.origin().span, Text(m.origin().name), m.shown);
    return;
  }
  s.Error(Diag::NoInstance, m.origin().span, DescribeOrigin(m.origin()), m.pred);
  InstanceId found;
  llvm::SmallVector<TypeId> bound;
  if (s.types.Kind(m.head) == TypeKind::Con && FindInstance(s, m.missing.cls, m.missing.type, found, bound) == Fit::Rigid)
    s.diags.Note(Span(), "there is one for some of the types that it may stand for");
  if (llvm::SmallVector<TypeId> parts; s.types.IsTuple(m.type, &parts) && parts.size() > 15)
    s.diags.Hint("tuples have instances up to fifteen components; a `data` type with `deriving` has them for any number");
}

// How a whole number becomes the fraction that is wanted. What has the number's type may be shown.
std::string ConversionHint(const MissingView& m) {
  State& s = m.s;
  PlaceIndex place = s.unify.PlaceOf(m.wanted.type);
  std::string_view culprit = place < s.places.size() && !s.places[place].used ? s.diags.sources().Text(s.places[place].span) : std::string_view();
  bool simple = culprit.find(' ') == std::string_view::npos || culprit[0] == '(';
  std::string converted = culprit.empty() || culprit.size() > 30 || m.origin().kind == Origin::Fraction
                              ? fmt::format("`fromIntegral` turns an `{}` into a number of any type", m.shown)
                              : fmt::format("`fromIntegral {}` is a number of any type", simple ? std::string(culprit) : fmt::format("({})", culprit));
  if (m.IsOf("/")) converted += "; `div` divides whole numbers";
  if (m.IsOf("**")) converted = "`^` raises to a whole power; " + converted;
  return converted;
}

// What is wanted of tensors, and of their elements. False if it is about something else.
bool HintAtMissingOfTensor(const MissingView& m) {
  State& s = m.s;
  if (m.cls == "Objective" && m.builtin == Builtin::Tensor) {
    s.diags.Hint("a gradient is that of a number: `sum` of a tensor, or `item` of one without dimensions");
  } else if (HintAtTensorModule(s, m.head)) {
    return true;
  } else if (m.cls == "Element" && m.builtin == Builtin::List) {
    s.diags.Hint(kRowsAreATensor);
  } else if (m.cls == "Element" && m.builtin == Builtin::Tensor) {
    s.diags.Hint(kStackOfTensors);
  } else if (m.cls == "Element") {
    s.diags.Hint("the elements of a tensor are of the type `Float`, `Double`, `Int` or `Bool`");
  } else if (m.cls == "Ord" && m.builtin == Builtin::Tensor) {
    s.diags.Hint("`less`, `greater` .. of `Tensor` compare element by element; `select` takes each element from one tensor or another by what they say");
  } else {
    return false;
  }
  return true;
}

// Of a class with several parameters: what its dependencies say of the last one, or that a newtype could derive it.
bool HintAtRelation(const MissingView& m) {
  State& s = m.s;
  const core::Class& cls = s.program.classes[m.missing.cls];
  if (!cls.args.valid()) return false;
  llvm::SmallVector<TypeId, 4> args;
  s.unify.Head(m.type, &args);
  auto list = s.env.instances.find({m.missing.cls.index, cls.args.index});
  for (const core::Dependency& dependency : cls.dependencies)
    for (InstanceId id : list == s.env.instances.end() ? llvm::ArrayRef<InstanceId>() : llvm::ArrayRef<InstanceId>(list->second)) {
      const core::Instance& instance = s.program.instances[id];
      const auto head = core::ClassArguments(s.program, m.missing.cls, instance.head);
      llvm::SmallVector<TypeId, 4> bound(instance.tyvars.size());
      if (!llvm::all_of(dependency.from, [&](uint32_t i) { return Fits(s, head[i], args[i], instance.tyvars, bound) == Fit::Yes; })) continue;
      if (llvm::any_of(bound, [](TypeId type) { return !type.valid(); })) continue;
      s.diags.Note(Span(), fmt::format("a functional dependency of the class says that it is `{}` here",
                                       PrintType(s, s.types.Substitute(instance.head, instance.tyvars, bound))));
      return true;
    }
  const TypeId last = s.unify.Head(args.back());
  if (s.types.Kind(last) != TypeKind::Con) return false;
  const TyCon& con = s.types.cons[s.types.ConOf(last)];
  if (!con.is_newtype || !Shown(s, con.span).valid()) return false;
  s.diags.Hint(fmt::format("`{}` has that of the type inside by `deriving ({} ..)` and `GeneralizedNewtypeDeriving`", Text(con.name), m.cls));
  return true;
}

// How the constraint may be met.
void HintAtMissing(const MissingView& m) {
  State& s = m.s;
  if (HintAtRelation(m)) return;
  const Origin& origin = m.origin();
  auto order = llvm::find_if(s.order_hints, [&](const auto& entry) { return entry.first == origin.span; });
  if (order != s.order_hints.end()) {
    s.diags.Hint(order->second);
  } else if (s.types.IsTangent(m.type)) {
    s.diags.Hint("`asValue v g` of `Gradient` is the gradient `g` at `v` as a value of `v`'s type");
  } else if (m.cls == "MonadFail" && m.IsOf("fail") && origin.span.valid() && s.diags.sources().Text(origin.span) != "fail") {
    s.diags.Hint("this pattern may not fit, and `fail` is what the action does then; `~` before it says that it always fits");
  } else if (HintAtMissingOfTensor(m)) {
    return;
  } else if (m.builtin == Builtin::Function && origin.kind == Origin::Deriving) {
    s.diags.Hint(fmt::format("a field of the type `{}` stands in the way", m.shown));
  } else if (m.cls == "Num" && m.builtin == Builtin::List && m.IsOf("+")) {
    s.diags.Hint("`++` joins strings and lists");
  } else if (m.builtin == Builtin::Function) {
    s.diags.Hint("functions have no such instance: is an argument missing?");
  } else if (m.cls == "Integral" && IsFraction(m.builtin)) {
    s.diags.Hint("`truncate`, `round`, `floor` and `ceiling` turn a fraction into a whole number");
  } else if (m.whole_as_fraction && s.types.BuiltinOf(s.unify.Head(m.wanted.type)) == Builtin::Tensor) {
    s.diags.Hint("`convert x` of `Tensor` has elements of another number type");
  } else if (m.whole_as_fraction) {
    s.diags.Hint(ConversionHint(m));
  } else if (m.builtin == Builtin::IO && !s.env.kinds.IsArrow(s.env.class_kinds[m.missing.cls.index])) {
    s.diags.Hint("an action stands here: `let x = ..` names a value, and `return x` is an action that gives it");
  } else if (s.types.Kind(m.head) == TypeKind::Con && m.builtin == Builtin::None && Shown(s, s.types.cons[s.types.ConOf(m.head)].span).valid()) {
    NoteOnce(s, s.types.cons[s.types.ConOf(m.head)].span, "the type is declared here");
    for (const char* derivable : {"Eq", "Ord", "Show", "Enum", "Bounded"})
      if (m.cls == derivable) s.diags.Hint(fmt::format("add `deriving {}` to its declaration", m.cls));
  }
}

}  // namespace

std::string PrintPred(State& s, ClassId cls, const std::string& type, TypeId of) {
  if (s.program.classes[cls].args.valid()) return type;  // the class's name is in it
  bool atom = !s.unify.IsFun(of, nullptr, nullptr) &&
              (s.types.Kind(s.unify.Prune(of)) != TypeKind::App || type.find(' ') == std::string::npos || (type[0] == '[' && type.back() == ']') ||
               (type[0] == '(' && type.back() == ')'));
  return fmt::format("{} {}", Text(s.program.classes[cls].name), atom ? type : "(" + type + ")");
}

void ReportMissing(State& s, const Wanted& wanted, const Wanted& missing) {
  const Origin& origin = wanted.origin;
  if (missing.cls == s.program.equality) return ReportUnequal(s, missing);
  if (IsCoercible(s, missing.cls)) return ReportCoercion(s, wanted, missing);
  if (Tainted(s, origin.span)) return;
  MissingView m{s, wanted, missing, s.unify.Zonk(missing.type), s.unify.Head(missing.type)};
  const bool rigid = s.types.Kind(m.head) == TypeKind::Var;
  if (s.types.Kind(m.head) == TypeKind::Con) m.builtin = s.types.cons[s.types.ConOf(m.head)].builtin;
  m.whole_as_fraction = IsWhole(m.builtin) && IsFractional(s, missing.cls);
  if (IsReported(m, rigid) || IsRefused(s, missing.cls, missing.type)) return;
  s.reported.push_back({missing.cls, m.type, s.definition});
  std::vector<std::string> text = PrintTypes(s, {missing.type, wanted.type});
  m.shown = text[0];
  m.shown_whole = text[1];
  m.cls = Text(s.program.classes[missing.cls].name);
  m.pred = PrintPred(s, missing.cls, m.shown, missing.type);
  if (rigid) return ReportMissingConstraint(m);
  if (s.types.IsFamily(m.type)) {
    s.Error(Diag::MissingConstraint, origin.span, DescribeOrigin(origin), m.pred, "the signature");
    ExplainFamilies(s, m.type, m.type);
    ExplainAsked(m);
    return void(s.diags.Hint(fmt::format("add `{}` to the context of the signature", m.pred)));
  }
  if (s.program.classes[missing.cls].args.valid() && s.types.HasVar(m.type)) {
    s.Error(Diag::MissingConstraint, origin.span, DescribeOrigin(origin), m.pred, "the signature");
    ExplainAsked(m);
    return void(s.diags.Hint(fmt::format("add `{}` to the context of the signature", m.pred)));
  }
  if (origin.kind == Origin::Number && !IsNumberType(s, missing.type)) {
    s.Error(Diag::NumberMismatch, origin.span, DescribeOrigin(origin), m.shown);
    s.unify.MarkAny(wanted.type);  // of the `a` in `IO a` nothing more can be said
    ExplainPlace(s, wanted.type, origin.span);
    return;
  }
  ReportNoInstance(m);
  if (s.unify.Zonk(missing.type) != s.unify.Zonk(wanted.type))
    s.diags.Note(Span(), fmt::format("it is needed for `{}`", PrintPred(s, wanted.cls, m.shown_whole, wanted.type)));
  ExplainPlace(s, wanted.type, origin.span);
  ExplainAsked(m);
  HintAtMissing(m);
}

bool IsRefused(State& s, ClassId cls, TypeId type) {
  for (const auto& [other, of, at] : s.reported)
    if (at == kNowhere && other == cls && of == s.unify.Head(type)) return true;
  return false;
}

void ReportAmbiguous(State& s, llvm::ArrayRef<Wanted> preds) {
  const Wanted& first = preds[0];
  if (Tainted(s, first.origin.span)) return;
  auto name = [](const Wanted& pred) {
    return pred.origin.name.valid() ? std::string(Text(pred.origin.name)) : std::string("this");
  };
  // No type is both whole and a fraction: that is the trouble, and not that the type is not known.
  ClassId integral = KnownClass(s, "Integral"), fractional = KnownClass(s, "Fractional");
  const Wanted *whole = nullptr, *fraction = nullptr;
  for (const Wanted& pred : preds) {
    if (!whole && integral.valid() && Entails(s, integral, pred.cls)) whole = &pred;
    if (!fraction && fractional.valid() && Entails(s, fractional, pred.cls)) fraction = &pred;
  }
  if (whole && fraction) {
    std::string other = fraction->origin.kind == Origin::Fraction
                            ? fmt::format("`{}` is none", name(*fraction))
                            : fmt::format("`{}` on fractions", name(*fraction));
    s.Error(Diag::WholeAndFraction, whole->origin.span, name(*whole), other);
    NoteOnce(s, fraction->origin.span, fraction->origin.kind == Origin::Fraction ? "this is a fraction"
                                                                              : "this works on fractions");
    if (name(*whole) == "^") s.diags.Hint("`**` raises to a power that is a fraction");
    else if (std::string what = name(*whole); what == "round" || what == "truncate" || what == "floor" || what == "ceiling")
      s.diags.Hint(fmt::format("`fromIntegral ({} ..)` is a number of any type", what));
    else s.diags.Hint("`truncate`, `round`, `floor` and `ceiling` turn a fraction into a whole number");
    return;
  }
  // `length 3`: whatever `t a` is, it is no number.
  for (const Wanted& pred : preds)
    if ((pred.origin.kind == Origin::Number || pred.origin.kind == Origin::Fraction) &&
        s.types.Kind(s.unify.Prune(pred.type)) == TypeKind::App) {
      s.Error(Diag::NumberMismatch, pred.origin.span, DescribeOrigin(pred.origin), PrintType(s, pred.type));
      s.unify.MarkAny(pred.type);  // of what it would hold nothing more can be said
      ExplainPlace(s, pred.type, pred.origin.span);
      for (const Wanted& other : preds)
        if (&other != &pred && Shown(s, other.origin.span).valid())
          NoteOnce(s, other.origin.span, fmt::format("`{}` works on any `{}`", name(other), Text(s.program.classes[other.cls].name)));
      return;
    }
  std::vector<std::string> classes;
  for (const Wanted& pred : preds) classes.push_back(fmt::format("`{}`", Text(s.program.classes[pred.cls].name)));
  s.Error(Diag::AmbiguousType, first.origin.span, name(first), fmt::format("{}", fmt::join(classes, " and ")));
  for (const Wanted& pred : preds)
    if (Shown(s, pred.origin.span).valid())
      NoteOnce(s, pred.origin.span, fmt::format("`{}` is used at the same type", name(pred)));
  // A type that would do, shown as an annotation: a well-known one, else one that the program declares.
  std::string example;
  auto fits = [&](TypeId candidate) {
    for (const Wanted& pred : preds)
      if (!HasInstance(s, pred.cls, candidate)) return false;
    return true;
  };
  bool constructor = s.env.kinds.IsArrow(s.env.class_kinds[first.cls.index]);
  if (constructor) {
    if (fits(s.types.Con(s.types.Known(Builtin::List)))) example = "[Int]";
  } else {
    for (Builtin builtin : {Builtin::Int, Builtin::Double, Builtin::Char, Builtin::Bool})
      if (example.empty() && fits(s.types.Scalar(builtin))) example = s.types.Print(s.types.Scalar(builtin));
    for (uint32_t i = 0; i < s.types.cons.size(); ++i)
      if (TyConId con(i); example.empty() && s.types.cons[con].arity == 0 && Shown(s, s.types.cons[con].span).valid() &&
          fits(s.types.Con(con)))
        example = Text(s.types.cons[con].name);
  }
  // `area 3`, where no number is a `Shape`.
  auto has_all = [&](TyConId con) {
    return llvm::all_of(preds, [&](const Wanted& pred) { return s.env.instances.count({pred.cls.index, con.index}); });
  };
  bool nothing = preds.size() > 1 && example.empty() && !constructor && llvm::all_of(preds, [&](const Wanted& pred) {
    return s.types.Kind(s.unify.Prune(pred.type)) == TypeKind::Meta;
  });
  for (uint32_t i = 0; i < s.types.cons.size() && nothing; ++i) nothing = !has_all(TyConId(i));
  if (nothing)
    return void(s.diags.Hint(fmt::format("no type is an instance of {}{}", preds.size() == 2 ? "both " : "", fmt::join(classes, " and "))));
  // Under OverloadedStrings a string literal may be anything.
  const auto* string = llvm::find_if(preds, [](const Wanted& pred) { return pred.origin.kind == Origin::String; });
  if (string != preds.end()) s.diags.Hint(fmt::format("an annotation says it, as in `({} :: String)`", name(*string)));
  else if (example.empty()) s.diags.Hint("an annotation, as in `(e :: T)`, says it");
  else s.diags.Hint(fmt::format("an annotation says it, as in `(e :: {})` for one of the expressions", example));
}

}  // namespace df::check
