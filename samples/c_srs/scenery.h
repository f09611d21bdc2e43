// Generated tiles of a fictional landscape; the same in every run.
#pragma once

#include <cstdint>
#include <filesystem>

#include "c_srs/png_image.h"

namespace sample::srs {

/// Tile `number`: smooth land, a river, fields with straight borders and sensor noise, as 12-bit values in the upper
/// bits of 16, like sensors deliver them.
Image landscape(std::uint32_t number, std::uint32_t edge);

/// Writes `count` tiles to the existing folder `folder` as PNG files whose names sort in tile order. Error: a file
/// cannot be written.
wic::Result<> write_landscape(const std::filesystem::path& folder, std::uint32_t count, std::uint32_t edge);

}  // namespace sample::srs
