#include "backends/net/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

namespace df::net {
namespace {

constexpr std::string_view kFirstLine = "# dfc cluster key 1. Keep it secret: who has it is a member of the cluster.\n";
constexpr std::string_view kZ85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr size_t kKeySize = 40;
constexpr size_t kLargestFile = 1 << 20;

bool IsKey(std::string_view text) { return text.size() == kKeySize && text.find_first_not_of(kZ85) == std::string_view::npos; }

struct File {
  int fd = -1;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
};

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// A new name for the file, unless there is one of that name.
bool TakeName(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // A file system that knows no such rename: a second name, and the first one goes.
  return ::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0;
}

// What is wrong with who may read the file; empty if nothing.
std::string WrongMode(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return fmt::format("`{}` is no plain file", path);
  const bool of_root = info.st_uid == 0;
  if (!of_root && info.st_uid != ::geteuid()) return fmt::format("`{}` belongs to another user", path);
  const mode_t allowed = of_root && ::geteuid() != 0 ? 0740 : 0700;
  if ((info.st_mode & 0777 & ~allowed) == 0) return "";
  return fmt::format("`{}` has mode {:04o}, so others can read or write it: `chmod 600 {}` (a Kubernetes secret: `defaultMode: 0440` with an `fsGroup`, "
                     "or 0400 if the pod runs as root)", path, info.st_mode & 0777, path);
}

}  // namespace

std::string KeyFileText(const ClusterKeys& keys) {
  std::string text(kFirstLine);
  text += fmt::format("server-public  {}\nserver-secret  {}\nclient-public  {}\nclient-secret  {}\n", keys.server.public_key, keys.server.secret_key,
                      keys.client.public_key, keys.client.secret_key);
  for (const std::string& key : keys.allowed) text += fmt::format("allowed        {}\n", key);
  return text;
}

std::optional<ClusterKeys> ParseKeyFile(std::string_view text, std::string* why) {
  const auto refuse = [&](std::string reason) {
    *why = std::move(reason);
    return std::nullopt;
  };
  if (!text.starts_with("# dfc cluster key 1")) return refuse("it does not begin with `# dfc cluster key 1`");
  ClusterKeys keys;
  const std::pair<std::string_view, std::string*> fields[] = {{"server-public", &keys.server.public_key},
                                                              {"server-secret", &keys.server.secret_key},
                                                              {"client-public", &keys.client.public_key},
                                                              {"client-secret", &keys.client.secret_key}};
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.starts_with("# ")) continue;
    const size_t end = line.find_first_of(" \t"), begin = line.find_first_not_of(" \t", end);
    const std::string_view name = line.substr(0, end), key = begin == std::string_view::npos ? "" : line.substr(begin);
    if (!IsKey(key)) return refuse(fmt::format("line {}: no key of {} characters stands behind the name", number, kKeySize));
    if (name == "allowed") {
      keys.allowed.emplace_back(key);
      continue;
    }
    std::string* field = nullptr;
    for (const auto& [known, to] : fields)
      if (known == name) field = to;
    if (!field) return refuse(fmt::format("line {}: neither a key's name nor `allowed`", number));
    if (!field->empty()) return refuse(fmt::format("line {}: `{}` for a second time", number, name));
    *field = key;
  }
  for (const auto& [name, to] : fields)
    if (to->empty()) return refuse(fmt::format("there is no `{}`", name));
  if (keys.allowed.empty()) return refuse("nobody is `allowed`");
  return keys;
}

bool WriteKeyFile(const std::string& path, const ClusterKeys& keys, std::string* why) {
  std::string temporary = path + ".dfc-XXXXXX";
  bool made = false;
  const auto fail = [&](int error) {
    if (made) ::unlink(temporary.c_str());
    *why = error == EEXIST ? fmt::format("`{}` is there already; another key would lock out who has this one", path)
                           : fmt::format("cannot write `{}`: {}", path, std::strerror(error));
    return false;
  };
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) return fail(EEXIST);
  File file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return fail(errno);
  made = true;
  if (::fchmod(file.fd, 0600) != 0 || !WriteAll(file.fd, KeyFileText(keys)) || ::fsync(file.fd) != 0) return fail(errno);
  return TakeName(temporary, path) || fail(errno);
}

std::optional<ClusterKeys> ReadKeyFile(const std::string& path, std::string* why) {
  // A pipe that nobody writes into is not waited for.
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    *why = fmt::format("cannot read `{}`: {}", path, std::strerror(errno));
    return std::nullopt;
  }
  if (*why = WrongMode(path, info); !why->empty()) return std::nullopt;
  std::string text(kLargestFile + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      *why = fmt::format("cannot read `{}`: {}", path, std::strerror(errno));
      return std::nullopt;
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  std::string reason;
  std::optional<ClusterKeys> keys = size > kLargestFile ? std::nullopt : ParseKeyFile(text, &reason);
  if (!keys) *why = fmt::format("`{}` is no key file: {}", path, reason.empty() ? "it is too long" : reason);
  return keys;
}

}  // namespace df::net
