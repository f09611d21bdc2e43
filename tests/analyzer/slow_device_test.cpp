// A rank that is late since its device, or the way to the device, is slower: by jobs whose steps a seed makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/ranks/digest.h"
#include "analyzer/ranks/join.h"
#include "rank_job.h"

namespace wicprof::analyzer {
namespace {

/// What makes the last rank late.
enum class Injected {
  nothing,
  lower_clock,     // the kernels that compute take longer
  neighbour,       // all kernels and copies do
  turns,           // a neighbour has the device by turns
  one_kernel,      // one of many kernels does
  few_kernels,     // the job has two kinds of kernels
  larger_grids,    // has more data
  fixed_grids,     // the same, and long kernels have grids that do not depend on it
  more_launches,   // launches some kernels more often
  own_kernels,     // launches kernels that others do not
  larger_copies,   // has more to copy
  slower_copies,   // the same copies take longer
  more_collected,  // the same launches take longer, and it sends more
};

/// The SMs' clock of the last rank's GPU.
enum class Clocks {
  not_read,
  lower,           // as its kernels are slower
  capped,          // the same, by a power cap
  slightly_lower,  // by 3 %
  equal,
};

struct MadeKernel {
  std::uint32_t grid;
  double us;
  bool computes;
};

/// A job of NCCL whose ranks copy, run the same kernels and meet in each step.
class SlowedJob {
 public:
  SlowedJob(unsigned seed, Injected injected, Clocks clocks = Clocks::not_read)
      : random_(seed), injected_(injected), clocks_(clocks), job_(ranks_ = pick(2, 9)) {
    times_ = std::uniform_real_distribution<>(1.12, 1.8)(random_);
    const int kinds = injected == Injected::few_kernels ? 2 : pick(5, 14);
    for (int i = 0; i < kinds; ++i)
      kernels_.push_back({static_cast<std::uint32_t>(pick(1, 4000)),
                          injected == Injected::fixed_grids && i % 2 == 0
                              ? 30.0
                              : std::uniform_real_distribution<>(300, 2000)(random_),
                          i < 4 || pick(0, 2) > 0});
    copied_us_ = injected == Injected::slower_copies || injected == Injected::larger_copies ? 5000 : pick(100, 600);
    make();
  }

  /// The share of the time that the job would save if nothing had been injected, or no kernel were slower.
  double gain() const { return 1 - static_cast<double>(usual_) / static_cast<double>(now_); }
  const Analysis& analysis() const { return analysis_; }
  const MpiWaits& of_digest() const { return of_digest_; }
  /// A trace per rank, in each of which the rank's GPU has the number 0.
  std::vector<TraceModel> traces() const {
    const TraceModel& all = job_.model;
    std::vector<TraceModel> traces;
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      TraceModel& of = traces.emplace_back();
      of.meta = all.meta;
      of.name = "rank " + std::to_string(rank);
      const auto take = [&](const auto& from, auto& to) {
        for (auto row : from) {
          if (row.process != process(rank)) continue;
          if constexpr (requires { row.device; }) row.device = 0;
          to.push_back(row);
        }
      };
      take(all.mpi_communicators, of.mpi_communicators);
      take(all.mpi_calls, of.mpi_calls);
      take(all.mpi_requests, of.mpi_requests);
      take(all.kernels, of.kernels);
      take(all.copies, of.copies);
      of.device_states = all.device_states;  // of all GPUs of the machine
      of.devices = {device(0, rank)};
      settle(of);
    }
    return traces;
  }
  std::int32_t late() const { return ranks_ - 1; }
  const Finding* finding(std::string_view rule) const {
    for (const Finding& each : analysis_.findings) {
      if (each.rule == rule) return &each;
    }
    return nullptr;
  }

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<>(least, most)(random_); }
  TimeNs noisy(double us) {
    return std::max<TimeNs>(1, std::lround(us * std::normal_distribution<>(1, 0.01)(random_)));
  }

