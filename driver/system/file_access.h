// driver/system/file_access.h
//
// The files, folders and variables that a run may use, and what it asks of them (docs/io.md). What a graph from a stranger names is
// looked up beneath the folders that were granted, and nowhere else, whatever links stand there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/system/descriptor.h"
#include "runtime/run/host.h"

namespace df {

// What the command line grants.
struct Grants {
  bool all = false;  // what the user may
  std::vector<std::string> read, write;  // beneath these folders
  bool environment = false;
};

class FileAccess {
 public:
  explicit FileAccess(Grants grants);
  ~FileAccess();
  FileAccess(const FileAccess&) = delete;
  FileAccess& operator=(const FileAccess&) = delete;

  Host::Answer Ask(ir::Question what, int64_t number, std::string_view text);
  // Of open files; a failure's number is the system's. Waits end, with HostInterrupted or EINTR, when `ends` says so.
  Host::Answer Read(int64_t file, std::string& bytes, const std::function<bool()>& ends);
  Host::Answer Write(int64_t file, std::string_view bytes, const std::function<bool()>& ends);
  Host::Answer Size(int64_t file);
  void Close(int64_t file);

 private:
  // Where a name is looked up: from a folder, and whether it may not lead out of it.
  struct Place {
    int folder;
    std::string name;
    bool beneath;
  };
  struct Granted {
    std::string written, real;  // the folder's path, absolute; without links
    std::unique_ptr<Descriptor> folder;
  };
  struct Open {
    int fd;
    dev_t device;
    ino_t inode;
    bool writes, regular;
  };

  bool Find(std::string_view name, bool writes, Place* place) const;
  Host::Answer OpenFile(int64_t mode, const std::string& name);
  Host::Answer List(const std::string& name);
  Host::Answer Exists(const std::string& name, bool folder);
  Host::Answer MakeFolder(const std::string& name);
  Host::Answer MakeFolders(const std::string& name);
  Host::Answer Remove(const std::string& name, bool folder);
  Host::Answer RemoveTree(const std::string& name);
  Host::Answer Rename(int64_t what, std::string_view names);
  Host::Answer Refused(std::string_view place, std::string_view name, const char* option) const;

  Grants grants_;
  std::vector<Granted> read_, write_;
  std::map<int64_t, Open> files_;
  int64_t next_ = 1;
};

}  // namespace df
