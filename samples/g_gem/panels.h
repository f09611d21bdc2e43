// The distribution of the matrices over the devices, and the schedule of B's rows.
//
// The rows of A, B and C are split into bands, one per device. A device computes its band of C, for which it needs all
// of B. In each communication iteration every device sends the next panel of its band of B to all others, tile by tile.
// A tile is a few rows and one message, so a device sends its band in order, without gaps.
#pragma once

#include <cstdint>

#include "common/ranks.h"

namespace sample::gem {

struct Panels {
  std::uint32_t n = 0;  ///< rows and columns of every matrix
  std::uint32_t devices = 0;
  std::uint32_t panels = 0;  ///< per band: communication iterations per step
  std::uint32_t tiles = 0;   ///< per panel

  WIC_DEVICE std::uint32_t band_begin(std::uint32_t device) const { return part_begin(n, devices, device); }
  WIC_DEVICE std::uint32_t band_rows(std::uint32_t device) const { return band_begin(device + 1) - band_begin(device); }
  /// First row of a panel's tile in B; tile == tiles gives the first row of the next panel.
  WIC_DEVICE std::uint32_t tile_begin(std::uint32_t device, std::uint32_t panel, std::uint32_t tile) const {
    return band_begin(device) + part_begin(band_rows(device), panels * tiles, panel * tiles + tile);
  }
  WIC_DEVICE std::uint32_t panel_begin(std::uint32_t device, std::uint32_t panel) const {
    return tile_begin(device, panel, 0);
  }
  WIC_DEVICE std::uint32_t panel_rows(std::uint32_t device, std::uint32_t panel) const {
    return panel_begin(device, panel + 1) - panel_begin(device, panel);
  }
  /// Rows of the largest tile.
  std::uint32_t most_tile_rows() const {
    const std::uint32_t band = (n + devices - 1) / devices;
    return (band + panels * tiles - 1) / (panels * tiles);
  }
};

}  // namespace sample::gem
