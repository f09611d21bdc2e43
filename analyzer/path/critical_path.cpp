#include "analyzer/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/measure/sorting.h"
#include "analyzer/path/blocked_waits.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {
namespace {

/// The last of a list, sorted by `resumed`, that resumed no later than `time`; nullptr if none did.
const Blocked* last_until(const Blocked* begin, const Blocked* end, TimeNs time) {
  const Blocked* after =
      std::upper_bound(begin, end, time, [](TimeNs t, const Blocked& blocked) { return t < blocked.resumed; });
  return after == begin ? nullptr : after - 1;
}

struct HostThread {
  std::vector<Blocked> blocked;
  std::vector<WaitingCall> calls;
};

class Walk {
 public:
  Walk(const TraceModel& model, const Matching& matching, const DeviceWork& work, const WorkIndex& index,
       Interval ground)
      : model_(model), names_(model), ground_(ground), work_(work), index_(index), blocked_(model, matching) {
    index_host(matching);
  }

  CriticalPath run() {
    if (!start()) {
      path_.missing = "the trace holds neither work on a device nor a wait at a wait site";
      return std::move(path_);
    }
    if (blocked_.empty() && !host_blocked_ && !work_.any_calls) {
      path_.missing =
          "the trace does not show who released or launched whom: no recorded signal matches a wait, and it holds no "
          "calls of CUDA";
      return std::move(path_);
    }
    std::size_t stuck = 0;
    while (where_ != Where::nowhere && stuck < kMaxStepsWithoutProgress) {
      const TimeNs before = now_;
      step();
      stuck = now_ < before ? 0 : stuck + 1;
    }
    std::reverse(path_.segments.begin(), path_.segments.end());
    add_up();
    return std::move(path_);
  }

 private:
  static constexpr std::size_t kMaxStepsWithoutProgress =
      64;  // steps without progress, where clock errors make times circular
  enum class Where { nowhere, block, thread, kernel, copy };

  void index_host(const Matching& matching) {
    for (const WakeEdge& edge : matching.edges) {
      if (!edge.host) continue;
      const store::HostWaitRow& wait = model_.host_waits[edge.wait];
      HostThread& thread = threads_[wait.thread];
      if (model_.signals[edge.signal].at <= wait.begin) continue;
      host_blocked_ = true;
      thread.blocked.push_back({wait.end, static_cast<std::uint32_t>(edge.signal), wait.site});
    }
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (wait.in_call()) threads_[wait.thread].calls.push_back({wait.begin, wait.end, wait.process, wait.correlation});
    }
    for (auto& [id, thread] : threads_) {
      sort_if_needed(thread.blocked, [](const Blocked& a, const Blocked& b) { return a.resumed < b.resumed; });
      sort_if_needed(thread.calls, [](const WaitingCall& a, const WaitingCall& b) { return a.end < b.end; });
    }
  }

  /// Whether the backend requested the work, on a thread that neither waits nor launches anything of the program: it
  /// writes the words that switch the modes, and copies nothing for the program.
  bool is_backend_copy(const WorkItem& item) const {
    return item.copy != nullptr && host_blocked_ && item.call && !programs_threads_.contains(item.thread);
  }

  void find_programs_threads() {
    for (const auto& [id, thread] : threads_) {
      if (!thread.blocked.empty()) programs_threads_.insert(id);
    }
    for (const auto& [stream, items] : work_.by_stream) {
      for (const WorkItem& item : items) {
        if (item.kernel == nullptr || !item.call || programs_threads_.contains(item.thread)) continue;
        if (!is_backend_work(item)) programs_threads_.insert(item.thread);
      }
    }
  }

