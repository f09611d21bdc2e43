#include "cli/record/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "cli/terminal/messages.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kRefreshInterval = 250 * kMillisecond;

std::string short_count(double value) {
  if (value >= 1e9) return fmt::format("{:.1f} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.1f} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

}  // namespace

ProgressLine::ProgressLine(bool wanted, TimeNs start)
    : on_(wanted && isatty(STDERR_FILENO) == 1), start_(start), last_time_(start) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const store::RecorderProgress& progress, WantedWait wait) {
  const TimeNs now = now_ns();
  if (!on_ || now - last_time_ < kRefreshInterval) return;
  const double seconds = static_cast<double>(now - last_time_) / kSecond;
  const double rate = static_cast<double>(progress.events - last_events_) / seconds;
  show_progress(fmt::format("\r\033[K{:6.1f} s  {}  {} waits  {} events  {}/s  {} lost",
                            static_cast<double>(now - start_) / kSecond, mode_name(wait.mode),
                            short_count(static_cast<double>(progress.waits)),
                            short_count(static_cast<double>(progress.events)), short_count(rate),
                            short_count(static_cast<double>(progress.lost))));
  shown_ = true;
  last_time_ = now;
  last_events_ = progress.events;
}

void ProgressLine::clear() {
  if (!shown_) return;
  show_progress("\r\033[K");
  shown_ = false;
}

}  // namespace wicprof::cli
