// Kernels of a program whose device others have by turns, or that take longer for other reasons. A seed makes each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {
namespace {

constexpr store::ProcessId kOwn = 100, kOther = 200;
constexpr unsigned kProgramSeeds = 8;

struct MadeLaunch {
  std::size_t kind, step;
  TimeNs usual, length;  // without turns
};

/// A program that launches the same kernels in each step, one after the other.
class Interrupted {
 public:
  explicit Interrupted(unsigned seed) : random_(seed) {
    const int kinds = std::uniform_int_distribution<>(6, 12)(random_);
    std::uniform_real_distribution<> logarithm(std::log(15e3), std::log(900e3));
    for (int i = 0; i < kinds; ++i) usual_.push_back(static_cast<TimeNs>(std::exp(logarithm(random_))));
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (std::size_t kind = 0; kind < usual_.size(); ++kind) {
        const double noise = std::normal_distribution<>(1, 0.015)(random_);
        launches_.push_back({kind, step, usual_[kind], std::lround(static_cast<double>(usual_[kind]) * noise)});
      }
    }
  }

  double random(double least, double most) { return std::uniform_real_distribution<>(least, most)(random_); }
  std::mt19937& generator() { return random_; }
  std::vector<MadeLaunch>& launches() { return launches_; }

  /// Another program has the device for `turn` whenever this one has had it for `own`; it has work for that share of
  /// the time, in phases of 50 ms.
  void share(TimeNs turn, TimeNs own, double busy = 1) {
    turn_ = turn;
    slice_ = own;
    busy_ = busy;
  }

  /// Kernels that begin within others, and so run beside them.
  void beside(const std::function<TimeNs(const MadeLaunch&)>& length) { beside_ = length; }

  /// Every third launch begins late by that, or the first one of each step. The kernel of `by` begins first.
  void delay(std::vector<TimeNs> late, bool firsts = false, store::ProcessId by = 0) {
    late_ = std::move(late);
    firsts_ = firsts;
    late_by_ = by;
  }

  TraceModel model(bool records_other = false) {
    TraceModel made;
    TimeNs at = 10 * kMillisecond, had = 0;
    lost_ = 0;
    starts_.clear();
    std::uint64_t other = 0, number = 0;
    std::size_t delayed = 0;
    for (const MadeLaunch& launch : launches_) {
      at += static_cast<TimeNs>(random(1e3, 15e3));
      if ((firsts_ ? launch.kind == 0 : number++ % 3 == 0) && delayed < late_.size()) {
        const TimeNs late = late_[delayed++];
        starts_.push_back({kOwn, 1, 0, 0, at, at + late});
        if (late_by_ != 0) add(made, late_by_, "meanwhile", at - 500, at + late - 500);
        at += late;
      }
      TimeNs length = launch.length, left = launch.length;
      while (turn_ > 0 && had + left >= slice_) {
        left -= slice_ - had;
        had = 0;
        if (static_cast<double>(at / (50 * kMillisecond) % 10) >= 10 * busy_) continue;
        length += turn_;
        lost_ += turn_;
        if (records_other) add(made, kOther, "neighbour" + std::to_string(++other % 3), at + 1, at + length);
      }
      had += left;
      add(made, kOwn, "kernel" + std::to_string(launch.kind), at, at + length);
      if (const TimeNs extra = beside_ ? beside_(launch) : 0; extra > 0)
        add(made, kOwn, "copies", at + 1000, at + 1000 + extra);
      at += length;
    }
    made.meta = {{"state", "complete"}, {"started_ns", "0"}, {"ended_ns", std::to_string(at)}};
    settle(made);
    for (std::size_t i = 0; i < made.kernels.size(); ++i) {
      const store::KernelRow kernel = made.kernels[i];
      for (LateStart& start : starts_) {
        if (kernel.process == kOwn && kernel.start == start.end) start.kernel = i;
      }
    }
    return made;
  }
  TimeNs lost() const { return lost_; }
  const std::vector<LateStart>& starts() const { return starts_; }

 private:
  static constexpr std::size_t kSteps = 600;

