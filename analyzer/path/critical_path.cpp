#include "analyzer/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/call_index.h"
#include "analyzer/trace/device_work.h"

namespace wicprof::analyzer {
namespace {

/// A wait that ended because its signal came after it had begun.
struct Blocked {
  TimeNs resumed = 0;
  std::uint32_t signal = 0;
  SiteId site = 0;
};

/// The same of a wait in a kernel, by indexes into the model: there are millions.
struct BlockedWait {
  std::uint32_t wait = 0, signal = 0;
};

std::uint64_t block_key(DeviceId device, std::uint32_t block) {
  return (std::uint64_t{static_cast<std::uint32_t>(device)} << 32) | block;
}

/// Lists of T by owner, each in the order in which it was filled.
template <class T>
class Lists {
 public:
  void reserve(const std::vector<std::uint32_t>& sizes) {
    first_.assign(sizes.size() + 1, 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) first_[i + 1] = first_[i] + sizes[i];
    all_.resize(first_.back());
    next_.assign(first_.begin(), first_.end() - 1);
  }
  void add(std::uint32_t owner, T item) { all_[next_[owner]++] = item; }
  std::span<T> of(std::uint32_t owner) { return {all_.data() + first_[owner], first_[owner + 1] - first_[owner]}; }

 private:
  std::vector<std::size_t> first_, next_;
  std::vector<T> all_;
};

std::uint64_t blocks_of(const store::KernelRow& kernel) {
  return std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
}

/// The last of a list in order of `resumed` that is not after `time`; nullptr without one.
const Blocked* last_upto(const Blocked* begin, const Blocked* end, TimeNs time) {
  const Blocked* after =
      std::upper_bound(begin, end, time, [](TimeNs t, const Blocked& blocked) { return t < blocked.resumed; });
  return after == begin ? nullptr : after - 1;
}

/// Sorts what mostly is in order already.
void put_in_order(auto& list, const auto& earlier) {
  if (!std::is_sorted(list.begin(), list.end(), earlier)) std::sort(list.begin(), list.end(), earlier);
}

/// A call in which a host thread waited for the device.
struct WaitingCall {
  TimeNs begin = 0, end = 0;
  store::ProcessId process = 0;
  std::optional<std::uint32_t> correlation;
};

struct HostThread {
  std::vector<Blocked> blocked;
  std::vector<WaitingCall> calls;
};

class Walk {
 public:
  Walk(const TraceModel& model, const Matching& matching, const DeviceWork& work)
      : model_(model), calls_(work.calls), work_(work.by_stream) {
    index_blocks(matching);
    index_host(matching);
    index_work();
  }

  CriticalPath run() {
    if (!start()) {
      path_.missing = "nothing on a device and no wait at a wait site is recorded";
      return std::move(path_);
    }
    if (!any_edge_ && calls_.empty()) {
      path_.missing =
          "it is not known who released or launched whom: no recorded signal matches a wait, and calls of CUDA are not "
          "recorded";
      return std::move(path_);
    }
    std::size_t stuck = 0;
    while (where_ != Where::nowhere && stuck < kMostStuck) {
      const TimeNs before = now_;
      step();
      stuck = now_ < before ? 0 : stuck + 1;
    }
    std::reverse(path_.segments.begin(), path_.segments.end());
    add_up();
    return std::move(path_);
  }

 private:
  static constexpr std::size_t kMostStuck = 64;  // steps without progress: times that clock errors put in a circle
  enum class Where { nowhere, block, thread, kernel, copy };

  void index_blocks(const Matching& matching) {
    std::vector<std::uint32_t> sizes;
    const auto number = [&](DeviceId device, std::uint32_t block) {
      const std::uint32_t n = blocks_.number(block_key(device, block));
      if (n == sizes.size()) sizes.push_back(0);
      return n;
    };
    const auto blocks = [&](const WakeEdge& edge) {
      return !edge.host && model_.signals[edge.signal].at > model_.waits[edge.wait].arrived;
    };
    for (const WakeEdge& edge : matching.edges) {
      if (!blocks(edge)) continue;
      const store::WaitRow& wait = model_.waits[edge.wait];
      ++sizes[number(wait.device, wait.block)];
      any_edge_ = true;
    }
    blocked_.reserve(sizes);
    std::vector<TimeNs> last(sizes.size(), std::numeric_limits<TimeNs>::min());
    std::vector<bool> in_order(sizes.size(), true);
    for (const WakeEdge& edge : matching.edges) {
      if (!blocks(edge)) continue;
      const store::WaitRow& wait = model_.waits[edge.wait];
      const std::uint32_t block = blocks_.find(block_key(wait.device, wait.block));
      blocked_.add(block, {edge.wait, edge.signal});
      if (wait.resumed < last[block]) in_order[block] = false;
      last[block] = wait.resumed;
    }
    // By arrival nearly by resumption: the warps of a block may overtake each other.
    for (std::uint32_t b = 0; b < sizes.size(); ++b) {
      if (in_order[b]) continue;
      const auto earlier = [&](const BlockedWait& a, const BlockedWait& c) { return resumed(a) < resumed(c); };
      std::stable_sort(blocked_.of(b).begin(), blocked_.of(b).end(), earlier);
    }
    walked_ = std::move(sizes);
  }

