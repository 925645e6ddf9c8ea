// driver/system/temporary_file.h
//
// A file beside another one, whose place it takes once it is whole.
//
// While it lives, its process holds a lock on it, which goes with the process, however that ends. So what a process that was killed has left
// is known by its name, `TARGET.dfc-` and six more characters, and by its lock, which nobody holds: the next one for the same target
// removes it. Where the file system has no locks nothing is removed.
#pragma once

#include <string>

namespace df {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string target);
  // The file goes, unless it has taken the target's place. `errno` stays what it is.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Below 0: there is none, and errno says why.
  int fd() const { return fd_; }
  // False, with errno, if it cannot.
  bool TakePlace();

 private:
  std::string target_, name_;
  int fd_ = -1;
};

}  // namespace df
