// Grey images of 16 bits and their PNG form, through libpng.
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

/// A PNG of any depth and colour as grey values of 16 bits: colours by their luminance, transparency left out. `name`
/// is for the errors: no PNG, a damaged one, one that is larger than 2^28 pixels.
wicprof::Result<Image> decode_png(std::span<const std::byte> png, const std::string& name);

/// The same into memory that is there, `pixels` of width x height. Error also: the image has another size.
wicprof::Result<> decode_png_into(std::span<const std::byte> png, std::uint32_t width, std::uint32_t height,
                                  std::span<Pixel> pixels, const std::string& name);

/// Grey, 16 bits, hardly compressed: what a sensor delivers is noisy, and the reader is the one in a hurry.
wicprof::Result<std::vector<std::byte>> encode_png(std::uint32_t width, std::uint32_t height,
                                                   std::span<const Pixel> pixels);

}  // namespace sample::srs