  double times_of(std::size_t kernel) const {
    switch (injected_) {
      case Injected::lower_clock:
        return kernels_[kernel].computes ? times_ : 1;
      case Injected::neighbour:
      case Injected::few_kernels:
      case Injected::larger_grids:
      case Injected::fixed_grids:
      case Injected::more_collected:
        return times_;
      case Injected::one_kernel:
        return kernel == 1 ? 4 : 1;
      default:
        return 1;
    }
  }

  /// What the turns take that begin while a kernel runs.
  TimeNs turns_within(TimeNs length) {
    const TimeNs before = ran_us_ / kTurnUs;
    ran_us_ += length;
    return kTurnUs * (ran_us_ / kTurnUs - before);
  }

  bool has_larger_grid(std::size_t kernel) const {
    return injected_ == Injected::larger_grids || (injected_ == Injected::fixed_grids && kernel % 2 == 0);
  }

  /// Adds what a rank does in a step from `at` on; returns its end, and at the usual speed.
  std::pair<TimeNs, TimeNs> work(std::int32_t rank, TimeNs at) {
    const bool late = rank == this->late();
    TimeNs usual = at;
    const TimeNs copied = noisy(copied_us_);
    const bool longer_copy = late && (injected_ == Injected::slower_copies || injected_ == Injected::larger_copies ||
                                      injected_ == Injected::neighbour);
    store::CopyRow copy{};
    copy.kind = CopyKind::host_to_device;
    copy.source = CopyMemory::pinned;
    copy.destination = CopyMemory::device;
    copy.bytes = late && injected_ == Injected::larger_copies ? 96 << 20 : 64 << 20;
    copy.start = at * kMicrosecond;
    const TimeNs taken = longer_copy ? std::lround(static_cast<double>(copied) * (times_ + 0.2)) : copied;
    at += taken;
    usual += injected_ == Injected::neighbour ? taken : copied;
    copy.end = at * kMicrosecond;
    copy.process = process(rank);
    job_.model.copies.push_back(copy);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const MadeKernel& kernel = kernels_[i];
      const bool more = late && injected_ == Injected::more_launches && i % 2 == 0;
      for (int launch = 0; launch < (more ? 2 : 1); ++launch) {
        const TimeNs length = noisy(kernel.us);
        TimeNs own = late ? std::lround(static_cast<double>(length) * times_of(i)) : length;
        if (late && injected_ == Injected::turns) own += turns_within(length);
        launch_kernel(rank, at, at + own, i, late && has_larger_grid(i));
        at += own;
        if (launch == 0) usual += length;
      }
    }
    if (late && injected_ == Injected::own_kernels) {
      for (int i = 0; i < 6; ++i, at += 700)
        device_kernel(job_, rank, at, at + 700, "own", 10u + static_cast<unsigned>(i));
    }
    return {at, usual};
  }

  void launch_kernel(std::int32_t rank, TimeNs begin, TimeNs end, std::size_t kind, bool larger) {
    static const char* const kNames[] = {"gemm", "norm", "softmax", "add", "embed"};
    device_kernel(job_, rank, begin, end, kNames[kind % std::size(kNames)], kernels_[kind].grid * (larger ? 2 : 1));
  }

  static store::DeviceRow device(DeviceId id, std::int32_t rank) {
    store::DeviceRow device{};
    device.id = id;
    device.kind = DeviceKind::cuda;
    device.uuid = "GPU-" + std::to_string(rank);
    return device;
  }

  void add_states(TimeNs begin, TimeNs end) {
    constexpr int kReadings = 30;
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      job_.model.devices.push_back(device(rank, rank));
      if (clocks_ == Clocks::not_read) continue;
      const bool late = rank == this->late();
      double clock = 1755;
      if (late && (clocks_ == Clocks::lower || clocks_ == Clocks::capped)) clock /= times_;
      if (late && clocks_ == Clocks::slightly_lower) clock *= 0.97;
      for (int i = -kReadings; i < 2 * kReadings; ++i) {
        store::DeviceStateRow row;
        row.uuid = "GPU-" + std::to_string(rank);
        row.at = (begin + (end - begin) * i / kReadings) * kMicrosecond;
        const bool runs = i > 0 && i < kReadings, idle = i % 5 == 0;
        row.sm_clock_mhz = runs && !idle ? static_cast<std::uint32_t>(clock) : 345;
        row.temperature_c = runs ? (late ? 88 : 61) - i % 2 : 30;
        row.slowdown_reasons = idle ? 1 : late && i % 2 == 0 ? 0x20 : 0;
        if (late && !idle && clocks_ == Clocks::capped) row.slowdown_reasons = 0x4;
        job_.model.device_states.push_back(row);
      }
    }
  }

  void make() {
    all_reduce(job_, 1, std::vector<TimeNs>(static_cast<std::size_t>(ranks_), 1000), 1050);
    now_ = 1050;
    const TimeNs begun = now_;
    usual_ = now_;
    for (std::uint32_t step = 2; step < 42; ++step) {
      std::vector<TimeNs> ends;
      TimeNs longest = 0;
      for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        const auto [end, usual] = work(rank, now_);
        ends.push_back(end);
        longest = std::max(longest, usual - now_);
      }
      now_ = *std::ranges::max_element(ends) + 50;
      usual_ += longest + 50;
      all_reduce(job_, step, ends, now_);
    }
    if (injected_ == Injected::more_collected) {
      for (store::MpiCallRow& call : job_.model.mpi_calls) call.bytes = call.process == process(late()) ? 3000 : 1000;
    }
    job_.model.meta = {{"state", "complete"},
                       {"started_ns", std::to_string(begun * kMicrosecond)},
                       {"ended_ns", std::to_string(now_ * kMicrosecond)}};
    add_states(begun, now_);
    settle(job_.model);
    analysis_ = analyze(job_.model);
    of_digest_ = mpi_waits(digest(job_.model, 100'000));
    now_ -= begun;
    usual_ -= begun;
  }

  static constexpr TimeNs kTurnUs = 2500;

  std::mt19937 random_;
  TimeNs ran_us_ = 0;  // kernels of the late rank
  Injected injected_;
  Clocks clocks_;
  std::int32_t ranks_;
  Job job_;
  double times_ = 1, copied_us_ = 0;
  std::vector<MadeKernel> kernels_;
  TimeNs now_ = 0, usual_ = 0;
  Analysis analysis_;
  MpiWaits of_digest_;
};

