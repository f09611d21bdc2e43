# Compile options of our own code, as one interface target that every target of ours links to.
find_package(Threads REQUIRED)

add_library(wic_options INTERFACE)
target_include_directories(wic_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(wic_options INTERFACE Threads::Threads)
target_compile_options(wic_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Werror>  # g++ alone: clang, which fuzzing needs, warns of other things
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror --Werror=all-warnings --expt-relaxed-constexpr>)

# g++ 12 and 13 see overlapping and out-of-bounds copies inside std::string where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(wic_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-restrict,-Wno-array-bounds,-Wno-stringop-overflow,-Wno-stringop-overread>)
endif()

if(WIC_SANITIZE)
  target_compile_options(wic_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WIC_SANITIZE} -fno-omit-frame-pointer>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)  # g++ says so of instrumented code that is right
  target_link_options(wic_options INTERFACE -fsanitize=${WIC_SANITIZE})
endif()

# libFuzzer counts what an input reaches in all of our code, and any finding of a sanitizer ends the program.
if(WIC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT WIC_SANITIZE)
    message(FATAL_ERROR "WIC_FUZZ needs clang++ and WIC_SANITIZE; use the preset fuzz")
  endif()
  target_compile_options(wic_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link -fno-sanitize-recover=all>)
  # Parts with the property WIC_VALUES_ONLY compute with values and cast no bytes to pointers. Without these checks, of
  # which AddressSanitizer finds what breaks, and without optimization they compile four times as fast.
  target_compile_options(wic_options INTERFACE
    "$<$<BOOL:$<TARGET_PROPERTY:WIC_VALUES_ONLY>>:-O0;-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow>")
endif()
