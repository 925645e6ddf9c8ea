#include "backends/net/messages.h"

#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "tests/unit/catch.h"

using namespace df::net;

namespace {

// A sample of each type of field; each one of a message is another.
struct Samples {
  uint64_t count = 0;
  void Fill(uint64_t& f) { f = ++count * 100; }
  void Fill(uint32_t& f) { f = static_cast<uint32_t>(++count); }
  void Fill(bool& f) { f = ++count % 2; }
  void Fill(std::string& f) { f = fmt::format("text {}", ++count); }
  void Fill(std::string_view& f) { f = std::string_view("some bytes of a value").substr(0, ++count + 5); }
  void Fill(Name128& f) { f = {0x0123456789abcdef, ++count}; }
  void Fill(Digest& f) { f.fill(static_cast<uint8_t>(++count)); }
  void Fill(Facts& f) {
#define DF_FACT(type, name, text) Fill(f.name);
    DF_FACTS(DF_FACT)
#undef DF_FACT
  }
  void Fill(MemberRows& f) { f = {{{1, 2}, 1, MemberState::Serving, "a", "tcp://a:7000", ""}, {{3, 4}, 2, MemberState::Gone, "b", "", "nothing heard"}}; }
  void Fill(CountRows& f) { f = {{{1, 2}, 10, 20}}; }
  void Fill(LinkRows& f) { f = {{{1, 2}, 10, 2000, 3, 400}}; }
  void Fill(Numbers& f) { f = {1, 300, UINT64_MAX}; }
};

template <typename M>
M SampleOf();
#define DF_FIELD(type, name) samples.Fill(message.name);
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  template <>                                                     \
  msg::Name SampleOf<msg::Name>() {                               \
    Samples samples;                                              \
    msg::Name message;                                            \
    fields return message;                                        \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
#undef DF_FIELD

std::vector<Message> AllSamples() {
  std::vector<Message> all;
#define DF_MESSAGE(number, Name, lane, direction, states, fields) all.push_back(Pack(SampleOf<msg::Name>()));
#include "backends/net/messages.def"
#undef DF_MESSAGE
  return all;
}

bool DecodesAs(Kind kind, std::string_view body) {
  switch (kind) {
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  case Kind::Name: {                                              \
    msg::Name message;                                            \
    return Decode(body, message);                                 \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
  }
  return false;
}

}  // namespace

TEST_CASE("the bytes of each message are those of the golden file") {
  std::string text;
  for (const Message& message : AllSamples()) {
    text += Dump(message.kind, message.body) + "\n ";
    for (unsigned char c : message.body) text += fmt::format(" {:02x}", c);
    text += '\n';
  }
  if (std::getenv("DFC_UPDATE")) std::ofstream(DFC_GOLDEN_MESSAGES) << text;
  std::stringstream golden;
  golden << std::ifstream(DFC_GOLDEN_MESSAGES).rdbuf();
  // A change is a new version of the wire: raise kWireVersion, and write the file anew with DFC_UPDATE=1.
  CHECK(golden.str() == text);
}

TEST_CASE("what is decoded is encoded the same") {
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  {                                                               \
    const Message packed = Pack(SampleOf<msg::Name>());           \
    auto again = Unpack<msg::Name>(packed);                       \
    REQUIRE(again);                                               \
    CHECK(Pack(*again).body == packed.body);                      \
  }
#include "backends/net/messages.def"
#undef DF_MESSAGE
}

TEST_CASE("a message that is cut short, longer or of another kind is refused") {
  for (const Message& message : AllSamples()) {
    for (size_t size = 0; size < message.body.size(); ++size) CHECK_FALSE(DecodesAs(message.kind, message.body.substr(0, size)));
    CHECK_FALSE(DecodesAs(message.kind, std::string(message.body) + "x"));
  }
  CHECK(InfoOf(uint64_t{0}) == nullptr);
  CHECK(InfoOf(uint64_t{63}) == nullptr);
  CHECK(InfoOf(uint64_t{1000}) == nullptr);
}

TEST_CASE("bytes at random are decoded or refused, and take no memory beyond them") {
  std::mt19937_64 random(1);
  for (const Message& message : AllSamples())
    for (int i = 0; i < 3000; ++i) {
      std::string body(message.body);
      for (size_t change = random() % 4; change-- > 0 && !body.empty();) body[random() % body.size()] = static_cast<char>(random());
      DecodesAs(message.kind, body);
      Dump(message.kind, body);
    }
  // A count of rows that no bytes follow.
  std::string body;
  PutVarint(body, 1);
  PutVarint(body, UINT64_MAX);
  CHECK_FALSE(DecodesAs(Kind::Members, body));
}

TEST_CASE("varints have one form each") {
  for (uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{16383}, uint64_t{16384}, UINT64_MAX}) {
    std::string bytes;
    PutVarint(bytes, number);
    Reader in(bytes);
    CHECK(in.Varint() == number);
    CHECK((in.ok() && in.AtEnd()));
  }
  for (std::string_view wrong : {std::string_view("\x80\x00", 2), std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10),
                                 std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), std::string_view("\x80", 1), std::string_view()}) {
    Reader in(wrong);
    in.Varint();
    CHECK_FALSE(in.ok());
  }
}

TEST_CASE("the head of a batch is read back, and nothing else is one") {
  Head head;
  head.from = {1, 2}, head.to = {3, 4};
  head.stamp = 5, head.seen = 6, head.sequence = 7, head.acknowledged = 8, head.credit = 9, head.count = 10;
  std::string bytes;
  PutHead(bytes, head);
  REQUIRE(bytes.size() == Head::kSize);
  Head again;
  Reader in(bytes);
  REQUIRE(ReadHead(in, again));
  CHECK((again.from == head.from && again.to == head.to && again.stamp == 5 && again.seen == 6 && again.sequence == 7));
  CHECK((again.acknowledged == 8 && again.credit == 9 && again.count == 10 && again.version == kWireVersion));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Reader part(std::string_view(bytes).substr(0, size));
    CHECK_FALSE(ReadHead(part, again));
  }
  for (size_t at : {0, 3, 6, 7}) {  // magic, flags
    std::string other = bytes;
    other[at] ^= 0x10;
    Reader wrong(other);
    CHECK_FALSE(ReadHead(wrong, again));
  }
}
