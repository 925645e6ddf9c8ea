#include "backends/net/messages.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

namespace df::net {
namespace {

// ---------------------------------------------------------------- fields as bytes

void Put(std::string& out, uint64_t number) { PutVarint(out, number); }
void Put(std::string& out, uint32_t number) { PutVarint(out, number); }
void Put(std::string& out, bool flag) { out += flag ? '\1' : '\0'; }
void Put(std::string& out, std::string_view bytes) { PutSized(out, bytes); }
void Put(std::string& out, const std::string& text) { PutSized(out, std::string_view(text).substr(0, kLongestText)); }
void Put(std::string& out, const Name128& name) {
  PutFixed(out, name.high);
  PutFixed(out, name.low);
}
void Put(std::string& out, const Digest& digest) { out.append(reinterpret_cast<const char*>(digest.data()), digest.size()); }

void Get(Reader& in, uint64_t& number) { number = in.Varint(); }
void Get(Reader& in, uint32_t& number) {
  const uint64_t wide = in.Varint();
  number = static_cast<uint32_t>(wide);
  if (wide > std::numeric_limits<uint32_t>::max()) in.Fail();
}
void Get(Reader& in, bool& flag) {
  const uint8_t byte = in.Fixed<uint8_t>();
  flag = byte == 1;
  if (byte > 1) in.Fail();
}
void Get(Reader& in, std::string_view& bytes) { bytes = in.Sized(); }
void Get(Reader& in, std::string& text) { text = in.Sized(kLongestText); }
void Get(Reader& in, Name128& name) {
  name.high = in.Fixed<uint64_t>();
  name.low = in.Fixed<uint64_t>();
}
void Get(Reader& in, Digest& digest) {
  const std::string_view bytes = in.Take(digest.size());
  std::copy(bytes.begin(), bytes.end(), digest.begin());
}

void Put(std::string& out, const Facts& facts) {
#define DF_FACT(type, name, text) Put(out, facts.name);
  DF_FACTS(DF_FACT)
#undef DF_FACT
}
void Get(Reader& in, Facts& facts) {
#define DF_FACT(type, name, text) Get(in, facts.name);
  DF_FACTS(DF_FACT)
#undef DF_FACT
}

// Rows: how many, then each. kLeast: the bytes that one has at least.
template <typename Row>
constexpr size_t kLeast = 1;
template <>
constexpr size_t kLeast<MemberRow> = 16 + 1 + 1 + 3;
template <>
constexpr size_t kLeast<CountRow> = 16 + 2;
template <>
constexpr size_t kLeast<LinkRow> = 16 + 4;

void Put(std::string& out, const MemberRow& row) {
  Put(out, row.incarnation);
  Put(out, row.rank);
  out += static_cast<char>(row.state);
  for (const Text* text : {&row.name, &row.address, &row.why}) Put(out, *text);
}
void Get(Reader& in, MemberRow& row) {
  Get(in, row.incarnation);
  Get(in, row.rank);
  const uint8_t state = in.Fixed<uint8_t>();
  if (state > static_cast<uint8_t>(MemberState::Gone)) in.Fail();
  row.state = static_cast<MemberState>(state);
  for (Text* text : {&row.name, &row.address, &row.why}) Get(in, *text);
}
void Put(std::string& out, const CountRow& row) {
  Put(out, row.peer);
  Put(out, row.sent);
  Put(out, row.received);
}
void Get(Reader& in, CountRow& row) {
  Get(in, row.peer);
  Get(in, row.sent);
  Get(in, row.received);
}

void Put(std::string& out, const LinkRow& row) {
  Put(out, row.peer);
  for (uint64_t number : {row.messages_out, row.bytes_out, row.messages_in, row.bytes_in}) Put(out, number);
}
void Get(Reader& in, LinkRow& row) {
  Get(in, row.peer);
  for (uint64_t* number : {&row.messages_out, &row.bytes_out, &row.messages_in, &row.bytes_in}) Get(in, *number);
}

template <typename Row>
void Put(std::string& out, const std::vector<Row>& rows) {
  PutVarint(out, rows.size());
  for (const Row& row : rows) Put(out, row);
}
template <typename Row>
void Get(Reader& in, std::vector<Row>& rows) {
  rows.clear();
  for (size_t count = in.Entries(kLeast<Row>); count > 0 && in.ok(); --count) Get(in, rows.emplace_back());
}

// ---------------------------------------------------------------- fields for people

void Show(std::string& out, uint64_t number) { out += std::to_string(number); }
void Show(std::string& out, uint32_t number) { out += number == kNoRank ? "none" : std::to_string(number); }
void Show(std::string& out, bool flag) { out += flag ? "yes" : "no"; }
void Show(std::string& out, std::string_view bytes) {
  out += fmt::format("[{}:", bytes.size());
  for (unsigned char c : bytes.substr(0, 8)) out += fmt::format(" {:02x}", c);
  out += bytes.size() > 8 ? " ..]" : "]";
}
void Show(std::string& out, const std::string& text) {
  out += '"';
  for (unsigned char c : text) {
    if (c < 32 || c == 127 || c == '"' || c == '\\') out += fmt::format("\\x{:02x}", c);
    else out += static_cast<char>(c);
  }
  out += '"';
}
void Show(std::string& out, const Name128& name) { out += Hex(name); }
void Show(std::string& out, const Digest& digest) { out += Hex(digest); }
void Show(std::string& out, const Facts& facts) {
  out += "{";
#define DF_FACT(type, name, text) \
  out += out.back() == '{' ? #name "=" : " " #name "="; \
  Show(out, facts.name);
  DF_FACTS(DF_FACT)
#undef DF_FACT
  out += "}";
}
void Show(std::string& out, const MemberRow& row) {
  constexpr std::string_view kStates[] = {"connecting", "joined", "serving", "suspect", "gone"};
  Show(out, row.incarnation);
  out += fmt::format(" {} ", kStates[static_cast<size_t>(row.state)]);
  Show(out, row.rank);
  for (const Text* text : {&row.name, &row.address, &row.why}) Show(out += ' ', *text);
}
void Show(std::string& out, const CountRow& row) { out += fmt::format("{} {}/{}", Hex(row.peer), row.sent, row.received); }
void Show(std::string& out, const LinkRow& row) {
  out += fmt::format("{} {} of {} bytes/{} of {}", Hex(row.peer), row.messages_out, row.bytes_out, row.messages_in, row.bytes_in);
}
template <typename Row>
void Show(std::string& out, const std::vector<Row>& rows) {
  out += "[";
  for (const Row& row : rows) {
    if (&row != rows.data()) out += ", ";
    Show(out, row);
  }
  out += "]";
}

constexpr size_t kKinds = 64;

struct KindTable {
  KindInfo rows[kKinds] = {};