constexpr unsigned kSeeds = 12;

void expect_slower(Injected injected, RankCause cause, std::string_view rule) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, injected);
    const LateRankCause& why = job.analysis().mpi.why;
    EXPECT_EQ(job.analysis().mpi.ranks.front().rank, job.late()) << seed;
    ASSERT_EQ(why.cause, cause) << seed;
    EXPECT_LE(why.confidence, 0.75) << seed;
    EXPECT_EQ(job.of_digest().why.cause, cause) << seed;
    EXPECT_NEAR(job.of_digest().why.slower->times, why.slower->times, 0.01) << seed;
    const Finding* const finding = job.finding(rule);
    ASSERT_NE(finding, nullptr) << seed;
    EXPECT_GE(finding->cost->amount, job.gain() - 0.01) << seed << ": at most: " << finding->text;
    EXPECT_LE(finding->cost->amount, 1.25 * job.gain() + 0.01) << seed << ": " << finding->text;
  }
}

TEST(SlowDevice, IsNamedByTheKernelsThatAllRanksRun) {
  expect_slower(Injected::lower_clock, RankCause::slow_device, "slow_device");
  expect_slower(Injected::neighbour, RankCause::slow_device, "slow_device");
}

TEST(SlowDevice, LinksAreNamedByTheSameCopies) {
  expect_slower(Injected::slower_copies, RankCause::slow_link, "slow_link");
}

