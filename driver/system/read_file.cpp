// Reading files, whatever they are: see files.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "driver/compile_budget.h"
#include "driver/system/descriptor.h"
#include "driver/system/files.h"
#include "runtime/run/limits.h"

namespace df {
namespace {

ReadBounds bounds;

// Bytes of a file, as they come. A string that grows would have them up to three times; these pieces are put together once it is known how
// many there are, and go one by one meanwhile.
class Pieces {
 public:
  Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() {
    for (char* piece : pieces_)
      if (piece) memory::GivePages(piece, kPiece);
  }

  size_t size() const { return size_; }
  // Room for at least one byte. Throws std::bad_alloc if there is none.
  char* Room(size_t* bytes) {
    if (size_ == pieces_.size() * kPiece) {
      pieces_.reserve(pieces_.size() + 1);
      void* piece = memory::TakePages(kPiece);
      if (!piece) throw std::bad_alloc();
      pieces_.push_back(static_cast<char*>(piece));
    }
    *bytes = pieces_.size() * kPiece - size_;
    return pieces_.back() + (kPiece - *bytes);
  }
  void Came(size_t bytes) { size_ += bytes; }
  void AppendTo(std::string& text) {
    text.reserve(text.size() + size_);
    for (char*& piece : pieces_) {
      const size_t bytes = std::min(size_, kPiece);
      text.append(piece, bytes);
      size_ -= bytes;
      memory::GivePages(piece, kPiece);
      piece = nullptr;
    }
    pieces_.clear();
  }

 private:
  static constexpr size_t kPiece = memory::kLargePage;
  std::vector<char*> pieces_;
  size_t size_ = 0;
};

// That of "/dev/stdin" and "/dev/fd/3", if it is a pipe or a socket; else -1. The second cannot be opened by such a name; the first can, but
// who opens it after the writer has gone never hears that it is at its end.
int OwnDescriptor(std::string_view path) {
  auto is_stream = [](int fd) {
    struct stat info;
    return ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  };
  if (path == "/dev/stdin") return is_stream(STDIN_FILENO) ? STDIN_FILENO : -1;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int fd = -1;
    if (path.starts_with(folder) && std::from_chars(path.data() + folder.size(), path.data() + path.size(), fd).ec == std::errc()) return is_stream(fd) ? fd : -1;
  }
  return -1;
}

// One file, read to its end within the bounds.
class Reader {
 public:
  Reader(const std::string& path, uint64_t max_bytes, Diagnostics& diags, memory::CountedBytes* count)
      : path_(path), max_bytes_(max_bytes), diags_(diags), count_(count) {
    if (bounds.timeout.count() > 0) deadline_ = Clock::now() + bounds.timeout;
  }

