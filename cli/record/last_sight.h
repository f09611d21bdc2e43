// What the program is in when its recording ends, for the trace: of the ranks of a job, so that whoever compares the
// traces of all ranks sees which of them has left out what the others wait for; and of a program that hangs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// Any thread. Waits for nobody else.
class LastSight {
 public:
  /// `work` must outlive the object. `app`: the process that the recording is of; `is_rank`: a launcher's. A program
  /// hangs once something has waited for `longest`.
  LastSight(OpenWork& work, std::uint32_t app, bool is_rank, TimeNs longest)
      : work_(work), app_(app), is_rank_(is_rank), longest_(longest) {}
  LastSight(const LastSight&) = delete;

  /// Call often while the program runs. Looks each second in which no rank has come from one call to another, or
  /// something has waited for too long; a program that goes on costs a look at the session's tables. A wait that ends
  /// after all was no hang, and the next one has to last twice as long.
  void follow(TimeNs now);
  /// Looks at once, as follow() does. What a trace that ends now is to keep; empty: nothing.
  std::string look(TimeNs now);

  enum class End {
    told,    ///< something tells the program to end, or has: who has ended in this second did not before that
    well,    ///< by itself: what waited did not hang
    failed,  ///< by itself
  };
  /// Call before the program is told to end, and again once it has ended; the first call counts.
  void end(End how);

  /// What the trace is to keep, where that is news; an empty text where it goes on.
  std::optional<std::string> news();

 private:
  using Progress = std::vector<TimeNs>;  // grows, or changes, with each call
  Progress progress() const;
  bool has_ranks() const;
  bool hangs() const { return !long_waits_.empty(); }
  void see(TimeNs now);
  /// `before`: the look before this one, if nothing has come further since; its stacks are taken over for a while.
  void add_stacks_to(analyzer::StuckView& view, analyzer::StuckView* before, TimeNs now);
  void keep(std::string text);

  OpenWork& work_;
  const std::uint32_t app_;
  const bool is_rank_;
  std::mutex mutex_;  // guards what follows
  TimeNs longest_, next_ = 0, since_ = 0, still_since_ = 0, next_stacks_ = 0;
  Progress progress_;                                    // at the last look
  std::set<std::pair<const void*, TimeNs>> long_waits_;  // then: entries, and when their waits began
  std::set<std::uint32_t> alive_;                        // then
  std::optional<analyzer::StuckView> still_;             // if nothing has come further since
  bool ended_ = false, is_news_ = false;
  std::string kept_;
};

}  // namespace wicprof::cli
