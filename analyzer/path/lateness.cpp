#include "analyzer/path/lateness.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

/// Fewer steps do not show what is usual. Not calibrated.
constexpr std::size_t kFewestSteps = 8;
/// A delay is at least this long and this part of the usual step, so that it is worth a name. Not calibrated.
constexpr TimeNs kNoticeable = 100 * kMicrosecond;
constexpr double kNoticeablePart = 0.05;
/// Lengths within so many median deviations of the median are usual (four are 2.7 standard deviations).
constexpr TimeNs kUsualDeviations = 4;
/// A launch or a completion takes no longer on a machine that is not late: a blocking wait on the hosts of H100 and
/// H200 ended 50 to 100 us after its kernel.
constexpr TimeNs kUsualLatency = 100 * kMicrosecond;
constexpr double kUsualPercentile = 10;
/// From this share on, a delay in the scheduler or a sum of a cause explains a delay, and from the second on surely.
constexpr double kExplains = 0.5, kSurely = 0.8;
/// A thread without a CPU for more than this share of its time: its counters, which are sums, say nothing sure about
/// what it did itself.
constexpr double kShortOfCpu = 0.05;

using ThreadKey = std::pair<store::ProcessId, std::uint32_t>;

/// The parts of a step in which nothing else of the step went on. `*_at`: the longest stretch of the part.
struct Step {
  TimeNs end = 0;  // of the wait
  SiteId site = 0;
  store::OptionalTime run_delay;
  std::size_t items = 0;
  DeviceId device = 0;
  TimeNs begin = 0;  // the end of the wait before
  TimeNs program = 0, launching = 0, running = 0, completing = 0;
  Interval program_at, launching_at, running_at, completing_at;
  Interval call;  // that launched the work of launching_at
};

void add(TimeNs& sum, Interval& longest, Interval part) {
  const TimeNs length = std::max<TimeNs>(0, part.end - part.begin);
  sum += length;
  if (length > longest.end - longest.begin) longest = part;
}

/// `items`: what the thread launched between the two waits, by start.
std::optional<Step> step_of(const store::HostWaitRow& wait, TimeNs begin, std::vector<const WorkItem*>& items,
                            const WorkIndex& index) {
  if (items.empty()) return std::nullopt;
  std::sort(items.begin(), items.end(), [](const auto* a, const auto* b) { return a->start < b->start; });
  Step step;
  step.end = wait.end;
  step.site = wait.site;
  step.run_delay = wait.run_delay;
  step.items = items.size();
  step.begin = begin;
  step.device = items.front()->device;
  const WorkItem* const before = index.work_before(*items.front());
  TimeNs busy_until = before == nullptr ? begin : std::max(begin, before->end);
  for (const WorkItem* item : items) {
    if (item->start > busy_until) {
      const TimeNs called = std::clamp(item->call->begin, busy_until, item->start);
      add(step.program, step.program_at, {busy_until, called});
      add(step.launching, step.launching_at, {called, item->start});
      if (step.launching_at.end == item->start) step.call = {called, std::clamp(item->call->end, called, item->start)};
    }
    add(step.running, step.running_at, {std::max(item->start, busy_until), item->end});
    busy_until = std::max(busy_until, item->end);
  }
  if (busy_until > wait.end) return std::nullopt;  // the wait was not for all of this
  add(step.completing, step.completing_at, {std::max(busy_until, wait.begin), wait.end});
  return step;
}

