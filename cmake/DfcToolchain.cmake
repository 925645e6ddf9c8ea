# Compiler settings shared by every target, and dfc_library(), which makes one library per folder.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache refuses to cache what uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

add_library(dfc_options INTERFACE)
target_include_directories(dfc_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
# A switch over words of a table, as those of tagged_ir/op_facts.h, has them all: a new one is an error where it is not known.
target_compile_options(dfc_options INTERFACE -Wall -Wextra -Werror=switch -Wno-unused-parameter
                                             -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of string copies that cannot happen where it optimises.
  target_compile_options(dfc_options INTERFACE -fpch-preprocess
                         $<$<NOT:$<CONFIG:Debug>>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict;-Wno-array-bounds>)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Nodes of trees are aggregates with a base class, whose braces are left out. stable_sort of libstdc++ 12 calls what it
  # deprecates itself; GCC, which knows a system header's own calls, watches over real ones.
  target_compile_options(dfc_options INTERFACE -Wno-missing-braces -Wno-deprecated-declarations -Wno-overloaded-virtual)
endif()
if(DFC_VERIFY)
  target_compile_definitions(dfc_options INTERFACE DFC_VERIFY=1)
endif()
if(DFC_SANITIZE)
  target_compile_options(dfc_options INTERFACE -fsanitize=${DFC_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=all)
  target_link_options(dfc_options INTERFACE -fsanitize=${DFC_SANITIZE})
endif()

# dfc_join_sources(target): with DFC_JOIN_SOURCES up to eight sources of it are compiled as one. Not those of what runs programs, whose code
# would depend on who stands beside whom (tests/bench/instructions.json), nor the driver's, of which the shared libraries take what they need.
function(dfc_join_sources target)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(DFC_JOIN_SOURCES AND folder MATCHES "^(lower|parser|typecheck)(/|$)")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# dfc_library(name SOURCES a.cpp b.cpp DEPENDS dfc_x ...): a static library with the shared settings. With DFC_SHARED_ROOMS a shared
# one, which links only if all that it calls is in what it depends on (tests/rooms.txt).
function(dfc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(DFC_SHARED_ROOMS)
    add_library(${name} SHARED ${ARG_SOURCES})
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
    # All take the precompiled headers of one of them, with the macros of that one.
    set_target_properties(${name} PROPERTIES DEFINE_SYMBOL "")
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  target_link_libraries(${name} PUBLIC dfc_options ${ARG_DEPENDS})
  if(DFC_PCH AND NOT name STREQUAL dfc_lang)
    target_precompile_headers(${name} REUSE_FROM dfc_lang)
  endif()
  dfc_join_sources(${name})
endfunction()

# dfc_soname(variable libx.so): the name by which programs ask for a shared library, "libx.so.4".
function(dfc_soname variable library)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE said ERROR_QUIET)
  if(NOT said MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is no shared library")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
