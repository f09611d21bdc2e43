#include "reports/parts/pair_phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

std::string nanoseconds(double ns) { return format_duration(static_cast<TimeNs>(std::llround(std::min(ns, 9e18)))); }

}  // namespace

std::string pair_name(const DependentPair& pair) {
  return fmt::format("{} behind {}", function_name(one_line(pair.consumer.name)),
                     function_name(one_line(pair.producer.name)));
}

std::string bound_text(const std::optional<Bound>& bound) {
  if (!bound) return "unknown";
  return fmt::format("{} ({} to {})", nanoseconds(bound->value), bound->low > 0 ? nanoseconds(bound->low) : "0",
                     nanoseconds(bound->high));
}

std::string waves_text(const PairKernel& kernel) {
  if (kernel.persistent) return "persistent";
  if (kernel.waves <= 0) return "unknown";
  return fmt::format("{}, last {} full", format_number(kernel.waves), format_percent(kernel.last_wave_fill));
}

std::array<std::string, kPairColumns.size()> pair_cells(const DependentPair& pair) {
  const auto count = static_cast<TimeNs>(std::max<std::uint64_t>(pair.launches, 1));
  const TimeNs held = pair.producer_held_sm_ns + pair.consumer_held_sm_ns;
  std::string carve_out = bound_text(pair.carve_out);
  if (pair.carve_out_sms > 0) carve_out += fmt::format(", {}", count_of(pair.carve_out_sms, "SM"));
  return {pair_name(pair),
          pair.early > 0 ? fmt::format("{}, {} early", format_count(pair.launches), format_count(pair.early))
                         : format_count(pair.launches),
          waves_text(pair.producer),
          pair.launches > 0 ? format_duration(pair.gap_ns / count) : "-",
          bound_text(pair.idle_sm_ns),
          held > 0 ? format_duration(held) : "-",
          bound_text(pair.tiles),
          pair.launches > 0 ? bound_text(pair.dependent) : "-",
          carve_out};
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
  std::string text = fmt::format("{} right behind another kernel", count_of(kernels.launches, "run"));
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("; {} {}", format_count(count), what);
  };
  add(kernels.early, "started before its end");
  add(kernels.beside, "beside a third kernel");
  add(kernels.waiting, "with waits inside one of both");
  add(kernels.late, "later or launched later");
  add(kernels.after_copy, "behind a copy");
  add(kernels.pairs_left_out, "pairs left out");
  if (kernels.launches > 0)
    text += fmt::format(". In all, at most: tiles {}, dependent launch {}, SMs of its own {}",
                        bound_text(kernels.tiles), bound_text(kernels.dependent), bound_text(kernels.carve_out));
  return text;
}

}  // namespace wicprof::reports
