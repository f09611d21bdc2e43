// Readable names of kernels.
#pragma once

#include <string>
#include <string_view>

namespace wicprof {

/// The name that a mangled symbol of C++ stands for; other names stay.
std::string demangled(std::string_view symbol);

/// The function's own name: without namespaces, classes, arguments of templates and parameters.
std::string short_symbol(std::string_view symbol);

}  // namespace wicprof
