# Documents and packages: what `cmake --install` adds to the program and its data, and a .deb by CPack.
#
#     cmake --install build/release --prefix DIR      a tree that runs from anywhere
#     cpack --config build/release/CPackConfig.cmake -G DEB

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # installing builds nothing: tests least of all
include(GNUInstallDirs)
set(documents ${PROJECT_BINARY_DIR}/documents)

# The manual page and the completion scripts come from the program itself.
add_custom_command(
  OUTPUT ${documents}/rooflua.1.gz ${documents}/rooflua.bash ${documents}/_rooflua ${documents}/rooflua.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${documents}
  COMMAND rooflua help --man > ${documents}/rooflua.1
  COMMAND gzip -9nf ${documents}/rooflua.1
  COMMAND rooflua completion bash > ${documents}/rooflua.bash
  COMMAND rooflua completion zsh > ${documents}/_rooflua
  COMMAND rooflua completion fish > ${documents}/rooflua.fish
  DEPENDS rooflua VERBATIM)
add_custom_target(rooflua_documents ALL DEPENDS ${documents}/rooflua.1.gz)

install(FILES ${documents}/rooflua.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${documents}/rooflua.bash DESTINATION share/bash-completion/completions RENAME rooflua)
install(FILES ${documents}/_rooflua DESTINATION share/zsh/vendor-completions)
install(FILES ${documents}/rooflua.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN package EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/docs/package/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The changelog as Debian wants it: of a version without a revision, as upstream's own.
file(READ ${PROJECT_SOURCE_DIR}/docs/package/changelog changelog)
string(CONFIGURE "${changelog}" changelog @ONLY)
file(WRITE ${documents}/changelog "${changelog}")
execute_process(COMMAND gzip -9nf ${documents}/changelog)
install(FILES ${documents}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rooflua)
set(CPACK_PACKAGE_CONTACT "rooflua developers <rooflua@rooflua.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "laboratory for the performance of LLM inference")
set(CPACK_PACKAGE_DESCRIPTION
  "rooflua prices the steps of LLM inference, operation by operation, from
measured kernel tables, and simulates serving engines: continuous batching,
chunked prefill, paged KV cache, prefix cache, preemption, routers, replicas.
Every choice that may be doubted is a Lua script.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PREDEPENDS "")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
