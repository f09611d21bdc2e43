# Text files that become part of a program, so that they are edited as what they are.

# wic_join_files(<out> <file>...): the files' text, one after the other. What depends on it is made anew when one changes.
function(wic_join_files out)
  set(text "")
  foreach(file ${ARGN})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} part)
    string(APPEND text "${part}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
