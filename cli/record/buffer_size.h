// How much memory a run takes for what is on its way from the program to the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace wicprof::cli {

inline constexpr std::size_t kUsualBuffer = std::size_t{128} << 20;  // bytes

struct BufferSize {
  std::size_t bytes = kUsualBuffer;
  std::string note;  ///< why it is less than usual; empty: it is not
};

/// Where nobody says how much. `left`: what the limits of the control groups leave, of which the program is to have at
/// least three quarters: the kernel ends a program that needs more.
BufferSize fitting_buffer(std::optional<std::uint64_t> left);

}  // namespace wicprof::cli
