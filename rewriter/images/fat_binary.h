// NVIDIA's fat binaries: containers of PTX texts and cubins for several architectures. The format is not documented;
// docs/design/rewriter.md describes what is read here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/images/decompress.h"

namespace wicprof::rewriter {

enum class ImageKind { ptx, cubin, link_time_code, other };

/// One entry of a fat binary.
struct FatEntry {
  ImageKind kind = ImageKind::other;
  int architecture = 0;  ///< 90 for sm_90 and sm_90a
  std::uint64_t flags = 0;
  Compression compression = Compression::none;
  std::string_view payload;  ///< as stored
  std::uint64_t size = 0;    ///< bytes after decompression
  std::string_view options;  ///< of the compilation, such as -maxrregcount=64
  bool relocatable = false;  ///< linked with other code before it runs; read_device_code() sets it
};

bool begins_as_fat_binary(std::string_view bytes);

/// The entries of all containers in `bytes`, such as a section .nv_fatbin; the result refers to `bytes`. Bytes of zero
/// between containers are skipped.
Result<std::vector<FatEntry>> read_fat_binary(std::string_view bytes);

/// The bytes of one container at the beginning of `bytes`, with its header; 0: none.
std::uint64_t container_bytes(std::string_view bytes);

}  // namespace wicprof::rewriter
