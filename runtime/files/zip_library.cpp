#include "runtime/files/zip_library.h"

#include "lang/late_library.h"

namespace df {
namespace {

struct Loaded {
  LateLibrary library{DFC_ZIP_SONAME};
  ZipLibrary functions;

  Loaded() {
#define DF_ZIP_FUNCTION(name) functions.name = reinterpret_cast<decltype(&::name)>(library.Find(#name));
    DF_ZIP_FUNCTIONS(DF_ZIP_FUNCTION)
#undef DF_ZIP_FUNCTION
  }
};

}  // namespace

const ZipLibrary* LoadZip(std::string* why) {
  static const Loaded loaded;
  if (loaded.library.why().empty()) return &loaded.functions;
  *why = loaded.library.why();
  return nullptr;
}

}  // namespace df
