#pragma once

#include <string>

namespace wicprof {

/// The content of a file, such as one of /proc. Empty, or a part, where it cannot be read: the process may end
/// meanwhile. An std::istreambuf_iterator throws then. Any thread.
std::string file_text(const std::string& path);

}  // namespace wicprof
