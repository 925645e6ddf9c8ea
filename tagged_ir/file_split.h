// tagged_ir/file_split.h
//
// The wire format of graph files, as far as it is handled without protobuf's messages. Private to the reader and the writer.
//
// A large graph is nearly all nodes. As messages all of them take some eight times the file's size, and most of the time of
// reading; so the writer has one message at a time, and the reader none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace df::ir::file {

// The tag of a field that says its length, and of a number.
constexpr uint32_t FieldTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }
constexpr uint32_t NumberTag(int field) { return static_cast<uint32_t>(field) << 3; }

// A number that begins at `at`: where it ends, or null if the bytes end before.
struct Varint {
  const char* end;
  uint64_t number;
};
Varint TakeLongVarint(const char* at, const char* end);
inline Varint TakeVarint(const char* at, const char* end) {
  if (at != end && static_cast<unsigned char>(*at) < 0x80) return {at + 1, static_cast<unsigned char>(*at)};
  return TakeLongVarint(at, end);
}

// The fields of a message, one after the other, as they lie there.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  // The next one; false at the end, and where the bytes are no message.
  bool Next() {
    if (at_ == end_) return false;
    Varint tag = TakeVarint(at_, end_);
    if (!tag.end || tag.number > UINT32_MAX || tag.number >> 3 == 0) return false;
    Varint value{tag.end, 0};  // its number or its length
    switch (tag.number & 7) {
      case 0: break;
      case 1: value.number = 8; break;
      case 2: break;
      case 5: value.number = 4; break;
      default: return false;  // groups, which ONNX has none of
    }
    if (value.number == 0) value = TakeVarint(tag.end, end_);
    if (!value.end) return false;
    bool is_number = (tag.number & 7) == 0;
    size_t length = is_number ? 0 : value.number;
    if (length > static_cast<size_t>(end_ - value.end)) return false;
    tag_ = static_cast<uint32_t>(tag.number);
    begin_ = at_;
    inner_ = value.end;
    number_ = value.number;
    at_ = value.end + length;
    return true;
  }
  // After the last one: whether all bytes were fields.
  bool AtEnd() const { return at_ == end_; }

  uint32_t tag() const { return tag_; }
  uint64_t number() const { return number_; }  // of a field that is one
  // The bytes behind its length, of a field that says that.
  std::string_view inner() const { return {inner_, static_cast<size_t>(at_ - inner_)}; }
  std::string_view whole() const { return {begin_, static_cast<size_t>(at_ - begin_)}; }

 private:
  const char *at_, *end_, *begin_ = nullptr, *inner_ = nullptr;
  uint32_t tag_ = 0;
  uint64_t number_ = 0;
};

// A node and an attribute as far as the reader looks at them, without copies: as a message each of their texts is an allocation. A
// field of another kind than ONNX gives it is left out, as protobuf does. Both are false if the bytes are no message.
struct AttributeView {
  std::string_view bytes, name, reference, s, t;
  int64_t type = 0, i = 0;
  bool Read(std::string_view from);
  llvm::SmallVector<std::string_view, 4> Strings() const;
};
struct NodeView {
  std::string_view name, op_type, domain;
  llvm::SmallVector<std::string_view, 8> inputs, outputs;
  llvm::SmallVector<std::string_view, 4> attributes;
  bool Read(std::string_view bytes);
};

// Adds to `out` the beginning of a field that is `length` bytes long.
void BeginField(int field, size_t length, std::string& out);

// A model in two parts.
struct SplitModel {
  std::vector<std::string_view> nodes;  // of its graph, each where it stands in the file
  std::string rest;                     // the model without them
};

// False if the bytes are no model.
bool Split(std::string_view bytes, SplitModel* model);

}  // namespace df::ir::file