/// The steps of each thread, in order.
std::map<ThreadKey, std::vector<Step>> steps_by_thread(const TraceModel& model, const DeviceWork& work,
                                                       const WorkIndex& index) {
  std::map<ThreadKey, std::vector<store::HostWaitList::Pointer>> waits;
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    if (wait.in_call() && wait.end >= wait.begin)
      waits[{wait.process, wait.thread}].push_back(model.host_waits.pointer_to(i));
  }
  std::map<store::ProcessId, std::set<std::uint32_t>> waiting_threads;
  for (const auto& [thread, list] : waits) waiting_threads[thread.first].insert(thread.second);
  std::map<ThreadKey, std::vector<const WorkItem*>> launched;
  for (const auto& [stream, items] : work.by_stream) {
    const auto waiting = waiting_threads.find(stream.process);
    if (waiting == waiting_threads.end()) continue;
    for (const WorkItem& item : items) {
      if (!item.call || is_backend_work(item)) continue;
      // Where one thread waits, others launch for it.
      const std::uint32_t thread = waiting->second.size() == 1 ? *waiting->second.begin() : item.thread;
      launched[{stream.process, thread}].push_back(&item);
    }
  }
  std::map<ThreadKey, std::vector<Step>> all;
  for (auto& [thread, list] : waits) {
    const auto found = launched.find(thread);
    if (found == launched.end()) continue;
    auto& items = found->second;
    std::sort(items.begin(), items.end(), [](const auto* a, const auto* b) { return a->call->begin < b->call->begin; });
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a->begin < b->begin; });
    auto next = items.begin();
    std::vector<Step>& steps = all[thread];
    steps.reserve(std::min(list.size(), items.size()));
    std::vector<const WorkItem*> between;
    for (std::size_t i = 1; i < list.size(); ++i) {
      const TimeNs begin = list[i - 1]->end;
      while (next != items.end() && (*next)->call->begin < begin) ++next;
      between.clear();
      for (; next != items.end() && (*next)->call->begin <= list[i]->begin; ++next) between.push_back(*next);
      if (const auto step = step_of(*list[i], begin, between, index)) steps.push_back(*step);
    }
    if (steps.empty()) all.erase(thread);
  }
  return all;
}

double part_of(TimeNs part, TimeNs whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What the scheduler did with a thread outside of its waits, by sample.
class OutsideWaits {
 public:
  /// Within samples: what the counters say outside of waits, and the lengths of the steps' parts there.
  struct Time {
    TimeNs cpu = 0, run_delay = 0, program = 0, late = 0, late_program = 0;
    TimeNs cpu_error = 0;  ///< of cpu: waits that lie in two samples
    Time& operator+=(const Time& other) {
      cpu += other.cpu;
      run_delay += other.run_delay;
      program += other.program;
      late += other.late;
      late_program += other.late_program;
      cpu_error += other.cpu_error;
      return *this;
    }
  };

  void add_sample(const store::ThreadSampleRow& sample) {
    if (!sample.run_delay) return;
    samples_.push_back({{sample.begin, sample.end}, {sample.cpu, *sample.run_delay, 0, 0, 0, 0}});
    run_delay_ += *sample.run_delay;
    length_ += sample.end - sample.begin;
  }
  /// After the last sample.
  void sort() {
    std::sort(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) { return a.at.begin < b.at.begin; });
  }

  /// A wait's own share of its samples. The scheduler counts a delay when it ends.
  void take_out(const store::HostWaitRow& wait) {
    const Interval at{wait.begin, wait.end};
    const TimeNs cpu = wait.cpu.value_or(0), elsewhere = std::max<TimeNs>(0, wait.end - wait.begin - cpu);
    for_each(at, [&](Sample& sample, double share) {
      sample.time.cpu -= static_cast<TimeNs>(share * static_cast<double>(cpu));
      // A thread that had a CPU for a part of the wait may have had it all in one of the samples.
      const auto here = static_cast<TimeNs>(share * static_cast<double>(wait.end - wait.begin));
      sample.time.cpu_error += std::min(cpu, here) - std::max<TimeNs>(0, here - elsewhere);
      if (wait.end <= sample.at.end) sample.time.run_delay -= wait.run_delay.value_or(0);
    });
  }
  /// A part of a step before a launch, and by how much it was late.
  void add_program(Interval part, TimeNs length, TimeNs late) {
    for_each(part, [&](Sample& sample, double share) {
      sample.time.program += static_cast<TimeNs>(share * static_cast<double>(length));
      sample.time.late += static_cast<TimeNs>(share * static_cast<double>(late));
      sample.time.late_program += static_cast<TimeNs>(share * static_cast<double>(late));
    });
  }
  /// A call that launches, and by how much it was late.
  void add_call(Interval call, TimeNs late) {
    for_each(call, [&](Sample& sample, double share) {
      sample.time.late += static_cast<TimeNs>(share * static_cast<double>(late));
    });
  }
  /// Whether the thread often had no CPU, also in its waits.
  bool short_of_cpu() const { return part_of(run_delay_, length_) > kShortOfCpu; }
  /// Of the samples in which the part lay; nullopt without one.
  std::optional<Time> around(Interval part) {
    std::optional<Time> sum;
    for_each(part, [&](const Sample& sample, double) { (sum ? *sum : sum.emplace()) += sample.time; });
    return sum;
  }
  /// The CPU's share of what the program usually does between a wait and a launch: of the samples without a late part;
  /// nullopt if there is none.
  std::optional<double> usual_cpu() const {
    Time sum;
    for (const Sample& sample : samples_) {
      if (sample.time.late == 0) sum += sample.time;
    }
    return sum.program <= 0 ? std::nullopt : std::optional(std::clamp(part_of(sum.cpu, sum.program), 0.0, 1.0));
  }

 private:
  struct Sample {
    Interval at;
    Time time;
  };

  /// `visit`: with each sample that overlaps the interval, and the share of the interval in it.
  template <class Visit>
  void for_each(Interval part, Visit&& visit) {
    auto sample = std::upper_bound(samples_.begin(), samples_.end(), part.begin,
                                   [](TimeNs time, const Sample& one) { return time < one.at.end; });
    const TimeNs length = std::max<TimeNs>(1, part.end - part.begin);
    for (; sample != samples_.end() && sample->at.begin <= part.end; ++sample) {
      const TimeNs shared = std::min(sample->at.end, part.end) - std::max(sample->at.begin, part.begin);
      if (shared > 0) visit(*sample, part_of(shared, length));
    }
  }

  std::vector<Sample> samples_;
  TimeNs run_delay_ = 0, length_ = 0;  // of all samples
};

