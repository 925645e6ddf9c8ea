#include "backends/net/address.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <sys/un.h>

#include <fmt/format.h>

namespace df::net {
namespace {

bool IsNumber(std::string_view text, unsigned long most) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }) &&
         std::stoul(std::string(text)) <= most;
}

// "127.x.y.z", as four numbers: a name such as 127.example is not one.
bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  if (!host.starts_with("127.")) return false;
  for (int i = 0; i < 4; ++i) {
    const std::string_view part = host.substr(0, host.find('.'));
    if (!IsNumber(part, 255) || (part.size() == host.size()) != (i == 3)) return false;
    host.remove_prefix(std::min(host.size(), part.size() + 1));
  }
  return true;
}

std::string WrongTcp(const std::string& address, std::string_view rest, bool has_keys, bool open_loopback) {
  const size_t colon = rest.rfind(':');
  const std::string_view host = rest.substr(0, colon), port = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  if (host.empty() || !(IsNumber(port, 65535) || port == "*")) return fmt::format("`{}` is not of the form tcp://HOST:PORT", address);
  const bool loopback = IsLoopback(host);
  if (has_keys || (loopback && open_loopback)) return "";
  if (loopback) return fmt::format("`{}` is open to everybody who works on this machine: this needs a key (`dfc keygen`, `--key FILE`)", address);
  return fmt::format("`{}` can be reached from other machines: this needs a key (`dfc keygen`, `--key FILE`)", address);
}

std::string WrongIpc(const std::string& address, std::string path, bool has_keys) {
  if (path.empty()) return fmt::format("`{}` is not of the form ipc://PATH", address);
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return fmt::format("the path of `{}` is too long for a socket", address);
  if (has_keys) return "";
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  struct stat info;
  if (path[0] == '@' || ::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return fmt::format("the folder of `{}` is open to others: without a key it has to be this user's, with mode 0700", address);
  return "";
}

}  // namespace

std::string WrongAddress(const std::string& address, bool has_keys, bool open_loopback) {
  if (address.find('\0') != std::string::npos) return "an address with a zero byte";
  if (address.starts_with("tcp://")) return WrongTcp(address, std::string_view(address).substr(6), has_keys, open_loopback);
  if (address.starts_with("ipc://")) return WrongIpc(address, address.substr(6), has_keys);
  return fmt::format("`{}` begins neither with tcp:// nor with ipc://", address);
}

IpcFolder::IpcFolder() {
  // Of the user's session if there is one: it is short, and goes with the session.
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const char* base = *variable ? std::getenv(variable) : "/tmp";
    if (!base || !*base || std::strlen(base) > 60) continue;
    std::string path = std::string(base) + "/dfc-XXXXXX";
    if (!::mkdtemp(path.data())) continue;
    path_ = path;
    return;
  }
}

IpcFolder::~IpcFolder() {
  if (!path_.empty()) RemoveIpcFolder(path_);
}

bool RemoveIpcFolder(const std::string& path) {
  if (std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), &::closedir); entries)
    while (const dirent* entry = ::readdir(entries.get())) ::unlink((path + "/" + entry->d_name).c_str());
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace df::net
