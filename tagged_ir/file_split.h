// tagged_ir/file_split.h
//
// The wire format of graph files, as far as it is looked at without protobuf's messages. Private to the reader.
//
// A large graph is nearly all nodes. As messages all of them take some eight times the file's size, and most of the time of
// reading; so the reader gets their bytes, and has one message at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace df::ir::file {

// The tag of a field that says its length.
constexpr uint32_t FieldTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }

// The fields of a message: the tag, all bytes of each, and those behind its length, if it says that. False if the bytes are no
// message.
bool ForEachField(std::string_view bytes, llvm::function_ref<void(uint32_t tag, std::string_view whole, std::string_view inner)> visit);

// A model in two parts.
struct SplitModel {
  std::vector<std::string_view> nodes;  // of its graph, each where it stands in the file
  std::string rest;                     // the model without them
};

// False if the bytes are no model.
bool Split(std::string_view bytes, SplitModel* model);

}  // namespace df::ir::file
