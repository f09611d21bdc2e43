#include "analyzer/work/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/waits/sites.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

/// Bootstrap resamples per kind of work; fewer than a comparison takes, since a trace may have many kinds.
constexpr std::size_t kResamples = 200;

/// A sample of a kind's spans, spread evenly over time: a full sample drops every second span.
class Spans {
 public:
  void add(TimeNs begin, TimeNs end) {
    if (seen_++ % stride_ != 0 || end <= begin) return;
    list_.push_back({begin, end});
    if (list_.size() < 2 * kEnough) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list_.size(); i += 2) list_[kept++] = list_[i];
    list_.resize(kept);
    stride_ *= 2;
  }
  const std::vector<Interval>& list() const { return list_; }

 private:
  static constexpr std::size_t kEnough = 10'000;  // spans; the sample keeps between one and two times as many
  std::vector<Interval> list_;
  std::size_t seen_ = 0, stride_ = 1;
};

enum class Begins : std::uint8_t { wait, signal, kernel };
enum class Ends : std::uint8_t { wait, signal, kernel };

/// What the spans of one kind have in common. `from` and `to` are sites, or the kernel's kind.
struct Kind {
  DeviceId device = 0;
  Begins begins = Begins::wait;
  Ends ends = Ends::wait;
  std::uint32_t from = 0, to = 0;
  auto operator<=>(const Kind&) const = default;
};

/// Collects the spans of all kinds of work in a trace.
class WorkSpans {
 public:
  WorkSpans(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels)
      : model_(model), waiters_(waiters), kernels_(kernels) {
    between_waits();
    before_signals();
    whole_kernels();
  }

  const std::map<Kind, Spans>& spans() const { return spans_; }

  std::string name(const Kind& kind) const {
    if (kind.ends == Ends::kernel)
      return fmt::format("kernel {}", one_line(function_name(kernels_.kind_name(kind.from))));
    std::string from;
    if (kind.begins == Begins::kernel)
      from = fmt::format("begin of {}", one_line(function_name(kernels_.kind_name(kind.from))));
    if (kind.begins == Begins::wait) from = fmt::format("wait at {}", one_line(model_.site_name(kind.from)));
    if (kind.begins == Begins::signal) from = fmt::format("signal at {}", one_line(model_.site_name(kind.from)));
    return fmt::format("{} -> {} at {}", from, kind.ends == Ends::wait ? "wait" : "signal",
                       one_line(model_.site_name(kind.to)));
  }

 private:
  /// What a waiter does between two of its waits: within one kernel if kernels are recorded, else within one run.
  void between_waits() {
    std::vector<std::uint32_t> last(waiters_.list().size(), FlatIndex::kNone);
    Kind last_kind;
    Spans* last_spans = nullptr;
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      std::uint32_t& before = last[waiters_.of_wait(i)];
      const std::uint32_t earlier = std::exchange(before, static_cast<std::uint32_t>(i));
      if (earlier == FlatIndex::kNone || kernels_.kernel_of(earlier) != kernels_.kernel_of(i)) continue;
      const store::WaitRow& from = model_.waits[earlier];
      const store::WaitRow& to = model_.waits[i];
      const Kind kind{to.device, Begins::wait, Ends::wait, from.site, to.site};
      if (last_spans == nullptr || kind != last_kind) {
        last_spans = &spans_[kind];
        last_kind = kind;
      }
      last_spans->add(from.resumed, to.arrived);
    }
  }

  /// From a block's last wait, its last signal or its kernel's start, whichever is latest, to a signal.
  void before_signals() {
    std::map<DeviceId, RunningKernels> all = running_kernels(model_);
    FlatIndex blocks;
    struct LastSignal {
      TimeNs at = 0;
      SiteId site = 0;
    };
    std::vector<LastSignal> last;  // per block
    std::vector<std::size_t> next(waiters_.list().size(), 0);
    for (const store::SignalRow& signal : model_.signals) {
      if (signal.device == kHostDevice) continue;
      std::uint32_t kernel = FlatIndex::kNone;
      if (const auto cursor = all.find(signal.device); cursor != all.end()) {
        cursor->second.advance(model_, signal.at);
        if (!cursor->second.now().empty()) kernel = cursor->second.now().back();
      }
      Kind kind{signal.device, Begins::kernel, Ends::signal, 0, signal.site};
      TimeNs begin = 0;
      if (kernel != FlatIndex::kNone) {
        kind.from = kernels_.kind_of(kernel);
        begin = model_.kernels[kernel].start;
      }
      const std::uint32_t block =
          blocks.number((std::uint64_t{static_cast<std::uint32_t>(signal.device)} << 32) | signal.block);
      if (block == last.size()) last.emplace_back();
      if (last[block].at > begin) {
        begin = last[block].at;
        kind.begins = Begins::signal;
        kind.from = last[block].site;
      }
      const std::uint32_t waiter = waiters_.find(signal.device, signal.block, signal.warp);
      if (waiter != FlatIndex::kNone) {
        const Waiters::Range waits = waiters_.waits_of(waiter);
        std::size_t& upto = next[waiter];  // signals are in order of time, and so are a waiter's waits
        while (upto < waits.size() && model_.waits[waits.first[upto]].resumed <= signal.at) ++upto;
        if (upto > 0 && model_.waits[waits.first[upto - 1]].resumed > begin) {
          const store::WaitRow& wait = model_.waits[waits.first[upto - 1]];
          begin = wait.resumed;
          kind.begins = Begins::wait;
          kind.from = wait.site;
        }
      }
      last[block] = {signal.at, signal.site};
      if (begin > 0) spans_[kind].add(begin, signal.at);
    }
  }

  void whole_kernels() {
    for (std::size_t k = 0; k < model_.kernels.size(); ++k) {
      const std::uint32_t kind = kernels_.kind_of(k);
      if (!kernels_.waitless(kind)) continue;
      const store::KernelRow& kernel = model_.kernels[k];
      spans_[Kind{kernel.device, Begins::kernel, Ends::kernel, kind, 0}].add(kernel.start, kernel.end);
    }
  }

  const TraceModel& model_;
  const Waiters& waiters_;
  const WaitKernels& kernels_;
  std::map<Kind, Spans> spans_;
};