  /// Starts at the last event of the trace that belongs to the program. False if there is none.
  bool start() {
    find_programs_threads();
    now_ = model_.begin;
    const auto later = [&](TimeNs end) { return where_ == Where::nowhere || end > now_; };
    for_each_wait(model_, [&](const WaitView& wait) {
      if (wait.in_call || !later(wait.end)) return;
      wait.host ? on_thread(wait.who, wait.end) : on_block(wait.device, wait.who, wait.end);
    });
    for (const auto& [stream, items] : work_.by_stream) {
      for (const WorkItem& item : items) {
        if (!is_backend_work(item) && !is_backend_copy(item) && later(item.end)) on_work(item, item.end);
      }
    }
    return where_ != Where::nowhere;
  }

  void on_block(DeviceId device, std::uint32_t block, TimeNs time) {
    where_ = Where::block;
    device_ = device;
    place_ = block;
    now_ = time;
  }
  void on_thread(std::uint32_t thread, TimeNs time) {
    where_ = Where::thread;
    device_ = kHostDevice;
    place_ = thread;
    now_ = time;
  }
  void on_work(const WorkItem& item, TimeNs time) {
    where_ = item.kernel != nullptr ? Where::kernel : Where::copy;
    device_ = item.device;
    item_ = &item;
    now_ = std::min(time, item.end);
  }
  void on_signaller(std::uint32_t index, TimeNs until) {
    const store::SignalRow& signal = model_.signals[index];
    const TimeNs at = std::min(signal.at, until);
    if (signal.device != kHostDevice) {
      on_block(signal.device, signal.block, at);
    } else if (const auto thread = signalling_thread(signal, at)) {
      on_thread(*thread, at);
    } else {
      where_ = Where::nowhere;
      add(PathKind::host_work, model_.begin, at, kHostDevice, 0, 0);
    }
  }

  /// The thread that a host signal names, otherwise the thread with the last activity before the signal.
  std::optional<std::uint32_t> signalling_thread(const store::SignalRow& signal, TimeNs at) {
    if (signal.thread != 0) return signal.thread;
    if (threads_.empty()) return std::nullopt;
    if (threads_.size() > 1) guessed_thread_ = true;
    return last_host_activity(at).first;
  }

  /// The thread that ended a wait last, and when; time 0 if none did. If any threads wait at sites, only these qualify:
  /// the backend's threads do not wait there. Otherwise, if any threads launch kernels, only these.
  std::pair<std::uint32_t, TimeNs> last_host_activity(TimeNs until) const {
    const bool some_launch = std::any_of(threads_.begin(), threads_.end(),
                                         [&](const auto& each) { return programs_threads_.contains(each.first); });
    std::pair<std::uint32_t, TimeNs> best{threads_.empty() ? 0 : threads_.begin()->first, 0};
    for (const auto& [id, thread] : threads_) {
      if (host_blocked_ ? thread.blocked.empty() : some_launch && !programs_threads_.contains(id)) continue;
      const Blocked* blocked = last_until(thread.blocked.data(), thread.blocked.data() + thread.blocked.size(), until);
      TimeNs end = blocked != nullptr ? blocked->resumed : 0;
      if (const WaitingCall* call = last_call(thread, until)) end = std::max(end, call->end);
      if (end > best.second) best = {id, end};
    }
    return best;
  }

  static const WaitingCall* last_call(const HostThread& thread, TimeNs until) {
    const auto after = std::upper_bound(thread.calls.begin(), thread.calls.end(), until,
                                        [](TimeNs t, const WaitingCall& call) { return t < call.end; });
    return after == thread.calls.begin() ? nullptr : &*std::prev(after);
  }

  void add(PathKind kind, TimeNs begin, TimeNs end, DeviceId device, SiteId site, std::uint32_t place) {
    if (end > begin) path_.segments.push_back({begin, end, device, site, place, kind});
  }

  void step() {
    switch (where_) {
      case Where::block:
        return step_block();
      case Where::thread:
        return step_thread();
      case Where::kernel:
        return step_kernel();
      case Where::copy:
        add(PathKind::copy, item_->start, now_, device_, 0, 0);
        return before_work();
      case Where::nowhere:
        return;
    }
  }

