// The calls of CUDA and HIP in which a host thread waits, by their names.
#pragma once

#include <string_view>

#include "protocol/events/host_wait.h"

namespace wicprof::imports {

enum class CallKind : unsigned char { other, synchronizes, copies, copies_asynchronously };

struct KnownCall {
  CallKind kind = CallKind::other;
  Awaited awaited = Awaited::unknown;
};

/// The name without what tools append to it: "cudaStreamSynchronize_ptsz_v7000" is cudaStreamSynchronize.
std::string_view plain_call_name(std::string_view name);

/// `name`: plain.
KnownCall known_call(std::string_view name);

}  // namespace wicprof::imports
