// Whole numbers that do not fit in their type, which keeps what is left of them: GHC's -Woverflowed-literals.
#include "typecheck/infer/literal_range.h"

#include "lang/whole_number.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// A type of so many bits, or, with none, one of the numbers from 0 on.
struct Range {
  unsigned bits;
  bool is_signed;
  std::string text;
};

// Of `Int8`, `Word` and the like.
std::optional<Range> RangeOf(std::string_view name) {
  if (name == "Natural") return Range{0, false, "0 and above"};
  bool is_signed = name.starts_with("Int");
  if (!is_signed && !name.starts_with("Word")) return std::nullopt;
  std::string_view suffix = name.substr(is_signed ? 3 : 4);
  unsigned bits = suffix == "8" ? 8 : suffix == "16" ? 16 : suffix == "32" ? 32 : suffix.empty() || suffix == "64" ? 64 : 0;
  if (bits == 0) return std::nullopt;
  uint64_t most = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  return Range{bits, is_signed, fmt::format("{}{} to {}", is_signed ? "-" : "", is_signed ? most + 1 : 0, most)};
}

// Of decimal digits, perhaps with a sign.
bool InRange(std::string_view digits, const Range& range) {
  bool negative = digits[0] == '-';
  if (range.bits == 0) return !negative;
  if (negative) digits.remove_prefix(1);
  if (digits.size() > 20) return false;
  unsigned __int128 magnitude = 0;
  for (char c : digits) magnitude = magnitude * 10 + static_cast<unsigned>(c - '0');
  unsigned __int128 one = 1;
  if (!range.is_signed) return !negative && magnitude < one << range.bits;
  return magnitude < (one << (range.bits - 1)) + (negative ? 1 : 0);
}

// What is left of the number in the type's bits.
std::string Left(std::string_view digits, const Range& range) {
  unsigned above = 64 - range.bits;
  uint64_t word = static_cast<uint64_t>(WrappedToWord(digits)) << above;
  return range.is_signed ? fmt::format("{}", static_cast<int64_t>(word) >> above) : fmt::format("{}", word >> above);
}

}  // namespace

void WarnOfLargeLiterals(State& s) {
  auto look = [&](core::LiteralKind kind, Symbol text, TypeId type, Span span) {
    constexpr size_t kShown = 60;
    if (kind != core::LiteralKind::Integer || s.types.Kind(type) != TypeKind::Con) return;
    const TyCon& con = s.types.cons[s.types.ConOf(type)];
    if (con.builtin != Builtin::Int && !(con.span.valid() && s.env.library_files.count(con.span.file.index))) return;
    std::optional<Range> range = RangeOf(Text(con.name));
    if (!range) return;
    std::string digits = DecimalDigits(Text(text));
    if (InRange(digits, *range)) return;
    std::string number(Text(text));
    if (number.size() > kShown) number = number.substr(0, kShown) + "..";
    s.diags.Report(Diag::LiteralOutOfRange, span, number, Text(con.name), range->text)
        .Hint(range->bits == 0 ? "it fails where it is needed" : fmt::format("it becomes `{}`", Left(digits, *range)));
  };
  for (const core::Expr* expr : s.exprs)
    if (const auto* literal = llvm::dyn_cast<core::LiteralExpr>(expr)) look(literal->literal, literal->text, expr->type, expr->span);
  for (const core::Pat* pat : s.pats)
    if (pat->kind == core::PatKind::Literal) look(pat->literal, pat->text, pat->type, pat->span);
}

}  // namespace df::check