  TimeNs resumed(const BlockedWait& blocked) const { return model_.waits[blocked.wait].resumed; }

  /// The last wait of a block that resumed no later than `time`. The path goes back in time, so it is looked for from
  /// where the block was left.
  std::optional<Blocked> last_blocked(std::uint32_t block, TimeNs time) {
    const std::span<const BlockedWait> all = blocked_.of(block);
    std::uint32_t& after = walked_[block];
    while (after < all.size() && resumed(all[after]) <= time) ++after;
    while (after > 0 && resumed(all[after - 1]) > time) --after;
    if (after == 0) return std::nullopt;
    const BlockedWait& found = all[after - 1];
    return Blocked{resumed(found), found.signal, model_.waits[found.wait].site};
  }

  void index_host(const Matching& matching) {
    for (const WakeEdge& edge : matching.edges) {
      if (!edge.host) continue;
      const store::HostWaitRow& wait = model_.host_waits[edge.wait];
      HostThread& thread = threads_[wait.thread];
      if (model_.signals[edge.signal].at <= wait.begin) continue;
      any_edge_ = true;
      thread.blocked.push_back({wait.end, static_cast<std::uint32_t>(edge.signal), wait.site});
    }
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (wait.site == 0) threads_[wait.thread].calls.push_back({wait.begin, wait.end, wait.process, wait.correlation});
    }
    for (auto& [id, thread] : threads_) {
      put_in_order(thread.blocked, [](const Blocked& a, const Blocked& b) { return a.resumed < b.resumed; });
      put_in_order(thread.calls, [](const WaitingCall& a, const WaitingCall& b) { return a.end < b.end; });
    }
  }

  void index_work() {
    for (const auto& [stream, items] : work_) {
      auto& of_process = by_process_[stream.process];
      auto& of_stream = by_stream_[stream];
      for (const WorkItem& item : items) {
        of_process.push_back(&item);
        of_stream.push_back(&item);
        if (item.kernel != nullptr && !is_backend_work(item)) kernels_[item.device].push_back(&item);
      }
    }
    const auto ends_earlier = [](const WorkItem* a, const WorkItem* b) { return a->end < b->end; };
    for (auto& [process, items] : by_process_) put_in_order(items, ends_earlier);
    for (auto& [stream, items] : by_stream_) put_in_order(items, ends_earlier);
    for (auto& [device, items] : kernels_) {
      put_in_order(items, [](const auto* a, const auto* b) { return a->start < b->start; });
    }
    for (const store::CudaEventRow& event : model_.cuda_events) {
      if (event.event_sync) recordings_[{event.process, *event.event_sync}] = &event;
    }
    for (const store::SyncRow& sync : model_.syncs) {
      syncs_[(std::uint64_t{sync.process} << 32) | sync.correlation] = &sync;
      if (sync.kind == SyncKind::stream_waits_for_event && sync.stream) {
        stream_waits_[{sync.process, sync.context, *sync.stream}].push_back(&sync);
      }
    }
  }

