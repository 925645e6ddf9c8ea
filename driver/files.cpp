#include "driver/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "driver/signals.h"

namespace df {
namespace {

// A file descriptor that closes itself.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd > STDERR_FILENO) ::close(fd);
  }
};

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool CannotWrite(const std::string& path, Diagnostics& diags) {
  diags.Report(Diag::CannotWrite, {}, DisplayName(path), std::strerror(errno));
  return false;
}

// A link is followed: what it points to is replaced, not the link.
std::string TargetOf(const std::string& path) {
  std::string target = path;
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    target = real;
    std::free(real);
  }
  return target;
}

// Whether the file is one that the program was read from: what is written over it would be lost.
bool IsSource(const struct stat& file, const SourceManager& sources) {
  for (uint32_t i = 0; i < sources.FileCount(); ++i) {
    struct stat source;
    if (::stat(std::string(sources.Name(FileId(i))).c_str(), &source) == 0 && source.st_dev == file.st_dev &&
        source.st_ino == file.st_ino)
      return true;
  }
  return false;
}

bool WouldLoseSource(const std::string& path, const struct stat& info, Diagnostics& diags) {
  if (!S_ISREG(info.st_mode) || !IsSource(info, diags.sources())) return false;
  diags.Report(Diag::CannotWrite, {}, DisplayName(path), "the program is read from it, and would be lost");
  return true;
}

}  // namespace

std::string DisplayName(const std::string& path) { return path == "-" ? "<stdin>" : path; }

std::optional<std::string> ReadFile(const std::string& path, uint64_t max_bytes, Diagnostics& diags) {
  auto fail = [&](const char* reason) {
    diags.Report(Diag::CannotRead, {}, DisplayName(path), reason);
    return std::nullopt;
  };
  auto too_large = [&] {
    diags.Report(Diag::FileTooLarge, {}, DisplayName(path), max_bytes >> 20);
    return std::nullopt;
  };
  Descriptor file;
  file.fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd < 0) return fail(std::strerror(errno));
  struct stat info;
  if (::fstat(file.fd, &info) != 0) return fail(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail("it is a directory");
  std::string text;
  if (S_ISREG(info.st_mode)) {
    if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large();
    text.reserve(static_cast<size_t>(info.st_size) + 1);
  }
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = ::read(file.fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(std::strerror(errno));
    if (got == 0) return text;
    if (text.size() + static_cast<size_t>(got) > max_bytes) return too_large();
    text.append(buffer, static_cast<size_t>(got));
  }
}

bool CanWriteFile(const std::string& path, Diagnostics& diags) {
  if (path == "-") return true;
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return CannotWrite(path, diags);
  }
  if (exists && WouldLoseSource(path, info, diags)) return false;
  if (exists && !S_ISREG(info.st_mode)) return ::access(path.c_str(), W_OK) == 0 || CannotWrite(path, diags);
  std::string temporary = TargetOf(path) + ".XXXXXX";
  Descriptor file;
  file.fd = ::mkstemp(temporary.data());
  if (file.fd < 0) return CannotWrite(path, diags);
  ::unlink(temporary.c_str());
  return true;
}

bool WriteFile(const std::string& path, std::string_view bytes, Diagnostics& diags) {
  if (path == "-") return WriteAll(STDOUT_FILENO, bytes) || CannotWrite("<stdout>", diags);

  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return CannotWrite(path, diags);
  }
  if (exists && WouldLoseSource(path, info, diags)) return false;
  if (exists && !S_ISREG(info.st_mode)) {
    Descriptor device;
    device.fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (device.fd < 0 || !WriteAll(device.fd, bytes)) return CannotWrite(path, diags);
    return true;
  }

  std::string target = TargetOf(path);
  std::string temporary = target + ".XXXXXX";
  Descriptor file;
  file.fd = ::mkstemp(temporary.data());
  if (file.fd < 0) return CannotWrite(path, diags);
  RemoveOnInterrupt(temporary.c_str());
  mode_t mask = ::umask(0);
  ::umask(mask);
  mode_t mode = exists ? info.st_mode & 0777 : 0666 & ~mask;
  bool written = ::fchmod(file.fd, mode) == 0 && WriteAll(file.fd, bytes) &&
                 ::rename(temporary.c_str(), target.c_str()) == 0;
  int error = errno;
  if (!written) ::unlink(temporary.c_str());
  RemoveOnInterrupt(nullptr);
  errno = error;
  return written || CannotWrite(path, diags);
}

}  // namespace df