/// While more is known of a delay than the result has.
struct JudgedDelay : Delay {
  bool on_device = false;  ///< of a launch: the call returned in time
};

struct Verdict {
  LateCause cause = LateCause::no_cpu;
  bool sure = false;
};

std::optional<TimeNs> stat(const TraceModel& model, std::string_view name) {
  for (const store::StatRow& row : model.stats) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

/// Why threads of the program had no CPU, in the whole trace.
Verdict why_no_cpu(const TraceModel& model) {
  TimeNs missed = 0;
  for (const store::ThreadSampleRow& sample : model.thread_samples) missed += sample.run_delay.value_or(0);
  if (missed == 0) {
    for (const store::HostWaitRow& wait : model.host_waits) missed += wait.run_delay.value_or(0);
  }
  const std::optional<TimeNs> throttled = stat(model, "throttled_ns");
  if (!throttled || missed <= 0) return {};  // perhaps a quota that the trace does not show
  const double share = part_of(*throttled, missed);
  if (share >= kExplains) return {LateCause::throttled, share >= kSurely};
  if (share > 1 - kSurely) return {};
  return {LateCause::oversubscribed, true};
}

/// What is usual at one site for as many pieces of work.
struct Usual {
  TimeNs program = 0, running = 0, launching = 0, completing = 0;
  TimeNs program_spread = 0, running_spread = 0;  ///< kUsualDeviations median deviations
  TimeNs noticeable = 0;
};

template <class Part>
std::vector<TimeNs> values_of(const std::vector<const Step*>& steps, Part&& part) {
  std::vector<TimeNs> values;
  for (const Step* step : steps) values.push_back(part(*step));
  return values;
}

std::pair<TimeNs, TimeNs> median_and_spread(std::vector<TimeNs> values) {
  const TimeNs median = percentile_in_place(values, 50);
  for (TimeNs& value : values) value = std::abs(value - median);
  return {median, kUsualDeviations * percentile_in_place(values, 50)};
}

Usual usual_of(const std::vector<const Step*>& steps, TimeNs clock_error) {
  Usual usual;
  std::tie(usual.program, usual.program_spread) =
      median_and_spread(values_of(steps, [](const Step& s) { return s.program; }));
  std::tie(usual.running, usual.running_spread) =
      median_and_spread(values_of(steps, [](const Step& s) { return s.running; }));
  const auto usual_latency = [&](auto&& part) {
    return std::min(percentile(values_of(steps, part), kUsualPercentile), kUsualLatency);
  };
  usual.launching = usual_latency([](const Step& s) { return s.launching; });
  usual.completing = usual_latency([](const Step& s) { return s.completing; });
  const TimeNs step = percentile(values_of(steps, [](const Step& s) { return s.end - s.begin; }), 50);
  usual.noticeable = std::max({kNoticeable, static_cast<TimeNs>(kNoticeablePart * static_cast<double>(step)),
                               2 * kUsualDeviations * clock_error});
  return usual;
}

/// The delays of one thread.
class Judge {
 public:
  Judge(const ThreadKey& thread, OutsideWaits outside, const IdleTimes& idle, Verdict without_cpu)
      : thread_(thread), idle_(idle), without_cpu_(without_cpu), outside_(std::move(outside)) {}

  /// First for all steps.
  void prepare(const Step& step, const Usual& usual) {
    outside_.add_program(step.program_at, step.program, late(step.program, usual.program, usual.program_spread, usual));
    outside_.add_call(step.call, in_call(step, late(step.launching, usual.launching, 0, usual)));
  }

  /// Between the two.
  void prepared() { usual_cpu_ = outside_.usual_cpu(); }

  void judge(const Step& step, const Usual& usual, TimeNs clock_error, std::vector<JudgedDelay>& delays) {
    if (const TimeNs more = late(step.running, usual.running, usual.running_spread, usual)) {
      write(step, step.running_at, more, {LateCause::kernel, true}, usual.running_spread, delays);
    }
    if (const TimeNs more = late(step.program, usual.program, usual.program_spread, usual)) {
      const auto [verdict, error] = outside(step.program_at, more, std::nullopt);
      write(step, step.program_at, more, verdict, error, delays);
    }
    if (const TimeNs more = late(step.launching, usual.launching, 0, usual)) {
      // A call that returned in time has handed over its work.
      const TimeNs called = in_call(step, more);
      auto [verdict, error] = std::pair{Verdict{LateCause::launch, part_of(called, more) <= 1 - kSurely}, called};
      const bool in_the_call = part_of(called, more) >= kExplains;
      if (in_the_call) std::tie(verdict, error) = outside(step.call, called, LateCause::launch);
      write(step, step.launching_at, more, verdict, error + clock_error, delays);
      delays.back().on_device = !in_the_call;
    }
    if (const TimeNs more = late(step.completing, usual.completing, 0, usual)) {
      Verdict verdict{LateCause::completion, false};
      TimeNs error = clock_error;
      if (step.run_delay) {
        const TimeNs missed = std::min(*step.run_delay, more);
        const double share = part_of(missed, more);
        const bool explains = share >= kExplains;
        verdict = explains ? Verdict{without_cpu_.cause, without_cpu_.sure && share >= kSurely}
                           : Verdict{LateCause::completion, share <= 1 - kSurely};
        error += explains ? more - missed : missed;
      }
      write(step, step.completing_at, more, verdict, error, delays);
    }
  }

 private:
  static TimeNs in_call(const Step& step, TimeNs more) { return std::min(more, step.call.end - step.call.begin); }
  static TimeNs late(TimeNs length, TimeNs usual, TimeNs spread, const Usual& bounds) {
    const TimeNs more = length - usual;
    return more >= std::max(bounds.noticeable, spread) ? more : 0;
  }

  /// Of a part outside of waits, with the error. `otherwise`: the cause of a thread that had a CPU; nullopt: the
  /// program's own.
  std::pair<Verdict, TimeNs> outside(Interval part, TimeNs more, std::optional<LateCause> otherwise) {
    const std::optional<OutsideWaits::Time> time = outside_.around(part);
    if (!time) return {{otherwise.value_or(LateCause::program), false}, more};
    // The counters are sums, and other parts nearby may be late for another reason.
    const TimeNs missed = std::clamp<TimeNs>(time->run_delay, 0, time->late);
    const TimeNs rest = time->late - missed;
    const bool alone = part_of(time->late - more, more) <= 1 - kSurely;
    const bool is_the_rest = time->late > 2 * more && part_of(std::abs(rest - more), more) <= 1 - kSurely;
    if (part_of(missed, time->late) >= kExplains && !is_the_rest) {
      return {{without_cpu_.cause, without_cpu_.sure && alone && part_of(rest, more) <= 1 - kSurely},
              std::min(rest, more)};
    }
    const bool had_cpu = part_of(missed, more) <= 1 - kSurely && !outside_.short_of_cpu();
    const TimeNs error = std::min(missed, more);
    if (otherwise) return {{*otherwise, had_cpu}, error};
    // How much of the delay was on a CPU: what the counters have beyond the usual.
    const auto usual =
        static_cast<TimeNs>(usual_cpu_.value_or(1) * static_cast<double>(time->program - time->late_program));
    const TimeNs computed = std::clamp<TimeNs>(time->cpu - usual, 0, time->late_program);
    const bool known = had_cpu && alone && usual_cpu_.has_value() && part_of(time->cpu_error, more) <= 1 - kSurely;
    if (part_of(computed, time->late_program) >= kExplains) {
      return {{LateCause::program_busy, known && part_of(time->late_program - computed, more) <= 1 - kSurely}, error};
    }
    return {{LateCause::program_asleep, known && part_of(computed, more) <= 1 - kSurely}, error};
  }

  void write(const Step& step, Interval part, TimeNs more, Verdict verdict, TimeNs error,
             std::vector<JudgedDelay>& delays) const {
    JudgedDelay delay;
    delay.cause = verdict.cause;
    delay.sure = verdict.sure;
    delay.begin = part.begin;
    delay.end = part.end;
    delay.late_ns = more;
    delay.error_ns = std::min(error, more);
    delay.idle_ns = std::min(more, idle_.within(step.device, part));
    delay.process = thread_.first;
    delay.thread = thread_.second;
    delay.site = step.site;
    delays.push_back(delay);
  }

  ThreadKey thread_;
  const IdleTimes& idle_;
  Verdict without_cpu_;
  OutsideWaits outside_;
  std::optional<double> usual_cpu_;
};

/// What the machine's host took while threads waited, as far as the trace shows it: a thread that spins is on a CPU,
/// or is ready to run, for all of its wait. Nothing of threads that sleep in their waits.
TimeNs stolen_from_spinning_waits(const TraceModel& model) {
  TimeNs wall = 0, cpu = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.in_call() || !wait.cpu || !wait.run_delay) continue;
    wall += std::max<TimeNs>(0, wait.end - wait.begin - *wait.run_delay);
    cpu += *wait.cpu;
  }
  return part_of(cpu, wall) >= kExplains ? std::max<TimeNs>(0, wall - cpu) : 0;
}

