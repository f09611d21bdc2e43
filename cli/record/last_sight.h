// What the ranks of a job are in when their recording ends, for the trace: whoever compares the traces of all ranks
// then sees which of them has left out what the others wait for.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::cli {

class LastSight {
 public:
  /// `work` must outlive the object. `app`: the process that the recording is of; `is_rank`: a launcher's.
  LastSight(const OpenWork& work, std::uint32_t app, bool is_rank) : work_(work), app_(app), is_rank_(is_rank) {}
  LastSight(const LastSight&) = delete;

  /// Call often while the program runs. Looks each second in which no rank has come from one call to another; a job
  /// that goes on costs a look at the session's tables. One thread, as end().
  void follow(TimeNs now);
  /// Call before the program is told to end, and again once it has ended; the first call counts. `told`: something has
  /// told the program to end, so that a process which has ended in this second did not before that. Waits for nobody.
  void end(bool told);

  /// What the trace is to keep, where that is news; an empty text where no rank stands still any more. Any thread.
  std::optional<std::string> news();

 private:
  using Progress = std::vector<TimeNs>;  // grows, or changes, with each call
  Progress progress() const;
  bool has_ranks() const;
  void look(TimeNs now);
  void publish(std::string text);

  const OpenWork& work_;
  const std::uint32_t app_;
  const bool is_rank_;
  TimeNs next_ = 0, since_ = 0, next_stacks_ = 0;
  Progress progress_;                         // at the last look
  std::set<std::uint32_t> alive_;             // then
  std::optional<analyzer::StuckView> still_;  // if nothing has come further since
  bool kept_ = false, ended_ = false;
  std::mutex mutex_;  // guards news_
  std::optional<std::string> news_;
};

}  // namespace wicprof::cli
