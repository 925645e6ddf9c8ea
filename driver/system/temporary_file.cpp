#include "driver/system/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "driver/system/descriptor.h"
#include "driver/system/signals.h"

namespace df {
namespace {

constexpr std::string_view kMark = ".dfc-";
constexpr std::string_view kOpen = "XXXXXX";  // what mkstemp puts in
constexpr size_t kLongestName = 255;          // of a file, on all systems of today

// "folder/target.dfc-": what the names begin with. Of a long name the end is left out.
std::string Stem(const std::string& target) {
  const size_t slash = target.rfind('/');
  const size_t folder = slash == std::string::npos ? 0 : slash + 1;
  return target.substr(0, folder + std::min(target.size() - folder, kLongestName - kMark.size() - kOpen.size())) + std::string(kMark);
}

// Removes the file if a process of this user has left it which lives no more.
void RemoveIfLeft(const std::string& path) {
  struct stat info, now;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  // Who gets the lock has it until the file is gone.
  if (file.fd < 0 || ::flock(file.fd, LOCK_EX | LOCK_NB) != 0) return;
  if (::fstat(file.fd, &now) != 0 || now.st_dev != info.st_dev || now.st_ino != info.st_ino) return;
  ::unlink(path.c_str());
}

void RemoveLeft(const std::string& stem) {
  static std::set<std::string> looked_at;  // once in a process is enough: what it leaves itself goes when it ends
  if (!looked_at.insert(stem).second) return;
  const size_t slash = stem.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : stem.substr(0, slash + 1);
  const std::string_view begin = std::string_view(stem).substr(folder.size());
  std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.empty() ? "." : folder.c_str()), &::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() != begin.size() + kOpen.size() || !name.starts_with(begin)) continue;
    const std::string_view chosen = name.substr(begin.size());
    if (std::all_of(chosen.begin(), chosen.end(), [](unsigned char c) { return std::isalnum(c); })) RemoveIfLeft(folder + std::string(name));
  }
}

}  // namespace

TemporaryFile::TemporaryFile(std::string target) : target_(std::move(target)) {
  const std::string stem = Stem(target_);
  RemoveLeft(stem);
  for (;;) {
    name_ = stem + std::string(kOpen);
    fd_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (fd_ < 0) return;
    RemoveOnInterrupt(name_.c_str());
    // Somebody who cleans up may have had the lock first: then the file is gone, and another one is made.
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat info;
    if (::fstat(fd_, &info) != 0 || info.st_nlink > 0) return;
    RemoveOnInterrupt(nullptr);
    ::close(fd_);
  }
}

bool TemporaryFile::TakePlace() {
  if (::rename(name_.c_str(), target_.c_str()) != 0) return false;
  name_.clear();
  return true;
}

TemporaryFile::~TemporaryFile() {
  if (fd_ < 0) return;
  const int error = errno;
  if (!name_.empty()) ::unlink(name_.c_str());
  RemoveOnInterrupt(nullptr);
  ::close(fd_);
  errno = error;
}

}  // namespace df
