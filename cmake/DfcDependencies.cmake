# What the build needs from the distribution; scripts/setup installs it.
find_package(LLVM 19.1 REQUIRED CONFIG)
llvm_map_components_to_libnames(DFC_LLVM_LIBS support)
add_library(dfc_llvm INTERFACE)
target_include_directories(dfc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(dfc_llvm INTERFACE ${DFC_LLVM_LIBS})

find_package(fmt REQUIRED)
# Only backends/linear uses it, and its test.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
