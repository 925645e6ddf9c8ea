# What `cmake --install` gives: the program dfc, and the CMake package `dfc` with the target dfc::runtime, a shared
# library that loads and runs compiled graphs, and dfc::compiler, which makes them. It holds LLVM's support code and hides everything but runtime/embed/embed.h and dfc.h.
include(CMakePackageConfigHelpers)

set(parts c_api.cpp inputs.cpp program.cpp run.cpp view.cpp)
list(TRANSFORM parts PREPEND runtime/embed/)
add_library(dfc_embed SHARED ${parts})
target_compile_definitions(dfc_embed PRIVATE DFC_VERSION="${PROJECT_VERSION}")
target_link_libraries(dfc_embed PRIVATE dfc_devices dfc_runtime)
target_include_directories(dfc_embed INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(DFC_PCH)
  target_precompile_headers(dfc_embed REUSE_FROM dfc_lang)
endif()
target_compile_features(dfc_embed INTERFACE cxx_std_20)
target_link_options(dfc_embed PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/embed.map -Wl,--gc-sections)
set_target_properties(dfc_embed PROPERTIES
  OUTPUT_NAME dfc EXPORT_NAME runtime VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/embed.map)

# The compiler as a library, for programs that have sources.
add_library(dfc_compile SHARED compiler/compiler.cpp)
target_link_libraries(dfc_compile PRIVATE dfc_driver)
target_include_directories(dfc_compile INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(dfc_compile INTERFACE cxx_std_20)
target_link_options(dfc_compile PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/compiler.map -Wl,--gc-sections -Wl,--as-needed)
set_target_properties(dfc_compile PROPERTIES
  DISABLE_PRECOMPILE_HEADERS ON OUTPUT_NAME dfc_compiler EXPORT_NAME compiler VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/compiler.map)

# Rooms that are shared libraries of their own are for the build alone.
if(DFC_SHARED_ROOMS)
  return()
endif()
install(TARGETS dfc_embed dfc_compile EXPORT dfcTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES runtime/embed/embed.h runtime/embed/dfc.h compiler/compiler.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dfc)
install(EXPORT dfcTargets NAMESPACE dfc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dfc)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dfcConfig.cmake.in ${CMAKE_BINARY_DIR}/dfcConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dfc)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dfcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dfcConfig.cmake ${CMAKE_BINARY_DIR}/dfcConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dfc)
