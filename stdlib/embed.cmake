# Writes the library's modules as a C++ source: cmake -DMODULES=.. -DFILES=.. -DTO=.. -P embed.cmake, with a file
# for each module
#
# Every byte is written as an escape, so that no text can end the literal early; a literal per 64 bytes keeps
# the lines short.
set(out "// Made by stdlib/embed.cmake from the library's .df files.\n#include \"stdlib/stdlib.h\"\n\n")
string(APPEND out "namespace df {\nnamespace {\n\nconstexpr LibraryModule kModules[] = {\n")
foreach(module file IN ZIP_LISTS MODULES FILES)
  string(REPLACE "/" "." name "${module}")
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(LENGTH "${bytes}" length)
  math(EXPR size "${length} / 4")
  string(APPEND out "    {\"${name}\", {\n")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${bytes}" ${at} 256 piece)
    string(APPEND out "     \"${piece}\"\n")
    math(EXPR at "${at} + 256")
  endwhile()
  # With its size: a compiler that counts the characters of a constant gives up here.
  string(APPEND out "     , ${size}}},\n")
endforeach()
string(APPEND out "};\n\n}  // namespace\n\n")
string(APPEND out "llvm::ArrayRef<LibraryModule> LibraryModules() { return kModules; }\n\n}  // namespace df\n")
file(WRITE "${TO}" "${out}")