/// The machine's host takes a CPU without a trace in the counters of its threads. Only the sum of the taken time is
/// known, so no single delay is sure.
void name_stolen(const TraceModel& model, std::vector<JudgedDelay>& delays) {
  const std::optional<TimeNs> known = stat(model, "steal_ns");
  TimeNs stolen = known.value_or(0);
  const auto had_cpu = [](const JudgedDelay& delay) {
    return delay.cause == LateCause::completion || (delay.cause == LateCause::launch && !delay.on_device) ||
           delay.cause == LateCause::program_busy;
  };
  // Stolen time may count as CPU time or not: then the program seems to sleep.
  const auto asleep = [](const JudgedDelay& delay) { return delay.cause == LateCause::program_asleep; };
  for (JudgedDelay& delay : delays) {
    if (!had_cpu(delay) && !asleep(delay)) continue;
    if (!known || part_of(stolen, delay.late_ns) > 1 - kSurely) delay.sure = false;
  }
  const auto explain = [&](auto&& which) {
    TimeNs late = 0;
    for (const JudgedDelay& delay : delays) late += which(delay) ? delay.late_ns : 0;
    if (late == 0 || part_of(stolen, late) < kExplains) return;
    for (JudgedDelay& delay : delays) {
      if (!which(delay)) continue;
      delay.cause = LateCause::stolen;
      delay.sure = false;
      delay.error_ns = delay.late_ns;
    }
    stolen -= std::min(stolen, late);
  };
  // What was taken while kernels ran delays nothing.
  const TimeNs outside = stolen - std::min(stolen, stolen_from_spinning_waits(model));
  explain(had_cpu);
  stolen = std::min(stolen, outside);
  explain(asleep);
}

