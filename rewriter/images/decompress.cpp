#include "rewriter/images/decompress.h"

#include <lz4.h>
#include <zstd.h>

namespace wicprof::rewriter {

Result<std::string> decompressed(std::string_view bytes, Compression compression, std::uint64_t size) {
  if (compression == Compression::none) return std::string(bytes);
  if (size > kLargestImage || size / kLargestRatio > bytes.size()) {
    return bad_input("compressed code of " + std::to_string(bytes.size()) + " bytes says that it has " +
                     std::to_string(size) + " bytes");
  }
  std::string image(size, '\0');
  bool complete = false;
  if (compression == Compression::lz4) {
    const int written =
        LZ4_decompress_safe(bytes.data(), image.data(), static_cast<int>(bytes.size()), static_cast<int>(size));
    complete = written >= 0 && static_cast<std::uint64_t>(written) == size;
  } else {
    const std::size_t written = ZSTD_decompress(image.data(), image.size(), bytes.data(), bytes.size());
    complete = ZSTD_isError(written) == 0 && written == size;
  }
  if (!complete) return bad_input("compressed code is damaged");
  return image;
}

}  // namespace wicprof::rewriter
