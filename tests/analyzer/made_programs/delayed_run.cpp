#include "tests/analyzer/made_programs/delayed_run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>

namespace wicprof::made_programs {

namespace {

using analyzer::Interval;
using analyzer::LateCause;

constexpr store::ProcessId kProcess = 16;
constexpr std::uint32_t kThread = 7;
constexpr TimeNs kPeriod = 100 * kMillisecond;  // of a quota, and of the samples
constexpr TimeNs kUs = kMicrosecond;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine_); }
  TimeNs time(TimeNs low, TimeNs high) {
    return static_cast<TimeNs>(between(static_cast<double>(low), static_cast<double>(high)));
  }
  bool chance(double part) { return between(0, 1) < part; }

 private:
  std::mt19937_64 engine_;
};

/// The CPU of the thread: who takes it away, and when. Times only grow.
class Cpu {
 public:
  Cpu(Injected kind, Random& random) : kind_(kind), random_(random) {
    quota_ = random.time(kPeriod / 5, kPeriod * 7 / 10);
    next_period_ = random.time(0, kPeriod);
    slice_ = next_slice();
    next_steal_ = random.time(0, 10 * kMillisecond);
  }

  /// Runs from `now` for `need` of CPU time. Returns when that is done.
  TimeNs run(TimeNs now, TimeNs need) {
    while (need > 0) {
      now = stopped_until(now);
      const TimeNs step = std::min(need, left(now));
      use(now, step);
      now += step;
      need -= step;
    }
    return now;
  }
  /// Runs until a time has come, at least.
  TimeNs run_until(TimeNs now, TimeNs end) {
    while (now < end) {
      now = stopped_until(now);
      if (now >= end) break;
      const TimeNs step = std::min(end - now, left(now));
      use(now, step);
      now += step;
    }
    return stopped_until(now);
  }
  /// The thread has slept: perhaps another one has its CPU.
  TimeNs wake(TimeNs now) {
    if (kind_ == Injected::co_runner) {
      if (random_.chance(0.3)) now = stop(now, random_.time(kMillisecond / 2, 3 * kMillisecond));
      slice_ = next_slice();
    }
    return stopped_until(now);
  }

  const std::vector<Interval>& runs() const { return runs_; }
  const std::vector<Interval>& stops() const { return stops_; }

 private:
  TimeNs next_slice() { return random_.time(3 * kMillisecond, 4 * kMillisecond); }

  /// CPU time until the next stop could begin.
  TimeNs left(TimeNs now) const {
    if (kind_ == Injected::quota) return std::max<TimeNs>(1, std::min(quota_ - used_, next_period_ - now));
    if (kind_ == Injected::co_runner) return std::max<TimeNs>(1, slice_);
    if (kind_ == Injected::steal) return std::max<TimeNs>(1, next_steal_ - now);
    return kSecond;
  }
  void use(TimeNs now, TimeNs time) {
    runs_.push_back({now, now + time});
    used_ += time;
    slice_ -= time;
  }
  TimeNs stop(TimeNs now, TimeNs time) {
    stops_.push_back({now, now + time});
    return now + time;
  }
  TimeNs stopped_until(TimeNs now) {
    if (kind_ == Injected::quota) {
      while (now >= next_period_) {
        next_period_ += kPeriod;
        used_ = 0;
      }
      if (used_ < quota_) return now;
      now = stop(now, next_period_ - now);
      next_period_ += kPeriod;
      used_ = 0;
    } else if (kind_ == Injected::co_runner && slice_ <= 0) {
      now = stop(now, random_.time(3 * kMillisecond, 4 * kMillisecond));
      slice_ = next_slice();
    } else if (kind_ == Injected::steal && now >= next_steal_) {
      now = stop(now, random_.time(kMillisecond, 12 * kMillisecond));
      next_steal_ = now + random_.time(5 * kMillisecond, 60 * kMillisecond);
    }
    return now;
  }

  Injected kind_;
  Random& random_;
  TimeNs quota_, next_period_, slice_, next_steal_, used_ = 0;
  std::vector<Interval> runs_, stops_;
};

bool takes_cpu(Injected kind) {
  return kind == Injected::quota || kind == Injected::co_runner || kind == Injected::steal;
}