  static void add(TraceModel& model, store::ProcessId process, const std::string& name, TimeNs start, TimeNs end) {
    store::KernelRow kernel{};
    kernel.process = process;
    kernel.context = 1;
    kernel.name = name;
    kernel.start = start;
    kernel.end = end;
    kernel.grid[0] = kernel.block[0] = 128;
    kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
    model.kernels.push_back(kernel);
  }

  std::mt19937 random_;
  std::vector<TimeNs> usual_;
  std::vector<MadeLaunch> launches_;
  std::function<TimeNs(const MadeLaunch&)> beside_;
  std::vector<TimeNs> late_;
  bool firsts_ = false;
  store::ProcessId late_by_ = 0;
  std::vector<LateStart> starts_;
  TimeNs turn_ = 0, slice_ = 0, lost_ = 0;
  double busy_ = 1;
};

std::vector<InterruptedKernels> of_own(const TraceModel& model) {
  std::vector<InterruptedKernels> found = analyze(model).interrupted_kernels;
  std::erase_if(found, [](const InterruptedKernels& each) { return each.process != kOwn; });
  return found;
}

void expect_found(TimeNs turn, TimeNs own, double busy, bool records_other = false) {
  for (unsigned seed = 0; seed < kProgramSeeds; ++seed) {
    Interrupted program(seed);
    program.share(turn, own, busy);
    const TraceModel model = program.model(records_other);
    const std::vector<InterruptedKernels> found = of_own(model);
    ASSERT_EQ(found.size(), 1u) << seed << ' ' << program.lost() / turn << " turns";
    EXPECT_TRUE(found[0].sure) << seed;
    EXPECT_NEAR(static_cast<double>(found[0].turn_ns), static_cast<double>(turn), 0.05 * static_cast<double>(turn));
    EXPECT_NEAR(static_cast<double>(found[0].lost_ns), static_cast<double>(program.lost()),
                0.1 * static_cast<double>(program.lost()))
        << seed;
    EXPECT_EQ(found[0].others, records_other ? std::vector{kOther} : std::vector<store::ProcessId>()) << seed;
  }
}

void expect_none(const std::function<void(Interrupted&)>& change) {
  for (unsigned seed = 0; seed < kProgramSeeds; ++seed) {
    Interrupted program(seed);
    change(program);
    const auto found = of_own(program.model());
    EXPECT_TRUE(found.empty()) << seed << " " << found[0].turn_ns << " " << found[0].kernels << " " << found[0].kinds;
  }
}

TEST(InterruptedKernels, AreThoseThatTurnsMakeLongerByTheSameTime) {
  expect_found(2'500'000, 2'500'000, 1);
  expect_found(2'000'000, 6'000'000, 1);
  expect_found(2'000'000, 2'000'000, 0.4);
  expect_found(5'000'000, 2'500'000, 1);
}

TEST(InterruptedKernels, NameWhoHadTheDeviceIfTheTraceHasThat) { expect_found(2'000'000, 2'000'000, 1, true); }

TEST(InterruptedKernels, AreNotThoseWithoutTurns) {
  expect_none([](Interrupted&) {});
}

TEST(InterruptedKernels, AreNotThoseWithMoreData) {
  for (const double times : {3.0, 12.0}) {
    expect_none([&](Interrupted& program) {
      for (MadeLaunch& launch : program.launches()) {
        if (launch.step % 3 == 2) launch.length = std::lround(times * static_cast<double>(launch.length));
      }
    });
  }
}

TEST(InterruptedKernels, AreNotThoseOfALowerClock) {
  expect_none([](Interrupted& program) {
    for (MadeLaunch& launch : program.launches()) {
      if (launch.step / 40 % 2 == 1) launch.length = std::lround(2.6 * static_cast<double>(launch.length));
    }
  });
}

TEST(InterruptedKernels, AreNotThoseOfFewKinds) {
  expect_none([](Interrupted& program) {
    for (MadeLaunch& launch : program.launches()) {
      if (launch.kind < 2 && launch.step % 5 == 0) launch.length += 2 * kMillisecond;
    }
  });
}

