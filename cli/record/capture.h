// Which part of a run is recorded, as the command line says it: sources, times, NVTX ranges, the last seconds, a size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/write/retention.h"

namespace wicprof::cli {

/// The options as they stand on the command line; empty = not given.
struct CaptureOptions {
  std::string trace;
  std::string delay, duration, keep_last;
  std::vector<std::string> ranges;  ///< NAME or NAME@DOMAIN
  std::string max_size;
};

struct CapturePlan {
  std::string trace;      ///< what was asked for, as a comma list
  std::string collector;  ///< the same without what is wic-prof's own: WICPROF_TRACE
  bool host = true;       ///< look at threads from outside
  TimeNs delay = 0;
  TimeNs duration = 0;  ///< 0 = to the end
  TimeNs keep_last = 0;
  std::vector<store::RangeName> ranges;
  std::uint64_t max_bytes = 0;

  bool timed() const { return delay != 0 || duration != 0; }
  /// Whether the collector is to record `source`, one of its words.
  bool collects(std::string_view source) const;
};

/// Errors name the option, what it takes and what was said. Without --trace the environment's WICPROF_TRACE holds,
/// whose unknown words are the collector's to refuse.
Result<CapturePlan> read_capture(const CaptureOptions& options);

/// "cuda, nvtx, ...": for help and errors.
std::string trace_word_list();

/// What the trace says about itself: meta's capture_* keys.
std::map<std::string, std::string> capture_meta(const CapturePlan& plan);

/// Opens and shuts the window that --delay and --duration make: tells the collectors through the control block.
class CaptureWindow {
 public:
  /// Before the program starts: what it finds.
  CaptureWindow(ControlBlock& control, const CapturePlan& plan);

  /// The program starts now.
  void start(TimeNs now);
  TimeNs from() const { return from_; }
  TimeNs until() const { return until_; }  ///< the largest time there is = to the end

  /// Does what is due; says in words what it did. Nothing when nothing was due.
  std::optional<std::string> follow(TimeNs now);
  /// When something is due next.
  std::optional<TimeNs> next() const;

 private:
  enum class State { before, within, after };
  void set(std::uint32_t capturing);

  ControlBlock& control_;
  TimeNs delay_, duration_;
  TimeNs from_ = 0, until_ = 0;
  State state_ = State::before;
};

}  // namespace wicprof::cli
