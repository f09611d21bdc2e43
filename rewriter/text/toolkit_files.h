// Which source files no program has written.
#pragma once

#include <string_view>

namespace wicprof::rewriter {

/// Whether the path is one of a header of the CUDA toolkit, of the compiler or of the system.
bool is_toolkit_file(std::string_view path);

}  // namespace wicprof::rewriter
