// The options that code was compiled with, as far as a compilation of its PTX alone would lack them.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::rewriter {

/// The first option of `options`, as fat binaries and notes of cubins keep them, that may make other code of the same
/// PTX; empty: there is none. An option that is not known may.
std::string changing_option(std::string_view options);

}  // namespace wicprof::rewriter