/// By cause and `site_of` a delay, longest first.
template <class SiteOf>
std::vector<LateSum> sums_of(const std::vector<Delay>& delays, SiteOf&& site_of) {
  struct Gathered {
    LateSum sum;
    std::vector<Interval> parts, late;
  };
  std::map<std::pair<SiteId, LateCause>, Gathered> all;
  for (const Delay& delay : delays) {
    auto& [sum, parts, late] = all[{site_of(delay), delay.cause}];
    sum.site = site_of(delay);
    sum.cause = delay.cause;
    ++sum.count;
    sum.sure += delay.sure ? 1 : 0;
    sum.late_ns += delay.late_ns;
    sum.error_ns += delay.error_ns;
    sum.idle_ns += delay.idle_ns;
    parts.push_back({delay.begin, delay.end});
    late.push_back({delay.end - delay.late_ns, delay.end});
  }
  std::vector<LateSum> sums;
  for (auto& [key, gathered] : all) {
    // Several threads may be late at the same time.
    gathered.sum.at_once_ns = covered(std::move(gathered.late));
    gathered.sum.idle_ns = std::min(gathered.sum.idle_ns, covered(std::move(gathered.parts)));
    sums.push_back(gathered.sum);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const LateSum& a, const LateSum& b) { return a.late_ns > b.late_ns; });
  return sums;
}

}  // namespace