TimeNs overlap(Interval a, Interval b) {
  return std::max<TimeNs>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed)
      : random_(seed * 0x9e3779b97f4a7c15u + 1), kind_(static_cast<Injected>(seed % kInjected)), cpu_(kind_, random_) {
    run_.kind = kind_;
    run_.spins = random_.chance(0.6);
    run_.hidden = takes_cpu(kind_) && random_.chance(0.1);
    kernel_ = random_.time(300 * kUs, 6 * kMillisecond);
    program_ = random_.time(50 * kUs, kMillisecond);
    rate_ = random_.between(0.03, 0.3);
    // A second, rarer cause beside the first one.
    if (random_.chance(0.3)) other_ = static_cast<Injected>(random_.time(0, 3));
  }

  DelayedRun make() {
    const int steps = static_cast<int>(random_.time(120, 400));
    TimeNs now = kMillisecond;
    for (int i = 0; i < steps; ++i) now = step(now);
    finish(now);
    return std::move(run_);
  }

 private:
  /// The length of a delay of that kind in this step; 0 for none.
  TimeNs injected(Injected kind) {
    const bool here = kind == kind_ ? random_.chance(rate_) : other_ == kind && random_.chance(0.05);
    return here ? random_.time(std::max<TimeNs>(500 * kUs, (kernel_ + program_) / 4), 12 * kMillisecond) : 0;
  }
  void truth(LateCause cause, Interval at, TimeNs late) {
    if (late <= 0) return;
    const bool large = late >= std::max<TimeNs>(300 * kUs, (kernel_ + program_) / 5);
    run_.delays.push_back({cause, at.begin, at.end, late, large});
  }
  /// The stops of the CPU since `first` that lie within a part of a step.
  void truth_of_stops(std::size_t first, Interval part) {
    const LateCause cause = kind_ == Injected::quota       ? LateCause::throttled
                            : kind_ == Injected::co_runner ? LateCause::oversubscribed
                                                           : LateCause::stolen;
    for (std::size_t i = first; i < cpu_.stops().size(); ++i) {
      truth(cause, cpu_.stops()[i], overlap(cpu_.stops()[i], part));
    }
  }

  TimeNs step(TimeNs now) {
    const TimeNs begin = now;
    const std::size_t stops = cpu_.stops().size();
    const auto usual = [&](TimeNs time) {
      return static_cast<TimeNs>(static_cast<double>(time) * random_.between(0.97, 1.03));
    };
    now = cpu_.run(now, usual(program_));
    if (const TimeNs slept = injected(Injected::host_sleep)) {
      truth(LateCause::program_asleep, {now, now + slept}, slept);
      now = cpu_.wake(now + slept);
    }
    const TimeNs called = now;
    now = cpu_.run(now, random_.time(3 * kUs, 6 * kUs));
    const TimeNs late_launch = injected(Injected::late_launch);
    const TimeNs started = now + random_.time(3 * kUs, 8 * kUs) + late_launch;
    truth(LateCause::launch, {called, started}, late_launch);
    truth_of_stops(stops, {begin, started});
    const TimeNs slow = injected(Injected::slow_kernel);
    const TimeNs ended = started + usual(kernel_) + slow;
    truth(LateCause::kernel, {started, ended}, slow);
    const TimeNs waits = cpu_.run(now, kUs);
    const std::size_t stops_before = cpu_.stops().size();
    if (run_.spins) {
      now = cpu_.run_until(waits, ended);
      now += random_.time(2 * kUs, 10 * kUs);
    } else {
      now = cpu_.wake(std::max(waits, ended) + random_.time(30 * kUs, 70 * kUs));
    }
    if (const TimeNs late = injected(Injected::late_completion)) {  // another thread holds a lock of the driver
      truth(LateCause::completion, {now, now + late}, late);
      now = run_.spins ? cpu_.run_until(now, now + late) : now + late;
    }
    truth_of_stops(stops_before, {ended, now});
    write(called, waits, now, started, ended);
    return now;
  }

  void write(TimeNs called, TimeNs waits, TimeNs waited, TimeNs started, TimeNs ended) {
    ++correlation_;
    store::CallRow call{};
    call.name = "cudaLaunchKernel";
    call.thread = kThread;
    call.correlation = correlation_;
    call.start = called;
    call.end = waits;
    call.process = kProcess;
    run_.model.calls.push_back(call);
    store::KernelRow kernel{};
    kernel.name = "forces";
    kernel.start = started;
    kernel.end = ended;
    kernel.context = 1;
    kernel.stream = 1;
    kernel.correlation = correlation_;
    for (auto& size : kernel.grid) size = 1;
    for (auto& size : kernel.block) size = 32;
    kernel.process = kProcess;
    run_.model.kernels.push_back(kernel);
    store::HostWaitRow wait{};
    wait.site = 300;
    wait.call = "cudaStreamSynchronize";
    wait.thread = kThread;
    wait.begin = waits;
    wait.end = waited;
    wait.process = kProcess;
    run_.model.host_waits.push_back(wait);
  }

  /// What the scheduler's counters say of an interval: it counts a stop when the stop ends.
  TimeNs cpu_in(Interval at) const {
    TimeNs cpu = 0;
    for (const Interval& run : cpu_.runs()) cpu += overlap(run, at);
    return cpu;
  }
  TimeNs delay_in(Interval at) const {
    if (kind_ == Injected::steal) return 0;
    TimeNs delay = 0;
    for (const Interval& stop : cpu_.stops())
      delay += stop.end > at.begin && stop.end <= at.end ? stop.end - stop.begin : 0;
    return delay;
  }

  void finish(TimeNs now) {
    store::DeviceRow device{};
    device.kind = DeviceKind::cuda;
    device.name = "GPU 0";
    device.sm_count = 132;
    device.clock_error_ns = random_.time(500, 3'000);
    run_.model.devices.push_back(device);
    run_.model.meta = {{"state", "complete"}};
    run_.model.host_waits.edit_all([&](auto& wait) {
      wait.cpu = cpu_in({wait.begin, wait.end});
      wait.run_delay = delay_in({wait.begin, wait.end});
    });
    for (TimeNs at = random_.time(0, kMillisecond); at < now; at += kPeriod) {
      store::ThreadSampleRow sample;
      sample.thread = kThread;
      sample.name = "app";
      sample.begin = at;
      sample.end = at + kPeriod;
      sample.cpu = cpu_in({at, at + kPeriod});
      sample.run_delay = delay_in({at, at + kPeriod});
      sample.process = kProcess;
      run_.model.thread_samples.push_back(sample);
    }
    TimeNs stopped = 0;
    for (const Interval& stop : cpu_.stops()) stopped += stop.end - stop.begin;
    const auto stat = [&](const char* name, TimeNs value) {
      run_.model.stats.push_back({name, "", store::StatRow::Severity::info, value});
    };
    if (!run_.hidden) stat("throttled_ns", kind_ == Injected::quota ? stopped : 0);
    if (!run_.hidden) {
      stat("steal_ns", kind_ == Injected::steal ? stopped : random_.time(0, 200 * kUs));
    }
    settle(run_.model);
  }

  Random random_;
  Injected kind_;
  std::optional<Injected> other_;
  Cpu cpu_;
  DelayedRun run_;
  TimeNs kernel_ = 0, program_ = 0;
  double rate_ = 0;
  std::uint32_t correlation_ = 0;
};

}  // namespace

