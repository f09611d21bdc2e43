// Lines of the program's source.
#pragma once

#include <cstddef>
#include <string>

namespace wicprof::collector {

/// "FILE:LINE" of an address of this process, without the file's folders; where functions are inlined, the line of the
/// function that is not. Empty where neither the module nor a file of its debug information beside it says that, where
/// there is more of it than kMostDebugBytes, and in a wic-prof that was built without libbacktrace. Reads the debug
/// information of one module at its first call there and keeps what it needs of it. One thread at a time.
std::string source_line(const void* address);

/// Reading took 8 to 10 ms for 2.2 MiB on a virtual machine, and the program's thread waits meanwhile: some 60 ms at
/// most.
inline constexpr std::size_t kMostDebugBytes = std::size_t{16} << 20;

}  // namespace wicprof::collector