TEST(InterruptedKernels, AreSureOfOneKindWhereTheTraceHasWhoHadTheDevice) {
  unsigned named = 0;
  for (unsigned seed = 0; seed < kProgramSeeds; ++seed) {
    Interrupted program(seed);
    std::erase_if(program.launches(), [](const MadeLaunch& launch) { return launch.kind > 0; });
    program.share(2'000'000, 2'000'000);
    EXPECT_TRUE(of_own(program.model()).empty()) << seed;
    for (const InterruptedKernels& found : of_own(program.model(true))) {
      EXPECT_TRUE(found.sure) << seed;
      EXPECT_EQ(found.others, std::vector{kOther}) << seed;
      ++named;
    }
  }
  EXPECT_GE(named, kProgramSeeds / 2) << "of the others, kernels are so short that they meet few turns";
}

TEST(InterruptedKernels, AreNotThoseThatWaitForPages) {
  expect_none([](Interrupted& program) {
    std::exponential_distribution<> faults(1e-6);
    for (MadeLaunch& launch : program.launches()) {
      if (launch.step % 7 == 0) launch.length += static_cast<TimeNs>(faults(program.generator()));
    }
  });
}

TEST(InterruptedKernels, AreNotThoseThatOwnKernelsSlowDown) {
  expect_none([](Interrupted& program) {
    for (MadeLaunch& launch : program.launches()) {
      if ((launch.step + launch.kind) % 9 == 0) launch.length += 2 * kMillisecond;
    }
    program.beside(
        [](const MadeLaunch& launch) { return (launch.step + launch.kind) % 9 == 0 ? 2 * kMillisecond : TimeNs{0}; });
  });
}

std::vector<InterruptedKernels> with_late_starts(Interrupted& program, const std::vector<TimeNs>& late,
                                                 bool firsts = false, store::ProcessId by = 0) {
  program.delay(late, firsts, by);
  const TraceModel model = program.model();
  std::vector<InterruptedKernels> found =
      interrupted_kernels(model, WaitKernels(model, Waiters(model)), DeviceWork(model), program.starts());
  std::erase_if(found, [](const InterruptedKernels& each) { return each.process != kOwn; });
  return found;
}

TEST(InterruptedKernels, AreNotSureIfKernelsOfOneKindAloneBeginLate) {
  Interrupted program(1);
  std::vector<TimeNs> late;
  for (int i = 0; i < 60; ++i) late.push_back(i % 4 == 0 ? static_cast<TimeNs>(program.random(3e5, 2.3e6)) : 2'390'000);
  const std::vector<InterruptedKernels> found = with_late_starts(program, late, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].sure);
  EXPECT_EQ(found[0].kernels, 0u);
  EXPECT_EQ(found[0].turn_ns, 2'390'000);
  EXPECT_EQ(found[0].late_starts, 60u);
  late.resize(12);
  EXPECT_TRUE(with_late_starts(program, late, true).empty()) << "too few";
}

TEST(InterruptedKernels, AreSureIfKernelsOfSeveralKindsBeginLateByAnyTime) {
  for (unsigned seed = 0; seed < kProgramSeeds; ++seed) {
    Interrupted program(seed);
    std::vector<TimeNs> late;
    TimeNs sum = 0;
    for (int i = 0; i < 80; ++i) sum += late.emplace_back(static_cast<TimeNs>(program.random(2e5, 2.5e6)));
    const std::vector<InterruptedKernels> found = with_late_starts(program, late);
    ASSERT_EQ(found.size(), 1u) << seed;
    EXPECT_TRUE(found[0].sure) << seed;
    EXPECT_EQ(found[0].lost_ns, sum) << seed;
  }
}

TEST(InterruptedKernels, AreSureWhereLateStartsAndKernelsAgree) {
  Interrupted program(2);
  for (MadeLaunch& launch : program.launches()) {
    if (launch.kind < 2 && launch.step % 200 == 100) launch.length += 2'480'000;
  }
  EXPECT_TRUE(with_late_starts(program, {}).empty());
  const std::vector<InterruptedKernels> found = with_late_starts(program, std::vector<TimeNs>(25, 2'400'000), true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].sure);
  EXPECT_EQ(found[0].kinds, 2u);
}

