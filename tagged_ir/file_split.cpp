#include "tagged_ir/file_split.h"

#include <google/protobuf/io/coded_stream.h>

#include "tagged_ir/file_format.h"

namespace df::ir::file {

using google::protobuf::io::CodedOutputStream;

Varint TakeLongVarint(const char* at, const char* end) {
  uint64_t sum = 0;
  for (unsigned shift = 0; shift < 70 && at != end; shift += 7) {
    auto byte = static_cast<unsigned char>(*at++);
    sum |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return {at, sum};
  }
  return {nullptr, 0};
}

bool AttributeView::Read(std::string_view from) {
  *this = {};
  bytes = from;
  Fields fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case FieldTag(onnx::AttributeProto::kNameFieldNumber): name = fields.inner(); break;
      case FieldTag(onnx::AttributeProto::kRefAttrNameFieldNumber): reference = fields.inner(); break;
      case NumberTag(onnx::AttributeProto::kTypeFieldNumber): type = static_cast<int64_t>(fields.number()); break;
      case NumberTag(onnx::AttributeProto::kIFieldNumber): i = static_cast<int64_t>(fields.number()); break;
      case FieldTag(onnx::AttributeProto::kSFieldNumber): s = fields.inner(); break;
      case FieldTag(onnx::AttributeProto::kTFieldNumber): t = fields.inner(); break;
      default: break;
    }
  }
  return fields.AtEnd();
}

llvm::SmallVector<std::string_view, 4> AttributeView::Strings() const {
  llvm::SmallVector<std::string_view, 4> strings;
  Fields fields(bytes);
  while (fields.Next())
    if (fields.tag() == FieldTag(onnx::AttributeProto::kStringsFieldNumber)) strings.push_back(fields.inner());
  return strings;
}

bool NodeView::Read(std::string_view bytes) {
  name = op_type = domain = {};
  inputs.clear();
  outputs.clear();
  attributes.clear();
  Fields fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case FieldTag(onnx::NodeProto::kNameFieldNumber): name = fields.inner(); break;
      case FieldTag(onnx::NodeProto::kOpTypeFieldNumber): op_type = fields.inner(); break;
      case FieldTag(onnx::NodeProto::kDomainFieldNumber): domain = fields.inner(); break;
      case FieldTag(onnx::NodeProto::kInputFieldNumber): inputs.push_back(fields.inner()); break;
      case FieldTag(onnx::NodeProto::kOutputFieldNumber): outputs.push_back(fields.inner()); break;
      case FieldTag(onnx::NodeProto::kAttributeFieldNumber): attributes.push_back(fields.inner()); break;
      default: break;
    }
  }
  return fields.AtEnd();
}

void BeginField(int field, size_t length, std::string& out) {
  uint8_t lead[10];  // two numbers of 32 bits
  uint8_t* end = CodedOutputStream::WriteTagToArray(FieldTag(field), lead);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(length), end);
  out.append(reinterpret_cast<const char*>(lead), static_cast<size_t>(end - lead));
}

bool Split(std::string_view bytes, SplitModel* model) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.tag() != FieldTag(onnx::ModelProto::kGraphFieldNumber)) {
      model->rest += fields.whole();
      continue;
    }
    std::string graph;
    Fields inner(fields.inner());
    while (inner.Next()) {
      if (inner.tag() == FieldTag(onnx::GraphProto::kNodeFieldNumber)) model->nodes.push_back(inner.inner());
      else graph += inner.whole();
    }
    if (!inner.AtEnd()) return false;
    BeginField(onnx::ModelProto::kGraphFieldNumber, graph.size(), model->rest);
    model->rest += graph;
  }
  return fields.AtEnd();
}

}  // namespace df::ir::file
