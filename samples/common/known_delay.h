// A delay put into a sample, so that a benchmark can measure whether a known change is found (bench/calibration.py).
#pragma once

#include <cstdlib>
#include <cstring>

#include "wic/runtime.h"

namespace sample {

/// From the environment: WIC_SAMPLE_DELAY=0.03 makes each step 3 % longer; 0.03:park only while the program parks.
class KnownDelay {
 public:
  explicit KnownDelay(const wic::Runtime& runtime) : runtime_(runtime) {
    const char* const text = std::getenv("WIC_SAMPLE_DELAY");
    if (text == nullptr) return;
    char* end = nullptr;
    share_ = std::strtod(text, &end);
    only_parked_ = std::strcmp(end, ":park") == 0;
  }

  /// A step began at `begin` and has just ended.
  void after(wic::TimeNs begin) const {
    if (!(share_ > 0) || (only_parked_ && runtime_.mode(0) != wic::Mode::park)) return;
    const wic::TimeNs now = wic::now_ns(),
                      until = now + static_cast<wic::TimeNs>(share_ * static_cast<double>(now - begin));
    while (wic::now_ns() < until) {
    }
  }

 private:
  const wic::Runtime& runtime_;
  double share_ = 0;
  bool only_parked_ = false;
};

}  // namespace sample
