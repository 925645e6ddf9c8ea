#include "parser/extensions.h"

#include <algorithm>
#include <utility>

namespace df {
namespace {

// Extensions that change what we do or say what we do anyway, and those that only allow to write what we refuse by its
// name: programs often list more than they use.
constexpr std::string_view kExtensions[] = {
    "AllowAmbiguousTypes", "Arrows", "BangPatterns", "BinaryLiterals", "BlockArguments", "CPP", "ConstrainedClassMethods",
    "ConstraintKinds", "DataKinds", "DefaultSignatures", "DeriveAnyClass", "DeriveDataTypeable", "DeriveFoldable",
    "DeriveFunctor", "DeriveGeneric", "DeriveTraversable", "DerivingStrategies", "DerivingVia",
    "DisambiguateRecordFields", "EmptyCase", "EmptyDataDeriving", "ExistentialQuantification", "ExplicitForAll",
    "ExplicitNamespaces", "FlexibleContexts", "FlexibleInstances", "FunctionalDependencies", "GADTSyntax", "GADTs",
    "GeneralizedNewtypeDeriving", "Haskell2010", "Haskell98", "ImportQualifiedPost", "InstanceSigs", "KindSignatures",
    "LambdaCase", "LiberalTypeSynonyms", "MonoLocalBinds", "MultiParamTypeClasses", "MultiWayIf", "NamedFieldPuns",
    "NullaryTypeClasses", "NumericUnderscores", "OverloadedStrings", "ParallelListComp", "PatternSynonyms", "PolyKinds",
    "PostfixOperators", "QuantifiedConstraints", "RankNTypes", "RecordWildCards", "RoleAnnotations", "Safe",
    "ScopedTypeVariables", "StandaloneDeriving", "StandaloneKindSignatures", "Strict", "StrictData", "Trustworthy",
    "TupleSections", "TypeApplications", "TypeFamilies", "TypeFamilyDependencies", "TypeOperators",
    "TypeSynonymInstances", "UndecidableInstances", "UnicodeSyntax", "Unsafe", "ViewPatterns",
};

// What Haskell 2010 has without a pragma, as GHC reads it.
constexpr std::string_view kDefault[] = {
    "CUSKs", "DatatypeContexts", "DoAndIfThenElse", "EmptyDataDecls", "ForeignFunctionInterface", "ImplicitPrelude",
    "MonadFailDesugaring", "MonomorphismRestriction", "NondecreasingIndentation", "PatternGuards", "RelaxedPolyRec", "StarIsType",
    "TraditionalRecordSyntax",
};

// GHC's other extensions. They are refused, and a pragma that turns one off says what holds anyway.
constexpr std::string_view kRefused[] = {
    "AlternativeLayoutRule", "AlternativeLayoutRuleTransitional", "ApplicativeDo", "AutoDeriveTypeable", "CApiFFI",
    "DeriveLift", "DuplicateRecordFields", "ExtendedDefaultRules", "GHCForeignImportPrim",
    "HexFloatLiterals", "ImplicitParams", "ImpredicativeTypes", "IncoherentInstances", "InterruptibleFFI", "JavaScriptFFI",
    "LexicalNegation", "LinearTypes", "MagicHash", "MonadComprehensions", "MonoPatBinds", "NPlusKPatterns",
    "NamedWildCards", "NegativeLiterals", "NumDecimals", "OverlappingInstances",
    "OverloadedLabels", "OverloadedLists", "PackageImports", "ParallelArrays", "PartialTypeSignatures", "QualifiedDo",
    "QuasiQuotes", "RebindableSyntax", "RecursiveDo", "RelaxedLayout", "StaticPointers", "TemplateHaskell",
    "TemplateHaskellQuotes", "TransformListComp", "TypeInType", "UnboxedSums", "UnboxedTuples", "UndecidableSuperClasses",
    "UnliftedFFITypes", "UnliftedNewtypes",
};

// Other names of the same.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"DoRec", "RecursiveDo"},
    {"GeneralisedNewtypeDeriving", "GeneralizedNewtypeDeriving"},
    {"PatternSignatures", "ScopedTypeVariables"},
    {"PolymorphicComponents", "RankNTypes"},
    {"Rank2Types", "RankNTypes"},
    {"RecordPuns", "NamedFieldPuns"},
};

// What an extension turns on besides itself. To turn it off leaves these on.
constexpr std::pair<std::string_view, std::string_view> kImplied[] = {
    {"DeriveTraversable", "DeriveFoldable"},
    {"DeriveTraversable", "DeriveFunctor"},
    {"DerivingVia", "DerivingStrategies"},
    {"ExistentialQuantification", "ExplicitForAll"},
    {"FlexibleInstances", "TypeSynonymInstances"},
    {"FunctionalDependencies", "MultiParamTypeClasses"},
    {"GADTs", "GADTSyntax"},
    {"GADTs", "MonoLocalBinds"},
    {"LiberalTypeSynonyms", "ExplicitForAll"},
    {"MultiParamTypeClasses", "ConstrainedClassMethods"},
    {"PolyKinds", "KindSignatures"},
    {"QuantifiedConstraints", "ExplicitForAll"},
    {"RankNTypes", "ExplicitForAll"},
    {"RecordWildCards", "DisambiguateRecordFields"},
    {"ScopedTypeVariables", "ExplicitForAll"},
    {"Strict", "StrictData"},
    {"TypeFamilies", "ExplicitNamespaces"},
    {"TypeFamilies", "KindSignatures"},
    {"TypeFamilies", "MonoLocalBinds"},
    {"TypeFamilyDependencies", "TypeFamilies"},
    {"TypeOperators", "ExplicitNamespaces"},
};

template <typename Table>
bool Has(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

void TurnOn(std::string_view name, std::vector<Symbol>& on) {
  if (Has(kDefault, name)) std::erase(on, Intern("No" + std::string(name)));
  Symbol symbol = Intern(name);
  if (std::find(on.begin(), on.end(), symbol) == on.end()) on.push_back(symbol);
  for (const auto& [extension, implied] : kImplied)
    if (name == extension) TurnOn(implied, on);
}

void TurnOff(std::string_view name, std::vector<Symbol>& on) {
  std::erase(on, Intern(name));
  if (Symbol off = Intern("No" + std::string(name)); Has(kDefault, name) && std::find(on.begin(), on.end(), off) == on.end()) on.push_back(off);
}

}  // namespace

bool ApplyExtension(std::string_view name, std::vector<Symbol>& on) {
  auto usual = [](std::string_view word) {
    for (const auto& [other, meant] : kOtherNames)
      if (word == other) return meant;
    return word;
  };
  if (std::string_view known = usual(name); Has(kExtensions, known) || Has(kDefault, known)) {
    TurnOn(known, on);
    return true;
  }
  if (!name.starts_with("No")) return false;
  std::string_view off = usual(name.substr(2));
  // There is no way back from these in GHC either.
  for (std::string_view whole : {"Haskell98", "Haskell2010", "Safe", "Trustworthy", "Unsafe"})
    if (off == whole) return false;
  if (!Has(kExtensions, off) && !Has(kDefault, off) && !Has(kRefused, off)) return false;
  TurnOff(off, on);
  return true;
}

std::vector<std::string_view> ExtensionNames() {
  std::vector<std::string_view> names(std::begin(kExtensions), std::end(kExtensions));
  names.insert(names.end(), std::begin(kDefault), std::end(kDefault));
  return names;
}

}  // namespace df
