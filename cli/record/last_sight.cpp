#include "cli/record/last_sight.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "analyzer/stuck/view_text.h"
#include "cli/record/guarded.h"
#include "cli/record/long_wait.h"
#include "cli/sessions/stuck_view.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kBetweenLastSights = kSecond;
/// A recorder that is killed leaves a sight that is so old. Not calibrated: longer than most steps of a job.
constexpr TimeNs kKeptAfter = 3 * kSecond;
/// For the stacks of all processes: the recorder has other things to do.
constexpr TimeNs kStackPatience = 300 * kMillisecond;

/// Also takes the children of the processes, which only a view with stacks has.
void take_stacks(analyzer::StuckView& from, analyzer::StuckView& to) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, analyzer::SeenThread*> known;
  for (analyzer::SeenThread& thread : from.threads) known[{thread.process, thread.thread}] = &thread;
  for (analyzer::SeenThread& thread : to.threads) {
    const auto found = known.find({thread.process, thread.thread});
    if (found == known.end()) continue;
    thread.python = std::move(found->second->python);
    thread.native = std::move(found->second->native);
  }
  for (analyzer::SeenProcess& process : from.processes) {
    if (to.process(process.pid) != nullptr) continue;
    for (analyzer::SeenThread& thread : from.threads) {
      if (thread.process == process.pid) to.threads.push_back(std::move(thread));
    }
    to.processes.push_back(std::move(process));
  }
}

/// The view with stacks. Nothing: they have taken too long, or the system refuses a thread. The thread is left to
/// itself then: the program's files may be on a disk that has stopped, which may be why the program hangs.
std::optional<analyzer::StuckView> with_stacks(analyzer::StuckView view) {
  auto done = std::make_shared<std::promise<analyzer::StuckView>>();
  std::future<analyzer::StuckView> answer = done->get_future();
  try {
    std::thread([done, view = std::move(view)]() mutable {
      guarded("looking at stacks", [&] {
        add_children(view);
        add_stacks(view, kStackPatience);
        done->set_value(std::move(view));
      });
    }).detach();
    if (answer.wait_for(std::chrono::nanoseconds(2 * kStackPatience)) != std::future_status::ready) return std::nullopt;
    return answer.get();
  } catch (const std::exception&) {  // no thread, or what it did has failed
    return std::nullopt;
  }
}

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
  const std::lock_guard lock(mutex_);
  if (ended_ || now < next_) return;
  next_ = now + std::min(kBetweenLastSights, longest_);
  see(now);
}

std::string LastSight::look(TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (!ended_) see(now);
  return kept_;
}

void LastSight::see(TimeNs now) {
  decltype(long_waits_) current;
  for_each_long_wait(work_, now - longest_,
                     [&](const auto& entry, const auto& open) { current.emplace(&entry, open.begin); });
  const bool hung = hangs();
  const bool others = !std::includes(long_waits_.begin(), long_waits_.end(), current.begin(), current.end());
  // The words of patched loops: the next look has them.
  if (others) work_.asked.fetch_add(1);
  if (hung && current.empty()) longest_ *= 2;
  long_waits_ = std::move(current);
  Progress calls = progress();
  const bool any_ranks = is_rank_ || !calls.empty();
  const bool goes_on = std::exchange(progress_, std::move(calls)) != progress_;
  if (goes_on) since_ = now;
  alive_ = {app_};
  for (const auto& entry : work_.mpi_calls) alive_.insert(entry.pid());
  for (const auto& entry : work_.nccl) alive_.insert(entry.pid());
  std::erase_if(alive_, process_is_gone);
  std::optional<analyzer::StuckView> before = std::exchange(still_, std::nullopt);
  if (hangs() || (any_ranks && !goes_on)) {
    still_ = look_at_work(work_, app_);
    still_->hung = hangs();
    add_stacks_to(*still_, before ? &*before : nullptr, now);
  }
  if (!hangs() && (!still_ || now - since_ < kKeptAfter)) return keep("");
  if (others || hung != hangs() || kept_.empty()) keep(analyzer::view_text(*still_));
}

void LastSight::add_stacks_to(analyzer::StuckView& view, analyzer::StuckView* before, TimeNs now) {
  if (before == nullptr) {
    still_since_ = now;
    next_stacks_ = hangs() ? now : since_ + kKeptAfter;
  }
  std::optional<analyzer::StuckView> seen;
  if (now >= next_stacks_) {
    seen = with_stacks(view);
    next_stacks_ = now + std::max(kKeptAfter, now - still_since_);  // less often the longer nothing changes
  }
  if (seen) {
    take_stacks(*seen, view);
  } else if (before != nullptr) {
    take_stacks(*before, view);
  }
}

void LastSight::end(End how) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ended_, true)) return;
  const bool hung = hangs() && how != End::well;
  if (!hung && !has_ranks()) return keep("");
  // Whoever ends a whole job reaches the program's processes at the same time: a look now shows how they die, or what
  // stopped ones do that were woken for that.
  const bool before = hung || how == End::told;
  analyzer::StuckView view = before && still_ ? *std::move(still_) : look_at_work(work_, app_);
  if (before) {
    for (analyzer::SeenProcess& process : view.processes) process.alive = process.alive || alive_.contains(process.pid);
  }
  view.hung = hung;
  keep(analyzer::view_text(view));
}

void LastSight::keep(std::string text) {
  is_news_ = is_news_ || text != kept_;
  kept_ = std::move(text);
}

std::optional<std::string> LastSight::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(is_news_, false) ? std::optional(kept_) : std::nullopt;
}

}  // namespace wicprof::cli