  constexpr KindTable() {
    using namespace during;
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  static_assert(number > 0 && number < kKinds);                   \
  rows[number] = {#Name, Lane::lane, Direction::direction, static_cast<uint8_t>(states)};
#include "backends/net/messages.def"
#undef DF_MESSAGE
  }
};

constexpr KindTable kTable;

}  // namespace

const KindInfo* InfoOf(uint64_t number) { return number < kKinds && !kTable.rows[number].name.empty() ? &kTable.rows[number] : nullptr; }

#define DF_FIELD(type, name) Put(out, message.name);
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  void Encode(const msg::Name& message, std::string& out) { fields }
#include "backends/net/messages.def"
#undef DF_MESSAGE
#undef DF_FIELD

#define DF_FIELD(type, name) Get(in, message.name);
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  bool Decode(std::string_view body, msg::Name& message) {        \
    Reader in(body);                                              \
    fields return in.ok() && in.AtEnd();                          \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
#undef DF_FIELD

std::string Dump(Kind kind, std::string_view body) {
  const KindInfo* info = InfoOf(static_cast<uint64_t>(kind));
  if (!info) return fmt::format("message {}, which is none", static_cast<int>(kind));
  std::string out(info->name);
  switch (kind) {
#define DF_FIELD(type, name) \
  out += " " #name "=";      \
  Show(out, message.name);
#define DF_MESSAGE(number, Name, lane, direction, states, fields)                 \
  case Kind::Name: {                                                              \
    msg::Name message;                                                            \
    if (!Decode(body, message)) return out + " of " + std::to_string(body.size()) + " bytes, broken"; \
    fields                                                                        \
    break;                                                                        \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
#undef DF_FIELD
  }
  return out;
}

}  // namespace df::net
