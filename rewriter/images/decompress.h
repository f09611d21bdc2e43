// The two compressions that nvcc uses for device code inside of programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::rewriter {

enum class Compression { none, lz4, zstd };

/// What a fat binary says about its compressed bytes is believed up to these limits only: both are far above what nvcc
/// writes (chosen; PTX text shrinks to about a tenth).
inline constexpr std::uint64_t kLargestImage = std::uint64_t{512} << 20;  // bytes
inline constexpr std::uint64_t kLargestRatio = 1000;

/// `bytes`, decompressed; `size`: bytes of the result, as the fat binary names them.
Result<std::string> decompressed(std::string_view bytes, Compression compression, std::uint64_t size);

}  // namespace wicprof::rewriter
