// runtime/value/text.h
//
// What the ops on packed texts compute: offsets of characters and of parts, and numbers to digits and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df::text {

// The largest offset up to `offset` where a character begins; 0 below 0, the size from the end on.
int64_t StartOf(std::string_view text, int64_t offset);
// The character that begins at `offset`, if one does.
std::optional<uint32_t> CharAt(std::string_view text, int64_t offset);

// So many characters on from the beginning of the one at `offset`, or back; not beyond the ends.
int64_t Move(std::string_view text, int64_t offset, int64_t characters);
int64_t LengthOf(std::string_view text);
// The first offset, from `offset` on, where `part` stands; -1: nowhere.
int64_t Find(std::string_view text, std::string_view part, int64_t offset);
// The first offset, from `offset` on, of a character that is among those of `set`, or (`among` false) that is not; the size if there is none.
int64_t Span(std::string_view text, std::string_view set, int64_t offset, bool among);

// The digits that Haskell's show prints of a number of this type at precedence 0.
std::string ShowNumber(ir::TypeKind type, const Value& number);
// The number of this type that the text is: decimal digits with a minus in front of a negative one; for Float and
// Double also a fraction, an exponent, NaN and Infinity. To Int wraps. nullopt if it is none.
std::optional<Value> ReadNumber(ir::TypeKind type, std::string_view text);

}  // namespace df::text
