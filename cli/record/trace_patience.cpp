#include "cli/record/trace_patience.h"

#include <fmt/format.h>

#include <utility>

#include "cli/terminal/messages.h"

namespace wicprof::cli {

namespace {
constexpr TimeNs kUnsaid = kSecond;         // a shorter lock is not worth a word
constexpr TimeNs kAfterEnd = 30 * kSecond;  // of the program. Not calibrated: the user waits for wic-prof
constexpr TimeNs kSameLock = 100 * kMillisecond;
}  // namespace

TracePatience::TracePatience(std::string trace, TerminalSignals& signals)
    : trace_(std::move(trace)), signals_(signals) {}

void TracePatience::program_ended() { ended_ = now_ns(); }

bool TracePatience::goes_on(const std::string& holder, TimeNs waited) {
  if (over_) return false;
  const TimeNs now = now_ns(), began = now - waited, ended = ended_;
  if (waited > kUnsaid && (said_ < began - kSameLock || said_ > began + kSameLock)) {
    said_ = began;
    warn(fmt::format("{} is locked by {}; recording goes on when it is free, and counts what does not fit until then",
                     trace_, holder));
  }
  // One long wait at the end is enough: all that follows needs the same lock.
  over_ = ended != 0 && (signals_.has_request() || now - ended > kAfterEnd);
  return !over_;
}

}  // namespace wicprof::cli