std::string injected_name(Injected kind) {
  constexpr std::array<const char*, kInjected> kNames = {"host_sleep", "slow_kernel", "late_launch", "late_completion",
                                                         "quota",      "co_runner",   "steal"};
  return kNames[static_cast<std::size_t>(kind)];
}

DelayedRun make_delayed_run(std::uint64_t seed) { return Maker(seed).make(); }

Named& Named::operator+=(const Named& other) {
  delays += other.delays;
  right += other.right;
  unnamed += other.unnamed;
  wrong += other.wrong;
  surely_wrong += other.surely_wrong;
  return *this;
}

Named judge(const DelayedRun& run) {
  const analyzer::DeviceWork work(run.model);
  const analyzer::Lateness late = analyzer::lateness(run.model, work, analyzer::WorkIndex(run.model, work),
                                                     analyzer::IdleTimes(work), {run.model.begin, run.model.end});
  Named named;
  const auto meet = [](const TrueDelay& truth, const analyzer::Delay& said) {
    return truth.begin <= said.end && said.begin <= truth.end;
  };
  for (const TrueDelay& truth : run.delays) {
    if (!truth.large || run.hidden) continue;
    ++named.delays;
    bool right = false, other = false;
    for (const analyzer::Delay& said : late.delays) {
      if (!meet(truth, said)) continue;
      right = right || said.cause == truth.cause;
      other = other || (said.cause != truth.cause && said.cause != LateCause::no_cpu);
    }
    ++(right ? named.right : other ? named.wrong : named.unnamed);
  }
  for (const analyzer::Delay& said : late.delays) {
    if (!said.sure) continue;
    const bool true_one = std::any_of(run.delays.begin(), run.delays.end(), [&](const TrueDelay& truth) {
      return meet(truth, said) && truth.cause == said.cause;
    });
    named.surely_wrong += true_one ? 0 : 1;
  }
  return named;
}

}  // namespace wicprof::made_programs
