// A recording in segments (--segment), or in dumps of its last minutes (--trigger): when the next one begins, who
// completes the ended ones, and which are kept.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/record/triggers.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

struct SegmentPlan {
  TimeNs length = 0;        ///< of a segment; 0 = not by time
  std::uint64_t bytes = 0;  ///< of a segment's rows; 0 = not by size
  TimeNs keep_last = 0;     ///< removes segments that ended before this much time; 0 = keeps all
  TriggerPlan triggers;     ///< a segment ends when one of its rules holds: it is a dump then
  std::size_t most = 0;     ///< keeps so many ended ones, the newest; 0 = all

  bool wanted() const { return length != 0 || bytes != 0 || triggers.wanted(); }
  const char* option() const { return triggers.wanted() ? "--trigger" : "--segment"; }
};

/// NAME.0001.wicprof for NAME.wicprof and 1.
std::string segment_name(const std::string& trace, unsigned number);

/// Makes sure that no segment of an earlier recording into `trace` stays beside those of a new one. Errors: there is
/// one and `overwrite` is off, or another recorder writes to it; it cannot be removed.
Result<> clear_segments(const std::string& trace, bool overwrite);

/// The recorder moves on from segment to segment on the drain's thread; a thread of this class completes the ended
/// ones.
class Segments {
 public:
  /// Called on the drain's thread for the segment that is about to end. Returns why it ends, if its end says something.
  using Describe = std::function<std::string(store::Recorder& ending)>;
  /// Called on this class's thread for an ended segment: adds what is known only then, and finishes it.
  using Complete = std::function<Result<>(store::Recorder& ended, const store::FinishWatch& watch)>;

  /// `trace`: the name without a number; segment 1 is being recorded. `triggers`: those of the plan, or nullptr; they
  /// outlive the segments.
  Segments(const SegmentPlan& plan, std::string trace, Triggers* triggers, Describe describe, Complete complete);
  ~Segments();

  /// Segment 1 begins at `from`, and no segment begins from `until` on. Call before follow().
  void set_window(TimeNs from, TimeNs until);

  /// Begins the next segment if one is due. Where that fails, the current segment grows on, with one warning. The
  /// thread that uses the recorder.
  void follow(store::Recorder& recorder, TimeNs now) noexcept;

  /// The number of the segment that is being recorded. Any thread.
  unsigned count() const;
  /// How many have been completed; the first is completed first. Any thread.
  unsigned completed() const;
  /// Why the next segment, which was due, has not begun; empty while all is well. Any thread.
  std::string why_not_begun() const;

  /// Completes the ended segments, and removes those that are too old at `end`. `goes_on` is called every few
  /// milliseconds; false: gives up what takes long. Error: the first of a segment that could not be completed.
  Result<> finish(TimeNs end, const std::function<bool()>& goes_on);

 private:
  struct Ended {
    store::Recorder recorder;
    unsigned number;
    TimeNs at, length;
    std::string why;
  };
  struct Kept {
    unsigned number;
    TimeNs ended;
  };

  bool due(const store::Recorder& recorder, TimeNs now);
  void not_begun(const std::string& why, TimeNs now);
  void begin_next(store::Recorder& recorder, TimeNs now);
  void work();
  void complete(Ended& ended);
  void remove_old(TimeNs now);

  const SegmentPlan plan_;
  const std::string trace_;
  Triggers* const triggers_;
  const Describe describe_;
  const Complete complete_;
  TimeNs begin_ = 0, next_ = 0, until_ = 0;  // of the current segment; of the next look; of the last segment's begin

  mutable std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  unsigned count_ = 1, completed_ = 0;
  std::string why_not_begun_;
  std::deque<Ended> ended_;  // the first is being completed
  std::deque<Kept> kept_;    // complete ones that are not removed
  std::optional<Error> failure_;
  bool give_up_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