TEST(SlowDevice, IsOneThatAnotherProgramHasByTurns) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, Injected::turns);
    const LateRankCause& why = job.analysis().mpi.why;
    EXPECT_EQ(job.analysis().mpi.ranks.front().rank, job.late()) << seed;
    EXPECT_EQ(why.cause, RankCause::shared_device) << seed;
    const Finding* const finding = job.finding("shared_device");
    ASSERT_NE(finding, nullptr) << seed;
    EXPECT_NEAR(finding->cost->amount, job.gain(), 0.1 * job.gain()) << seed << ' ' << finding->text;
    EXPECT_EQ(job.finding("slow_device"), nullptr) << seed;
    EXPECT_EQ(job.of_digest().why.cause, RankCause::shared_device) << seed;
    EXPECT_EQ(job.of_digest().why.of_cause_ns, why.of_cause_ns) << seed;
  }
}

TEST(SlowDevice, DigestsSayWhichOneAnotherProgramHas) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const std::vector<TraceModel> traces = SlowedJob(seed, Injected::turns).traces();
    std::vector<TraceModel> digests, mixed;
    for (const TraceModel& trace : traces) {
      digests.insert(digests.begin(), digest(trace, 100'000));
      mixed.push_back(mixed.size() % 2 == seed % 2 ? trace : digests.front());
    }
    const Analysis whole = analyze(*join(traces));
    ASSERT_EQ(whole.interrupted_kernels.size(), 1u) << seed;
    const auto finding = [](const Analysis& of) {
      return *std::ranges::find(of.findings, "shared_device", &Finding::rule);
    };
    for (const Analysis& part : {analyze(*join(digests)), analyze(*join(mixed))}) {
      ASSERT_EQ(part.interrupted_kernels.size(), 1u) << seed;
      EXPECT_EQ(part.mpi.why.cause, RankCause::shared_device) << seed;
      EXPECT_EQ(finding(part).text, finding(whole).text);
      EXPECT_EQ(finding(part).evidence, finding(whole).evidence);
      EXPECT_EQ(finding(part).command, finding(whole).command);
      EXPECT_NEAR(finding(part).cost->amount, finding(whole).cost->amount, 0.001) << seed;
    }
    std::erase_if(digests.front().digest_sums, [](const auto& sum) { return sum.of >= store::SumOf::turns; });
    const Analysis old = analyze(*join(digests));
    EXPECT_TRUE(old.interrupted_kernels.empty());
    const auto refusal = std::ranges::find(old.refusals, "shared_device", &Refusal::rule);
    ASSERT_NE(refusal, old.refusals.end());
    EXPECT_NE(refusal->reason.find("earlier wic-prof"), std::string::npos) << refusal->reason;
  }
}

TEST(SlowDevice, IsNotNamedWhereTheWorkDiffers) {
  for (const auto& [injected, cause] :
       {std::pair(Injected::nothing, RankCause::unknown), std::pair(Injected::one_kernel, RankCause::kernels),
        std::pair(Injected::few_kernels, RankCause::kernels), std::pair(Injected::larger_grids, RankCause::kernels),
        std::pair(Injected::fixed_grids, RankCause::kernels), std::pair(Injected::more_launches, RankCause::kernels),
        std::pair(Injected::own_kernels, RankCause::kernels), std::pair(Injected::more_collected, RankCause::kernels),
        std::pair(Injected::larger_copies, RankCause::copies)}) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const SlowedJob job(seed, injected);
      EXPECT_EQ(job.finding("slow_device"), nullptr) << static_cast<int>(injected) << ' ' << seed;
      EXPECT_EQ(job.finding("slow_link"), nullptr) << static_cast<int>(injected) << ' ' << seed;
      EXPECT_EQ(job.finding("shared_device"), nullptr) << static_cast<int>(injected) << ' ' << seed;
      if (injected == Injected::nothing) continue;
      EXPECT_EQ(job.analysis().mpi.why.cause, cause) << static_cast<int>(injected) << ' ' << seed;
    }
  }
}

