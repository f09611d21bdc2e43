// All models with all patterns, on any number of devices, in any size: a whole trace gives the right answer, an
// incomplete one the right answer or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/communication/classify.h"
#include "classified.h"
#include "talk.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

std::string in_words(const Classification& c) {
  std::string all = std::string(model_name(c.model)) + ", " + std::string(pattern_name(c.pattern)) + "\n";
  for (const std::string& line : c.evidence) all += "  " + line + "\n";
  for (const PairAnswer& pair : c.pairs) {
    all += "  pair " + pair.first + " " + pair.second + ": " + std::string(model_name(pair.model)) + "\n";
    for (const std::string& line : pair.evidence) all += "    " + line + "\n";
  }
  return all;
}

struct Program {
  Model model = Model::alternating;
  Pattern pattern = Pattern::streaming;
  bool host = false;  ///< the CPU is the first party
  std::uint32_t parties = 2;
  std::uint32_t size = 1;  ///< of messages and data
  std::uint32_t iterations = 24;
  std::uint32_t waiters = 1;
  bool numbered = true;   ///< false: all iterations have the number 0
  bool announced = true;  ///< false: signals have no payload

  std::string name() const {
    return std::string(model_name(model)) + " " + std::string(pattern_name(pattern)) + ", " + std::to_string(parties) +
           (host ? " parties with the CPU" : " parties") + ", size " + std::to_string(size) + ", " +
           std::to_string(iterations) + " iterations, " + std::to_string(waiters) + " waiters";
  }
};

/// The place of message `k` of `n` from party `from` to the next (or the one before, `back`).
struct Places {
  const Program& program;
  std::mt19937& random;
  std::vector<std::uint64_t> cursors = std::vector<std::uint64_t>(64, 0);

  Payload of(std::uint32_t pair, bool back, std::uint32_t k, std::uint32_t n) {
    const std::uint64_t unit = std::uint64_t{program.size} * 64;  // bytes
    const std::uint64_t part = unit * 32;                         // of one party
    const std::uint64_t border = (pair + 1) * part;
    switch (program.pattern) {
      case Pattern::streaming: {
        std::uint64_t& cursor = cursors[pair * 2 + (back ? 1 : 0)];
        const Payload payload = run_of(cursor, static_cast<std::uint32_t>(unit));
        cursor = (cursor + unit) % (unit * 60);
        return payload;
      }
      case Pattern::adjacent: {
        const std::uint64_t halo = unit * 2;
        return run_of((back ? border : border - halo) + k * halo / 8, static_cast<std::uint32_t>(halo / 8));
      }
      case Pattern::scatter_gather: {
        const auto piece = static_cast<std::uint32_t>(program.size * 16);
        const std::uint64_t stride = std::uint64_t{piece} * 2 * n;
        return strided((back ? border : border - part) + 2 * k * piece, piece, stride,
                       static_cast<std::uint32_t>(part / stride));
      }
      default: {
        const auto count = static_cast<std::uint32_t>(program.size * (8 + random() % 8));
        const std::uint64_t first = random() % part / 4 * 4;
        return scattered((back ? border : border - part) + first / 2, part / 2, count * 4, count / 2 + 1);
      }
    }
  }
};

TraceModel trace_of(const Program& program, std::uint32_t seed) {
  std::mt19937 random(seed);
  Talk talk(program.parties);
  Places places{program, random};
  TimeNs now = 1'000'000'000;
  const auto party = [&](std::uint32_t i) { return static_cast<DeviceId>(i) - (program.host ? 1 : 0); };
  for (std::uint32_t i = 0; i < program.iterations; ++i) {
    for (std::uint32_t pair = 0; pair + 1 < program.parties; ++pair) {
      std::uint32_t forth = 0, back = 0;
      switch (program.model) {
        case Model::unidirectional:
          forth = 1;
          break;
        case Model::alternating:
          forth = back = 1;
          break;
        case Model::multiple:
          forth = 3;
          back = 2;
          break;
        default:
          forth = static_cast<std::uint32_t>(random() % 6);
          back = static_cast<std::uint32_t>(random() % 5);
          break;
      }
      std::vector<bool> order(forth, false);
      order.insert(order.end(), back, true);
      if (program.model != Model::alternating) std::shuffle(order.begin(), order.end(), random);
      std::uint32_t sent[2] = {0, 0};
      for (const bool goes_back : order) {
        now += 8'000 + static_cast<TimeNs>(random() % 3'000);
        const std::uint32_t k = sent[goes_back ? 1 : 0]++;
        Payload payload = places.of(pair, goes_back, k, goes_back ? back : forth);
        if (!program.announced) payload = {};
        talk.send(party(goes_back ? pair + 1 : pair), party(goes_back ? pair : pair + 1), k,
                  program.numbered ? i + 1 : 0, now, payload, program.waiters);
      }
    }
    now += 100'000;
  }
  return talk.settled();
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const Model model : {Model::unidirectional, Model::alternating, Model::multiple, Model::probabilistic}) {
    for (const Pattern pattern : {Pattern::streaming, Pattern::adjacent, Pattern::scatter_gather, Pattern::random}) {
      for (const std::uint32_t parties : {2u, 4u}) {
        for (const bool host : {false, true}) {
          for (const std::uint32_t size : {1u, 5u, 64u}) {
            Program program{model, pattern, host, parties, size};
            program.iterations = 16 + size;
            program.waiters = 1 + size % 4;
            all.push_back(program);
          }
        }
      }
    }
  }
  return all;
}

