// The runtime with a session: records of kernels arrive in a ring, and the control block takes effect during waits.
#include "wic/runtime.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "protocol/events/choice.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/signal.h"
#include "protocol/session.h"
#include "tests/protocol/ring_contents.h"
#include "tests/thread_sanitizer.h"
#include "wic/launch.h"
#include "wic/signal.h"

namespace wic {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;

constexpr std::uint64_t kDeadline = 20'000'000'000;

struct WaitOnce {
  DeviceView view;
  wicprof::SiteId site;
  std::uint32_t iteration;
  const std::uint32_t* word;
  std::uint32_t* back;
  std::uint32_t* started;  // incremented by every block just before it waits; may be nullptr
  WIC_DEVICE void operator()(const Thread& thread) const {
    if (started != nullptr && thread.index() == 0) thread.fetch_add(started, 1);
    wait_until(thread, view, block_group(thread), site, iteration, word, AtLeast{iteration}, kDeadline);
    if (thread.block() == 0 && thread.index() == 0) signal(thread, view, site, iteration, back, iteration);
  }
};

// Repeatedly, kMany blocks wait on one word until the host has slept for a while, or one block waits on a ready word.
constexpr std::uint32_t kMany = 40;
constexpr std::uint32_t kThreads = wicprof::kThreadSanitizer ? 4 : 32;

// Two SMs hold kMany blocks.
class TwoSms {
 public:
  TwoSms() { setenv("WIC_SIMT_SMS", "2", 1); }
  ~TwoSms() { unsetenv("WIC_SIMT_SMS"); }
};

// False if `auto` has not chosen `goal` within two minutes.
bool wait_until_auto_means(Runtime& runtime, wicprof::SiteId site, StrategyId goal, bool released_before,
                           std::uint32_t& iteration) {
  auto stream = *runtime.device(0).make_stream();
  auto words = *Array<std::uint32_t>::make(runtime.device(0), 64, Memory::pinned_host);
  words[0] = iteration;
  const wicprof::TimeNs end = wicprof::now_ns() + 120 * wicprof::kSecond;
  while (runtime.strategy(site) != goal) {
    if (wicprof::now_ns() > end) return false;
    ++iteration;
    if (released_before) runtime.signal(site, iteration, &words[0], iteration);
    words[48] = 0;
    const WaitOnce kernel{runtime.view(0), site, iteration, &words[0], &words[32], &words[48]};
    if (!launch(*stream, {released_before ? 1u : kMany, kThreads}, kernel)) return false;
    if (!released_before) {
      while (std::atomic_ref(words[48]).load() < kMany) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      runtime.signal(site, iteration, &words[0], iteration);
    }
    if (!stream->synchronize()) return false;
  }
  return true;
}

class RuntimeInSession : public testing::Test {
 protected:
  void SetUp() override {
    wicprof::SessionOptions options;
    options.name = "runtime-test-" + std::to_string(getpid());
    // Nobody reads the ring before the test's end: the waits until `auto` has chosen took 0.8 MiB on a busy machine.
    options.rings[0].capacity = std::size_t{1} << 24;
    auto made = wicprof::SessionOwner::create(options);
    ASSERT_TRUE(made) << made.error().message;
    session.emplace(*std::move(made));
    setenv(wicprof::kSessionVariable, session->path().c_str(), 1);
  }
  void TearDown() override { unsetenv(wicprof::kSessionVariable); }

