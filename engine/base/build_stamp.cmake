# Writes OUT, the source file that holds the build stamp, if the stamp has changed. Runs at every build, so that a
# commit recompiles this one file. Without git, or where the sources are not the root of a repository, the version and
# the content of the sources make it.
#   cmake -DVERSION=0.1.0 -DSOURCE=DIR -DTEMPLATE=FILE -DOUT=FILE -P build_stamp.cmake
set(ROOFLUA_BUILD_STAMP "${VERSION}")
set(compiled engine CMakeLists.txt) # what the program is made of; scripts and data are read when it runs
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
  set(git ${GIT} -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    string(APPEND ROOFLUA_BUILD_STAMP "+${commit}")
    execute_process(COMMAND ${git} diff --quiet HEAD -- ${compiled} RESULT_VARIABLE changed ERROR_QUIET)
    if(NOT changed EQUAL 0)
      # The digits tell two changed trees of one commit apart.
      execute_process(COMMAND ${git} diff HEAD -- ${compiled} COMMAND ${git} hash-object --stdin
        OUTPUT_VARIABLE change OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      string(SUBSTRING "${change}xxxxxxxx" 0 8 change)
      string(APPEND ROOFLUA_BUILD_STAMP "-dirty.${change}")
    endif()
  endif()
endif()
if(ROOFLUA_BUILD_STAMP STREQUAL VERSION)
  file(GLOB_RECURSE sources ${SOURCE}/engine/*)
  foreach(source ${sources} ${SOURCE}/CMakeLists.txt)
    file(SHA1 ${source} content)
    string(APPEND all "${content}\n")
  endforeach()
  string(SHA1 content "${all}")
  string(SUBSTRING ${content} 0 12 content)
  string(APPEND ROOFLUA_BUILD_STAMP "+sources.${content}")
endif()
configure_file(${TEMPLATE} ${OUT} @ONLY)
