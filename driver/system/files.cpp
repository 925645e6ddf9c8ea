// Writing files: see files.h.
#include "driver/system/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "driver/system/descriptor.h"
#include "driver/system/signals.h"
#include "driver/system/temporary_file.h"

namespace df {
namespace {

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
  TemporaryFile temporary(TargetOf(path));
  return temporary.fd() >= 0 || CannotWrite(path, diags);
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

  TemporaryFile temporary(TargetOf(path));
  if (temporary.fd() < 0) return CannotWrite(path, diags);
  mode_t mask = ::umask(0);
  ::umask(mask);
  mode_t mode = exists ? info.st_mode & 0777 : 0666 & ~mask;
  const bool written = ::fchmod(temporary.fd(), mode) == 0 && WriteAll(temporary.fd(), bytes) && temporary.TakePlace();
  return written || CannotWrite(path, diags);
}

}  // namespace df