  void start(Mode mode = Mode::poll) {
    RuntimeOptions options;
    options.mode = mode;
    auto made = Runtime::create(options);
    ASSERT_TRUE(made);
    runtime = *std::move(made);
    ASSERT_TRUE(runtime->recording());
    const auto added =
        runtime->add_site({"test.word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
    ASSERT_TRUE(added);
    site = *added;
    stream = *runtime->device(0).make_stream();
    words = *Array<std::uint32_t>::make(runtime->device(0), 64, Memory::pinned_host);
  }
  void stop() {
    stream.reset();
    words = {};
    runtime.reset();
  }
  wicprof::Delivered ring() const { return wicprof::Delivered(session->map().ring(0)); }
  wicprof::ControlBlock& control() const { return session->map().control(); }

  std::optional<wicprof::SessionOwner> session;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Stream> stream;
  Array<std::uint32_t> words;
  wicprof::SiteId site = 0;
};

TEST_F(RuntimeInSession, TheChildOfAForkWritesNothingAndEndsIt) {
  start();
  runtime->signal(site, 1, &words[0], 1);
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    runtime->signal(site, 2, &words[32], 2);
    const WaitResult waited = runtime->wait_until(site, 2, &words[32], AtLeast{2}, kDeadline);
    runtime.reset();
    _exit(waited.status == wicprof::WaitStatus::satisfied ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const wicprof::Delivered got = ring();
  EXPECT_EQ(got.all<wicprof::SignalEvent>().size(), 1u);
  EXPECT_TRUE(got.all<wicprof::HostWaitEvent>().empty());
  EXPECT_EQ(wicprof::attached_processes(control()), 1u);
  stop();
}

TEST_F(RuntimeInSession, EveryWaitAndSignalArrives) {
  start();
  for (std::uint32_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(launch(*stream, {3, 64}, WaitOnce{runtime->view(0), site, i, &words[0], &words[32], nullptr}));
    runtime->signal(site, i, &words[0], i);
    const WaitResult back = runtime->wait_until(site, i, &words[32], AtLeast{i}, kDeadline);
    ASSERT_EQ(back.status, wicprof::WaitStatus::satisfied);
    ASSERT_TRUE(stream->synchronize());
  }
  stop();
  const wicprof::Delivered got = ring();
  const auto waits = got.all<wicprof::WaitEvent>();
  ASSERT_EQ(waits.size(), 30u);
  for (const wicprof::WaitEvent& wait : waits) {
    EXPECT_EQ(wait.site, site);
    EXPECT_EQ(wait.device, wicprof::simt_device(0));
    EXPECT_LT(wait.block, 3u);
    EXPECT_LE(wait.arrived_ns, wait.resumed_ns);
    EXPECT_GE(wait.polls, 1u);
    EXPECT_GE(wait.value, wait.iteration);
    EXPECT_EQ(wait.strategy, static_cast<std::uint8_t>(StrategyId::poll));
  }
  const auto signals = got.all<wicprof::SignalEvent>();
  EXPECT_EQ(signals.size(), 20u);  // ten from the host, ten from the device
  for (const wicprof::SignalEvent& signal : signals) {
    if (signal.device == wicprof::kHostDevice) {
      EXPECT_EQ(signal.block, static_cast<std::uint32_t>(gettid()));
    }
  }
  EXPECT_EQ(got.all<wicprof::HostWaitEvent>().size(), 10u);
  ASSERT_EQ(got.all<wicprof::SiteEvent>().size(), 1u);
  EXPECT_EQ(got.text(got.all<wicprof::SiteEvent>()[0].name), "test.word");
  EXPECT_EQ(wicprof::attached_processes(control()), 0u);
}

TEST_F(RuntimeInSession, ADeviceIsIdentifiedAcrossProcesses) {
  start();
  runtime->signal(site, 1, &words[0], 1);
  runtime->wait_until(site, 1, &words[0], AtLeast{1}, kDeadline);
  stop();
  const wicprof::Delivered got = ring();
  const auto devices = got.all<wicprof::DeviceEvent>();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(got.text(devices[0].uuid), "CPU-" + std::to_string(getpid()) + "-0");
  const auto waits = got.all<wicprof::HostWaitEvent>();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].involuntary_switches, wicprof::HostWaitEvent::kUnknownSwitches);  // not measured at sites
  EXPECT_EQ(waits[0].run_delay_ns, -1);
}

TEST_F(RuntimeInSession, AToggleReachesAWaitInProgress) {
  start();
  ASSERT_TRUE(launch(*stream, {2, 64}, WaitOnce{runtime->view(0), site, 1, &words[0], &words[32], &words[48]}));
  while (std::atomic_ref(words[48]).load() < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the first poll is a few turns later
  const std::uint32_t sequence = wicprof::request_wait(control(), 0, {Mode::park, StrategyId::automatic});
  ASSERT_TRUE(wicprof::wait_applied(control(), sequence, wicprof::kSecond));
  EXPECT_EQ(runtime->strategy(site), StrategyId::shared_watch);  // auto's choice for one shared word
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  runtime->signal(site, 1, &words[0], 1);
  ASSERT_TRUE(stream->synchronize());
  stop();
  const wicprof::Delivered got = ring();
  const auto interventions = got.all<wicprof::InterventionEvent>();
  ASSERT_EQ(interventions.size(), 1u);
  EXPECT_EQ(interventions[0].site, 0u);
  EXPECT_EQ(interventions[0].old_mode, static_cast<std::uint8_t>(Mode::poll));
  EXPECT_EQ(interventions[0].new_mode, static_cast<std::uint8_t>(Mode::park));
  EXPECT_LE(interventions[0].requested_ns, interventions[0].effective_ns);
  const auto waits = got.all<wicprof::WaitEvent>();
  ASSERT_EQ(waits.size(), 2u);
  for (const wicprof::WaitEvent& wait : waits) {
    EXPECT_GT(wait.switched_after_ns, 0u);
    EXPECT_EQ(wait.strategy, static_cast<std::uint8_t>(StrategyId::shared_watch));
  }
}

TEST_F(RuntimeInSession, OneSiteCanBeToggledAlone) {
  start();
  const auto other = runtime->add_site({"other", wicprof::WordMemory::device, wicprof::Pollers::each_thread, false});
  ASSERT_TRUE(other);
  EXPECT_EQ(wicprof::find_site(control(), "other"), *other);
  const std::uint32_t sequence = wicprof::request_wait(control(), *other, {Mode::park, StrategyId::backoff});
  ASSERT_TRUE(wicprof::wait_applied(control(), sequence, wicprof::kSecond));
  EXPECT_EQ(runtime->strategy(*other), StrategyId::backoff);
  EXPECT_EQ(runtime->strategy(site), StrategyId::poll);
  const std::uint32_t all = wicprof::request_wait(control(), 0, {Mode::park, StrategyId::automatic});
  ASSERT_TRUE(wicprof::wait_applied(control(), all, wicprof::kSecond));
  EXPECT_EQ(runtime->strategy(*other), StrategyId::leader_bar_sync);
  stop();
  const wicprof::Delivered got = ring();
  EXPECT_EQ(got.all<wicprof::InterventionEvent>().size(), 2u);
}

TEST_F(RuntimeInSession, ASiteDeclaredAfterItsToggleIsNoInterventionAtTheNext) {
  const std::uint32_t late = wicprof::register_site(control(), "late");
  wicprof::request_wait(control(), late, {Mode::park, StrategyId::backoff});
  start();
  const auto added = runtime->add_site({"late", wicprof::WordMemory::device, wicprof::Pollers::each_thread, false});
  ASSERT_TRUE(added);
  EXPECT_EQ(runtime->strategy(*added), StrategyId::backoff);
  const std::uint32_t number = wicprof::find_site(control(), "test.word");
  const std::uint32_t sequence = wicprof::request_wait(control(), number, {Mode::park, StrategyId::backoff});
  ASSERT_TRUE(wicprof::wait_applied(control(), sequence, wicprof::kSecond));
  stop();
  const auto interventions = ring().all<wicprof::InterventionEvent>();
  ASSERT_EQ(interventions.size(), 1u);
  EXPECT_EQ(interventions[0].site, site);
}

TEST_F(RuntimeInSession, WhenTheRecorderIsKilledStrategiesAreTheProgramsOwn) {
  control().heartbeat = 1;
  const pid_t recorder = fork();
  ASSERT_GE(recorder, 0);
  if (recorder == 0) {
    alarm(60);
    for (;;) {
      ++control().heartbeat;
      usleep(50'000);
    }
  }
  wicprof::request_wait(control(), 0, {Mode::park, StrategyId::automatic});
  start(Mode::poll);
  const auto other = runtime->add_site({"other", wicprof::WordMemory::device, wicprof::Pollers::each_thread, false});
  ASSERT_TRUE(other);
  ASSERT_TRUE(runtime->set_wait(*other, {Mode::park, StrategyId::backoff}));
  const auto one_comes_to = [&](auto one, StrategyId strategy) {
    const TimeNs end = now_ns() + kDeadline;
    while (runtime->strategy(one) != strategy && now_ns() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return runtime->strategy(one) == strategy;
  };
  const auto comes_to = [&](StrategyId strategy) { return one_comes_to(site, strategy); };
  ASSERT_TRUE(comes_to(StrategyId::shared_watch));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(runtime->strategy(site), StrategyId::shared_watch);
  kill(recorder, SIGKILL);
  waitpid(recorder, nullptr, 0);
  EXPECT_TRUE(comes_to(StrategyId::poll));
  EXPECT_TRUE(one_comes_to(*other, StrategyId::backoff));  // the program has asked for that itself
  const auto late = runtime->add_site({"late", wicprof::WordMemory::device, wicprof::Pollers::each_thread, false});
  ASSERT_TRUE(late);
  ASSERT_TRUE(runtime->set_wait(*late, {Mode::park, StrategyId::backoff}));
  EXPECT_EQ(runtime->strategy(*late), StrategyId::backoff);
  ++control().heartbeat;  // it was only stopped
  EXPECT_TRUE(comes_to(StrategyId::shared_watch));
}

TEST_F(RuntimeInSession, AutoFollowsObservationsAndTellsTheTraceWhy) {
  const TwoSms two_sms;
  start(Mode::park);
  const auto plain = runtime->add_site({"plain", {}, {}, false});
  ASSERT_TRUE(plain);
  EXPECT_EQ(runtime->strategy(*plain), StrategyId::leader_bar_sync);
  std::uint32_t iteration = 0;
  ASSERT_TRUE(wait_until_auto_means(*runtime, *plain, StrategyId::shared_watch, false, iteration));
  ASSERT_TRUE(wait_until_auto_means(*runtime, *plain, StrategyId::poll, true, iteration));
  stop();
  const wicprof::Delivered got = ring();
  // Three choices must occur in this order; a busy machine may show others between them.
  constexpr StrategyId kExpected[] = {StrategyId::leader_bar_sync, StrategyId::shared_watch, StrategyId::poll};
  std::vector<wicprof::ChoiceEvent> choices;
  for (const auto& choice : got.all<wicprof::ChoiceEvent>()) {
    if (choice.site != *plain || choices.size() == 3) continue;
    if (choice.strategy == static_cast<std::uint32_t>(kExpected[choices.size()])) choices.push_back(choice);
  }
  ASSERT_EQ(choices.size(), 3u);
  EXPECT_EQ(choices[0].strategy, static_cast<std::uint32_t>(StrategyId::leader_bar_sync));
  EXPECT_EQ(choices[0].waits, 0u);
  EXPECT_EQ(choices[0].median_wait_ns, -1);
  EXPECT_NE(got.text(choices[0].reason).find("declared"), std::string::npos);
  EXPECT_EQ(choices[1].strategy, static_cast<std::uint32_t>(StrategyId::shared_watch));
  EXPECT_GE(choices[1].waits, 64u);
  EXPECT_GE(choices[1].waiters_per_word, 32u);
  EXPECT_EQ(choices[1].words, 1u);
  EXPECT_GT(choices[1].median_wait_ns, 0);
  EXPECT_NE(got.text(choices[1].reason).find("one watcher"), std::string::npos);
  EXPECT_EQ(choices[2].strategy, static_cast<std::uint32_t>(StrategyId::poll));
  EXPECT_NE(got.text(choices[2].reason).find("gains nothing"), std::string::npos);
  EXPECT_LE(choices[0].at_ns, choices[1].at_ns);
  EXPECT_LE(choices[1].at_ns, choices[2].at_ns);
  EXPECT_TRUE(got.all<wicprof::InterventionEvent>().empty());  // a choice is not an intervention
}

TEST_F(RuntimeInSession, AToggleToAutoRecordsItsChoice) {
  start(Mode::poll);
  const std::uint32_t sequence = wicprof::request_wait(control(), 0, {Mode::park, StrategyId::automatic});
  ASSERT_TRUE(wicprof::wait_applied(control(), sequence, wicprof::kSecond));
  stop();
  const wicprof::Delivered got = ring();
  const auto choices = got.all<wicprof::ChoiceEvent>();
  ASSERT_EQ(choices.size(), 1u);  // none while the program polls
  EXPECT_EQ(choices[0].site, site);
  EXPECT_EQ(choices[0].strategy, static_cast<std::uint32_t>(StrategyId::shared_watch));
}

TEST_F(RuntimeInSession, WaitersAndProducersRecordTheSameWordTag) {
  start();
  ASSERT_TRUE(launch(*stream, {2, 64}, WaitOnce{runtime->view(0), site, 1, &words[0], &words[32], nullptr}));
  runtime->signal(site, 1, &words[0], 1);
  ASSERT_EQ(runtime->wait_until(site, 1, &words[32], AtLeast{1}, kDeadline).status, wicprof::WaitStatus::satisfied);
  ASSERT_TRUE(stream->synchronize());
  const wicprof::WordTag forth = word_tag(&words[0]), back = word_tag(&words[32]);
  ASSERT_NE(forth, back);
  stop();
  const wicprof::Delivered got = ring();
  const auto waits = got.all<wicprof::WaitEvent>();
  ASSERT_EQ(waits.size(), 2u);
  for (const wicprof::WaitEvent& wait : waits) {
    EXPECT_EQ(wait.word_tag, forth);
    EXPECT_EQ(wait.warps, 2);
    EXPECT_EQ(wait.each_thread, 0);
    EXPECT_LT(wait.sm, 256);
  }
  const auto signals = got.all<wicprof::SignalEvent>();
  ASSERT_EQ(signals.size(), 2u);
  for (const wicprof::SignalEvent& signal : signals) {
    EXPECT_EQ(signal.word_tag, signal.device == wicprof::kHostDevice ? forth : back);
  }
  ASSERT_EQ(got.all<wicprof::HostWaitEvent>().size(), 1u);
  EXPECT_EQ(got.all<wicprof::HostWaitEvent>()[0].word_tag, back);
}

TEST_F(RuntimeInSession, TheSessionsModeOverridesTheProgramsOwn) {
  wicprof::request_wait(control(), 0, {Mode::park, StrategyId::backoff});
  start(Mode::poll);
  EXPECT_EQ(runtime->strategy(site), StrategyId::backoff);
}

TEST_F(RuntimeInSession, AThousandTogglesChangeNoResult) {
  start();
  std::atomic<bool> stop_toggling{false};
  std::thread toggler([&] {
    for (std::uint32_t i = 0; i < 1000 && !stop_toggling; ++i) {
      const Mode mode = i % 2 == 0 ? Mode::park : Mode::poll;
      const std::uint32_t sequence = wicprof::request_wait(control(), 0, {mode, wicprof::default_strategy(mode)});
      wicprof::wait_applied(control(), sequence, wicprof::kSecond);
    }
    stop_toggling = true;
  });
  std::uint32_t iteration = 0;
  while (!stop_toggling) {
    ++iteration;
    ASSERT_TRUE(launch(*stream, {2, 32}, WaitOnce{runtime->view(0), site, iteration, &words[0], &words[32], nullptr}));
    runtime->signal(site, iteration, &words[0], iteration);
    const WaitResult back = runtime->wait_until(site, iteration, &words[32], AtLeast{iteration}, kDeadline);
    if (back.status != wicprof::WaitStatus::satisfied) stop_toggling = true;
    EXPECT_EQ(back.value, iteration);
    ASSERT_TRUE(stream->synchronize());
  }
  toggler.join();
}

TEST(RuntimeAlone, WorksWithoutASession) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime);
  EXPECT_FALSE((*runtime)->recording());
  EXPECT_TRUE((*runtime)->warning().empty());
  const auto site = (*runtime)->add_site({"word", wicprof::WordMemory::device, wicprof::Pollers::leader, false});
  ASSERT_TRUE(site);
  EXPECT_EQ((*runtime)->strategy(*site), StrategyId::poll);
  ASSERT_TRUE((*runtime)->set_wait(0, {Mode::park, StrategyId::predicted_sleep}));
  EXPECT_EQ((*runtime)->strategy(*site), StrategyId::predicted_sleep);
}

TEST(RuntimeAlone, AutoFollowsObservations) {
  const TwoSms two_sms;
  for (const bool from_the_start : {true, false}) {
    RuntimeOptions options;
    if (wicprof::kThreadSanitizer) options.observe_one_in = 1;  // a sample would take minutes to fill
    options.mode = from_the_start ? Mode::park : Mode::poll;
    auto runtime = Runtime::create(options);
    ASSERT_TRUE(runtime);
    const auto site = (*runtime)->add_site({"plain", {}, {}, false});
    ASSERT_TRUE(site);
    EXPECT_EQ((*runtime)->view(0).records != nullptr, from_the_start);
    if (!from_the_start) {
      ASSERT_TRUE((*runtime)->set_wait(*site, {Mode::park, StrategyId::automatic}));
    }
    EXPECT_NE((*runtime)->view(0).records, nullptr);
    std::uint32_t iteration = 0;
    ASSERT_TRUE(wait_until_auto_means(**runtime, *site, StrategyId::shared_watch, false, iteration));
    EXPECT_NE((*runtime)->strategy_reason(*site).find("one watcher"), std::string::npos);
    ASSERT_TRUE(wait_until_auto_means(**runtime, *site, StrategyId::poll, true, iteration));
    EXPECT_NE((*runtime)->strategy_reason(*site).find("gains nothing"), std::string::npos);
    EXPECT_FALSE((*runtime)->recording());
    ASSERT_TRUE((*runtime)->set_wait(0, {Mode::poll, StrategyId::poll}));
    EXPECT_EQ((*runtime)->view(0).records, nullptr);  // no site is on auto any more
  }
}

TEST(RuntimeAlone, AutoFollowsTheDeclarationWhereItMayNotObserve) {
  RuntimeOptions options;
  options.mode = Mode::park;
  options.observe_one_in = 0;
  auto runtime = Runtime::create(options);
  ASSERT_TRUE(runtime);
  const auto site = (*runtime)->add_site({"word", {}, {}, true});
  EXPECT_EQ((*runtime)->strategy(*site), StrategyId::shared_watch);
  EXPECT_EQ((*runtime)->view(0).records, nullptr);
}

TEST(RuntimeAlone, AHostWaitHasADeadline) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime);
  const auto site = (*runtime)->add_site({"word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, false});
  alignas(64) std::uint32_t word = 0;
  for (const Mode mode : {Mode::poll, Mode::park}) {
    ASSERT_TRUE((*runtime)->set_wait(0, {mode, wicprof::default_strategy(mode)}));
    const WaitResult wait = (*runtime)->wait_until(*site, 1, &word, AtLeast{1}, 5 * wicprof::kMillisecond);
    EXPECT_EQ(wait.status, wicprof::WaitStatus::deadline_passed);
  }
}

TEST(Deadlines, SaturateInsteadOfWrappingAround) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  const auto forever = static_cast<std::uint64_t>(kForever);
  EXPECT_EQ(deadline_after(std::uint64_t{5}, std::uint64_t{7}), 12u);
  EXPECT_EQ(deadline_after(kLast - 1, std::uint64_t{1}), kLast);
  EXPECT_EQ(deadline_after(std::uint64_t{5}, kLast), kLast);
  EXPECT_EQ(deadline_after(kLast - 5, forever), kLast);
  const TimeNs now = now_ns();
  EXPECT_EQ(deadline_after(now, kForever), kForever);
  EXPECT_EQ(deadline_after(now, TimeNs{7}), now + 7);
  EXPECT_EQ(deadline_after(now, TimeNs{-7}), now - 7);
  EXPECT_GT(deadline_after(static_cast<std::uint64_t>(now), forever), forever);
}

struct WaitThroughSite {
  Site site;
  Group group;  // of 0 threads: the whole block
  const std::uint32_t* word;
  std::uint32_t* back;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const WaitResult wait =
        group.threads == 0 ? site.wait(thread, 1, word, AtLeast{1}) : site.wait(thread, group, 1, word, AtLeast{1});
    if (thread.index() == 0) site.signal(thread, 1, back, wait ? 1 : 2);
  }
};

TEST(RuntimeAlone, AWaitForeverLastsUntilItsSignal) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime);
  const auto site = (*runtime)->add_site({.name = "word"});
  ASSERT_TRUE(site);
  Device& device = (*runtime)->device(0);
  auto stream = *device.make_stream();
  for (const Group& group : {Group{}, warps_group(0, 2, 1)}) {
    for (const std::uint64_t timeout : {static_cast<std::uint64_t>(kForever), ~std::uint64_t{0}}) {
      for (const StrategyId strategy : {StrategyId::poll, StrategyId::predicted_sleep, StrategyId::shared_watch}) {
        ASSERT_TRUE((*runtime)->set_wait(0, {Mode::park, strategy}));
        auto words = *Array<std::uint32_t>::make(device, 64, Memory::pinned_host);
        ASSERT_TRUE(
            launch(*stream, {1, 64}, WaitThroughSite{(*runtime)->site(*site, timeout), group, &words[0], &words[32]}));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        EXPECT_EQ(std::atomic_ref(words[32]).load(), 0u);
        (*runtime)->signal(*site, 1, &words[0], 1);
        EXPECT_TRUE((*runtime)->wait_until(*site, 1, &words[32], AtLeast{1}, kForever));
        ASSERT_TRUE(stream->synchronize());
        EXPECT_EQ(words[32], 1u);
      }
    }
  }
}