TEST(ClassifyProperty, EveryModelWithEveryPattern) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    const Classification c = classified(trace_of(program, 7));
    EXPECT_EQ(c.model, program.model) << in_words(c);
    // With varying counts, messages are adjacent or regular only as far as the count allows.
    const bool may_be_unknown = program.model == Model::probabilistic;
    EXPECT_TRUE(c.pattern == program.pattern || (may_be_unknown && c.pattern == Pattern::unknown)) << in_words(c);
    EXPECT_GE(c.model_confidence, kMinConfidence);
  }
}

TEST(ClassifyProperty, HalfOfTheRowsGiveTheRightAnswerOrNone) {
  std::size_t answered = 0, asked = 0;
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const Classification c = classified(thinned(trace_of(program, seed), 0.5, seed));
      EXPECT_TRUE(c.model == program.model || c.model == Model::unknown) << "seed " << seed << ": " << in_words(c);
      EXPECT_TRUE(c.pattern == program.pattern || c.pattern == Pattern::unknown)
          << "seed " << seed << ": " << in_words(c);
      asked += 2;
      answered += (c.model == program.model ? 1 : 0) + (c.pattern == program.pattern ? 1 : 0);
    }
  }
  EXPECT_GT(20 * answered, 13 * asked) << answered << " of " << asked;
}

// Each device has its own ring. While it is full, it drops the device's records, and the trace counts them.
TraceModel with_full_rings(TraceModel model, double part, int times, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto length = static_cast<TimeNs>(part * static_cast<double>(model.span()) / times);
  std::vector<std::pair<TimeNs, DeviceId>> full;
  for (int i = 0; i < times; ++i) {
    const auto after = static_cast<TimeNs>(random() % static_cast<std::uint64_t>(model.span() - length));
    full.emplace_back(model.begin + after, static_cast<DeviceId>(random() % 2));
  }
  const auto swallowed = [&](DeviceId of, TimeNs at) {
    return std::any_of(full.begin(), full.end(), [&](const auto& each) {
      return of == each.second && at >= each.first && at < each.first + length;
    });
  };
  std::size_t lost = model.waits.erase_if([&](const auto& row) { return swallowed(row.device, row.resumed); });
  lost += model.signals.erase_if([&](const auto& row) { return swallowed(row.device, row.at); });
  if (lost > 0)
    model.stats.push_back({"ring_full", "", store::StatRow::Severity::data_loss, static_cast<std::int64_t>(lost)});
  settle(model);
  return model;
}

TEST(ClassifyProperty, RecordsThatAFullRingDropsAreNoVariation) {
  std::size_t answered = 0, asked = 0;
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    for (const double part : {0.1, 0.3, 0.6}) {
      for (const int times : {3, 30, 300}) {
        const TraceModel model = with_full_rings(trace_of(program, 7), part, times, static_cast<std::uint32_t>(times));
        const Classification c = classified(model);
        EXPECT_TRUE(c.model == program.model || c.model == Model::unknown)
            << part << " in " << times << ": " << in_words(c);
        EXPECT_TRUE(c.pattern == program.pattern || c.pattern == Pattern::unknown)
            << part << " in " << times << ": " << in_words(c);
        ++asked;
        answered += c.model == program.model ? 1 : 0;
      }
    }
  }
  EXPECT_GT(2 * answered, asked) << answered << " of " << asked;
}

TEST(ClassifyProperty, LossesLowerTheConfidence) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    const TraceModel whole = trace_of(program, 3);
    EXPECT_LE(classified(thinned(whole, 0.5, 3)).model_confidence, classified(whole).model_confidence);
  }
}

