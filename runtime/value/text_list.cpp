// Lists of characters: see text_list.h.
#include "runtime/value/text_list.h"

#include <algorithm>

#include "fmt/format.h"
#include "lang/utf8.h"
#include "llvm/Support/ConvertUTF.h"

namespace df {
namespace {

constexpr size_t kChars = 4096;  // that are made at once

struct Bytes {
  std::string text;
  memory::CountedBytes count;
};

// Texts from byte `at` on.
Value TextFrom(const ir::ListType& list, std::shared_ptr<const Bytes> bytes, size_t at);

struct TextCell : HostCell {
  ir::ListType list;
  std::shared_ptr<const Bytes> bytes;
  size_t at;
  TextCell(const ir::ListType& l, std::shared_ptr<const Bytes> b, size_t a) : list(l), bytes(std::move(b)), at(a) {}
  Value Supply() override { return TextFrom(list, std::move(bytes), at); }
};

Value TextFrom(const ir::ListType& list, std::shared_ptr<const Bytes> bytes, size_t at) {
  std::vector<uint32_t> chars;
  chars.reserve(std::min(kChars, bytes->text.size() - at));
  while (chars.size() < kChars && at < bytes->text.size()) chars.push_back(NextUtf8(bytes->text, &at));
  if (at == bytes->text.size()) return TextList(list, chars, Value::Word(list.nil));
  return TextList(list, chars, Value::Adopt(ValueKind::Reference, new TextCell(list, std::move(bytes), at)));
}

}  // namespace

// The character at the beginning of `bytes`, which are not empty, is taken off.
Decoded TakeChar(std::string_view& bytes, uint32_t* c) {
  auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) {
    *c = lead;
    bytes.remove_prefix(1);
    return Decoded::Char;
  }
  if (lead < 0xC2 || lead > 0xF4) return Decoded::Invalid;
  const auto* from = reinterpret_cast<const llvm::UTF8*>(bytes.data());
  const llvm::UTF8* begin = from;
  llvm::UTF32 to[1];
  llvm::UTF32* end = to;
  switch (llvm::ConvertUTF8toUTF32(&from, from + std::min<size_t>(bytes.size(), llvm::getNumBytesForUTF8(lead)), &end,
                                   to + 1, llvm::strictConversion)) {
    case llvm::conversionOK: break;
    case llvm::sourceExhausted: return Decoded::Incomplete;
    default: return Decoded::Invalid;
  }
  *c = to[0];
  bytes.remove_prefix(static_cast<size_t>(from - begin));
  return Decoded::Char;
}

Value Cons(const ir::ListType& list, Value head, Value tail) {
  Data* cell = Data::New(list.cons, 2);
  cell->fields()[0] = std::move(head);
  cell->fields()[1] = std::move(tail);
  return Value::Adopt(ValueKind::Object, cell);
}

Value TextList(const ir::ListType& list, const std::vector<uint32_t>& chars, Value tail) {
  for (size_t i = chars.size(); i-- > 0;) tail = Cons(list, Value::Word(chars[i]), std::move(tail));
  return tail;
}

std::string Utf8Fault(std::string_view bytes) {
  std::string_view rest = bytes;
  for (uint32_t c; !rest.empty();)
    if (TakeChar(rest, &c) != Decoded::Char) return fmt::format("byte {} is not part of a UTF-8 text", bytes.size() - rest.size());
  return "";
}

Value LazyText(const ir::ListType& list, std::string bytes, memory::CountedBytes count) {
  return TextFrom(list, std::make_shared<const Bytes>(Bytes{std::move(bytes), std::move(count)}), 0);
}

}  // namespace df
