// Tiles of a landscape that does not exist, for want of a satellite: the same ones every time.
#pragma once

#include <cstdint>
#include <filesystem>

#include "c_srs/png_image.h"

namespace sample::srs {

/// Tile `number`: smooth land, a river, fields with straight borders, and the sensor's noise, in 12 bits that stand at
/// the upper end of 16, as sensors deliver them.
Image landscape(std::uint32_t number, std::uint32_t edge);

/// Writes `count` such tiles to `folder`, which is there already, as PNG files whose names sort in their order.
/// Error: a file cannot be written.
wicprof::Result<> write_landscape(const std::filesystem::path& folder, std::uint32_t count, std::uint32_t edge);

}  // namespace sample::srs
