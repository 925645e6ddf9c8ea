#include "typecheck/explain/usual_module.h"

#include "stdlib/stdlib.h"

namespace df::check {
namespace {

// Methods, constructors and fields, which a module's text alone does not tell of, with the module to import.
constexpr std::pair<std::string_view, std::string_view> kHomes[] = {
    {"toList", "Data.Foldable"},      {"fold", "Data.Foldable"},         {"foldMap'", "Data.Foldable"},
    {"foldr'", "Data.Foldable"},      {"first", "Data.Bifunctor"},       {"second", "Data.Bifunctor"},
    {"bimap", "Data.Bifunctor"},      {"liftA2", "Control.Applicative"}, {"<|>", "Control.Applicative"},
    {"many", "Control.Applicative"},  {"some", "Control.Applicative"},   {"empty", "Control.Applicative"},
    {"ZipList", "Control.Applicative"}, {"Sum", "Data.Monoid"},          {"Product", "Data.Monoid"},
    {"Any", "Data.Monoid"},           {"All", "Data.Monoid"},            {"First", "Data.Monoid"},
    {"Last", "Data.Monoid"},          {"Endo", "Data.Monoid"},           {"Min", "Data.Semigroup"},
    {"Max", "Data.Semigroup"},        {"sconcat", "Data.Semigroup"},     {"stimes", "Data.Semigroup"},
    {"Down", "Data.Ord"},             {"Identity", "Data.Functor.Identity"}, {"Const", "Data.Functor.Const"},
    {"Compose", "Data.Functor.Compose"}, {"StateT", "Control.Monad.State"}, {"ReaderT", "Control.Monad.Reader"},
    {"WriterT", "Control.Monad.Writer"}, {"ExceptT", "Control.Monad.Except"}, {"MaybeT", "Control.Monad.Trans.Maybe"},
    {"lift", "Control.Monad.State"},  {"liftIO", "Control.Monad.State"}, {"mzero", "Control.Monad"},
    {"mplus", "Control.Monad"},       {"***", "Control.Arrow"},          {"&&&", "Control.Arrow"},
    {"Node", "Data.Tree"},            {"fromString", "Data.String"},     {"rnf", "Control.DeepSeq"},
    {"popCount", "Data.Bits"},        {"testBit", "Data.Bits"},          {"shiftL", "Data.Bits"},
    {"shiftR", "Data.Bits"},          {"xor", "Data.Bits"},              {".&.", "Data.Bits"},
    {".|.", "Data.Bits"},             {"complement", "Data.Bits"},       {"inRange", "Data.Ix"},
    {":+", "Data.Complex"},           {":|", "Data.List.NonEmpty"},
};

// The likelier ones first.
constexpr std::pair<std::string_view, std::string_view> kQualified[] = {
    {"Data.Map", "Map"},      {"Data.Set", "Set"},      {"Data.Text", "T"},
    {"Data.Sequence", "Seq"}, {"Data.IntMap", "IntMap"}, {"Data.IntSet", "IntSet"},
    {"Data.Text.IO", "T"},    {"Data.List.NonEmpty", "NonEmpty"}, {"Data.HashMap.Strict", "HashMap"},
    {"Data.HashMap.Lazy", "HashMap"}, {"Data.HashSet", "HashSet"}, {"Data.Vector", "V"},
    {"Data.Vector.Unboxed", "U"}, {"Data.Vector.Mutable", "M"}, {"Data.Vector.Unboxed.Mutable", "M"},
    {"Data.ByteString", "B"}, {"Data.ByteString.Char8", "C"}, {"Tensor", "T"},
};

struct NotHere {
  std::string_view module, why, names;
};
constexpr NotHere kNotHere[] = {
#define DF_NOT_HERE(module, why, names) {module, why, names},
#include "typecheck/explain/not_here.def"
};

// Is it one of the words?
bool IsOneOf(std::string_view words, std::string_view name) {
  for (size_t at = words.find(name); at != std::string_view::npos; at = words.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

bool IsPartOfOperator(char c) { return c != '\0' && std::string_view("!#$%&*+./<=>?@\\^|-~:").find(c) != std::string_view::npos; }

// An operator is a word of its own as well: `(<$!>)` does not hold `!`.
bool HoldsWord(std::string_view text, std::string_view name) {
  const bool is_operator = IsPartOfOperator(name[0]);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    char before = at == 0 ? ' ' : text[at - 1];
    char after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (is_operator ? !IsPartOfOperator(before) && !IsPartOfOperator(after)
                    : !IsPartOfName(before) && !IsPartOfName(after) && before != '.')
      return true;
  }
  return false;
}

}  // namespace

bool IsPartOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\''; }

bool ModuleOffers(std::string_view text, std::string_view name) {
  bool header = true;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos || line.substr(first).starts_with("--") || line.starts_with("{-#")) continue;
    // What a primitive binds, not the op's name.
    if (line.starts_with("foreign import") && line.find('"') != line.rfind('"')) line.remove_prefix(line.rfind('"') + 1);
    bool data = line.starts_with("data ") || line.starts_with("newtype ");
    // Of a type's declaration in one line only the fields are values; its variables are none.
    if (data && !header && line.find('{') != std::string_view::npos) line.remove_prefix(line.find('{'));
    size_t type = line.find(" ::");
    if (header ? HoldsWord(line, name)
               : type != std::string_view::npos && line[0] != ' ' && HoldsWord(line.substr(0, type), name))
      return true;
    if (line.size() >= 5 && line.substr(line.size() - 5) == "where") header = false;
  }
  return false;
}