  std::optional<std::string> Read() {
    Open();
    if (file_.fd < 0) return Fail(std::strerror(errno));
    struct stat info;
    if (::fstat(file_.fd, &info) != 0) return Fail(std::strerror(errno));
    if (S_ISDIR(info.st_mode)) return Fail("it is a directory");
    std::string text;
    regular_ = S_ISREG(info.st_mode);
    if (regular_ && info.st_size > 0) {
      const auto size = static_cast<uint64_t>(info.st_size);
      Within(size);
      if (size > max_bytes_) return TooLarge();
      Count(size);
      text.reserve(size + 1);
      char buffer[1 << 16];
      while (text.size() < size) {
        const size_t got = Some(buffer, std::min<size_t>(sizeof buffer, size - text.size()));
        if (got == 0) break;
        text.append(buffer, got);
      }
      if (!fault_.empty()) return Fail(fault_.c_str());
    }
    return ReadOn(std::move(text));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::nullopt_t Fail(const char* reason) {
    diags_.Report(Diag::CannotRead, {}, DisplayName(path_), reason);
    return std::nullopt;
  }
  std::nullopt_t TooLarge() {
    diags_.Report(Diag::FileTooLarge, {}, DisplayName(path_), max_bytes_ >> 20);
    return std::nullopt;
  }
  [[noreturn]] void End(Stop stop) const {
    Limits limits;
    limits.max_memory = bounds.max_memory;
    limits.timeout = bounds.timeout;
    throw ReadingStopped(stop, LimitCheck(limits).Detail(stop), path_);
  }
  // A file that is larger than all the memory need not be read.
  void Within(uint64_t bytes) const {
    if (bounds.max_memory && bytes > bounds.max_memory) End(Stop::MemoryLimit);
  }
  void Count(uint64_t bytes) const {
    if (!count_) return;
    try {
      count_->Add(bytes);
    } catch (const std::bad_alloc&) {
      End(Stop::MemoryLimit);
    }
  }
  void LookAtClock() const {
    if (bounds.interrupt && bounds.interrupt->load()) End(Stop::Interrupted);
    if (deadline_ && Clock::now() >= *deadline_) End(Stop::Timeout);
  }

  void Open() {
    if (path_ == "-") {
      file_.fd = STDIN_FILENO;
    } else if (int own = OwnDescriptor(path_); own >= 0) {
      file_.fd = ::fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    } else {
      // Nobody may have opened the other end of a pipe yet, and a terminal is not to become this process's own.
      file_.fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
      waits_ = false;
    }
  }

  // Some bytes; 0 at the end, or with a fault.
  size_t Some(char* to, size_t bytes) {
    constexpr int kGlance = 50;  // milliseconds; a signal that comes just before the wait does not end it
    for (;;) {
      LookAtClock();
      // Before the first byte a pipe seems to be at its end, if nobody writes into it yet.
      pollfd input = {file_.fd, POLLIN, 0};
      if ((waits_ || !began_) && !regular_ && ::poll(&input, 1, kGlance) <= 0) continue;
      const ssize_t got = ::read(file_.fd, to, bytes);
      if (got >= 0) {
        began_ = true;
        return static_cast<size_t>(got);
      }
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {
        ::poll(&input, 1, kGlance);
        continue;
      }
      fault_ = std::strerror(errno);
      return 0;
    }
  }
  // What comes after `text`: all of what has no size, and what was added to a file since its size was asked for.
  std::optional<std::string> ReadOn(std::string text) {
    Pieces pieces;
    for (;;) {
      size_t room;
      char* to = pieces.Room(&room);
      const size_t got = Some(to, room);
      if (!fault_.empty()) return Fail(fault_.c_str());
      if (got == 0) break;
      pieces.Came(got);
      Within(text.size() + pieces.size());
      if (text.size() + pieces.size() > max_bytes_) return TooLarge();
      Count(got);
    }
    if (pieces.size() > 0) pieces.AppendTo(text);
    return text;
  }

  const std::string& path_;
  uint64_t max_bytes_;
  Diagnostics& diags_;
  memory::CountedBytes* count_;
  std::optional<Clock::time_point> deadline_;
  Descriptor file_;
  bool regular_ = false;
  bool waits_ = true;   // a read of it does, until there is something
  bool began_ = false;  // something was read
  std::string fault_;
};

}  // namespace

ReadBoundsScope::ReadBoundsScope(ReadBounds now) : before_(std::exchange(bounds, now)) {}
ReadBoundsScope::~ReadBoundsScope() { bounds = before_; }

ReadingStopped::ReadingStopped(Stop stop, std::string reason, const std::string& path)
    : stop_(stop), reason_(std::move(reason)), text_(fmt::format("{} while `{}` is read", reason_, DisplayName(path))) {}

std::string DisplayName(const std::string& path) { return path == "-" ? "<stdin>" : path; }

std::optional<std::string> ReadFile(const std::string& path, uint64_t max_bytes, Diagnostics& diags, memory::CountedBytes* count) {
  CompileBudget::Pause reading;  // what is read has bounds of its own, which name the file
  return Reader(path, max_bytes, diags, count).Read();
}

}  // namespace df
