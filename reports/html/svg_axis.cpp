#include "reports/html/svg_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wicprof::reports {

TimeNs tick_step(TimeNs length, int most) {
  TimeNs power = 1;
  while (power < length / 10 / most) power *= 10;
  for (;; power *= 10) {
    for (const TimeNs factor : {1, 2, 5}) {
      if (power * factor * most >= length) return power * factor;
    }
  }
}

std::string tick_label(TimeNs value, TimeNs step, TimeNs largest) {
  double unit = 1;
  const char* name = "ns";
  if (largest >= kSecond) {
    unit = 1e9;
    name = "s";
  } else if (largest >= kMillisecond) {
    unit = 1e6;
    name = "ms";
  } else if (largest >= kMicrosecond) {
    unit = 1e3;
    name = "us";
  }
  const double digits = std::ceil(std::log10(unit / static_cast<double>(std::max<TimeNs>(step, 1))));
  return fmt::format("{:.{}f} {}", static_cast<double>(value) / unit, std::max(0, static_cast<int>(digits)), name);
}

std::string time_labels(const Axis& axis, TimeNs zero, int most, double at, double inside) {
  std::string out;
  const TimeNs step = tick_step(axis.to - axis.from, most);
  for (TimeNs time = (axis.from - zero + step - 1) / step * step; time <= axis.to - zero; time += step) {
    const double position = axis.at(time + zero);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", position, at,
                       position > inside ? "end" : "middle", tick_label(time, step, axis.to - zero));
  }
  return out + "\n";
}

}  // namespace wicprof::reports
