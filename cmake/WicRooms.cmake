# wic_compile_whole(<target> <room>...): compiles each of these rooms as one file, which saves reading the same headers for
# every source. A room qualifies when no two of its sources use one name for different things. The preset debug compiles every
# source by itself, so that a missing include still shows.
function(wic_compile_whole target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(room ${ARGN})
    set(found ${sources})
    list(FILTER found INCLUDE REGEX "^${room}/[^/]+\\.cpp$")
    if(NOT found)
      message(FATAL_ERROR "${target} has no sources in ${room}/")
    endif()
    string(REPLACE "/" "_" group ${room})
    set_source_files_properties(${found} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# wic_precompile_own(<target> <header>...): reads these headers of ours, which most sources of the target include, once per
# target. The preset debug reads them per source, so that a missing include still shows. So does a build with a compiler
# cache, which must not give them to a clone in another folder: there the compiler would take the precompiled headers and
# those that other headers include for different files.
function(wic_precompile_own target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
