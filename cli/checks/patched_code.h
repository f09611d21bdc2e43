// Whether this machine's driver takes patched code, asked by a process of its own.
#pragma once

#include <optional>
#include <string>

namespace wicprof::cli {

struct PatchedCode {
  enum class State { accepted, refused, unknown };
  State state = State::unknown;
  std::string reason;  ///< why it is refused, or why nobody could ask
};

/// `collector`: path of the collector's library. Call before this process starts the CUDA driver: the driver serves no
/// process that was forked after its start.
PatchedCode try_patched_code(const std::optional<std::string>& collector);

}  // namespace wicprof::cli
