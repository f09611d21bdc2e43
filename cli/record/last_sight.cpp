#include "cli/record/last_sight.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "cli/sessions/stuck_view.h"
#include "cli/sessions/view_text.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kBetweenLastSights = kSecond;
/// A recorder that is killed leaves a sight that is so old. Not calibrated: longer than most steps of a job.
constexpr TimeNs kKeptAfter = 3 * kSecond;
/// For the stacks of all ranks of this machine: the recorder has other things to do.
constexpr TimeNs kStackPatience = 300 * kMillisecond;

}  // namespace

LastSight::Progress LastSight::progress() const {
  Progress all;
  for (const auto& entry : work_.mpi_calls) {
    if (const auto call = entry.read(); call && call->begin != 0)
      all.insert(all.end(), {TimeNs{entry.pid()}, call->begin, call->end});
  }
  for (const auto& entry : work_.nccl) {
    if (const auto of = entry.read()) all.insert(all.end(), {TimeNs{entry.pid()}, TimeNs{of->collectives}});
  }
  return all;
}

bool LastSight::has_ranks() const {
  const auto any = [](const auto& table) {
    return std::any_of(std::begin(table), std::end(table), [](const auto& entry) { return entry.pid() != 0; });
  };
  return is_rank_ || any(work_.mpi_calls) || any(work_.communicators) || any(work_.nccl);
}

void LastSight::follow(TimeNs now) {
  if (ended_ || now < next_) return;
  next_ = now + kBetweenLastSights;
  Progress current = progress();
  if (current.empty() && !is_rank_) return;
  const bool goes_on = std::exchange(progress_, std::move(current)) != progress_;
  alive_ = {app_};
  for (const auto& entry : work_.mpi_calls) alive_.insert(entry.pid());
  for (const auto& entry : work_.nccl) alive_.insert(entry.pid());
  std::erase_if(alive_, process_is_gone);
  if (goes_on || since_ == 0) {
    since_ = now;
    next_stacks_ = now + kKeptAfter;
    still_.reset();
  } else {
    look(now);
  }
  const bool keeps = !goes_on && now - since_ >= kKeptAfter;
  if (std::exchange(kept_, keeps) != keeps) publish(keeps ? view_text(*still_) : "");
}

void LastSight::look(TimeNs now) {
  analyzer::StuckView view = look_at_work(work_, app_);
  if (now >= next_stacks_) {
    add_stacks(view, kStackPatience);
    next_stacks_ = now + (now - since_);  // less often the longer nothing changes
  } else if (still_) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, analyzer::SeenThread*> known;
    for (analyzer::SeenThread& thread : still_->threads) known[{thread.process, thread.thread}] = &thread;
    for (analyzer::SeenThread& thread : view.threads) {
      const auto found = known.find({thread.process, thread.thread});
      if (found == known.end()) continue;
      thread.python = std::move(found->second->python);
      thread.native = std::move(found->second->native);
    }
  }
  still_ = std::move(view);
}

void LastSight::end(bool told) {
  if (std::exchange(ended_, true) || !has_ranks()) return;
  // Whoever ends a whole job reaches the program's processes at the same time: a look now shows how they die, or what
  // stopped ones do that were woken for that.
  const bool is_kept = told && still_;
  analyzer::StuckView view = is_kept ? *std::move(still_) : look_at_work(work_, app_);
  if (!is_kept) add_stacks(view, kStackPatience);
  if (told) {
    for (analyzer::SeenProcess& process : view.processes) process.alive = process.alive || alive_.contains(process.pid);
  }
  publish(view_text(view));
}

void LastSight::publish(std::string text) {
  const std::lock_guard lock(mutex_);
  news_ = std::move(text);
}

std::optional<std::string> LastSight::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

}  // namespace wicprof::cli