  /// At the last thing that happened.
  bool start() {
    now_ = model_.begin;
    const auto later = [&](TimeNs end) { return where_ == Where::nowhere || end > now_; };
    for (const store::WaitRow& wait : model_.waits) {
      if (later(wait.resumed)) on_block(wait.device, wait.block, wait.resumed);
    }
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (wait.site != 0 && later(wait.end)) on_thread(wait.thread, wait.end);
    }
    for (const auto& [stream, items] : work_) {
      for (const WorkItem& item : items) {
        if (!is_backend_work(item) && later(item.end)) on_work(item, item.end);
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
  void on_signaller(std::uint32_t index, TimeNs upto) {
    const store::SignalRow& signal = model_.signals[index];
    const TimeNs at = std::min(signal.at, upto);
    if (signal.device != kHostDevice) {
      on_block(signal.device, signal.block, at);
    } else if (const auto thread = signalling_thread(signal, at)) {
      on_thread(*thread, at);
    } else {
      where_ = Where::nowhere;
      add(PathKind::host_work, model_.begin, at, kHostDevice, 0, 0);
    }
  }

  /// Where a host signal does not say which thread it came from, the one that was seen last before it is taken; of
  /// those that wait at sites, if any does: the backend's own threads do not.
  std::optional<std::uint32_t> signalling_thread(const store::SignalRow& signal, TimeNs at) {
    if (signal.thread != 0) return signal.thread;
    if (threads_.empty()) return std::nullopt;
    if (threads_.size() > 1) guessed_thread_ = true;
    const bool some_wait =
        std::any_of(threads_.begin(), threads_.end(), [](const auto& each) { return !each.second.blocked.empty(); });
    return last_host_activity(at, some_wait).first;
  }

  /// The thread that ended a wait last, and when; time 0 where none has.
  std::pair<std::uint32_t, TimeNs> last_host_activity(TimeNs upto, bool only_waiters = false) const {
    std::pair<std::uint32_t, TimeNs> best{threads_.empty() ? 0 : threads_.begin()->first, 0};
    for (const auto& [id, thread] : threads_) {
      if (only_waiters && thread.blocked.empty()) continue;
      const Blocked* blocked = last_upto(thread.blocked.data(), thread.blocked.data() + thread.blocked.size(), upto);
      TimeNs end = blocked != nullptr ? blocked->resumed : 0;
      if (const WaitingCall* call = last_call(thread, upto)) end = std::max(end, call->end);
      if (end > best.second) best = {id, end};
    }
    return best;
  }

  static const WaitingCall* last_call(const HostThread& thread, TimeNs upto) {
    const auto after = std::upper_bound(thread.calls.begin(), thread.calls.end(), upto,
                                        [](TimeNs t, const WaitingCall& call) { return t < call.end; });
    return after == thread.calls.begin() ? nullptr : &*std::prev(after);
  }

  void add(PathKind kind, TimeNs begin, TimeNs end, DeviceId device, SiteId site, std::uint32_t place) {
    if (end > begin) path_.segments.push_back({kind, begin, end, device, site, place});
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

  /// The kernel with a block of that number that ran on a device at a time, and began last.
  const WorkItem* kernel_at(DeviceId device, TimeNs time, std::uint32_t block) const {
    constexpr int kMostTried = 64;  // that began earlier and may run still
    const auto found = kernels_.find(device);
    if (found == kernels_.end()) return nullptr;
    const auto& list = found->second;
    auto at = std::upper_bound(list.begin(), list.end(), time, [](TimeNs t, const auto* k) { return t <= k->start; });
    for (int tried = 0; at != list.begin() && tried < kMostTried; ++tried) {
      --at;
      if ((*at)->end >= time && block < blocks_of(*(*at)->kernel)) return *at;
    }
    return nullptr;
  }

  void wake(const Blocked& blocked, PathKind before, DeviceId device, std::uint32_t place) {
    add(before, blocked.resumed, now_, device, 0, place);
    const TimeNs at = std::min(model_.signals[blocked.signal].at, blocked.resumed);
    add(PathKind::wake, at, blocked.resumed, device, blocked.site, place);
    on_signaller(blocked.signal, at);
  }

  void step_block() {
    const WorkItem* kernel = kernel_at(device_, now_, place_);
    const TimeNs since = kernel != nullptr ? kernel->start : model_.begin;
    const std::uint32_t block = blocks_.find(block_key(device_, place_));
    const std::optional<Blocked> blocked = block == FlatIndex::kNone ? std::nullopt : last_blocked(block, now_);
    if (blocked && blocked->resumed > since) {
      wake(*blocked, PathKind::device_work, device_, place_);
      return;
    }
    if (kernel != nullptr) {
      add(PathKind::device_work, since, now_, device_, 0, place_);
      now_ = since;
      item_ = kernel;
      before_work();
      return;
    }
    // Who started the block is not recorded. A host thread that went on before is the best guess.
    unknown_start_ = true;
    const auto [thread, went_on] = last_host_activity(now_);
    const TimeNs from = went_on > 0 && went_on < now_ ? went_on : since;
    add(PathKind::device_work, from, now_, device_, 0, place_);
    if (from == since) {
      where_ = Where::nowhere;
    } else {
      on_thread(thread, from);
    }
  }

  void step_thread() {
    const HostThread& thread = threads_[place_];
    const Blocked* blocked = last_upto(thread.blocked.data(), thread.blocked.data() + thread.blocked.size(), now_);
    const WaitingCall* call = last_call(thread, now_);
    if (blocked != nullptr && (call == nullptr || blocked->resumed >= call->end)) {
      wake(*blocked, PathKind::host_work, kHostDevice, place_);
      return;
    }
    if (call == nullptr) {
      add(PathKind::host_work, model_.begin, now_, kHostDevice, 0, place_);
      where_ = Where::nowhere;
      return;
    }
    add(PathKind::host_work, call->end, now_, kHostDevice, 0, place_);
    if (const WorkItem* work = waited_for(*call)) {
      add(PathKind::host_return, work->end, call->end, kHostDevice, 0, place_);
      on_work(*work, work->end);
      return;
    }
    add(PathKind::host_work, call->begin, std::min(now_, call->end), kHostDevice, 0, place_);
    on_thread(place_, std::min(now_, call->begin));
  }

  /// The work that ended last while a call waited, of those that it waited for.
  const WorkItem* waited_for(const WaitingCall& call) const {
    const std::vector<const WorkItem*>* list = nullptr;
    if (call.correlation) {
      const auto sync = syncs_.find((std::uint64_t{call.process} << 32) | *call.correlation);
      if (sync != syncs_.end()) list = waited_stream(*sync->second);
    }
    if (list == nullptr) {
      const auto all = by_process_.find(call.process);
      if (all == by_process_.end()) return nullptr;
      list = &all->second;
    }
    const auto after = std::upper_bound(list->begin(), list->end(), call.end,
                                        [](TimeNs t, const WorkItem* work) { return t < work->end; });
    if (after == list->begin() || (*std::prev(after))->end <= call.begin) return nullptr;
    return *std::prev(after);
  }

  const std::vector<const WorkItem*>* waited_stream(const store::SyncRow& sync) const {
    std::optional<StreamKey> stream;
    if (sync.kind == SyncKind::stream && sync.stream) stream = {sync.process, sync.context, *sync.stream};
    if (sync.kind == SyncKind::event && sync.event_sync) {
      const auto recorded = recordings_.find({sync.process, *sync.event_sync});
      if (recorded != recordings_.end()) {
        stream = {recorded->second->process, recorded->second->context, recorded->second->stream};
      }
    }
    if (!stream) return nullptr;
    const auto list = by_stream_.find(*stream);
    return list == by_stream_.end() ? nullptr : &list->second;
  }

  /// From a kernel's end: the block in it that was released last, else the kernel as a whole.
  void step_kernel() {
    const WorkItem& kernel = *item_;
    const std::uint64_t blocks = blocks_of(*kernel.kernel);
    const store::WaitRow* last = nullptr;
    auto after = std::upper_bound(model_.waits.begin(), model_.waits.end(), now_,
                                  [](TimeNs t, const store::WaitRow& wait) { return t < wait.arrived; });
    while (after != model_.waits.begin() && std::prev(after)->arrived >= kernel.start) {
      --after;
      const bool inside = after->device == kernel.device && after->resumed <= now_ && after->block < blocks;
      if (inside && (last == nullptr || after->resumed > last->resumed)) last = &*after;
    }
    if (last != nullptr) {
      on_block(kernel.device, last->block, now_);
      return;
    }
    add(PathKind::device_work, kernel.start, now_, device_, 0, 0);
    before_work();
  }

  /// From the begin of item_: its launch, or the work before it.
  void before_work() {
    const WorkItem& item = *item_;
    now_ = std::min(now_, item.start);
    const WorkItem* previous = work_before(item);
    if (previous != nullptr && (!item.call || previous->end > item.call->begin)) {
      add(PathKind::launch, previous->end, now_, item.device, 0, 0);
      on_work(*previous, std::min(now_, previous->end));
      return;
    }
    const std::uint32_t correlation = item.kernel != nullptr ? item.kernel->correlation : item.copy->correlation;
    const store::ProcessId process = item.kernel != nullptr ? item.kernel->process : item.copy->process;
    const std::optional<std::uint32_t> caller = calls_.thread(process, correlation);
    if (!item.call || !caller) {
      unknown_launch_ = true;
      where_ = Where::nowhere;
      return;
    }
    const TimeNs called = std::min(now_, item.call->begin);
    add(PathKind::launch, called, now_, item.device, 0, 0);
    on_thread(*caller, called);
  }

  /// What ended last of the work before it in its stream and the work that its stream waited for.
  const WorkItem* work_before(const WorkItem& item) const {
    const store::ProcessId process = item.kernel != nullptr ? item.kernel->process : item.copy->process;
    const StreamKey stream = item.kernel != nullptr ? StreamKey{process, item.kernel->context, item.kernel->stream}
                                                    : StreamKey{process, item.copy->context, item.copy->stream};
    const WorkItem* before = ended_by(stream, item.start, &item);
    const auto waits = stream_waits_.find(stream);
    if (waits == stream_waits_.end() || !item.call) return before;
    const auto after = std::upper_bound(waits->second.begin(), waits->second.end(), item.call->begin,
                                        [](TimeNs t, const store::SyncRow* sync) { return t < sync->start; });
    if (after == waits->second.begin()) return before;
    const store::SyncRow& sync = **std::prev(after);
    const auto recorded = sync.event_sync ? recordings_.find({sync.process, *sync.event_sync}) : recordings_.end();
    if (recorded == recordings_.end()) return before;
    const store::CudaEventRow& event = *recorded->second;
    const WorkItem* other = ended_by({event.process, event.context, event.stream}, item.start, &item);
    if (other != nullptr && (before == nullptr || other->end > before->end)) return other;
    return before;
  }

  const WorkItem* ended_by(const StreamKey& stream, TimeNs time, const WorkItem* but) const {
    const auto found = by_stream_.find(stream);
    if (found == by_stream_.end()) return nullptr;
    const auto& list = found->second;
    auto after =
        std::upper_bound(list.begin(), list.end(), time, [](TimeNs t, const WorkItem* work) { return t < work->end; });
    while (after != list.begin() && *std::prev(after) == but) --after;
    return after == list.begin() ? nullptr : *std::prev(after);
  }

  std::string where_of(const PathSegment& segment) const {
    switch (segment.kind) {
      case PathKind::wake:
        return model_.site_name(segment.site);
      case PathKind::host_work:
      case PathKind::host_return:
        return segment.place == 0 ? std::string("the CPU") : fmt::format("thread {}", segment.place);
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
      const bool thread = segment.kind == PathKind::host_work || segment.kind == PathKind::host_return;
      const bool wake = segment.kind == PathKind::wake;
      PathShare& share = shares[{segment.kind, wake ? 0 : segment.device, segment.site, thread ? segment.place : 0}];
      if (share.count == 0) {
        share.kind = segment.kind;
        share.where = where_of(segment);
      }
      ++share.count;
      share.total_ns += segment.length();
      path_.length_ns += segment.length();
    }
    for (auto& [key, share] : shares) {
      if (path_.length_ns > 0) share.share = static_cast<double>(share.total_ns) / static_cast<double>(path_.length_ns);
      path_.shares.push_back(share);
    }
    std::stable_sort(path_.shares.begin(), path_.shares.end(),
                     [](const PathShare& a, const PathShare& b) { return a.total_ns > b.total_ns; });
    if (guessed_thread_) {
      path_.notes.push_back(
          "some signals of the CPU do not say from which thread they came: taken is the thread that was seen last "
          "before them");
    }
    if (unknown_start_) {
      path_.notes.push_back(
          "when kernels began is not recorded: a block that never waited counts as working since a CPU thread last "
          "went on");
    }
    if (unknown_launch_) path_.notes.push_back("the path ends at a kernel or copy whose call is not recorded");
  }

  const TraceModel& model_;
  const CallIndex& calls_;
  const std::map<StreamKey, std::vector<WorkItem>>& work_;
  FlatIndex blocks_;
  Lists<BlockedWait> blocked_;                   // of each block, in order of resumption
  std::vector<std::uint32_t> walked_;            // of each block: how many of these lie before the path
  std::map<std::uint32_t, HostThread> threads_;  // by thread id
  std::unordered_map<std::uint64_t, const store::SyncRow*> syncs_;
  std::map<store::ProcessId, std::vector<const WorkItem*>> by_process_;   // by end
  std::map<StreamKey, std::vector<const WorkItem*>> by_stream_;           // by end
  std::map<DeviceId, std::vector<const WorkItem*>> kernels_;              // by start
  std::map<StreamKey, std::vector<const store::SyncRow*>> stream_waits_;  // by start
  std::map<std::pair<store::ProcessId, std::uint64_t>, const store::CudaEventRow*> recordings_;

  CriticalPath path_;
  Where where_ = Where::nowhere;
  TimeNs now_ = 0;
  DeviceId device_ = kHostDevice;
  std::uint32_t place_ = 0;
  const WorkItem* item_ = nullptr;
  bool any_edge_ = false, guessed_thread_ = false, unknown_start_ = false, unknown_launch_ = false;
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
  return critical_path(model, matching, DeviceWork(model));
}

CriticalPath critical_path(const TraceModel& model, const Matching& matching, const DeviceWork& work) {
  return Walk(model, matching, work).run();
}

}  // namespace wicprof::analyzer
