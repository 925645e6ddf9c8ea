#include "runtime/packet/packet_file.h"

#include <cstring>

#include "fmt/format.h"
#include "llvm/Support/xxhash.h"
#include "runtime/base/long_operation.h"
#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"
#include "runtime/value/value_type.h"
#include "tagged_ir/tensor_type.h"

namespace df {
namespace {

// No text begins so, and none that a transfer as text has changed.
constexpr std::string_view kMagic = "\x8D" "dfcp\r\n\x1A";
constexpr size_t kAlignment = 64;

// At the beginning of a file, little-endian.
struct Header {
  char magic[8];
  uint32_t version, parts;
  uint64_t file_bytes;
  uint64_t checksum;  // of all behind this field
  uint64_t fingerprint[2];
  uint64_t type_bytes, packet_bytes;
};
static_assert(sizeof(Header) == 64);
constexpr size_t kChecked = offsetof(Header, fingerprint);

uint64_t ChecksumOf(std::string_view file) {
  return llvm::xxh3_64bits(llvm::StringRef(file.data() + kChecked, file.size() - kChecked));
}

// Evaluates what it is asked for.
class Forcing : public PackReferences {
 public:
  explicit Forcing(Execution& execution) : execution_(execution) {}
  Is Look(const Value& reference, ir::TypeId, Value* value, Call*, std::string*) override {
    *value = reference;
    outcome = execution_.Force(*value);
    return outcome.ok() ? Is::Value : Is::NotGivable;
  }
  Outcome outcome;

 private:
  Execution& execution_;
};

// Where the parts of a file are.
struct Contents {
  std::optional<TypeText> type;
  std::string_view packet;
  std::vector<std::string_view> parts;
};

// Takes bytes off the file, from multiples of kAlignment on.
class Pieces {
 public:
  explicit Pieces(std::string_view file) : file_(file), at_(sizeof(Header)) {}
  bool Take(uint64_t bytes, std::string_view* piece) {
    if (bytes > file_.size() - at_) return false;
    *piece = file_.substr(at_, bytes);
    at_ += bytes;
    at_ = std::min(file_.size(), (at_ + kAlignment - 1) / kAlignment * kAlignment);
    return true;
  }
  bool AtEnd() const { return at_ == file_.size(); }

 private:
  std::string_view file_;
  size_t at_;
};

bool Open(std::string_view file, Contents* contents, std::string* error) {
  Header header;
  if (file.size() < sizeof(header)) {
    *error = fmt::format("the file is cut off: it ends after {} bytes", file.size());
    return false;
  }
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.version != kPacketFileVersion) {
    *error = fmt::format("the file is of version {} of packets, and this program reads version {}", header.version, kPacketFileVersion);
    return false;
  }
  if (file.size() != header.file_bytes) {
    *error = file.size() < header.file_bytes ? fmt::format("the file is cut off: it has {} of {} bytes", file.size(), header.file_bytes)
                                             : fmt::format("the file has {} bytes more than its {}", file.size() - header.file_bytes, header.file_bytes);
    return false;
  }
  *error = "the file is damaged: its checksum does not fit";
  if (ChecksumOf(file) != header.checksum) return false;
  *error = "the file is damaged";
  Pieces pieces(file);
  std::string_view type, sizes;
  if (!pieces.Take(header.type_bytes, &type) || !pieces.Take(uint64_t{header.parts} * sizeof(uint64_t), &sizes) ||
      !pieces.Take(header.packet_bytes, &contents->packet))
    return false;
  for (uint32_t i = 0; i < header.parts; ++i) {
    uint64_t size;
    std::memcpy(&size, sizes.data() + i * sizeof(size), sizeof(size));
    if (!pieces.Take(size, &contents->parts.emplace_back())) return false;
  }
  contents->type = TypeText::Parse(type);
  if (!pieces.AtEnd() || !contents->type) return false;
  const std::array<uint64_t, 2> fingerprint = contents->type->Fingerprint();
  if (fingerprint[0] != header.fingerprint[0] || fingerprint[1] != header.fingerprint[1]) return false;
  error->clear();
  return true;
}

}  // namespace

