#include "tagged_ir/file_split.h"

#include "tagged_ir/file_format.h"

namespace df::ir::file {

namespace {

// The next number of `bytes`, 7 bits in a byte.
bool TakeNumber(std::string_view* bytes, uint64_t* number) {
  *number = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    auto byte = static_cast<unsigned char>((*bytes)[i]);
    *number |= uint64_t{byte & 0x7fu} << 7 * i;
    if (byte & 0x80) continue;
    bytes->remove_prefix(i + 1);
    return true;
  }
  return false;
}

}  // namespace

bool ForEachField(std::string_view bytes, llvm::function_ref<void(uint32_t tag, std::string_view whole, std::string_view inner)> visit) {
  while (!bytes.empty()) {
    const char* begin = bytes.data();
    uint64_t tag = 0, length = 0;
    if (!TakeNumber(&bytes, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    switch (tag & 7) {
      case 0:
        if (!TakeNumber(&bytes, &length)) return false;
        length = 0;
        break;
      case 1: length = 8; break;
      case 2:
        if (!TakeNumber(&bytes, &length)) return false;
        break;
      case 5: length = 4; break;
      default: return false;  // groups, which ONNX has none of
    }
    if (length > bytes.size()) return false;
    std::string_view inner = bytes.substr(0, length);
    bytes.remove_prefix(length);
    visit(static_cast<uint32_t>(tag), {begin, static_cast<size_t>(bytes.data() - begin)}, inner);
  }
  return true;
}

bool Split(std::string_view bytes, SplitModel* model) {
  bool good = true;
  bool whole_model = ForEachField(bytes, [&](uint32_t tag, std::string_view whole, std::string_view inner) {
    if (tag != FieldTag(onnx::ModelProto::kGraphFieldNumber)) {
      model->rest += whole;
      return;
    }
    std::string graph;
    if (!good) return;
    good = ForEachField(inner, [&](uint32_t field, std::string_view all, std::string_view node) {
      if (field == FieldTag(onnx::GraphProto::kNodeFieldNumber)) model->nodes.push_back(node);
      else graph += all;
    });
    model->rest.push_back(static_cast<char>(tag));
    for (size_t length = graph.size();; length >>= 7) {
      model->rest.push_back(static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0)));
      if (length <= 0x7f) break;
    }
    model->rest += graph;
  });
  return whole_model && good;
}

}  // namespace df::ir::file
