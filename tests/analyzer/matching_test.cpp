#include "analyzer/waits/matching.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "protocol/bit_value.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TEST(Matching, EveryWaitFindsItsSignal) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 4, .iterations = 30, .wake_latency = 1'700});
  settle(model);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 120u);
  for (const WakeEdge& edge : matching.edges) {
    EXPECT_EQ(model.signals[edge.signal].iteration, model.waits[edge.wait].iteration);
    EXPECT_EQ(wake_latency(model, edge), 1'700);
    EXPECT_EQ(ClockErrors(model).between(kHostDevice, model.waits[edge.wait].device),
              200);  // the device's clock; the host's is the reference
  }
  ASSERT_EQ(matching.sites.size(), 1u);
  EXPECT_EQ(matching.sites[0].matched, 120u);
  EXPECT_EQ(matching.sites[0].unmatched, 0u);
  EXPECT_EQ(matching.sites[0].p50_ns, 1'700);
  EXPECT_EQ(matching.sites[0].error_ns, 200);
}

TEST(Matching, EachRunFindsItsOwnSignals) {
  TraceModel model = empty_program();
  const TimeNs end = add_handoff(model, {.waiters = 2, .iterations = 10});
  add_handoff(model, {.waiters = 2, .iterations = 10, .start = end + 5'000'000, .wake_latency = 2'500});
  settle(model);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 40u);
  for (const WakeEdge& edge : matching.edges) {
    const bool second = model.waits[edge.wait].arrived > end;
    EXPECT_EQ(wake_latency(model, edge), second ? 2'500 : 1'500);
  }
}

TEST(Matching, ALateArrivalWaitsFromItsArrival) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1});
  model.waits.edit(0)->arrived = model.signals[0].at + 10'000;
  model.waits.edit(0)->resumed = model.waits[0].arrived + 400;
  settle(model);
  EXPECT_EQ(wake_latency(model, match(model).edges.at(0)), 400);
}

TEST(Matching, ASignalLateWithinTheClockErrorMatches) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1, .wake_latency = -150});
  settle(model);
  EXPECT_EQ(wake_latency(model, match(model).edges.at(0)), -150);
}

TEST(Matching, ASignalAfterTheResumptionDoesNotMatch) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1, .wake_latency = -5'000});
  settle(model);
  const Matching matching = match(model);
  EXPECT_TRUE(matching.edges.empty());
  EXPECT_EQ(matching.sites.at(0).unmatched, 1u);
}

TEST(Matching, SignalsOfOtherSitesDoNotMatch) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 5});
  model.signals.edit_all([&](auto& signal) { signal.site = 2; });
  settle(model);
  EXPECT_TRUE(match(model).edges.empty());
}

TEST(Matching, AMissedDeadlineHasNoSignal) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 3});
  model.waits.edit(1)->status = WaitStatus::deadline_passed;
  settle(model);
  const Matching matching = match(model);
  EXPECT_EQ(matching.edges.size(), 2u);
  EXPECT_EQ(matching.sites.at(0).unmatched, 0u);
}

TEST(Matching, TheValueMatchesIfTheSidesNumberDifferently) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 10});
  model.signals.edit_all([&](auto& signal) { signal.iteration += 1000; });
  settle(model);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 10u);
  for (const WakeEdge& edge : matching.edges) EXPECT_EQ(model.signals[edge.signal].value, model.waits[edge.wait].value);
}

// Waiters with a word each: waiter w's word is signalled 10 us after that of waiter w - 1.
TraceModel words_of_their_own(std::uint32_t waiters, std::size_t iterations) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = waiters, .iterations = iterations});
  std::vector<store::SignalRow> signals;
  for (const store::SignalRow& one : model.signals) {
    for (std::uint32_t w = 0; w < waiters; ++w) {
      signals.push_back(one);
      signals.back().id = static_cast<store::RowId>(signals.size());
      signals.back().at += w * 10'000;
      signals.back().word = static_cast<WordTag>(w + 1);
    }
  }
  model.signals = signals;
  model.waits.edit_all([&](auto& wait) {
    wait.word = static_cast<WordTag>(wait.block + 1);
    wait.resumed += waiters * 10'000;  // all leave after the last signal
  });
  settle(model);
  return model;
}

TEST(Matching, TagsSeparateTheWordsOfASite) {
  const TraceModel model = words_of_their_own(4, 20);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 80u);
  for (const WakeEdge& edge : matching.edges) {
    EXPECT_EQ(model.signals[edge.signal].word, model.waits[edge.wait].word);
    EXPECT_EQ(model.signals[edge.signal].iteration, model.waits[edge.wait].iteration);
  }
}

// A word with one bit per waiter.
TraceModel bits_of_one_word(std::uint32_t waiters, std::size_t iterations) {
  TraceModel model = words_of_their_own(waiters, iterations);
  model.signals.edit_all([&](auto& signal) {
    signal.value = kBitValue + *signal.word;
    signal.word = 7;
  });
  model.waits.edit_all([&](auto& wait) {
    wait.value = kBitValue + *wait.word;
    wait.word = 7;
  });
  return model;
}

