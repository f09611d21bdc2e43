// Which source files are not the program's own.
#pragma once

#include <string_view>

namespace wicprof {

/// Whether a file is a header of the CUDA toolkit, of the compiler or of the system.
bool is_toolkit_file(std::string_view file);

}  // namespace wicprof
