// runtime/value/text_list.h
//
// Texts as the language has them, lists of characters, made of bytes: all at once, or as they are looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/value/value.h"
#include "tagged_ir/action.h"

namespace df {

enum class Decoded : uint8_t { Char, Incomplete, Invalid };

// The character at the beginning of `bytes`, which are not empty, is taken off.
Decoded TakeChar(std::string_view& bytes, uint32_t* c);

Value Cons(const ir::ListType& list, Value head, Value tail);
// The characters in front of `tail`.
Value TextList(const ir::ListType& list, const std::vector<uint32_t>& chars, Value tail);

// "" or which byte is not part of a UTF-8 text.
std::string Utf8Fault(std::string_view bytes);
// The bytes, which are UTF-8, as a list that is made as it is looked at: of a long text there is never more than somebody holds.
// Only the first cells are there at once. The bytes are counted as long as they are there if they were before: in `count`.
Value LazyText(const ir::ListType& list, std::string bytes, memory::CountedBytes count = {});

}  // namespace df
