# Compile options of our own code, as one interface target that every target of ours links to.
find_package(Threads REQUIRED)

add_library(wic_options INTERFACE)
target_include_directories(wic_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(wic_options INTERFACE Threads::Threads)
target_compile_options(wic_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror --Werror=all-warnings --expt-relaxed-constexpr>)

# g++ 12 and 13 see overlapping and out-of-bounds copies inside std::string where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(wic_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-restrict,-Wno-array-bounds,-Wno-stringop-overflow,-Wno-stringop-overread>)
endif()

if(WIC_SANITIZE)
  target_compile_options(wic_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WIC_SANITIZE} -fno-omit-frame-pointer
                                  -Wno-maybe-uninitialized>)  # g++ says so of instrumented code that is right

  target_link_options(wic_options INTERFACE -fsanitize=${WIC_SANITIZE})
endif()
