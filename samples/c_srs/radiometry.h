// The radiometric correction: each column of pixels comes from its own detector, which reads slightly above zero in the
// dark and differs slightly in sensitivity from its neighbours. Uses integers, so every run gives the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "c_srs/png_image.h"

namespace sample::srs {

class Calibration {
 public:
  /// `columns` detectors with dark values up to 511 and sensitivities within 3 % of nominal.
  explicit Calibration(std::uint32_t columns) : detectors_(columns) {
    for (std::uint32_t x = 0; x < columns; ++x) {
      const std::uint32_t h = (x + 1) * 2654435761u;
      detectors_[x] = {static_cast<std::int32_t>(h >> 23),
                       (1 << kShift) - 491 + static_cast<std::int32_t>((h >> 8) % 983)};
    }
  }

  /// Computes reflected values from measured values; both are rows with one pixel per detector.
  void correct(std::span<const Pixel> measured, Pixel* reflected) const {
    const std::size_t columns = detectors_.size();
    for (std::size_t row = 0; row + columns <= measured.size(); row += columns) {
      for (std::size_t x = 0; x < columns; ++x) {
        const Detector d = detectors_[x];
        const std::int32_t value = ((static_cast<std::int32_t>(measured[row + x]) - d.dark) * d.gain) >> kShift;
        reflected[row + x] = static_cast<Pixel>(std::clamp(value, 0, 65535));
      }
    }
  }

 private:
  static constexpr int kShift = 14;  // 65535 * gain stays below 2^31
  struct Detector {
    std::int32_t dark;
    std::int32_t gain;  ///< 2^kShift = 1.0
  };
  std::vector<Detector> detectors_;
};

}  // namespace sample::srs
