#include "tagged_ir/file_split.h"

#include <google/protobuf/io/coded_stream.h>

#include <climits>

#include "tagged_ir/file_format.h"

namespace df::ir::file {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

bool ForEachField(std::string_view bytes, llvm::function_ref<void(uint32_t tag, std::string_view whole, std::string_view inner)> visit) {
  if (bytes.size() > INT_MAX) return false;  // protobuf writes none so large
  CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  for (size_t begin = 0; begin < bytes.size();) {
    uint32_t tag = in.ReadTag();
    uint64_t number = 0, length = 0;
    if (tag >> 3 == 0) return false;
    switch (tag & 7) {
      case 0:
        if (!in.ReadVarint64(&number)) return false;
        break;
      case 1: length = 8; break;
      case 2:
        if (!in.ReadVarint64(&length)) return false;
        break;
      case 5: length = 4; break;
      default: return false;  // groups, which ONNX has none of
    }
    auto inner = static_cast<size_t>(in.CurrentPosition());
    if (length > bytes.size() - inner || !in.Skip(static_cast<int>(length))) return false;
    size_t end = inner + length;
    visit(tag, bytes.substr(begin, end - begin), bytes.substr(inner, length));
    begin = end;
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
    uint8_t lead[10];  // two numbers of 32 bits
    uint8_t* end = CodedOutputStream::WriteTagToArray(tag, lead);
    end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(graph.size()), end);
    model->rest.append(reinterpret_cast<const char*>(lead), static_cast<size_t>(end - lead));
    model->rest += graph;
  });
  return whole_model && good;
}

}  // namespace df::ir::file
