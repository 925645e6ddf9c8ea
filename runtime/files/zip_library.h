// runtime/files/zip_library.h
//
// libzip, when a zip file is read or written.
#pragma once

#include <string>

#include <zip.h>

namespace df {

#define DF_ZIP_FUNCTIONS(F)                                                                                                       \
  F(zip_close) F(zip_discard) F(zip_error_fini) F(zip_error_init) F(zip_error_strerror) F(zip_fclose) F(zip_file_add)               \
  F(zip_file_set_dostime) F(zip_fopen_index) F(zip_fread) F(zip_get_num_entries) F(zip_open_from_source) F(zip_set_file_compression) \
  F(zip_source_buffer) F(zip_source_buffer_create) F(zip_source_close) F(zip_source_free) F(zip_source_keep) F(zip_source_open)       \
  F(zip_source_read) F(zip_source_stat) F(zip_stat_index)

struct ZipLibrary {
#define DF_ZIP_FUNCTION(name) decltype(&::name) name = nullptr;
  DF_ZIP_FUNCTIONS(DF_ZIP_FUNCTION)
#undef DF_ZIP_FUNCTION
};

// Null, and why, if this machine has no libzip.
const ZipLibrary* LoadZip(std::string* why);

}  // namespace df
