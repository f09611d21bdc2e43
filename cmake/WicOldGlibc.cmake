# What runs on other systems than the one that built it, and inside of foreign programs: it needs glibc 2.28 at most, and
# no C++ library. The test `glibc` (tests/package) holds it to that.
#
# wic_for_old_glibc(<target>): links a program or a module so. Code and names that it does not use are left out.
#
# The sanitizers' builds stay as they are: a sanitizer brings a runtime that must see the calls of libc.
if(NOT WIC_SANITIZE)
  add_library(wic_old_glibc OBJECT ${CMAKE_CURRENT_LIST_DIR}/glibc/forms.cpp ${CMAKE_CURRENT_LIST_DIR}/glibc/moved.cpp)
  add_library(wic_old_glibc_start OBJECT ${CMAKE_CURRENT_LIST_DIR}/glibc/start.cpp)
  foreach(part wic_old_glibc wic_old_glibc_start)
    target_link_libraries(${part} PRIVATE wic_options)
    set_target_properties(${part} PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_compile_options(${part} PRIVATE -ffunction-sections -fdata-sections)
  endforeach()
endif()

function(wic_for_old_glibc target)
  if(WIC_SANITIZE)
    return()
  endif()
  # Where pthread_create() and others were until glibc 2.34; since then these libraries are empty.
  set(old_parts -l:libpthread.so.0,-l:libdl.so.2)
  target_link_libraries(${target} PRIVATE wic_old_glibc)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_libraries(${target} PRIVATE wic_old_glibc_start)
    string(APPEND old_parts ,-l:librt.so.1)
  endif()
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--exclude-libs,ALL LINKER:--gc-sections
    LINKER:--push-state,--no-as-needed,${old_parts},--pop-state)
endfunction()