std::string NotHereHint(std::string_view module, std::string_view name) {
  for (const NotHere& row : kNotHere)
    if ((row.module == module || row.module.starts_with(std::string(module) + ".")) && IsOneOf(row.names, name))
      return fmt::format("GHC's `{}` has it, and the module of this name here has not{}{}", row.module, row.why.empty() ? "" : ": ", row.why);
  return "";
}

std::string_view UsualAlias(std::string_view module) {
  for (const auto& [name, alias] : kQualified)
    if (name == module) return alias;
  return "";
}

std::string_view UsualModule(std::string_view name, Diag missing) {
  if (missing == Diag::UnboundName || missing == Diag::UnboundConstructor)
    for (const auto& [home, module] : kHomes)
      if (home == name) return module;
  // Of several the first here: `forM_` is Data.Foldable's as well. What is meant to be imported qualified comes last.
  constexpr std::string_view kUsual[] = {"Control.Monad", "Data.List", "Data.Char", "Data.Maybe", "Data.Foldable"};
  constexpr std::string_view kTransformers = "Control.Monad.Trans.";
  // What the library's modules share.
  constexpr std::string_view kParts[] = {"Data.Map.Internal", "Data.Map.Update", "Data.Set.Internal", "Data.Text.Internal",
                                         "Data.Text.Case", "Data.FixedWidth", "Data.HashMap.Internal", "Data.Vector.Boxed", "Data.Vector.Packed",
                                         "Data.Vector.State", "Data.ByteString.Internal"};
  constexpr std::string_view kOlder = "Text.ParserCombinators.Parsec";  // the same names as those of Text.Parsec
  // Of everyday words (`it`, `test`, `before`) nobody means those of tests without importing them.
  constexpr std::string_view kOfTests[] = {"Test.HUnit", "Test.Hspec", "Test.Gradient"};
  std::string_view best;
  size_t rank = SIZE_MAX;
  for (const LibraryModule& module : LibraryModules()) {
    if (llvm::any_of(kOfTests, [&](std::string_view part) { return module.name.starts_with(part); })) continue;
    if (llvm::any_of(kParts, [&](std::string_view part) { return module.name == part; }) || module.name.starts_with("Prelude") ||
        module.name.starts_with(kOlder))
      continue;
    size_t own = static_cast<size_t>(llvm::find(kUsual, module.name) - kUsual);
    own += module.name.starts_with(kTransformers) || module.name.ends_with(".Class");
    // What no other Haskell has is seldom meant.
    for (std::string_view ours : {"Tensor", "NN", "Optim", "Fold", "Treebank", "Gradient", "Spread"})
      if (module.name == ours) own = std::size(kUsual) + 2 + std::size(kQualified);
    // Data.Map.Strict goes with Data.Map.
    for (size_t i = 0; i < std::size(kQualified); ++i)
      if (module.name.starts_with(kQualified[i].first)) own = std::size(kUsual) + 2 + i;
    if (own >= rank || !ModuleOffers(module.text, name)) continue;
    best = module.name;
    rank = own;
  }
  // mtl's modules offer all that those of transformers do.
  if (best.starts_with(kTransformers))
    for (const LibraryModule& module : LibraryModules())
      if (module.name.starts_with("Control.Monad.") && module.name.substr(14) == best.substr(kTransformers.size()) &&
          module.text.find(fmt::format("module {},", best)) != std::string_view::npos)
        return module.name;
  return best;
}

}  // namespace df::check