std::string_view late_cause_name(LateCause cause) {
  constexpr std::array<std::string_view, kLateCauses> kNames = {
      "kernel",  "launch",    "completion",     "program_asleep", "program_busy",
      "program", "throttled", "oversubscribed", "stolen",         "no_cpu"};
  return kNames[static_cast<std::size_t>(cause)];
}

const LateSum* Lateness::sum(LateCause cause) const {
  const auto found = std::find_if(sums.begin(), sums.end(), [&](const LateSum& one) { return one.cause == cause; });
  return found == sums.end() ? nullptr : &*found;
}

Lateness lateness(const TraceModel& model, const DeviceWork& work, const WorkIndex& index, const IdleTimes& idle,
                  Interval ground) {
  Lateness result;
  const std::map<ThreadKey, std::vector<Step>> threads = steps_by_thread(model, work, index);
  if (threads.empty()) return result;
  const Verdict without_cpu = why_no_cpu(model);
  std::map<DeviceId, TimeNs> clock_errors;
  for (const store::DeviceRow& device : model.devices) clock_errors[device.id] = device.clock_error_ns.value_or(0);
  std::map<ThreadKey, OutsideWaits> outside;
  for (const auto& [thread, steps] : threads) outside[thread];
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    const auto found = outside.find({sample.process, sample.thread});
    if (found != outside.end()) found->second.add_sample(sample);
  }
  for (auto& [thread, times] : outside) times.sort();
  for (const store::HostWaitRow& wait : model.host_waits) {
    const auto found = outside.find({wait.process, wait.thread});
    if (found != outside.end()) found->second.take_out(wait);
  }
  std::vector<JudgedDelay> judged;
  for (const auto& [thread, steps] : threads) {
    std::map<std::pair<SiteId, std::size_t>, std::vector<const Step*>> alike;
    for (const Step& step : steps) alike[{step.site, step.items}].push_back(&step);
    Judge judge(thread, std::move(outside[thread]), idle, without_cpu);
    std::vector<std::pair<const std::vector<const Step*>*, Usual>> known;
    for (const auto& [key, list] : alike) {
      if (list.size() < kFewestSteps) continue;
      result.steps += static_cast<std::uint64_t>(std::count_if(list.begin(), list.end(), [&](const Step* step) {
        return step->end > ground.begin && step->begin < ground.end;
      }));
      known.emplace_back(&list, usual_of(list, clock_errors[list.front()->device]));
    }
    for (const auto& [list, usual] : known) {
      for (const Step* step : *list) judge.prepare(*step, usual);
    }
    judge.prepared();
    for (const auto& [list, usual] : known) {
      for (const Step* step : *list) judge.judge(*step, usual, clock_errors[step->device], judged);
    }
  }
  name_stolen(model, judged);
  result.delays.assign(judged.begin(), judged.end());
  std::sort(result.delays.begin(), result.delays.end(),
            [](const Delay& a, const Delay& b) { return a.begin < b.begin; });
  std::vector<Delay> counted;
  std::copy_if(result.delays.begin(), result.delays.end(), std::back_inserter(counted),
               [&](const Delay& delay) { return delay.end > ground.begin && delay.begin < ground.end; });
  result.sums = sums_of(counted, [](const Delay&) { return SiteId{0}; });
  result.by_site = sums_of(counted, [](const Delay& delay) { return delay.site; });
  return result;
}

}  // namespace wicprof::analyzer
