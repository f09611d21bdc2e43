#include "reports/parts/sample_phrases.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kLoopWidth = 80;
constexpr double kWorthNaming = 0.01;  // share of samples; keeps the phrase short, not calibrated

}  // namespace

std::string samples_line(const TraceModel& model, const DeviceSamples& device) {
  std::string text =
      fmt::format("{} on {}", count_of(device.samples, "sample"), one_line(model.device_name(device.device)));
  if (device.dropped > 0) text += fmt::format(", {} more DROPPED", format_count(device.dropped));
  if (device.foreign > 0) {
    text += fmt::format(", {} of them in kernels of the driver or of other programs, or in functions that kernels call",
                        format_count(device.foreign));
  }
  return text;
}

std::string reasons_text(const std::vector<StallShare>& reasons, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) {
    const double share = share_of(reasons, reasons[i].reason);
    if (share < kWorthNaming) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one_line(reasons[i].reason), format_percent(share));
  }
  return text;
}

std::string hottest_line(const FunctionStalls& function) {
  if (function.lines.empty()) return "-";
  const SampledLine& line = function.lines.front();
  return fmt::format("{}:{}", one_line(line.file.substr(line.file.rfind('/') + 1)), line.line);
}

std::string loop_text(const PollingLoop& loop) {
  std::string text =
      fmt::format("{} {} at {}: {} of the samples", shorten(function_name(one_line(loop.function)), kLoopWidth),
                  what_it_does(loop), place_of(loop), format_percent(loop.share));
  if (loop.behind > 0) text += fmt::format(", {} more at the barrier behind it", format_percent(loop.behind_share));
  return text + fmt::format("; confidence {:.2f}", loop.confidence);
}

}  // namespace wicprof::reports
