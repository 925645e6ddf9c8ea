// Mutations of graph files. Changes of single bytes seldom get behind the protobuf parser, so that most
// mutations change one thing in the parsed model: an operand, an op, an attribute, a number in a table.

#include <algorithm>
#include <random>
#include <string>

#include "onnx/onnx.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

template <typename Random, typename List>
auto* Pick(Random& random, List* list) {
  return list->empty() ? nullptr : &(*list)[static_cast<int>(random() % list->size())];
}

// A number near one that matters.
int64_t OtherNumber(std::minstd_rand& random, int64_t number) {
  switch (random() % 5) {
    case 0: return static_cast<int64_t>(static_cast<uint64_t>(number) + 1);
    case 1: return static_cast<int64_t>(static_cast<uint64_t>(number) - 1);
    case 2: return random() % 8;
    case 3: return random() % 64;
    default: return static_cast<int64_t>(random()) << random() % 40;
  }
}

void MutateAttribute(std::minstd_rand& random, onnx::AttributeProto* attribute) {
  if (attribute->ints_size() > 0) {
    int at = static_cast<int>(random() % attribute->ints_size());
    switch (random() % 8) {
      case 0: attribute->mutable_ints()->RemoveLast(); return;
      case 1: attribute->add_ints(OtherNumber(random, 0)); return;
      default: attribute->set_ints(at, OtherNumber(random, attribute->ints(at))); return;
    }
  }
  if (attribute->strings_size() > 0) {
    std::string* text = Pick(random, attribute->mutable_strings());
    if (random() % 2 && !text->empty())
      (*text)[random() % text->size()] = static_cast<char>(random());
    else
      *text = attribute->strings(static_cast<int>(random() % attribute->strings_size()));
    return;
  }
  if (attribute->has_t()) {
    attribute->mutable_t()->set_raw_data(std::string(random() % 10, static_cast<char>(random())));
    return;
  }
  attribute->set_i(OtherNumber(random, attribute->i()));
}

// Another operand, op, attribute or name of one node.
void MutateNode(std::minstd_rand& random, onnx::GraphProto* graph, onnx::NodeProto* node) {
  onnx::NodeProto* other = Pick(random, graph->mutable_node());
  switch (random() % 8) {
    case 0: node->set_op_type(other->op_type()); return;
    case 1: node->mutable_attribute()->Swap(other->mutable_attribute()); return;
    case 2: *node->mutable_input() = other->input(); return;
    case 3: {
      std::string* input = Pick(random, node->mutable_input());
      std::string* output = Pick(random, other->mutable_output());
      if (input && output) *input = *output;
      return;
    }
    case 4: node->mutable_input()->Add()->assign(other->output_size() ? other->output(0) : ""); return;
    case 5:
      if (node->input_size()) node->mutable_input()->RemoveLast();
      return;
    default:
      if (onnx::AttributeProto* attribute = Pick(random, node->mutable_attribute()))
        MutateAttribute(random, attribute);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  onnx::ModelProto model;
  bool structured = random() % 8 != 0 && size > 0 && data[0] == 8 &&
                    model.ParseFromArray(data, static_cast<int>(size)) && model.graph().node_size() > 0;
  if (!structured) return LLVMFuzzerMutate(data, size, max_size);
  onnx::GraphProto* graph = model.mutable_graph();
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    onnx::NodeProto* node = Pick(random, graph->mutable_node());
    // The tables are a small part of the file and hold most of what can be wrong.
    if (random() % 2)
      for (onnx::NodeProto& start : *graph->mutable_node())
        if (start.op_type() == "Start") node = &start;
    MutateNode(random, graph, node);
  }
  std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
