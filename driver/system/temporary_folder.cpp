#include "driver/system/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace df {

TemporaryFolder::TemporaryFolder(const std::string& what) {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) {
    errno = error.value();
    return;
  }
  std::string name = (base / ("dfc-" + what + "-XXXXXX")).string();
  if (::mkdtemp(name.data())) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace df
