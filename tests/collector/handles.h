// Handles of a driver that is made: nothing lies behind them.
#pragma once

#include <cuda.h>

namespace wicprof::collector {

inline const auto kContext = reinterpret_cast<CUcontext>(32);
inline const auto kStream = reinterpret_cast<CUstream>(16);

}  // namespace wicprof::collector