  /// From the end of a wait to the signaller; `before` is the work since the wait.
  void follow_wake(const Blocked& blocked, PathKind before, DeviceId device, std::uint32_t place) {
    add(before, blocked.resumed, now_, device, 0, place);
    const TimeNs at = std::min(model_.signals[blocked.signal].at, blocked.resumed);
    add(PathKind::wake, at, blocked.resumed, device, blocked.site, place);
    on_signaller(blocked.signal, at);
  }

  void step_block() {
    const WorkItem* kernel = index_.kernel_at(device_, now_, place_);
    const TimeNs since = kernel != nullptr ? kernel->start : model_.begin;
    const std::optional<Blocked> blocked = blocked_.last(device_, place_, now_);
    if (blocked && blocked->resumed > since) {
      follow_wake(*blocked, PathKind::device_work, device_, place_);
      return;
    }
    if (kernel != nullptr) {
      add(PathKind::device_work, since, now_, device_, 0, place_);
      now_ = since;
      item_ = kernel;
      before_work();
      return;
    }
    // The trace does not hold the launch of the block. The program's host thread that resumed last is the best guess.
    unknown_start_ = true;
    const auto [thread, resumed] = last_host_activity(now_);
    const TimeNs from = resumed > 0 && resumed < now_ ? resumed : since;
    add(PathKind::device_work, from, now_, device_, 0, place_);
    if (from == since) {
      where_ = Where::nowhere;
    } else {
      on_thread(thread, from);
    }
  }

  void step_thread() {
    const HostThread& thread = threads_[place_];
    const Blocked* blocked = last_until(thread.blocked.data(), thread.blocked.data() + thread.blocked.size(), now_);
    const WaitingCall* call = last_call(thread, now_);
    if (blocked != nullptr && (call == nullptr || blocked->resumed >= call->end)) {
      follow_wake(*blocked, PathKind::host_work, kHostDevice, place_);
      return;
    }
    if (call == nullptr) {
      add(PathKind::host_work, model_.begin, now_, kHostDevice, 0, place_);
      where_ = Where::nowhere;
      return;
    }
    add(PathKind::host_work, call->end, now_, kHostDevice, 0, place_);
    if (const WorkItem* work = index_.waited_for(*call)) {
      add(PathKind::host_return, work->end, call->end, kHostDevice, 0, place_);
      on_work(*work, work->end);
      return;
    }
    add(PathKind::host_work, call->begin, std::min(now_, call->end), kHostDevice, 0, place_);
    on_thread(place_, std::min(now_, call->begin));
  }

  /// From a kernel's end: continues on the block that was released last, otherwise passes the whole kernel.
  void step_kernel() {
    const WorkItem& kernel = *item_;
    const std::uint64_t blocks = blocks_of(*kernel.kernel);
    std::optional<store::WaitRow> last;
    auto after = std::upper_bound(model_.waits.begin(), model_.waits.end(), now_,
                                  [](TimeNs t, const store::WaitRow& wait) { return t < wait.arrived; });
    while (after != model_.waits.begin() && std::prev(after)->arrived >= kernel.start) {
      --after;
      const bool inside = after->device == kernel.device && after->resumed <= now_ && after->block < blocks;
      if (inside && (!last || after->resumed > last->resumed)) last = *after;
    }
    if (last) {
      on_block(kernel.device, last->block, now_);
      return;
    }
    add(PathKind::device_work, kernel.start, now_, device_, 0, 0);
    before_work();
  }

  /// From the begin of item_: continues at its launch or at the previous work, whichever came later.
  void before_work() {
    const WorkItem& item = *item_;
    now_ = std::min(now_, item.start);
    const WorkItem* previous = index_.work_before(item);
    if (previous != nullptr && (!item.call || previous->end > item.call->begin)) {
      add(PathKind::launch, previous->end, now_, item.device, 0, 0);
      on_work(*previous, std::min(now_, previous->end));
      return;
    }
    if (!item.call) {
      unknown_launch_ = true;
      where_ = Where::nowhere;
      return;
    }
    const TimeNs called = std::min(now_, item.call->begin);
    add(PathKind::launch, called, now_, item.device, 0, 0);
    on_thread(item.thread, called);
  }

