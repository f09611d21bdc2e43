# Small libraries are linked statically, so that a recorder copied to another machine needs libc alone.

# wic_static_archive(<out> <name>): the static archive of a library; empty where there is none.
function(wic_static_archive out name)
  find_library(${out} ${CMAKE_STATIC_LIBRARY_PREFIX}${name}${CMAKE_STATIC_LIBRARY_SUFFIX})
  mark_as_advanced(${out})
endfunction()

# fmt: distributions ship the shared library alone. Its version 9 is compiled here from its headers; a later one comes from
# the headers into every file that uses it, which compiles more slowly.
find_package(fmt 9 REQUIRED)
if(fmt_VERSION VERSION_LESS 10)
  add_library(wic_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt/fmt.cpp)
  get_target_property(wic_fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(wic_fmt SYSTEM PUBLIC ${wic_fmt_headers})
else()
  add_library(wic_fmt INTERFACE)
  target_link_libraries(wic_fmt INTERFACE fmt::fmt-header-only)
endif()

find_package(SQLite3 REQUIRED)
wic_static_archive(WIC_SQLITE_ARCHIVE sqlite3)
add_library(wic_sqlite INTERFACE)
if(WIC_SQLITE_ARCHIVE)
  target_include_directories(wic_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
  target_link_libraries(wic_sqlite INTERFACE ${WIC_SQLITE_ARCHIVE} Threads::Threads m ${CMAKE_DL_LIBS})
else()
  target_link_libraries(wic_sqlite INTERFACE SQLite::SQLite3)
endif()

find_package(ZLIB REQUIRED)
wic_static_archive(WIC_ZLIB_ARCHIVE z)
add_library(wic_zlib INTERFACE)
if(WIC_ZLIB_ARCHIVE)
  target_include_directories(wic_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
  target_link_libraries(wic_zlib INTERFACE ${WIC_ZLIB_ARCHIVE})
else()
  target_link_libraries(wic_zlib INTERFACE ZLIB::ZLIB)
endif()

# zstd and LZ4, for device code inside of programs.
foreach(library zstd lz4)
  find_path(WIC_${library}_INCLUDE_DIR ${library}.h REQUIRED)
  find_library(WIC_${library}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(WIC_${library}_INCLUDE_DIR WIC_${library}_LIBRARY)
  wic_static_archive(WIC_${library}_ARCHIVE ${library})
  add_library(wic_${library} INTERFACE)
  target_include_directories(wic_${library} SYSTEM INTERFACE ${WIC_${library}_INCLUDE_DIR})
  if(WIC_${library}_ARCHIVE)
    target_link_libraries(wic_${library} INTERFACE ${WIC_${library}_ARCHIVE})
  else()
    target_link_libraries(wic_${library} INTERFACE ${WIC_${library}_LIBRARY})
  endif()
endforeach()

# Headers alone: Perfetto's format.
find_path(WIC_PROTOZERO_INCLUDE_DIR protozero/pbf_builder.hpp REQUIRED)
mark_as_advanced(WIC_PROTOZERO_INCLUDE_DIR)
add_library(wic_protozero INTERFACE)
target_include_directories(wic_protozero SYSTEM INTERFACE ${WIC_PROTOZERO_INCLUDE_DIR})

find_package(pugixml 1.13 REQUIRED)
add_library(wic_pugixml INTERFACE)
target_link_libraries(wic_pugixml INTERFACE $<IF:$<TARGET_EXISTS:pugixml::static>,pugixml::static,pugixml::pugixml>)