TEST(InterruptedKernels, LastLongerByAnyPartOfATurnWhereLaunchesMeetAnyPart) {
  for (unsigned seed = 0; seed < kProgramSeeds; ++seed) {
    Interrupted program(seed);
    TimeNs sum = 0;
    for (MadeLaunch& launch : program.launches()) {
      if (launch.step % 50 != 10) continue;
      const auto part = static_cast<TimeNs>(program.random(9e5, 2.4e6));
      launch.length += part;
      sum += part;
    }
    std::vector<TimeNs> late;
    for (int i = 0; i < 100; ++i) sum += late.emplace_back(static_cast<TimeNs>(program.random(2e5, 2.5e6)));
    const std::vector<InterruptedKernels> found = with_late_starts(program, late);
    ASSERT_EQ(found.size(), 1u) << seed;
    EXPECT_TRUE(found[0].sure) << seed;
    EXPECT_NEAR(static_cast<double>(found[0].lost_ns), static_cast<double>(sum), 0.1 * static_cast<double>(sum));
  }
}

TEST(InterruptedKernels, NameTheRecordedProcessForWhichLaunchesAreLate) {
  Interrupted program(3);
  const std::vector<InterruptedKernels> found =
      with_late_starts(program, std::vector<TimeNs>(30, 2'400'000), true, kOther);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].sure);
  EXPECT_EQ(found[0].others, std::vector{kOther});
}

/// Both programs' kernels in one trace.
TraceModel both(const TraceModel& own, const TraceModel& other, store::ProcessId process) {
  TraceModel all = own;
  for (store::KernelRow kernel : other.kernels) {
    if (kernel.process != kOwn) continue;
    kernel.process = process;
    all.kernels.push_back(kernel);
  }
  settle(all);
  return all;
}

std::vector<Finding> shared_devices(const TraceModel& model) {
  std::vector<Finding> found = analyze(model).findings;
  std::erase_if(found, [](const Finding& finding) { return finding.rule != "shared_device"; });
  return found;
}

TEST(InterruptedKernels, OfSeveralProcessesAreOneFindingOfTheirDevice) {
  Interrupted more(4), less(4);
  more.share(2'500'000, 2'500'000);
  less.share(2'200'000, 2'500'000);
  const TraceModel of_more = more.model(), of_less = less.model();
  const std::vector<Finding> single = shared_devices(of_more), found = shared_devices(both(of_more, of_less, 101));
  ASSERT_EQ(single.size(), 1u);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].text.find("processes 100 and 101 have GPU 0 by turns: process 100 loses at least "),
            std::string::npos)
      << found[0].text;
  EXPECT_NE(found[0].text.find(" ms per turn); process 101 loses at least "), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].evidence.find("process 100: " + single[0].evidence + ". process 101: "), std::string::npos)
      << found[0].evidence << '\n'
      << single[0].evidence;
  EXPECT_EQ(found[0].remedy.find("end the other program"), std::string::npos);
  EXPECT_NE(single[0].remedy.find("end the other program"), std::string::npos);
}

TEST(InterruptedKernels, OfTwoDevicesAreTwoFindings) {
  Interrupted first(4), second(5);
  first.share(2'500'000, 2'500'000);
  second.share(2'000'000, 2'000'000);
  TraceModel all = first.model();
  for (store::KernelRow kernel : second.model().kernels) {
    kernel.device = 1;
    kernel.process = 101;
    all.kernels.push_back(kernel);
  }
  settle(all);
  const std::vector<Finding> found = shared_devices(all);
  ASSERT_EQ(found.size(), 2u);
  for (const Finding& finding : found)
    EXPECT_TRUE(finding.text.starts_with("a program that is not in this trace, or another context")) << finding.text;
}

}  // namespace
}  // namespace wicprof::analyzer
