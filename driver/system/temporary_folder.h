// driver/system/temporary_folder.h
//
// A folder of this process's own, among the system's temporary files, which goes with all that is in it.
#pragma once

#include <string>

namespace df {

class TemporaryFolder {
 public:
  // `dfc-WHAT-` and six more characters.
  explicit TemporaryFolder(const std::string& what);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // "" if there is none: errno says why.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace df
