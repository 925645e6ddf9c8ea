# What comes with an installed dfc besides the program: its manual page, completion for shells, its licence; and the Debian package,
# `cpack -G DEB` in the build folder.
set(pages ${CMAKE_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages})
set(made ${pages}/dfc.1)
set(shells bash zsh fish)
set(commands COMMAND dfc manual > ${pages}/dfc.1)
foreach(shell IN LISTS shells)
  list(APPEND commands COMMAND dfc completion ${shell} > ${pages}/dfc.${shell})
  list(APPEND made ${pages}/dfc.${shell})
endforeach()
# The program writes them from its tables of options, so they are as new as it is.
add_custom_command(OUTPUT ${made} ${commands} DEPENDS dfc COMMENT "Writing the manual page and completions" VERBATIM)
add_custom_target(dfc_pages ALL DEPENDS ${made})

install(FILES ${pages}/dfc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/dfc.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dfc)
install(FILES ${pages}/dfc.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _dfc)
install(FILES ${pages}/dfc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dfc RENAME copyright)
install(FILES docs/licences.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dfc)
# The texts of what is linked into the files themselves.
find_program(DFC_SCRIPTS_PYTHON python3)
if(DFC_SCRIPTS_PYTHON)
  install(CODE "execute_process(COMMAND ${DFC_SCRIPTS_PYTHON} -B ${CMAKE_SOURCE_DIR}/scripts/linked --build ${CMAKE_BINARY_DIR} --copy \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/dfc/licences\" COMMAND_ERROR_IS_FATAL ANY)")
endif()

# What is packed is what was built: a package needs none of the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dfc)
set(CPACK_PACKAGE_VENDOR "the dfc authors")
set(CPACK_PACKAGE_CONTACT "the dfc authors <dfc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler to one static dataflow graph, and engines that run it")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Compiles a Haskell-like language to one static dataflow graph, in which recursion stays,
 and runs it, also on several machines. With it come libdfc, which runs compiled graphs
 in programs of C and C++, and libdfc_compiler, which makes them.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded by who needs them: processes on several machines, .npz files, pictures of graphs in notebooks.
find_library(DFC_ZIP_LIBRARY zip)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libzmq5, libzip4 | libzip4t64 | libzip5")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS graphviz)
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/triggers)
# The extension module is the wheel's.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};dfc;Unspecified;/")
include(CPack)