Outcome PackValue(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, Packet* packet, std::string* fault) {
  Forcing forcing(execution);
  PackOptions options;
  options.cycles = options.errors = false;
  try {
    PacketTypes types(graph);
    Packer packer(types, options, &forcing);
    Packed packed = packer.Add({type.type, true}, value);
    if (packed == Packed::Yes) {
      packer.Restart();
      packed = packer.Add({type.type, true}, value);
    }
    if (!forcing.outcome.ok()) return std::move(forcing.outcome);
    if (packed == Packed::Yes) *packet = packer.Take();
    else *fault = fmt::format("it has {}, which no file holds", packer.reason());
  } catch (const OperationAborted& aborted) {
    return execution.GiveUp(aborted.stop);
  } catch (const std::bad_alloc&) {
    Outcome outcome;
    outcome.stop = Stop::MemoryLimit;
    outcome.detail = "no memory is left to write the result";
    return outcome;
  }
  return {};
}

std::string WritePacketFile(const TypeText& type, const Packet& packet) {
  const std::string text = type.Print();
  const std::array<uint64_t, 2> fingerprint = type.Fingerprint();
  Header header = {};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kPacketFileVersion;
  header.parts = static_cast<uint32_t>(packet.parts.size());
  header.fingerprint[0] = fingerprint[0];
  header.fingerprint[1] = fingerprint[1];
  header.type_bytes = text.size();
  header.packet_bytes = packet.bytes.size();
  std::string sizes;
  for (const PacketPart& part : packet.parts) {
    const uint64_t size = part.bytes.size();
    sizes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  }
  std::vector<std::string_view> pieces = {text, sizes, packet.bytes.view()};
  for (const PacketPart& part : packet.parts) pieces.push_back(part.bytes);
  auto aligned = [](size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
  size_t all = sizeof(header);
  for (std::string_view piece : pieces) all += aligned(piece.size());
  std::string file;
  file.reserve(all);
  file.append(sizeof(header), '\0');
  for (std::string_view piece : pieces) {
    file.append(piece);
    file.append(aligned(file.size()) - file.size(), '\0');
  }
  header.file_bytes = file.size();
  std::memcpy(file.data(), &header, sizeof(header));
  header.checksum = ChecksumOf(file);
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

bool LooksLikePacket(std::string_view bytes) { return bytes.starts_with(kMagic.substr(0, 5)); }

std::optional<Value> ReadPacketFile(const ir::Graph& graph, ir::TypeId type, std::string_view bytes, std::string* error) {
  Contents contents;
  if (!bytes.starts_with(kMagic)) {
    *error = "the file is damaged: its line ends were changed";
    return std::nullopt;
  }
  if (!Open(bytes, &contents, error)) return std::nullopt;
  std::string why;
  std::optional<TypeText> expected = TextOf(graph, type, &why);
  if (!expected) {
    *error = fmt::format("it is to hold {}, which no file does", why);
    return std::nullopt;
  }
  uint32_t nothing = 0, just = 0;
  bool wraps = false;
  if (contents.type->lines != expected->lines) {
    const ir::TypeId held = MaybeElement(graph.types, type, &nothing, &just);
    std::optional<TypeText> inner = held.valid() ? TextOf(graph, held, &why) : std::nullopt;
    wraps = inner && contents.type->lines == inner->lines;
    if (!wraps) {
      *error = DifferenceOf(*contents.type, inner ? *inner : *expected);
      return std::nullopt;
    }
    type = held;
  }
  PacketTypes types(graph);
  Unpacker unpacker(types, contents.packet, contents.parts);
  std::optional<Value> value = unpacker.Next({type, false});
  if (!value || !unpacker.Finish()) {
    *error = "the file is damaged: " + unpacker.fault();
    return std::nullopt;
  }
  if (!wraps) return value;
  Data* some = Data::New(just, 1);
  some->fields()[0] = std::move(*value);
  return Value::Adopt(ValueKind::Object, some);
}

std::optional<std::vector<int64_t>> ShapeOfPacket(std::string_view bytes, std::string* why) {
  Contents contents;
  if (!Open(bytes, &contents, why)) return std::nullopt;
  ir::TypeKind element;
  std::vector<int64_t> dims;
  if (ir::ParseTensorName(contents.type->names[0], &element, &dims)) return dims;
  *why = fmt::format("it holds {}", WithArticle(contents.type->names[0]));
  return std::nullopt;
}

}  // namespace df
