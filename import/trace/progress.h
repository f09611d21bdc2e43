// How far an import has come.
#pragma once

#include <functional>

namespace wicprof::imports {

/// `part`: what has been read of the file, 0 to 1. Called often.
using Progress = std::function<void(double part)>;

}  // namespace wicprof::imports