struct Span {
  TimeNs begin = 0, length = 0;
  double pollers = 0;
};

std::vector<TimeNs> lengths(const std::vector<Span>& spans, const auto& chosen) {
  std::vector<TimeNs> list;
  for (const Span& span : spans) {
    if (chosen(span)) list.push_back(span.length);
  }
  return list;
}

double mean_pollers(const std::vector<Span>& spans, const auto& chosen) {
  double sum = 0, count = 0;
  for (const Span& span : spans) {
    if (!chosen(span)) continue;
    sum += span.pollers;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

std::optional<SlowedWork> compare_spans(const std::vector<Interval>& intervals, const StepCount& pollers,
                                        const Modes& modes, const InterferenceOptions& options) {
  std::vector<Span> spans;
  spans.reserve(intervals.size());
  double most = 0;
  for (const Interval& interval : intervals) {
    const double beside = pollers.mean(interval.begin, interval.end);
    most = std::max(most, beside);
    spans.push_back({interval.begin, interval.end - interval.begin, beside});
  }
  if (most < options.min_pollers) return std::nullopt;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  const bool by_toggle = modes.both();
  const auto in_mode = [&](const Span& span, Mode mode) {
    return !by_toggle || (modes.at(0, span.begin) == mode && modes.at(0, span.begin + span.length) == mode);
  };
  const auto many = [&](const Span& span) {
    return span.pollers >= options.many_from * most && in_mode(span, Mode::poll);
  };
  const auto few = [&](const Span& span) {
    return span.pollers <= options.few_upto * most && in_mode(span, Mode::park);
  };
  const std::vector<TimeNs> slow = lengths(spans, many), fast = lengths(spans, few);
  if (std::min(slow.size(), fast.size()) < std::max<std::size_t>(1, options.min_spans)) return std::nullopt;
  SlowedWork work;
  work.by_toggle = by_toggle;
  work.many_spans = slow.size();
  work.few_spans = fast.size();
  work.many_pollers = mean_pollers(spans, many);
  work.few_pollers = mean_pollers(spans, few);
  work.many_p50_ns = percentile(slow, 50);
  work.few_p50_ns = percentile(fast, 50);
  BootstrapOptions bootstrap;
  bootstrap.resamples = kResamples;
  work.slowdown = bootstrap_ratio({slow}, {fast}, bootstrap);
  return work;
}

const char* why_missing(const TraceModel& model, std::size_t kinds, bool any_poller) {
  if (model.waits.empty()) return missing::kNoPollersShown;
  if (!any_poller) return missing::kNoPollers;
  return kinds == 0 ? missing::kNoWorkBesidePollers : missing::kNoContrast;
}

}  // namespace

StepCount pollers_on(const TraceModel& model, DeviceId device) {
  std::vector<Interval> intervals;
  intervals.reserve(model.waits.size());
  for (const store::WaitRow& wait : model.waits) {
    if (wait.device != device) continue;
    if (every_waiter_polls(wait.strategy) || wait.strategy == StrategyId::naive) {
      intervals.push_back({wait.arrived, wait.resumed});
    }
  }
  return StepCount(intervals);
}

Interference interference(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels,
                          const Modes& modes, const InterferenceOptions& options) {
  Interference result;
  bool any_poller = false;
  std::size_t kinds = 0;
  if (!model.waits.empty()) {
    const WorkSpans collected(model, waiters, kernels);
    kinds = collected.spans().size();
    std::map<DeviceId, StepCount> pollers;
    for (const auto& [kind, spans] : collected.spans()) {
      const auto [at, added] = pollers.try_emplace(kind.device);
      if (added) at->second = pollers_on(model, kind.device);
      any_poller = any_poller || !at->second.empty();
      if (std::optional<SlowedWork> work = compare_spans(spans.list(), at->second, modes, options)) {
        work->device = kind.device;
        work->what = collected.name(kind);
        result.works.push_back(*std::move(work));
      }
    }
  }
  std::stable_sort(result.works.begin(), result.works.end(),
                   [](const SlowedWork& a, const SlowedWork& b) { return a.slowdown.value > b.slowdown.value; });
  if (result.works.empty()) result.missing = why_missing(model, kinds, any_poller);
  return result;
}

}  // namespace wicprof::analyzer