TEST(RuntimeAlone, AWaitThroughASiteHasItsDeadline) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime);
  const auto site = (*runtime)->add_site({.name = "word"});
  auto words = *Array<std::uint32_t>::make((*runtime)->device(0), 64, Memory::pinned_host);
  auto stream = *(*runtime)->device(0).make_stream();
  const WaitThroughSite kernel{(*runtime)->site(*site, kMillisecond), {}, &words[0], &words[32]};
  ASSERT_TRUE(launch(*stream, {1, 64}, kernel));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(words[32], 2u);
}

TEST(RuntimeAlone, ABadSessionIsAWarning) {
  setenv(wicprof::kSessionVariable, "/dev/null", 1);
  auto runtime = Runtime::create({});
  unsetenv(wicprof::kSessionVariable);
  ASSERT_TRUE(runtime);
  EXPECT_FALSE((*runtime)->recording());
  EXPECT_NE((*runtime)->warning().find("/dev/null"), std::string::npos);
}

TEST(RuntimeAlone, SiteNamesAreCheckedAndCounted) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime);
  EXPECT_FALSE((*runtime)->add_site({"", {}, {}, false}));
  EXPECT_FALSE((*runtime)->add_site({std::string(48, 'x'), {}, {}, false}));
  for (int i = 1; i < 256; ++i) ASSERT_TRUE((*runtime)->add_site({"site " + std::to_string(i), {}, {}, false}));
  EXPECT_FALSE((*runtime)->add_site({"site 1", {}, {}, false}));
  EXPECT_FALSE((*runtime)->add_site({"one more", {}, {}, false}));
}

}  // namespace
}  // namespace wic
