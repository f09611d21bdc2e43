#include "cli/record/finishing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/terminal/messages.h"

namespace wicprof::cli {

namespace {

// The timeout is the time that the recording took, and at least this. Not calibrated: chosen so that a user who waits
// has an answer within about a minute.
constexpr TimeNs kMinTimeout = 60 * kSecond;
constexpr TimeNs kQuietTime = kSecond;  // completing a small trace shows nothing
constexpr TimeNs kFinishRefresh = 250 * kMillisecond;

const char* name_of(store::FinishStep step) {
  switch (step) {
    case store::FinishStep::matching:
      return "matching waits with signals";
    case store::FinishStep::indexing:
      return "making indexes";
    case store::FinishStep::summarising:
      break;
  }
  return "making summaries";
}

}  // namespace

Finishing::Finishing(TerminalSignals& signals, TimeNs recorded, bool quiet, std::function<TimeNs()> clock)
    : signals_(signals),
      clock_(std::move(clock)),
      begin_(clock_()),
      deadline_(begin_ + std::max(recorded, kMinTimeout)),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      quiet_(quiet),
      shown_at_(begin_ + kQuietTime - kFinishRefresh) {}

Finishing::~Finishing() { clear(); }

bool Finishing::goes_on(store::FinishStep step, std::optional<double> part) {
  while (const std::optional<TerminalSignals::Signal> signal = signals_.wait(0)) {
    if (signal->use != TerminalSignals::Use::ends_run || signal->from_program) continue;
    ++interruptions_;
    clear();
    warn(interruptions_ == 1 ? "interrupted: the trace is completed without its summaries"
                             : "interrupted again: the trace is completed without what takes long");
  }
  const TimeNs now = clock_();
  if (now >= deadline_) {
    if (!std::exchange(said_late_, true)) {
      clear();
      warn(fmt::format("{} takes too long: the trace is completed without", name_of(step)));
    }
    return false;
  }
  show(step, part, now);
  // The first interruption gives up only what the window can make itself.
  return interruptions_ < (step == store::FinishStep::summarising ? 1 : 2);
}

void Finishing::show(store::FinishStep step, std::optional<double> part, TimeNs now) {
  if (quiet_ || !on_terminal_ || now - shown_at_ < kFinishRefresh) return;
  shown_at_ = now;
  shown_ = true;
  const std::string share = part ? fmt::format(" {:.0f} %", *part * 100) : std::string();
  show_progress(fmt::format("\r\033[Kcompleting the trace: {}{} (Ctrl-C: without summaries)", name_of(step), share));
}

void Finishing::clear() {
  if (!shown_) return;
  show_progress("\r\033[K");
  shown_ = false;
}

}  // namespace wicprof::cli
