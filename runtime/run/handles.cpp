// Handles: characters of bytes, and what waits to be written. See handles.h.
#include "runtime/run/handles.h"

#include <cstring>

#include "lang/utf8.h"
#include "runtime/value/text_list.h"

namespace df {
namespace {

constexpr size_t kFileBlock = 8192;  // bytes of output that are handed over at once
constexpr std::string_view kNoCharacter = "invalid byte sequence";

Value ErrorOf(std::string parts) { return Value::Adopt(ValueKind::Error, new ErrorObject(ErrorCode::Io, std::move(parts), {}, {})); }

}  // namespace

std::vector<uint32_t> CharsOfName(std::string_view bytes) {
  std::vector<uint32_t> chars;
  while (!bytes.empty()) {
    uint32_t c;
    if (TakeChar(bytes, &c) != Decoded::Char) {
      c = 0xDC00 | static_cast<unsigned char>(bytes[0]);
      bytes.remove_prefix(1);
    }
    chars.push_back(c);
  }
  return chars;
}

bool AppendNameChar(uint32_t c, std::string& bytes) {
  if (c >= 0xDC80 && c <= 0xDCFF) bytes += static_cast<char>(c & 0xFF);
  else if (c >= 0xD800 && c <= 0xDFFF) return false;
  else AppendUtf8(c, bytes);
  return true;
}

// The rest of a text that is read as it is looked at.
struct Handles::ContentsCell : HostCell {
  Handles& handles;
  int64_t number;
  ContentsCell(Handles& h, int64_t n) : handles(h), number(n) {}
  ContentsCell(const ContentsCell&) = delete;
  ContentsCell& operator=(const ContentsCell&) = delete;
  ~ContentsCell() override {
    if (!is_full()) handles.Drop(number);
  }
  Value Supply() override { return handles.Next(number); }
};

Handles::~Handles() {
  for (auto& [number, handle] : handles_)
    if (number != 0) Close(handle);
}

Handles::Handle* Handles::Find(int64_t handle) {
  auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : &found->second;
}

std::string Handles::Fault(const Handle& handle, std::string_view place, IoKind kind, std::string_view details) const {
  return IoErrorParts(kind, place, handle.name, details);
}

std::string Handles::Failed(const Handle& handle, std::string_view place, const Host::Answer& answer) const {
  if (!answer.text.empty()) return answer.text;
  const int number = static_cast<int>(answer.number);
  return Fault(handle, place, IoKindOf(number), std::strerror(number));
}

std::string Handles::WhyNot(const Handle& handle, bool reads, std::string_view place) const {
  if (handle.state == State::Closed) return Fault(handle, place, IoKind::IllegalOperation, "handle is closed");
  if (handle.state == State::SemiClosed) return Fault(handle, place, IoKind::IllegalOperation, "handle is semi-closed");
  if (reads && !handle.reads()) return Fault(handle, place, IoKind::IllegalOperation, "handle is not open for reading");
  if (!reads && !handle.writes()) return Fault(handle, place, IoKind::IllegalOperation, "handle is not open for writing");
  return "";
}

void Handles::Close(Handle& handle) {
  if (handle.state == State::Closed) return;
  handle.state = State::Closed;
  host_.CloseFile(handle.file);
  handle.in.clear();
}

// ---------------------------------------------------------------- input

bool Handles::Fill(int64_t number, Handle& handle, std::string_view place, std::string* failure) {
  if (handle.ended) return false;
  if (number != 0) {
    const size_t before = handle.in.size();
    Host::Answer answer = host_.ReadFile(handle.file, handle.in);
    if (answer.failed) return *failure = Failed(handle, place, answer), false;
    handle.ended = handle.in.size() == before;
    return !handle.ended;
  }
  before_input_();
  std::string bytes;
  switch (host_.Read(bytes)) {
    case Host::Input::Some: handle.in += bytes; return true;
    case Host::Input::Interrupted: throw HostInterrupted();
    case Host::Input::Failed: return *failure = Fault(handle, place, IoKind::Other, bytes), false;
    case Host::Input::End: break;
  }
  return false;  // a terminal's may go on
}

Value Handles::Text(const std::vector<uint32_t>& chars) const { return TextList(list_, chars, Value::Word(list_.nil)); }

Handles::Reply Handles::TextReply(std::string_view bytes) const { return {0, Text(CharsOfName(bytes)), ""}; }

Handles::Reply Handles::Line(int64_t number, Handle& handle) {
  size_t end, looked = 0;
  std::string failure;
  while ((end = handle.in.find('\n', looked)) == std::string::npos) {
    looked = handle.in.size();
    if (Fill(number, handle, "hGetLine", &failure)) continue;
    if (!failure.empty()) return {0, {}, failure};
    if (handle.in.empty()) return {0, {}, Fault(handle, "hGetLine", IoKind::EndOfFile, "")};
    end = handle.in.size();
    break;
  }
  std::string_view rest = std::string_view(handle.in).substr(0, end);
  std::vector<uint32_t> chars;
  chars.reserve(end);
  for (uint32_t c; !rest.empty(); chars.push_back(c))
    if (TakeChar(rest, &c) != Decoded::Char) return {0, {}, Fault(handle, "hGetLine", IoKind::InvalidArgument, kNoCharacter)};
  handle.in.erase(0, std::min(end + 1, handle.in.size()));
  return {0, Text(chars), ""};
}

Handles::Reply Handles::Char(int64_t number, Handle& handle) {
  std::string failure;
  for (;;) {
    std::string_view rest = handle.in;
    uint32_t c = 0;
    Decoded decoded = rest.empty() ? Decoded::Incomplete : TakeChar(rest, &c);
    if (decoded == Decoded::Char) {
      handle.in.erase(0, handle.in.size() - rest.size());
      return {c, Value::Word(list_.nil), ""};
    }
    if (decoded == Decoded::Invalid) return {0, {}, Fault(handle, "hGetChar", IoKind::InvalidArgument, kNoCharacter)};
    if (Fill(number, handle, "hGetChar", &failure)) continue;
    if (!failure.empty()) return {0, {}, failure};
    if (rest.empty()) return {0, {}, Fault(handle, "hGetChar", IoKind::EndOfFile, "")};
    return {0, {}, Fault(handle, "hGetChar", IoKind::InvalidArgument, kNoCharacter)};
  }
}

Handles::Reply Handles::IsEnd(int64_t number, Handle& handle) {
  std::string failure;
  bool more = !handle.in.empty() || Fill(number, handle, "hIsEOF", &failure);
  return {more ? 0 : 1, Value::Word(list_.nil), failure};
}

Handles::Reply Handles::Contents(int64_t number, Handle& handle) {
  handle.state = State::SemiClosed;
  if (keeps_) {
    handle.contents = contents_.size();
    contents_.emplace_back();
    contents_of_.push_back(number);
  }
  return {0, Value::Adopt(ValueKind::Reference, new ContentsCell(*this, number)), ""};
}

Value Handles::StandardInput() { return Contents(0, handles_[0]).text; }

// What can be read now, as a list that ends in a cell for the rest.
Value Handles::Next(int64_t number) {
  Handle& handle = handles_[number];
  std::vector<uint32_t> chars;
  while (chars.empty()) {
    std::string failure;
    const bool more = handle.state == State::SemiClosed && Fill(number, handle, "hGetContents", &failure);
    std::string_view rest = handle.in;
    Decoded decoded = Decoded::Char;
    for (uint32_t c; !rest.empty() && (decoded = TakeChar(rest, &c)) == Decoded::Char;) chars.push_back(c);
    const bool cut = decoded == Decoded::Incomplete && !more && chars.empty() && !rest.empty();
    if (decoded == Decoded::Invalid || cut) failure = Fault(handle, "hGetContents", IoKind::InvalidArgument, kNoCharacter);
    const size_t used = handle.in.size() - rest.size();
    if (handle.contents != SIZE_MAX) contents_[handle.contents].append(handle.in, 0, used);
    handle.in.erase(0, used);
    if (failure.empty() && (more || !chars.empty())) continue;
    if (number != 0) Close(handle);
    Value end = failure.empty() ? Value::Word(list_.nil) : ErrorOf(std::move(failure));
    return chars.empty() ? end : TextList(list_, chars, std::move(end));
  }
  return TextList(list_, chars, Value::Adopt(ValueKind::Reference, new ContentsCell(*this, number)));
}

// Nobody looks at the rest any more.
void Handles::Drop(int64_t number) {
  if (number == 0 || keeps_) return;
  if (Handle* handle = Find(number)) Close(*handle);
}

std::vector<std::string> Handles::TakeContents(bool to_the_end) {
  for (size_t i = 0; i < contents_.size() && to_the_end; ++i) {
    Handle& handle = handles_[contents_of_[i]];
    std::string failure;
    while (handle.state == State::SemiClosed && Fill(contents_of_[i], handle, "hGetContents", &failure)) {
    }
    contents_[i] += std::exchange(handle.in, {});
  }
  return contents_;
}

std::string Handles::LeftOfInput() { return std::exchange(handles_[0].in, {}); }

// ---------------------------------------------------------------- output

bool Handles::HandOver(Handle& handle, std::string_view place, std::string* failure) {
  if (handle.out.empty()) return true;
  Host::Answer answer = host_.WriteFile(handle.file, std::exchange(handle.out, {}));
  if (answer.failed) *failure = Failed(handle, place, answer);
  return !answer.failed;
}

bool Handles::MayPut(int64_t number, std::string* failure) {
  Handle* handle = Find(number);
  *failure = handle ? WhyNot(*handle, false, "hPutStr") : IoErrorParts(IoKind::IllegalOperation, "hPutStr", "", "handle is closed");
  return failure->empty();
}

bool Handles::Put(int64_t number, uint32_t c, std::string* failure) {
  Handle& handle = handles_[number];
  if (c >= 0xD800 && c <= 0xDFFF) return *failure = Fault(handle, "commitBuffer", IoKind::InvalidArgument, "invalid character"), false;
  AppendUtf8(c, handle.out);
  const bool now = handle.out.size() >= kFileBlock || (c == '\n' && handle.buffering == Host::Buffering::Lines);
  return !now || HandOver(handle, "hPutStr", failure);
}

bool Handles::Put(int64_t number, std::string* failure) {
  Handle& handle = handles_[number];
  return handle.buffering != Host::Buffering::None || HandOver(handle, "hPutStr", failure);
}

std::string Handles::CloseAll() {
  std::string first;
  for (auto& [number, handle] : handles_) {
    std::string failure;
    if (number == 0 || handle.state == State::Closed) continue;
    if (!HandOver(handle, "hClose", &failure) && first.empty()) first = failure;
    Close(handle);
  }
  return first;
}

// ---------------------------------------------------------------- questions

Handles::Reply Handles::Ask(ir::Question what, int64_t number, std::string_view text) {
  using enum ir::Question;
  switch (what) {
    case Line: case Char: case Contents: case IsEnd: case Close: case Flush: case Buffer: case IsOpen: case Size:
      return OfHandle(what, number, text);
    case Generator: {
      // What is below 0 would be a failure: signs are asked for by themselves.
      if (text == "-") return {(generator_[0] < 0) + 2 * (generator_[1] < 0), Value::Word(list_.nil), ""};
      int64_t& word = generator_[text == "t" || text == "T"];
      const bool sets = text == "S" || text == "T";
      if (sets) word = number;
      return {sets ? 0 : word & INT64_MAX, Value::Word(list_.nil), ""};
    }
    default: break;
  }
  Host::Answer answer = host_.Ask(what, number, text);
  if (answer.failed) return {-1, {}, answer.text};
  if (what != Open) {
    Reply reply = TextReply(answer.text);
    reply.number = answer.number;
    return reply;
  }
  Handle& made = handles_[next_];
  made.name = text;
  made.mode = number;
  made.file = answer.number;
  return {next_++, Value::Word(list_.nil), ""};
}

Handles::Reply Handles::OfHandle(ir::Question what, int64_t number, std::string_view text) {
  using enum ir::Question;
  const Value nothing = Value::Word(list_.nil);
  Handle* handle = Find(number);
  if (what == IsOpen) return {handle && handle->state == State::Open, nothing, ""};
  if (!handle) return {0, {}, IoErrorParts(IoKind::IllegalOperation, "", "", "handle is closed")};
  auto may = [&](bool reads, std::string_view place) { return WhyNot(*handle, reads, place); };
  std::string failure;
  switch (what) {
    case Line: return !(failure = may(true, "hGetLine")).empty() ? Reply{0, {}, failure} : this->Line(number, *handle);
    case Char: return !(failure = may(true, "hGetChar")).empty() ? Reply{0, {}, failure} : this->Char(number, *handle);
    case Contents: return !(failure = may(true, "hGetContents")).empty() ? Reply{0, {}, failure} : this->Contents(number, *handle);
    case IsEnd: return !(failure = may(true, "hIsEOF")).empty() ? Reply{0, {}, failure} : this->IsEnd(number, *handle);
    case ir::Question::Close:
      if (number == 0) {
        handle->state = State::Closed;
      } else if (handle->state != State::Closed) {
        HandOver(*handle, "hClose", &failure);
        this->Close(*handle);
      }
      return {0, nothing, failure};
    case Flush:
      if (failure = may(false, "hFlush"); failure.empty()) HandOver(*handle, "hFlush", &failure);
      return {0, nothing, failure};
    case Buffer:
      if (handle->state == State::Open && handle->writes()) HandOver(*handle, "hSetBuffering", &failure);
      handle->buffering = text == "0" ? Host::Buffering::None : text == "1" ? Host::Buffering::Lines : Host::Buffering::Blocks;
      return {0, nothing, failure};
    case Size: {
      if (handle->state != State::Open) return {0, {}, Fault(*handle, "hFileSize", IoKind::IllegalOperation, "handle is closed")};
      HandOver(*handle, "hFileSize", &failure);
      Host::Answer answer = host_.SizeOfFile(handle->file);
      return {answer.number, nothing, answer.failed ? Failed(*handle, "hFileSize", answer) : failure};
    }
    default: return {0, {}, Fault(*handle, "", IoKind::UnsupportedOperation, "")};
  }
}

}  // namespace df
