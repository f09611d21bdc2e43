// 16-bit grey images and their PNG encoding, using libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wic/device.h"

namespace sample::srs {

using Pixel = std::uint16_t;

struct Image {
  std::uint32_t width = 0, height = 0;
  std::vector<Pixel> pixels;  ///< row by row
};

/// Decodes a PNG of any depth and colour into 16-bit grey values: luminance of colours, without transparency. `name`
/// appears in errors: not a PNG, a damaged PNG, more than 2^28 pixels.
wic::Result<Image> decode_png(std::span<const std::byte> png, const std::string& name);

/// Like decode_png(), but into `pixels` of width x height. Additional error: the image has a different size.
wic::Result<> decode_png_into(std::span<const std::byte> png, std::uint32_t width, std::uint32_t height,
                              std::span<Pixel> pixels, const std::string& name);

/// Encodes 16-bit grey values without compression: sensor noise hardly compresses, and decoding must be fast.
wic::Result<std::vector<std::byte>> encode_png(std::uint32_t width, std::uint32_t height,
                                               std::span<const Pixel> pixels);

}  // namespace sample::srs
