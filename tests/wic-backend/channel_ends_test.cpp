// Channels between all pairs of ends on two CPU devices.
#include "channel_ends_test.h"

namespace wic::test {
namespace {

std::vector<EndsCase> cases() {
  std::vector<EndsCase> all;
  for (const int producer : {-1, 0}) {
    for (const int consumer : {-1, 1}) {
      for (const Way way : {Way::naive, Way::poll, Way::park}) {
        for (const std::uint32_t max_bytes : {1u, 8u, 100u, 1000u, 20'000u}) {
          all.push_back({producer, consumer, way, max_bytes});
        }
        all.push_back({producer, consumer, way, 8, Path::automatic, false, true});
        all.push_back({producer, consumer, way, 301, Path::automatic, false, true});
        all.push_back({producer, consumer, way, 300, Path::automatic, false, true});
      }
    }
    all.push_back({producer, -1, Way::park, 8, Path::automatic, true, true});
    all.push_back({producer, -1, Way::park, 300, Path::automatic, true, true});
  }
  for (const Way way : {Way::poll, Way::park}) {
    for (const std::uint32_t max_bytes : {8u, 100u, 1001u, 2000u}) {
      all.push_back({-1, 0, way, max_bytes, Path::engine});
      all.push_back({-1, 0, way, max_bytes, Path::engine, false, true});
    }
  }
  return all;
}

class Ends : public testing::TestWithParam<EndsCase> {};

TEST_P(Ends, EveryMessageArrivesAsSent) {
  ChannelBench bench;
  ASSERT_TRUE(bench.open("simt:2")) << bench.why();
  run_ends(bench, GetParam(), 4, 9, 32);
}

// More tags than one batch and one word of bits hold.
TEST(Channel, AHundredMessagesOfAnySize) {
  for (const EndsCase& c : {EndsCase{-1, 0, Way::park, 3000}, EndsCase{-1, 0, Way::park, 3000, Path::engine},
                            EndsCase{0, -1, Way::park, 3000}, EndsCase{0, 1, Way::park, 3000}}) {
    ChannelBench bench;
    ASSERT_TRUE(bench.open("simt:2")) << bench.why();
    run_ends(bench, c, 2, 50, 32);
  }
}

class ManyTags : public testing::TestWithParam<EndsCase> {};

TEST_P(ManyTags, EveryMessageArrivesAsSent) {
  ChannelBench bench;
  ASSERT_TRUE(bench.open("simt:2")) << bench.why();
  run_ends(bench, GetParam(), 39, 4, 32);
}

std::vector<EndsCase> short_and_together() {
  std::vector<EndsCase> some;
  for (const EndsCase& each : cases()) {
    if (each.together && each.max_bytes <= 400) some.push_back(each);
  }
  return some;
}

std::string case_name(const testing::TestParamInfo<EndsCase>& info) { return name_of(info.param); }
INSTANTIATE_TEST_SUITE_P(Simt, Ends, testing::ValuesIn(cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Simt, ManyTags, testing::ValuesIn(short_and_together()), case_name);

}  // namespace
}  // namespace wic::test