void expect_same(const Classification& a, const Classification& b) {
  EXPECT_EQ(a.model, b.model) << in_words(a) << in_words(b);
  EXPECT_EQ(a.pattern, b.pattern) << in_words(a) << in_words(b);
  EXPECT_EQ(a.model_confidence, b.model_confidence);
  EXPECT_EQ(a.pattern_confidence, b.pattern_confidence);
  EXPECT_EQ(a.pairs.size(), b.pairs.size());
  EXPECT_EQ(a.period.count, b.period.count);
}

TEST(ClassifyProperty, AnswerIsIndependentOfDeviceAndSiteNumbersAndTimes) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    const TraceModel model = trace_of(program, 11);
    const Classification before = classified(model);
    expect_same(before, classified(renamed_devices(model, [](DeviceId id) { return 1003 - id; })));
    expect_same(before, classified(shifted(model, 77'000'000'000)));
    const Classification slow = classified(slowed(model, 1000));
    expect_same(before, slow);
    EXPECT_EQ(slow.period.ns, 1000 * before.period.ns);
    TraceModel renumbered = model;
    for (auto& row : renumbered.sites) row.id = 5'000 - row.id;
    for (auto& row : renumbered.sites) row.name = "x";
    renumbered.signals.edit_all([&](auto& row) { row.site = 5'000 - row.site; });
    renumbered.waits.edit_all([&](auto& row) { row.site = 5'000 - row.site; });
    renumbered.host_waits.edit_all([&](auto& row) { row.site = 5'000 - row.site; });
    settle(renumbered);
    expect_same(before, classified(renumbered));
  }
}

// All parties on one device: blocks have the same numbers on both sides, and only the sites name their party.
TraceModel on_one_device(TraceModel model) {
  model.signals.edit_all([&](auto& row) {
    store::SiteRow& site = model.sites[row.site - 1];
    site.releasing = static_cast<SiteEnd>(row.device + (row.device == kHostDevice ? 2 : kFirstDeviceEnd));
    if (row.device != kHostDevice) row.device = 0;
  });
  const auto waits_at = [&](SiteId id, DeviceId device) {
    model.sites[id - 1].waiting = static_cast<SiteEnd>(device + (device == kHostDevice ? 2 : kFirstDeviceEnd));
  };
  model.waits.edit_all([&](auto& row) {
    waits_at(row.site, row.device);
    row.device = 0;
  });
  model.host_waits.edit_all([&](auto& row) { waits_at(row.site, kHostDevice); });
  settle(model);
  return model;
}

TEST(ClassifyProperty, OneDeviceCanPlayAllParties) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name());
    const TraceModel model = trace_of(program, 11);
    expect_same(classified(model), classified(on_one_device(model)));
  }
}

TEST(ClassifyProperty, WithoutIterationNumbersTheOrderOfMessagesDecides) {
  for (Program program : programs()) {
    SCOPED_TRACE(program.name());
    program.numbered = false;
    program.iterations = 60;
    const Classification c = classified(trace_of(program, 5));
    EXPECT_TRUE(c.model == program.model || (program.model == Model::probabilistic && c.model == Model::unknown))
        << in_words(c);
    EXPECT_TRUE(c.pattern == program.pattern || c.pattern == Pattern::unknown) << in_words(c);
  }
}

TEST(ClassifyProperty, WithoutPayloadsThePatternIsUnknown) {
  for (Program program : programs()) {
    SCOPED_TRACE(program.name());
    program.announced = false;
    const Classification c = classified(trace_of(program, 5));
    EXPECT_TRUE(c.model == program.model || c.model == Model::unknown) << in_words(c);
    EXPECT_EQ(c.pattern, Pattern::unknown) << in_words(c);
  }
}

// --- programs outside the family above

Payload tile(std::uint32_t i) { return run_of(std::uint64_t{i} * 4096, 4096); }

TEST(ClassifyHeldOut, APipelineOfDevicesIsUnidirectionalAndStreams) {
  for (const std::uint32_t stages : {2u, 3u, 5u}) {
    Talk talk(stages);
    for (std::uint32_t i = 0; i < 40; ++i) {
      for (std::uint32_t s = 0; s + 1 < stages; ++s) {
        talk.send(static_cast<DeviceId>(s), static_cast<DeviceId>(s + 1), 0, i,
                  TimeNs{1'000'000'000} + (i + s) * 50'000 + s, tile(i));
      }
    }
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.model, Model::unidirectional) << in_words(c);
    EXPECT_EQ(c.pattern, Pattern::streaming) << in_words(c);
    EXPECT_EQ(c.pairs.size(), stages - 1);
  }
}

TEST(ClassifyHeldOut, ARingOfTwoDevicesEqualsALongerOne) {
  for (const std::uint32_t devices : {2u, 3u, 6u}) {
    Talk talk(devices);
    for (std::uint32_t i = 0; i < 40; ++i) {
      for (std::uint32_t d = 0; d < devices; ++d) {
        const std::uint32_t chunk = (d + devices - i % devices) % devices;
        talk.send(static_cast<DeviceId>(d), static_cast<DeviceId>((d + 1) % devices), 0, i,
                  TimeNs{1'000'000'000} + i * 90'000 + d * 1'000, run_of(chunk * 65'536, 65'536));
      }
    }
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.model, Model::alternating) << devices << " devices: " << in_words(c);
    EXPECT_NE(c.pattern, Pattern::random) << in_words(c);
    EXPECT_NE(c.pattern, Pattern::adjacent) << in_words(c);
  }
}

TEST(ClassifyHeldOut, WorkersThatTakeTurnsAlternateWithTheirMaster) {
  std::mt19937 random(4);
  Talk talk(3);
  std::vector<std::uint32_t> done(3, 0);
  for (std::uint32_t i = 0; i < 120; ++i) {
    const auto worker = random() % 3;
    const TimeNs at = TimeNs{1'000'000'000} + i * 60'000;
    talk.send(kHostDevice, static_cast<DeviceId>(worker), 0, done[worker], at, tile(i));
    talk.send(static_cast<DeviceId>(worker), kHostDevice, 0, done[worker], at + 20'000, run_of(i * 16, 16));
    ++done[worker];
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
  EXPECT_EQ(c.pattern, Pattern::streaming) << in_words(c);
}

TEST(ClassifyHeldOut, SeveralTagsAtDifferentRoundsAreOneStream) {
  // Each of four blocks sends every fourth tile, some rounds ahead of the others or behind them.
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    Talk talk(2);
    struct Tile {
      TimeNs at;
      std::uint32_t round, block;
    };
    std::vector<Tile> tiles;
    for (std::uint32_t block = 0; block < 4; ++block) {
      TimeNs at = TimeNs{1'000'000'000} + block * 10;
      for (std::uint32_t round = 0; round < 60; ++round)
        tiles.push_back({at += 1'000 + static_cast<TimeNs>(random() % 9'000), round, block});
    }
    std::sort(tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) { return a.at < b.at; });
    for (const Tile& t : tiles) talk.send(0, 1, t.block, t.round, t.at, tile((t.round * 4 + t.block) % 80), 1, t.block);
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.model, Model::unidirectional) << in_words(c);
    EXPECT_TRUE(c.pattern == Pattern::streaming || c.pattern == Pattern::unknown) << in_words(c);
  }
}

TEST(ClassifyHeldOut, ABroadcastIsUnidirectional) {
  Talk talk(4);
  for (std::uint32_t i = 0; i < 30; ++i) {
    for (DeviceId d = 1; d < 4; ++d)
      talk.send(0, d, 0, i, TimeNs{1'000'000'000} + i * 60'000 + d * 100, run_of(0, 4096));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::unidirectional) << in_words(c);
  EXPECT_EQ(c.pattern, Pattern::unknown) << in_words(c);
}

TEST(ClassifyHeldOut, PingPongWithOneNumberPerTwelveExchangesAlternates) {
  Talk talk(2);
  TimeNs now = 1'000'000'000;
  for (std::uint32_t i = 0; i < 10; ++i) {
    for (std::uint32_t k = 0; k < 12; ++k) {
      talk.send(0, 1, 0, i, now += 20'000, tile(i * 12 + k));
      talk.send(1, 0, 0, i, now += 20'000, tile(i * 12 + k));
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
}

TEST(ClassifyHeldOut, InterleavedBurstsEachWayAreMultiple) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Talk talk(2);
    for (std::uint32_t i = 0; i < 30; ++i) {
      for (std::uint32_t k = 0; k < 4; ++k) {
        for (const bool back : {false, true}) {
          const TimeNs at = TimeNs{1'000'000'000} + i * 500'000 + static_cast<TimeNs>(random() % 3'000);
          talk.send(back ? 1 : 0, back ? 0 : 1, k, i, at, run_of((back ? 65'536 : 61'440) + k * 1024, 1024), 1, k);
        }
      }
    }
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.model, Model::multiple) << seed << ": " << in_words(c);
    EXPECT_EQ(c.pattern, Pattern::adjacent) << in_words(c);
  }
}

// One range that begins where one of the other direction ends is a coincidence.
TEST(ClassifyHeldOut, OneTouchingRangeIsNoBorder) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 40; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 50'000;
    talk.send(0, 1, 0, i, at, run_of(64ull << (i % 4), 64));
    talk.send(1, 0, 0, i, at + 9'000, run_of(64 * ((1ull << (i % 4)) + 16), 64));
  }
  talk.send(1, 0, 1, 40, TimeNs{1'000'000'000} + 40 * 50'000, run_of(0, 64));
  const Classification c = classified(talk.settled());
  EXPECT_NE(c.pattern, Pattern::adjacent) << in_words(c);
}

TEST(ClassifyHeldOut, AResultBesideTheOnlyRangesMakesNoBorder) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 60; ++i)
    talk.send(0, 1, 0, i, TimeNs{1'000'000'000} + i * 50'000, run_of(64 + 64 * (i % 2), 64));
  talk.send(0, 1, 1, 60, TimeNs{1'000'000'000} + 60 * 50'000, run_of(65'536, 64));
  talk.send(1, 0, 1, 61, TimeNs{1'000'000'000} + 61 * 50'000, run_of(0, 64));
  const Classification c = classified(talk.settled());
  EXPECT_NE(c.pattern, Pattern::adjacent) << in_words(c);
}

// Blocks that go through the data each by itself, at its own speed: together they have no order.
TEST(ClassifyHeldOut, BlocksThatDriftApartDoNotJumpAtRandom) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    Talk talk(2);
    struct Sent {
      TimeNs at;
      std::uint32_t block, tile;
    };
    std::vector<Sent> all;
    for (std::uint32_t block = 0; block < 8; ++block) {
      TimeNs at = TimeNs{1'000'000'000};
      for (std::uint32_t t = 0; t < 60; ++t) {
        const std::uint32_t out_of_order = t / 6 * 6 + (t * 5 + block) % 6;
        all.push_back({at += 1'000 * (1 + block) + static_cast<TimeNs>(random() % 3'000), block, out_of_order});
      }
    }
    std::sort(all.begin(), all.end(), [](const Sent& a, const Sent& b) { return a.at < b.at; });
    for (const Sent& s : all) talk.send(0, 1, 0, 0, s.at, tile(s.tile), 1, s.block);
    const Classification c = classified(talk.settled());
    EXPECT_NE(c.pattern, Pattern::random) << in_words(c);
  }
}

// Two rings of three blocks: six parties with one message each way, or three parties of two blocks with two.
TEST(ClassifyHeldOut, RingsOfBlocksMayBeLanesOfOneRing) {
  TraceModel model;
  model.meta = {{"state", "complete"}};
  declare_device(model, 0, 100);
  declare_site(model, 1, "ring", WordMemory::device);
  for (std::uint32_t i = 1; i <= 40; ++i) {
    for (std::uint32_t block = 0; block < 6; ++block) {
      const std::uint32_t to = block / 3 * 3 + (block + 1) % 3;
      store::SignalRow signal{};
      signal.id = static_cast<store::RowId>(model.signals.size()) + 1;
      signal.site = 1;
      signal.block = block;
      signal.iteration = signal.value = i;
      signal.at = TimeNs{1'000'000} * i + 1'000 * block;
      signal.word = static_cast<WordTag>(block + 1);
      model.signals.push_back(signal);
      store::WaitRow wait{};
      wait.id = static_cast<store::RowId>(model.waits.size()) + 1;
      wait.site = 1;
      wait.block = to;
      wait.iteration = wait.value = i;
      wait.arrived = signal.at - 500;
      wait.resumed = signal.at + 500;
      wait.word = signal.word;
      model.waits.push_back(wait);
    }
  }
  settle(model);
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
  EXPECT_LE(c.model_confidence, 0.75) << in_words(c);
}

// A program whose pairs differ has no class; if nearly all messages are of one pair, the answer is that pair's, with
// doubt.
TEST(ClassifyHeldOut, APairOfAnotherModelLimitsTheConfidence) {
  std::mt19937 random(3);
  Talk talk(3);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 100'000;
    for (std::uint32_t k = 0; k < 8; ++k) talk.send(k % 2, 1 - k % 2, k / 2, i, at + k * 5'000, tile(i * 8 + k));
    if (random() % 2 == 0) continue;
    talk.send(0, 2, 8, i, at + 50'000, tile(i));
    talk.send(2, 0, 8, i, at + 60'000, tile(i));
  }
  const Classification c = classified(talk.settled());
  EXPECT_LE(c.model_confidence, 0.75) << in_words(c);
}

TEST(ClassifyHeldOut, AResultAtTheEndDoesNotMakeAStreamAlternate) {
  Talk talk(1);
  for (std::uint32_t i = 0; i < 80; ++i) talk.send(kHostDevice, 0, 0, i, TimeNs{1'000'000'000} + i * 30'000, tile(i));
  talk.send(0, kHostDevice, 0, 80, TimeNs{1'000'000'000} + 81 * 30'000, run_of(0, 64));
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::unidirectional) << in_words(c);
  EXPECT_EQ(c.pattern, Pattern::streaming) << in_words(c);
}

TEST(ClassifyHeldOut, ConsecutiveProgramsAreNotProbabilistic) {
  Talk talk(2);
  TimeNs now = 1'000'000'000;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t count = i < 30 ? 1 : 5;
    for (std::uint32_t k = 0; k < count; ++k) talk.send(0, 1, k, i, now += 5'000, run_of(4096 * k, 4096));
    for (std::uint32_t k = 0; k < count; ++k) talk.send(1, 0, k, i, now += 5'000, run_of(65'536 + 4096 * k, 4096));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::unknown) << in_words(c);
}

// --- programs that numbers, values or payloads used to mislead

TEST(ClassifyMisleading, NoMessageInAnIterationIsACount) {
  std::mt19937 random(1);
  Talk talk(2);
  for (std::uint32_t i = 0; i < 120; ++i) {
    if (random() % 2 == 0) continue;
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, i, at, tile(i));
    talk.send(1, 0, 0, i, at + 20'000, tile(i));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::probabilistic) << in_words(c);
}

TEST(ClassifyMisleading, NumbersAtAConstantDistanceLeaveNothingOut) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, 10 * i, at, tile(i));
    talk.send(1, 0, 0, 10 * i, at + 20'000, tile(i));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
}

TEST(ClassifyMisleading, RequestsWithoutPayloadCountBesideRepliesWithOne) {
  Talk talk(2);
  talk.acknowledge = false;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, i, at, {});
    talk.send(1, 0, 0, i, at + 20'000, tile(i));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
}

TEST(ClassifyMisleading, AWaitForTheLastOfSeveralCountsThemAll) {
  // One counter word per direction; the receiver waits once per iteration. Three devices share one site, so that only
  // the words show who receives.
  Talk talk(3);
  talk.acknowledge = false;
  TimeNs now = 1'000'000'000;
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (const DeviceId to : {1, 2}) {
      for (std::uint32_t k = 0; k < 4; ++k) talk.send(0, to, 0, i, now += 3'000, tile(4 * i + k));
      talk.send(to, 0, 0, i, now += 30'000, run_of(i * 16, 16));
    }
  }
  TraceModel model = talk.settled();
  model.signals.edit_all([&](auto& row) { row.word = static_cast<WordTag>(1 + row.site); });
  model.waits.edit_all([&](auto& row) { row.word = static_cast<WordTag>(1 + row.site); });
  model.waits.erase_if([](const auto& row) { return row.device != 0 && row.value % 4 != 0; });
  model.signals.edit_all([&](auto& row) { row.site = 1; });
  model.waits.edit_all([&](auto& row) {
    row.site = 1;
    row.wanted = row.value;
  });
  settle(model);
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::multiple) << in_words(c);
  EXPECT_EQ(c.pairs.size(), 2u) << in_words(c);
  for (const PairAnswer& pair : c.pairs) EXPECT_EQ(pair.forth, 160u);
}

TEST(ClassifyMisleading, AHostWaitFindsItsSignalByValue) {
  // The host acknowledges each message under the message's number; the device waits under the number of the message
  // that needs the space. The host waits under its own numbers.
  Talk talk(1);
  for (std::uint32_t i = 0; i < 60; ++i) talk.send(0, kHostDevice, 0, i, TimeNs{1'000'000'000} + i * 60'000, tile(i));
  TraceModel model = talk.settled();
  std::uint32_t count = 0;
  model.host_waits.edit_all([&](auto& row) {
    row.value = row.wanted = ++count;
    row.iteration += 1000;
  });
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::unidirectional) << in_words(c);
  EXPECT_GE(c.model_confidence, 0.9) << in_words(c);
}

TEST(ClassifyMisleading, ClientsThatDriftApartAlternateWithTheirServer) {
  // A server has a block per client; the clients are up to 60 iterations apart.
  Talk talk(2);
  struct Turn {
    TimeNs at;
    std::uint32_t client, number;
    bool back;
  };
  std::vector<Turn> turns;
  for (std::uint32_t client = 0; client < 4; ++client) {
    const TimeNs period = 30'000 * (client + 1);
    for (std::uint32_t i = 0; i < 80; ++i) {
      const TimeNs at = TimeNs{1'000'000'000} + client * 700 + i * period;
      turns.push_back({at, client, i, false});
      turns.push_back({at + period / 2, client, i, true});
    }
  }
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.at < b.at; });
  for (const Turn& t : turns) {
    talk.send(t.back ? 1 : 0, t.back ? 0 : 1, t.client, t.number, t.at, tile(t.number * 4 + t.client), 1, t.client);
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::multiple) << in_words(c);  // four each way per iteration, between the two devices
}

TEST(ClassifyMisleading, AnInPlacePipelineIsNoScatterGather) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, i, at, run_of(0, 65'536));
    talk.send(1, 0, 0, i, at + 20'000, run_of(0, 65'536));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::unknown) << in_words(c);
}

TEST(ClassifyMisleading, ARingsChunksStreamDownwards) {
  Talk talk(8);
  for (std::uint32_t i = 0; i < 60; ++i) {
    for (std::uint32_t d = 0; d < 8; ++d) {
      const std::uint32_t chunk = (d + 8 - i % 8) % 8;
      talk.send(static_cast<DeviceId>(d), static_cast<DeviceId>((d + 1) % 8), 0, i,
                TimeNs{1'000'000'000} + i * 90'000 + d * 1'000, run_of(chunk * 65'536, 65'536));
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::streaming) << in_words(c);
}

TEST(ClassifyMisleading, LookupsStayRandomInALongRun) {
  std::mt19937 random(3);
  Talk talk(1);
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    talk.send(kHostDevice, 0, 0, i, TimeNs{1'000'000'000} + i * 30'000, run_of(random() % 256 * 4096, 4096));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::random) << in_words(c);
}

TEST(ClassifyMisleading, OffsetsInABufferShowNoPattern) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 80; ++i) {
    talk.send(0, 1, 0, i, TimeNs{1'000'000'000} + i * 30'000, run_of(i % 2 * 65'536, 4096));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::unknown) << in_words(c);
}

TEST(ClassifyMisleading, ColumnsAtABorderAreAdjacentHoweverSmallTheGridIs) {
  // Two devices side by side in a periodic cube of n * n rows: each row has 2 n cells of 4 bytes.
  for (const std::uint32_t n : {6u, 8u, 16u, 64u}) {
    Talk talk(2);
    for (std::uint32_t i = 0; i < 12; ++i) {
      TimeNs at = TimeNs{1'000'000'000} + i * 900'000;
      for (const bool back : {false, true}) {
        for (const bool high : {false, true}) {
          const std::uint64_t row = std::uint64_t{8} * n;
          const std::uint64_t column = 4 * (back * n + high * (n - 1));
          talk.send(back, !back, 0, i, at += 5'000, strided(column, 4, row, n * n));     // a face
          talk.send(back, !back, 1, i, at += 5'000, strided(column, 4, row, n));         // an edge along y
          talk.send(back, !back, 2, i, at += 5'000, strided(column, 4, row * n, n));     // an edge along z
          talk.send(back, !back, 3, i, at += 5'000, run_of(column + row * (n - 1), 4));  // a corner
        }
      }
    }
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.pattern, Pattern::adjacent) << n << "\n" << in_words(c);
  }
}

TEST(ClassifyMisleading, ColumnsOfAWholeMatrixAreNoBorder) {
  // Two devices that transpose a matrix of 64 * 64 numbers: each has one half of each row and sends it.
  Talk talk(2);
  for (std::uint32_t i = 0; i < 30; ++i) {
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, i, at, strided(128, 128, 256, 32));
    talk.send(1, 0, 0, i, at + 9'000, strided(std::uint64_t{32} * 256, 128, 256, 32));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::scatter_gather) << in_words(c);
}

TEST(ClassifyMisleading, BlocksThatDriftApartStreamTogether) {
  // Each of four blocks sends every fourth tile of 16, again and again, at a speed of its own.
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    Talk talk(2);
    struct Tile {
      TimeNs at;
      std::uint32_t round, block;
    };
    std::vector<Tile> tiles;
    for (std::uint32_t block = 0; block < 4; ++block) {
      TimeNs at = TimeNs{1'000'000'000} + block * 10;
      for (std::uint32_t round = 0; round < 60; ++round)
        tiles.push_back({at += 2'000 + 500 * block + static_cast<TimeNs>(random() % 6'000), round, block});
    }
    std::sort(tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) { return a.at < b.at; });
    for (const Tile& t : tiles) talk.send(0, 1, 0, t.round, t.at, tile((t.round * 4 + t.block) % 16), 1, t.block);
    const Classification c = classified(talk.settled());
    EXPECT_EQ(c.pattern, Pattern::streaming) << in_words(c);
  }
}

TEST(ClassifyMisleading, AFewIterationsWithoutAMessageAreNoStartUp) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 80; ++i) {
    if (i == 17 || i == 34 || i == 35 || i == 50 || i == 66) continue;
    const TimeNs at = TimeNs{1'000'000'000} + i * 90'000;
    talk.send(0, 1, 0, i, at, tile(i));
    talk.send(1, 0, 0, i, at + 20'000, tile(i));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::probabilistic) << in_words(c);
}

TEST(ClassifyMisleading, OneMessageInEveryIterationIsNotAside) {
  Talk talk(2);
  for (std::uint32_t i = 0; i < 20; ++i) {
    TimeNs at = TimeNs{1'000'000'000} + i * 900'000;
    talk.send(0, 1, 0, i, at, tile(i));
    for (std::uint32_t k = 0; k < 60; ++k) talk.send(1, 0, 0, i, at += 10'000, tile(i * 60 + k));
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.model, Model::multiple) << in_words(c);
}

TEST(ClassifyMisleading, NumbersOfMessagesEndApart) {
  // 46 forth and 49 back per iteration, in turn; each side numbers its own messages.
  Talk talk(2);
  std::uint32_t forth = 0, back = 0;
  TimeNs at = 1'000'000'000;
  for (std::uint32_t i = 0; i < 15; ++i) {
    for (std::uint32_t k = 0; k < 49; ++k) {
      if (k < 46) {
        ++forth;
        talk.send(0, 1, 0, forth, at += 9'000, tile(forth));
      }
      ++back;
      talk.send(1, 0, 0, back, at += 9'000, tile(back));
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_TRUE(c.model == Model::multiple || c.model == Model::unknown) << in_words(c);
}

TEST(ClassifyMisleading, CountsThatNearlyRepeatDoNotFitTheTotals) {
  // 33 forth and 34 back per iteration, in turn, without numbers.
  Talk talk(2);
  TimeNs at = 1'000'000'000;
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (std::uint32_t k = 0; k < 34; ++k) {
      if (k < 33) talk.send(0, 1, 0, 0, at += 9'000, tile(i * 33 + k));
      talk.send(1, 0, 0, 0, at += 9'000, tile(i * 34 + k));
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_TRUE(c.model == Model::multiple || c.model == Model::unknown) << in_words(c);
}

TEST(ClassifyMisleading, AnExchangeWithChangingPartnersIsNoStream) {
  // Three messages per iteration, each to the block of another partner.
  Talk talk(2);
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      talk.send(0, 1, 0, i, TimeNs{1'000'000'000} + i * 90'000 + k * 9'000, tile(k ^ (1u << (i % 4))));
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_TRUE(c.pattern == Pattern::scatter_gather || c.pattern == Pattern::unknown) << in_words(c);
}

TEST(ClassifyMisleading, MessagesOfAnyLengthInABufferShowNoPattern) {
  std::mt19937 random(7);
  Talk talk(2);
  TimeNs at = 1'000'000'000;
  for (std::uint32_t i = 0; i < 200; ++i) {
    for (std::uint32_t block = 0; block < 2; ++block) {
      const std::uint64_t slot = (2 * i + block) % 6;
      talk.send(0, 1, 0, i, at += 9'000, run_of(slot * 65'536, static_cast<std::uint32_t>(64 + random() % 4096 * 4)), 1,
                block);
    }
  }
  const Classification c = classified(talk.settled());
  EXPECT_EQ(c.pattern, Pattern::unknown) << in_words(c);
}

TEST(ClassifyHeldOut, BlocksOfOneKernelAreParties) {
  // Each block releases the next and the previous block at one site, so all blocks have the same role.
  TraceModel model = empty_program();
  constexpr std::uint32_t kBlocks = 16;
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      for (const std::uint32_t to : {b - 1, b + 1}) {
        if (to >= kBlocks) continue;
        store::SignalRow signal{};
        signal.id = static_cast<store::RowId>(model.signals.size()) + 1;
        signal.site = 1;
        signal.block = b;
        signal.iteration = i;
        signal.value = i + 1;
        signal.at = TimeNs{1'000'000} * (i + 1) + b;
        signal.word = static_cast<WordTag>(1 + b * kBlocks + to);
        model.signals.push_back(signal);
        store::WaitRow wait{};
        wait.id = static_cast<store::RowId>(model.waits.size()) + 1;
        wait.site = 1;
        wait.block = to;
        wait.iteration = i;
        wait.value = i + 1;
        wait.arrived = signal.at - 500'000;
        wait.resumed = signal.at + 1'000;
        wait.word = signal.word;
        model.waits.push_back(wait);
      }
    }
  }
  settle(model);
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::alternating) << in_words(c);
  EXPECT_TRUE(c.pattern == Pattern::adjacent || c.pattern == Pattern::unknown) << in_words(c);
  EXPECT_LE(c.pattern_confidence, 0.7);
}

}  // namespace
}  // namespace wicprof::analyzer
