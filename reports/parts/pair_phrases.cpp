#include "reports/parts/pair_phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kNameWidth = 40;

}  // namespace

std::string nanoseconds(double ns) { return format_duration(static_cast<TimeNs>(std::llround(std::min(ns, 9e18)))); }

std::string short_name(const PairKernel& kernel) { return shorten(function_name(one_line(kernel.name)), kNameWidth); }

std::string pair_name(const DependentPair& pair) {
  return fmt::format("{} behind {}", short_name(pair.consumer), short_name(pair.producer));
}

std::string bound_text(const std::optional<Bound>& bound) {
  if (!bound) return "unknown";
  return fmt::format("{} ({} to {})", nanoseconds(bound->value), bound->low > 0 ? nanoseconds(bound->low) : "0",
                     nanoseconds(bound->high));
}

std::string waves_text(const PairKernel& kernel) {
  if (kernel.persistent) return "persistent";
  if (kernel.waves <= 0) return "unknown";
  return fmt::format("{}, last {}", format_number(kernel.waves), format_percent(kernel.last_wave_fill));
}

std::string wave_line(const DependentPair& pair, std::size_t width) {
  const std::vector<WaveBar> bars = wave_bars(pair);
  if (bars.empty() || width < 8) return {};
  std::string line;
  const auto until = [&](double time, char letter, bool at_least_one) {
    const auto end = std::min(width, static_cast<std::size_t>(std::lround(time * static_cast<double>(width))));
    if (end > line.size())
      line.append(end - line.size(), letter);
    else if (at_least_one && line.size() < width)
      line += letter;
  };
  bool consumer = false;
  for (const WaveBar& bar : bars) {
    if (bar.consumer && !std::exchange(consumer, true) && pair.gap_ns > 0) until(bar.begin, '.', true);
    const bool full = bar.fill >= 1;
    until(bar.end, bar.consumer ? (full ? 'B' : 'b') : (full ? 'A' : 'a'), true);
  }
  return line;
}

std::string pairs_summary(const DependentKernels& kernels) {
  std::string text = fmt::format("{} of kernels right behind another one", count_of(kernels.launches, "run")), others;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) others += fmt::format("{}{} {}", others.empty() ? "" : ", ", format_count(count), what);
  };
  add(kernels.early, "started before its end");
  add(kernels.beside, "ran beside a third kernel");
  add(kernels.waiting, "have waits inside one of both");
  add(kernels.late, "started or were launched later");
  add(kernels.after_copy, "followed a copy");
  if (!others.empty()) text += "; of the others, " + others;
  if (kernels.pairs_left_out > 0) text += fmt::format("; {} are left out", count_of(kernels.pairs_left_out, "pair"));
  if (kernels.launches == 0) return text + ".";
  return text + fmt::format(". Sums: by tiles {}, by dependent launch {}, by SMs of its own {}.",
                            bound_text(kernels.tiles), bound_text(kernels.dependent), bound_text(kernels.carve_out));
}

}  // namespace wicprof::reports