TEST(Matching, BitsOfAWordAreSeparate) {
  TraceModel model = bits_of_one_word(4, 20);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 80u);
  for (const WakeEdge& edge : matching.edges) {
    EXPECT_EQ(model.signals[edge.signal].value, model.waits[edge.wait].value);
    EXPECT_EQ(model.signals[edge.signal].iteration, model.waits[edge.wait].iteration);
  }
}

TEST(Matching, AnUnsignalledBitHasNoEdge) {
  TraceModel model = bits_of_one_word(4, 20);
  model.signals.erase_if([](const auto& signal) { return signal.value == kBitValue + 2; });
  const Matching matching = match(model);
  EXPECT_EQ(matching.edges.size(), 60u);
  EXPECT_EQ(matching.sites.at(0).unmatched, 20u);
}

// A wait for several messages in one word records the value that it saw.
TEST(Matching, AWaitForSeveralBitsTakesTheLastSignalOfTheWord) {
  TraceModel model = bits_of_one_word(4, 20);
  model.waits.edit_all([&](auto& wait) { wait.value = 0xffffffff; });
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 80u);
  for (const WakeEdge& edge : matching.edges) EXPECT_EQ(model.signals[edge.signal].value, kBitValue + 4);
}

TEST(Matching, AnUnsignalledWordHasNoEdge) {
  TraceModel model = words_of_their_own(4, 20);
  model.signals.erase_if([](const auto& signal) { return signal.word == 4; });
  EXPECT_EQ(match(model).sites.at(0).unmatched, 20u);
  model.signals.edit_all([&](auto& signal) {
    if (signal.word == 3) signal.word.reset();  // could belong to any word
  });
  const Matching matching = match(model);
  EXPECT_EQ(matching.sites.at(0).unmatched, 0u);
  for (const WakeEdge& edge : matching.edges) {
    const auto word = *model.waits[edge.wait].word;
    EXPECT_EQ(model.signals[edge.signal].word, word <= 2 ? std::optional(word) : std::nullopt);
  }
}

TEST(Matching, TagsThatTheSidesDoNotShareAreIgnored) {
  TraceModel model = words_of_their_own(4, 20);
  model.signals.edit_all([&](auto& signal) { signal.word = static_cast<WordTag>(*signal.word + 1'000); });
  const Matching matching = match(model);
  EXPECT_EQ(matching.edges.size(), 80u);  // as without tags: the last signal before the waiter left
  for (const WakeEdge& edge : matching.edges) EXPECT_EQ(model.signals[edge.signal].word, 1'004);
}

TEST(Matching, AWaitWithoutATagTakesAnySignal) {
  TraceModel model = words_of_their_own(4, 20);
  model.waits.edit_all([&](auto& wait) {
    if (wait.block == 0) wait.word.reset();
  });
  for (const WakeEdge& edge : match(model).edges) {
    const auto& wait = model.waits[edge.wait];
    EXPECT_EQ(model.signals[edge.signal].word, wait.word ? *wait.word : WordTag{4});
  }
}

TEST(Matching, HostWaitsMatchByIteration) {
  TraceModel model = empty_program();
  for (std::uint32_t i = 0; i < 8; ++i) add_exchange(model, i, i * 1'000'000, 1'000'000, 0, 1);
  settle(model);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 8u);
  for (const WakeEdge& edge : matching.edges) {
    EXPECT_TRUE(edge.host);
    EXPECT_EQ(model.signals[edge.signal].iteration, model.host_waits[edge.wait].iteration);
  }
}

TEST(Matching, AnUnknownClockHasNoErrorBound) {
  TraceModel model = empty_program();
  model.devices[1].clock_error_ns.reset();
  add_handoff(model, {.waiters = 1, .iterations = 3});
  settle(model);
  const Matching matching = match(model);
  ASSERT_EQ(matching.edges.size(), 3u);
  EXPECT_EQ(matching.sites.at(0).error_ns, std::nullopt);
}

TEST(Matching, WithinOneDeviceThereIsNoClockError) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 3});
  model.signals.edit_all([&](auto& signal) { signal.device = 0; });
  settle(model);
  EXPECT_EQ(match(model).sites.at(0).error_ns, 0);
}

TEST(Matching, DoesNotDependOnTimeOrDeviceNumbers) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 3, .iterations = 20});
  settle(model);
  const TraceModel other = shifted(renamed_devices(model, [](DeviceId) { return kSimtDeviceBase; }), 1'000'000'007);
  const Matching original = match(model), changed = match(other);
  ASSERT_EQ(original.edges.size(), changed.edges.size());
  for (std::size_t i = 0; i < original.edges.size(); ++i) {
    EXPECT_EQ(original.edges[i].signal, changed.edges[i].signal);
    EXPECT_EQ(wake_latency(model, original.edges[i]), wake_latency(other, changed.edges[i]));
  }
}

}  // namespace
}  // namespace wicprof::analyzer