  std::string where_of(const PathSegment& segment) const {
    switch (segment.kind) {
      case PathKind::wake:
        return model_.site_name(segment.site);
      case PathKind::host_work:
      case PathKind::host_return:
        return segment.place == 0 ? std::string("the CPU") : names_.of(0, segment.place);
      case PathKind::device_work:
      case PathKind::launch:
      case PathKind::copy:
        break;
    }
    return model_.device_key(segment.device);
  }

  void add_up() {
    std::map<std::tuple<PathKind, DeviceId, SiteId, std::uint32_t>, PathShare> shares;
    for (const PathSegment& segment : path_.segments) {
      const TimeNs length = std::min(segment.end, ground_.end) - std::max(segment.begin, ground_.begin);
      if (length <= 0) continue;
      const bool thread = segment.kind == PathKind::host_work || segment.kind == PathKind::host_return;
      const bool wake = segment.kind == PathKind::wake;
      PathShare& share = shares[{segment.kind, wake ? 0 : segment.device, segment.site, thread ? segment.place : 0}];
      if (share.count == 0) {
        share.kind = segment.kind;
        share.where = where_of(segment);
      }
      ++share.count;
      share.total_ns += length;
      path_.length_ns += length;
    }
    for (auto& [key, share] : shares) {
      if (path_.length_ns > 0) share.share = static_cast<double>(share.total_ns) / static_cast<double>(path_.length_ns);
      path_.shares.push_back(share);
    }
    std::stable_sort(path_.shares.begin(), path_.shares.end(),
                     [](const PathShare& a, const PathShare& b) { return a.total_ns > b.total_ns; });
    if (guessed_thread_) {
      path_.notes.push_back(
          "some signals of the CPU do not name their thread: the path assumes the thread with the last recorded "
          "activity "
          "before them");
    }
    if (unknown_start_) {
      path_.notes.push_back(
          "the trace does not hold the starts of kernels: a block that never waited counts as working since a CPU "
          "thread "
          "last resumed");
    }
    if (unknown_launch_)
      path_.notes.push_back("the path ends at a kernel or copy whose launching call is not in the trace");
  }

  const TraceModel& model_;
  const ThreadNames names_;
  const Interval ground_;
  const DeviceWork& work_;
  const WorkIndex& index_;
  BlockedWaits blocked_;
  std::map<std::uint32_t, HostThread> threads_;  // by thread id
  std::set<std::uint32_t> programs_threads_;     // threads that wait at sites or launch kernels of the program

  CriticalPath path_;
  Where where_ = Where::nowhere;
  TimeNs now_ = 0;
  DeviceId device_ = kHostDevice;
  std::uint32_t place_ = 0;
  const WorkItem* item_ = nullptr;
  bool host_blocked_ = false;  // some host thread waited for a signal
  bool guessed_thread_ = false, unknown_start_ = false, unknown_launch_ = false;
};

}  // namespace

std::string_view path_kind_name(PathKind kind) {
  switch (kind) {
    case PathKind::device_work:
      return "device work";
    case PathKind::host_work:
      return "host work";
    case PathKind::wake:
      return "wake-up";
    case PathKind::launch:
      return "launch";
    case PathKind::copy:
      return "copy";
    case PathKind::host_return:
      break;
  }
  return "return to the host";
}

CriticalPath critical_path(const TraceModel& model, const Matching& matching) {
  const Interval whole{model.begin, model.end};
  const DeviceWork work(model);
  return critical_path(model, matching, work, WorkIndex(model, work),
                       iteration_window(model, find_iterations(model)).value_or(whole));
}

CriticalPath critical_path(const TraceModel& model, const Matching& matching, const DeviceWork& work,
                           const WorkIndex& index, Interval ground) {
  return Walk(model, matching, work, index, ground).run();
}

}  // namespace wicprof::analyzer