TEST(SlowDevice, SaysByHowMuchAndWhatToCompare) {
  const SlowedJob job(1, Injected::neighbour);
  const Finding* const finding = job.finding("slow_device");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("times as long as the others' for the same kernels"), std::string::npos)
      << finding->text;
  EXPECT_TRUE(finding->command.starts_with("nvidia-smi -q -d CLOCK")) << finding->command;
  EXPECT_NE(finding->evidence.find("<<<"), std::string::npos) << finding->evidence;
  EXPECT_EQ(finding->evidence.find("MHz"), std::string::npos) << finding->evidence;
  EXPECT_NE(finding->remedy.find("wic-prof run --energy"), std::string::npos) << finding->remedy;
}

void expect_in(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(SlowDevice, ALowerClockConfirms) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, Injected::lower_clock, Clocks::lower);
    const LateRankCause& why = job.analysis().mpi.why;
    ASSERT_TRUE(why.devices) << seed;
    const LateRankCause without = SlowedJob(seed, Injected::lower_clock).analysis().mpi.why;
    EXPECT_NEAR(why.confidence, without.confidence / 0.75, 1e-9) << seed;
    const Finding* const finding = job.finding("slow_device");
    ASSERT_NE(finding, nullptr) << seed;
    expect_in(
        finding->evidence,
        "the others' 1755 MHz; its highest temperature was 88 C, the others' 61 C; what limits its clock: thermal "
        "slowdown in ");
    expect_in(finding->remedy, "cooling");
    EXPECT_EQ(finding->evidence.find("equal within"), std::string::npos) << finding->evidence;
  }
}

TEST(SlowDevice, EqualClocksSayThatTheClockIsNotTheCause) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, Injected::neighbour, Clocks::equal);
    EXPECT_LE(job.analysis().mpi.why.confidence, 0.75) << seed;
    EXPECT_NEAR(job.analysis().mpi.why.devices->clock_share(), 1, 1e-9) << seed;
    const Finding* const finding = job.finding("slow_device");
    ASSERT_NE(finding, nullptr) << seed;
    expect_in(finding->evidence, "was 1755 MHz in the mean, the others' 1755 MHz");
    expect_in(finding->evidence, "equal within 1 %");
    expect_in(finding->remedy, "other programs on the device");
  }
}

TEST(SlowDevice, AClockThatIsTooLittleLowerConfirmsNothing) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, Injected::neighbour, Clocks::slightly_lower);
    EXPECT_LE(job.analysis().mpi.why.confidence, 0.75) << seed;
    const Finding* const finding = job.finding("slow_device");
    ASSERT_NE(finding, nullptr) << seed;
    expect_in(finding->evidence, "was 1702 MHz in the mean, the others' 1755 MHz");
    EXPECT_EQ(finding->evidence.find("equal within"), std::string::npos) << finding->evidence;
    expect_in(finding->remedy, "clocks, temperature, reasons for throttling");
    EXPECT_EQ(finding->remedy.find("--energy"), std::string::npos) << finding->remedy;
  }
}

TEST(SlowDevice, AClockUnderAPowerCapMayComeOfMoreWork) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const SlowedJob job(seed, Injected::lower_clock, Clocks::capped);
    EXPECT_LE(job.analysis().mpi.why.confidence, 0.75) << seed;
    const Finding* const finding = job.finding("slow_device");
    ASSERT_NE(finding, nullptr) << seed;
    expect_in(finding->evidence, "what limits its clock: power cap in 100.0 % of the readings");
  }
}

TEST(SlowDevice, ATracePerRankSaysTheSame) {
  const SlowedJob job(2, Injected::lower_clock, Clocks::lower);
  const Result<TraceModel> joined = join(job.traces());
  ASSERT_TRUE(joined);
  const LateRankCause why = mpi_waits(*joined).why;
  ASSERT_TRUE(why.devices);
  EXPECT_EQ(why.devices->late.uuid, job.analysis().mpi.why.devices->late.uuid);
  EXPECT_NEAR(why.devices->clock_share(), job.analysis().mpi.why.devices->clock_share(), 1e-9);
  EXPECT_NEAR(why.confidence, job.analysis().mpi.why.confidence, 1e-9);
}

}  // namespace
}  // namespace wicprof::analyzer
