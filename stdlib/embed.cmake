# Writes a C++ source that holds the library's modules: cmake -DMODULES=.. -DFILES=.. -DTO=.. -P embed.cmake, with a file for each module.
#
# The assembler reads the files themselves. What is in them stands as a hash beside, so that a cache of compiled files sees a change.
set(texts "")
set(rows "")
set(at 0)
foreach(module file IN ZIP_LISTS MODULES FILES)
  string(REPLACE "/" "." name "${module}")
  file(SIZE "${file}" size)
  file(SHA256 "${file}" hash)
  string(APPEND texts "    \"dfc_module_${at}: .incbin \\\"${file}\\\" /* ${hash} */\\n\"\n")
  string(APPEND declared "extern const char module_${at}[] __asm__(\"dfc_module_${at}\") __attribute__((visibility(\"hidden\")));\n")
  string(APPEND rows "    {\"${name}\", {module_${at}, ${size}}},\n")
  math(EXPR at "${at} + 1")
endforeach()
file(WRITE "${TO}" "// Made by stdlib/embed.cmake from the library's .df files.
#include \"stdlib/stdlib.h\"

__asm__(
    \".pushsection .rodata\\n\"
${texts}    \".popsection\\n\");

namespace df {

extern \"C\" {
${declared}}

namespace {

constexpr LibraryModule kModules[] = {
${rows}};

}  // namespace

llvm::ArrayRef<LibraryModule> LibraryModules() { return kModules; }

}  // namespace df
")
