# wic_compile_whole(<target> <room>...): compiles each of these rooms as one file, which saves reading the same headers for
# every source. A room qualifies when no two of its sources use one name for different things. The preset debug compiles every
# source by itself, so that a missing include still shows. The room `.` is the target's own folder. The file names sources
# from the project's root and not, as those of CMake's UNITY_BUILD, by absolute paths: so a clone in another folder finds the
# compiled room in the compiler cache.
function(wic_compile_whole target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(JOIN ARGN " " rooms)
    # Once all sources and their properties are known. EVAL, since a deferred call's words are read only then.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _wic_compile_whole ${target} ${rooms})")
  endif()
endfunction()

function(_wic_compile_whole target)
  file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_target_property(sources ${target} SOURCES)
  foreach(room ${ARGN})
    set(found ${sources})
    string(REGEX REPLACE "^\\./$" "" folder ${room}/)
    list(FILTER found INCLUDE REGEX "^${folder}[^/]+\\.cpp$")
    if(NOT found)
      message(FATAL_ERROR "${target} has no sources in ${room}/")
    endif()
    set(text "")
    foreach(source ${found})
      get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
      if(NOT alone)
        string(APPEND text "#include \"${here}/${source}\"\n")
        set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
      endif()
    endforeach()
    string(REGEX REPLACE "[/.]" "_" name ${room})
    set(whole ${CMAKE_CURRENT_BINARY_DIR}/rooms/${target}/${name}.cpp)
    file(CONFIGURE OUTPUT ${whole} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${whole})
  endforeach()
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
