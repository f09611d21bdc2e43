// Which part of a run is recorded: the command line's sources, times, NVTX ranges, --keep-last, size limit, segments
// and triggers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/record/segments.h"
#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/format/meta_key.h"
#include "store/write/retention.h"

namespace wicprof::cli {

/// The options as written on the command line; empty = not given.
struct CaptureOptions {
  std::string trace;
  bool rewrite = false;  ///< patch the waiting loops of kernels
  bool energy = false;   ///< read meters of energy
  std::string delay, duration, keep_last;
  std::vector<std::string> ranges;  ///< NAME or NAME@DOMAIN
  std::string max_size;
  std::string segment;  ///< a time or a size
  std::vector<std::string> triggers;
  std::string dump_pause = "30s";
  std::size_t max_dumps = 10;
};

/// Of calls of MPI or NCCL: not where the sources leave them out, and without --trace where the program has them.
enum class RankCapture { none, if_there, asked };

struct CapturePlan {
  std::string trace;      ///< the requested sources, separated by commas
  std::string collector;  ///< value of WICPROF_TRACE: `trace` without the sources that wic-prof records itself; rewrite
  bool host = true;       ///< sample the threads of the program's processes
  bool energy = false;    ///< read meters of energy
  RankCapture mpi = RankCapture::if_there;
  RankCapture nccl = RankCapture::if_there;
  bool rewrite = false;  ///< patch the waiting loops of kernels
  TimeNs delay = 0;
  TimeNs duration = 0;   ///< 0 = to the end
  TimeNs keep_last = 0;  ///< of the rows of one trace; 0 = keep everything
  SegmentPlan segments;  ///< with its own keep_last
  std::vector<store::RangeName> ranges;
  std::uint64_t max_bytes = 0;  ///< 0 = no limit

  bool timed() const { return delay != 0 || duration != 0; }
  /// Whether the collector records `source`, a word of trace_words.h.
  bool collects(std::string_view source) const;
};

/// An error names the option, the values that it takes, and the given value. Without --trace, the environment's
/// WICPROF_TRACE applies; the collector reports the unknown words in that one.
Result<CapturePlan> read_capture(const CaptureOptions& options);

/// "cuda, nvtx, ...": for help and errors.
std::string trace_word_list();

/// The trace's `meta` rows about the capture: trace, rewrite and capture_*.
std::map<store::MetaKey, std::string> capture_meta(const CapturePlan& plan);

/// Starts and stops recording at the times of --delay and --duration, through the control block that collectors read.
class CaptureWindow {
 public:
  /// Sets the control block's initial state; call before the program starts.
  CaptureWindow(ControlBlock& control, const CapturePlan& plan);

  /// Starts the clock of --delay at `now`, the program's start.
  void start(TimeNs now);
  TimeNs from() const { return from_; }
  TimeNs until() const { return until_; }  ///< largest TimeNs = to the end

  /// Starts or stops recording if that is due. Returns a sentence for the user; empty when nothing was due.
  std::optional<std::string> follow(TimeNs now);
  /// Time of the next start or stop; empty when none is left.
  std::optional<TimeNs> next() const;
  /// Stops recording ahead of the program's end.
  void close();
  /// Whether the window of --duration has ended.
  bool over() const { return state_ == State::after; }

 private:
  enum class State { before, within, after };
  void set(std::uint32_t capturing);

  ControlBlock& control_;
  TimeNs delay_, duration_;
  TimeNs from_ = 0, until_ = 0;
  State state_ = State::before;
};

}  // namespace wicprof::cli
