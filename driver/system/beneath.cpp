// Lookups beneath a folder: see beneath.h.
#include "driver/system/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "driver/system/descriptor.h"

namespace df {
namespace {

std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// Folder by folder, none of them a link.
int OpenWithoutLinks(int folder, const std::string& path, int flags, mode_t mode) {
  const std::vector<std::string_view> parts = Parts(path);
  int at = folder;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const int next = ::openat(at, std::string(parts[i]).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    if (at != folder) ::close(at);
    errno = error;
    if (next < 0) return -1;
    at = next;
  }
  const int opened = ::openat(at, parts.empty() ? "." : std::string(parts.back()).c_str(), flags | O_NOFOLLOW, mode);
  const int error = errno;
  if (at != folder) ::close(at);
  errno = error;
  return opened;
}

}  // namespace

std::string PlainPath(std::string_view from, std::string_view path) {
  std::vector<std::string_view> all;
  if (path.empty() || path[0] != '/') all = Parts(from);
  for (std::string_view part : Parts(path)) all.push_back(part);
  std::vector<std::string_view> kept;
  for (std::string_view part : all) {
    if (part == ".") continue;
    if (part != "..") kept.push_back(part);
    else if (!kept.empty()) kept.pop_back();
  }
  std::string plain;
  for (std::string_view part : kept) (plain += '/') += part;
  return plain.empty() ? "/" : plain;
}

int OpenBeneath(int folder, const std::string& path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = flags & O_CREAT ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const std::string name = path.empty() ? "." : path;
  for (int again = 0; again < 8; ++again) {
    const long opened = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
    if (opened >= 0) return static_cast<int>(opened);
    if (errno == EAGAIN || errno == EINTR) continue;  // something was renamed on the way
    if (errno != ENOSYS && errno != EPERM && errno != E2BIG) return -1;
    return OpenWithoutLinks(folder, name, flags, mode);
  }
  return -1;
}

}  // namespace df
