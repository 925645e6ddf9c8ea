// What a run asks of files, folders and variables: see file_access.h.
#include "driver/system/file_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "driver/system/beneath.h"
#include "runtime/value/io_error.h"
#include "runtime/value/value.h"

extern char** environ;

namespace df {
namespace {

using Answer = Host::Answer;

constexpr size_t kChunk = 1 << 15;
constexpr int kGlance = 50;  // milliseconds between two looks at whether the run ends

Answer Fault(IoKind kind, std::string_view place, std::string_view name, std::string_view details) {
  return {-1, IoErrorParts(kind, place, name, details), true};
}

// Of the call that has just failed.
Answer Fault(std::string_view place, std::string_view name) {
  const int error = errno;
  if (error == EXDEV) return Fault(IoKind::PermissionDenied, place, name, "a link leads out of the folder that is granted");
  return Fault(IoKindOf(error), place, name, std::strerror(error));
}

std::string CurrentFolder() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) ? path : "";
}

bool IsBeneath(const std::string& path, const std::string& folder, std::string* rest) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  if (path.size() == folder.size()) return rest->clear(), true;
  if (folder != "/" && path[folder.size()] != '/') return false;
  *rest = path.substr(folder == "/" ? 1 : folder.size() + 1);
  return true;
}

int OpenAt(int folder, const std::string& name, bool beneath, int flags, mode_t mode = 0666) {
  flags |= O_CLOEXEC;
  return beneath ? OpenBeneath(folder, name, flags, mode) : ::openat(folder, name.c_str(), flags, mode);
}

// The folder that a name stands in, and the name there.
struct Entry {
  Descriptor folder;
  std::string name;
  Entry(int from, const std::string& path, bool beneath)
      : folder(OpenAt(from, Before(path), beneath, O_PATH | O_DIRECTORY)), name(path.substr(path.find_last_of('/') + 1)) {
    if (name.empty()) name = ".";
  }
  static std::string Before(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  }
};

