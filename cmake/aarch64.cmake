# For cmake --preset aarch64: compiles for aarch64 (Grace) on another machine. Headers and package files of libraries are
# this machine's, so nothing is linked (make aarch64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Once more after project(), which has taken the cross compiler's folder.
execute_process(COMMAND gcc -print-multiarch OUTPUT_VARIABLE CMAKE_LIBRARY_ARCHITECTURE OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_PROJECT_INCLUDE ${CMAKE_CURRENT_LIST_FILE})
