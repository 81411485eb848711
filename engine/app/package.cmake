# Documents and packages: what `cmake --install` adds to the program and its data, and a .deb by CPack.
#
#     cmake --install build/release --prefix DIR      a tree that runs from anywhere
#     cpack --config build/release/CPackConfig.cmake -G DEB

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # `--target install` builds no tests; what it needs, the first rule builds
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

# Three packages: the program with its scripts and data, the library, and what programs in C are compiled with.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL Unspecified library development)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME rooflua)
# What KV events load (engine/emulate/kv/loaded.cpp); libssl3t64 is what Debian 13 calls it.
if(ROOFLUA_KV_EVENTS)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "libzmq5, libssl3t64 | libssl3")
endif()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME librooflua0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "rooflua (= ${PROJECT_VERSION}), libc6, libstdc++6")
# Which package has the library, for packages that are built with it, and a trigger of ldconfig: what CPack writes
# itself, where it looks for libraries, is scripts that call ldconfig. The program's package, which is there as well,
# depends on all that the library is linked with.
file(WRITE ${documents}/shlibs "librooflua 0 librooflua0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${documents}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${documents}/shlibs;${documents}/triggers")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librooflua-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "librooflua0 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The price of a step of LLM inference: shared library.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The price of a step of LLM inference: header and files for compilers.")
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
foreach(package library:librooflua0 development:librooflua-dev)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/package/copyright ${documents}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/docs/package/librooflua-dev.lintian-overrides
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides RENAME librooflua-dev COMPONENT development)
include(CPack)