std::string WithoutSlashes(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

// Removes a folder and all in it; links are not followed.
bool RemoveAll(int folder, const char* name) {
  if (::unlinkat(folder, name, 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  const int inside = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return false;
  DIR* listing = ::fdopendir(inside);
  if (!listing) return ::close(inside), false;
  bool good = true;
  while (const dirent* row = good ? ::readdir(listing) : nullptr) {
    const std::string_view entry = row->d_name;
    if (entry != "." && entry != "..") good = RemoveAll(inside, row->d_name);
  }
  const int error = errno;
  ::closedir(listing);
  errno = error;
  return good && ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

}  // namespace

FileAccess::FileAccess(Grants grants) : grants_(std::move(grants)) {
  auto take = [](const std::vector<std::string>& names, std::vector<Granted>& to) {
    for (const std::string& name : names) {
      Granted& made = to.emplace_back();
      made.written = PlainPath(CurrentFolder(), name);
      char real[PATH_MAX];
      made.real = ::realpath(name.c_str(), real) ? real : made.written;
      made.folder = std::make_unique<Descriptor>(::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
  };
  take(grants_.read, read_);
  take(grants_.write, write_);
}

FileAccess::~FileAccess() {
  for (auto& [number, file] : files_) ::close(file.fd);
}

bool FileAccess::Find(std::string_view name, bool writes, Place* place) const {
  if (grants_.all) return *place = {AT_FDCWD, std::string(name), false}, true;
  const std::string path = PlainPath(CurrentFolder(), name);
  for (const Granted& granted : writes ? write_ : read_) {
    std::string rest;
    if (granted.folder->fd < 0) continue;
    if (!IsBeneath(path, granted.written, &rest) && !IsBeneath(path, granted.real, &rest)) continue;
    return *place = {granted.folder->fd, rest.empty() ? "." : rest, true}, true;
  }
  return false;
}

Answer FileAccess::Refused(std::string_view place, std::string_view name, const char* option) const {
  return Fault(IoKind::PermissionDenied, place, name, std::string("the run may not: `") + option + "` grants it");
}

// ---------------------------------------------------------------- questions

Answer FileAccess::Ask(ir::Question what, int64_t number, std::string_view text) {
  using enum ir::Question;
  const std::string name(text);
  if (what != ir::Question::Rename && text.find('\0') != std::string_view::npos)
    return Fault(IoKind::InvalidArgument, "", text.substr(0, text.find('\0')), "a NUL in a name");
  switch (what) {
    case ir::Question::Open: return OpenFile(number, name);
    case FileExists: return Exists(name, false);
    case DirectoryExists: return Exists(name, true);
    case ir::Question::List: return this->List(name);
    case MakeDirectory: return MakeFolder(name);
    case MakeDirectories: return number ? MakeFolders(name) : Exists(name, true).number ? Answer{} : MakeFolder(name);
    case RemoveFile: return Remove(name, false);
    case RemoveDirectory: return Remove(name, true);
    case ir::Question::RemoveTree: return this->RemoveTree(name);
    case ir::Question::Rename: return this->Rename(number, text);
    case CurrentDirectory:
      if (!grants_.all && read_.empty() && write_.empty()) return Refused("getCurrentDirectory", "", "--allow-read=DIR");
      return {0, CurrentFolder()};
    case Variable: {
      if (!grants_.all && !grants_.environment) return Refused("getEnv", name, "--allow-env");
      const char* value = name.empty() || name.find('=') != std::string::npos ? nullptr : std::getenv(name.c_str());
      return {value ? 1 : 0, value ? value : ""};
    }
    case Environment: {
      if (!grants_.all && !grants_.environment) return Refused("getEnvironment", "", "--allow-env");
      Answer all;
      for (char** row = environ; row && *row; ++row) (all.text += *row) += '\0';
      return all;
    }
    default: return Fault(IoKind::UnsupportedOperation, "", name, "");
  }
}

Answer FileAccess::OpenFile(int64_t mode, const std::string& name) {
  constexpr std::string_view kPlace = "openFile";
  const bool writes = mode != 0, reads = mode == 0 || mode == 3;
  Place place, other;
  if (writes && !Find(name, true, &place)) return Refused(kPlace, name, "--allow-write=DIR");
  if (reads && !Find(name, false, writes ? &other : &place)) return Refused(kPlace, name, "--allow-read=DIR");
  int flags = O_NOCTTY | O_NONBLOCK | (mode == 0 ? O_RDONLY : mode == 3 ? O_RDWR : O_WRONLY) | (writes ? O_CREAT : 0) | (mode == 2 ? O_APPEND : 0);
  const int fd = OpenAt(place.folder, place.name, place.beneath, flags);
  if (fd < 0) return Fault(kPlace, name);
  Open made{fd, {}, {}, writes, false};
  struct stat facts;
  if (::fstat(fd, &facts) != 0 || S_ISDIR(facts.st_mode)) {
    ::close(fd);
    return Fault(IoKind::InappropriateType, kPlace, name, "is a directory");
  }
  made.device = facts.st_dev;
  made.inode = facts.st_ino;
  made.regular = S_ISREG(facts.st_mode);
  // As in Haskell 2010: many read a file, or one writes it.
  for (const auto& [number, file] : files_)
    if (made.regular && file.device == made.device && file.inode == made.inode && (writes || file.writes)) {
      ::close(fd);
      return Fault(IoKind::ResourceBusy, kPlace, name, "file is locked");
    }
  if (mode == 1 && made.regular && ::ftruncate(fd, 0) != 0) {
    Answer answer = Fault(kPlace, name);
    ::close(fd);
    return answer;
  }
  files_[next_] = made;
  return {next_++};
}

Answer FileAccess::Exists(const std::string& name, bool folder) {
  Place place;
  if (!Find(name, false, &place)) return Refused(folder ? "doesDirectoryExist" : "doesFileExist", name, "--allow-read=DIR");
  const Descriptor there(OpenAt(place.folder, place.name, place.beneath, O_PATH));
  struct stat facts;
  return {there.fd >= 0 && ::fstat(there.fd, &facts) == 0 && S_ISDIR(facts.st_mode) == folder};
}

Answer FileAccess::List(const std::string& name) {
  constexpr std::string_view kPlace = "getDirectoryContents:openDirStream";
  Place place;
  if (!Find(name, false, &place)) return Refused(kPlace, name, "--allow-read=DIR");
  const int fd = OpenAt(place.folder, place.name, place.beneath, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return Fault(kPlace, name);
  DIR* listing = ::fdopendir(fd);
  if (!listing) return ::close(fd), Fault(kPlace, name);
  Answer answer;
  while (const dirent* row = ::readdir(listing))
    if (std::string_view entry = row->d_name; entry != "." && entry != "..") (answer.text += entry) += '\0';
  ::closedir(listing);
  return answer;
}

Answer FileAccess::MakeFolder(const std::string& name) {
  Place place;
  if (!Find(name, true, &place)) return Refused("createDirectory", name, "--allow-write=DIR");
  const Entry entry(place.folder, WithoutSlashes(place.name), place.beneath);
  return entry.folder.fd < 0 || ::mkdirat(entry.folder.fd, entry.name.c_str(), 0777) != 0 ? Fault("createDirectory", name) : Answer{};
}

// Those above it that are missing first.
Answer FileAccess::MakeFolders(const std::string& name) {
  for (size_t at = 1; at <= name.size(); ++at) {
    if (at < name.size() && name[at] != '/') continue;
    const std::string part = name.substr(0, at);
    Place place;
    struct stat facts;
    if (Find(part, true, &place)) {
      const Descriptor there(OpenAt(place.folder, place.name, place.beneath, O_PATH));
      if (there.fd >= 0 && ::fstat(there.fd, &facts) == 0 && S_ISDIR(facts.st_mode)) continue;
    } else if (at < name.size()) {
      continue;  // above what is granted
    }
    if (Answer answer = MakeFolder(part); answer.failed) return answer;
  }
  return {};
}

Answer FileAccess::Remove(const std::string& name, bool folder) {
  const std::string_view call = folder ? "removeDirectory" : "removeLink";
  Place place;
  if (!Find(name, true, &place)) return Refused(call, name, "--allow-write=DIR");
  const Entry entry(place.folder, WithoutSlashes(place.name), place.beneath);
  return entry.folder.fd < 0 || ::unlinkat(entry.folder.fd, entry.name.c_str(), folder ? AT_REMOVEDIR : 0) != 0 ? Fault(call, name) : Answer{};
}

Answer FileAccess::RemoveTree(const std::string& name) {
  Place place;
  if (!Find(name, true, &place)) return Refused("removeDirectoryRecursive", name, "--allow-write=DIR");
  const Entry entry(place.folder, WithoutSlashes(place.name), place.beneath);
  struct stat facts;
  if (entry.folder.fd < 0 || ::fstatat(entry.folder.fd, entry.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return Fault("removeDirectoryRecursive:getSymbolicLinkStatus", name);
  if (!S_ISDIR(facts.st_mode)) return Fault(IoKind::InappropriateType, "removeDirectoryRecursive", name, "not a directory");
  return RemoveAll(entry.folder.fd, entry.name.c_str()) ? Answer{} : Fault("removeDirectoryRecursive", name);
}

Answer FileAccess::Rename(int64_t what, std::string_view names) {
  constexpr std::string_view kCalls[] = {"renameFile", "renameDirectory", "renamePath"};
  const size_t call = static_cast<size_t>(std::clamp<int64_t>(what, 0, 2));
  const size_t end = names.find('\0');
  if (end == std::string_view::npos || names.find('\0', end + 1) != std::string_view::npos)
    return Fault(IoKind::InvalidArgument, kCalls[call], names.substr(0, std::min(end, names.size())), "a NUL in a name");
  const std::string from(names.substr(0, end)), to(names.substr(end + 1));
  Place old_place, new_place;
  for (const auto& [name, place] : {std::pair(&from, &old_place), std::pair(&to, &new_place)})
    if (!Find(*name, true, place)) return Refused(kCalls[call], *name, "--allow-write=DIR");
  const Entry old_entry(old_place.folder, WithoutSlashes(old_place.name), old_place.beneath);
  const Entry new_entry(new_place.folder, WithoutSlashes(new_place.name), new_place.beneath);
  struct stat facts;
  if (call < 2 && old_entry.folder.fd >= 0 && ::fstatat(old_entry.folder.fd, old_entry.name.c_str(), &facts, 0) == 0 && S_ISDIR(facts.st_mode) == (call == 0))
    return Fault(IoKind::InappropriateType, call ? "renameDirectory:renameDirectory" : "renameFile", from, call ? "not a directory" : "is a directory");
  constexpr std::string_view kPlaces[] = {"renameFile:renamePath:rename", "renameDirectory:renamePath:rename", "renamePath:rename"};
  if (old_entry.folder.fd < 0 || new_entry.folder.fd < 0 ||
      ::renameat(old_entry.folder.fd, old_entry.name.c_str(), new_entry.folder.fd, new_entry.name.c_str()) != 0)
    return errno == EXDEV && !old_place.beneath ? Fault(IoKind::UnsupportedOperation, kPlaces[call], from, std::strerror(EXDEV)) : Fault(kPlaces[call], from);
  return {};
}

// ---------------------------------------------------------------- open files

Answer FileAccess::Read(int64_t file, std::string& bytes, const std::function<bool()>& ends) {
  auto found = files_.find(file);
  if (found == files_.end()) return {EBADF, "", true};
  const size_t before = bytes.size();
  bytes.resize(before + kChunk);
  for (;;) {
    const ssize_t got = ::read(found->second.fd, bytes.data() + before, kChunk);
    const int error = errno;
    if (got < 0 && (error == EAGAIN || error == EINTR)) {
      pollfd wait = {found->second.fd, POLLIN, 0};
      if (!ends()) {
        ::poll(&wait, 1, kGlance);
        continue;
      }
      bytes.resize(before);
      throw HostInterrupted();
    }
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return got < 0 ? Answer{error, "", true} : Answer{};
  }
}

Answer FileAccess::Write(int64_t file, std::string_view bytes, const std::function<bool()>& ends) {
  auto found = files_.find(file);
  if (found == files_.end()) return {EBADF, "", true};
  while (!bytes.empty()) {
    const ssize_t written = ::write(found->second.fd, bytes.data(), bytes.size());
    const int error = errno;
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (error != EAGAIN && error != EINTR) {
      return {error, "", true};
    } else if (ends()) {
      return {EINTR, "", true};
    } else {
      pollfd wait = {found->second.fd, POLLOUT, 0};
      ::poll(&wait, 1, kGlance);
    }
  }
  return {};
}

Answer FileAccess::Size(int64_t file) {
  auto found = files_.find(file);
  struct stat facts;
  if (found == files_.end() || ::fstat(found->second.fd, &facts) != 0) return {EBADF, "", true};
  return {facts.st_size};
}

void FileAccess::Close(int64_t file) {
  auto found = files_.find(file);
  if (found == files_.end()) return;
  ::close(found->second.fd);
  files_.erase(found);
}

}  // namespace df
