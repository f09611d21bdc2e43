// The parts of samples/field, and what its programs print. apps_test runs every program in every way of waiting.
#include <gtest/gtest.h>
#include <sched.h>

#include <regex>

#include "common/measure.h"
#include "field/apps.h"
#include "field/cpu_limit.h"
#include "field/engine/tokenizers.h"
#include "field/neighbour.h"
#include "program.h"
#include "wic/launch.h"

namespace sample {
namespace {

int cpus_of_this_thread() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 0;
}

TEST(CpuLimit, EndsWithItsLife) {
  const int before = cpus_of_this_thread();
  {
    const CpuLimit one(1);
    EXPECT_EQ(cpus_of_this_thread(), 1);
    const CpuLimit none(0);
    EXPECT_EQ(cpus_of_this_thread(), 1);
  }
  EXPECT_EQ(cpus_of_this_thread(), before);
}

TEST(Measure, SharesAreThoseOfTheSortedValues) {
  EXPECT_EQ(at_share({}, 0.5), 0);
  EXPECT_EQ(at_share({3, 1, 2, 5, 4}, 0), 1);
  EXPECT_EQ(at_share({3, 1, 2, 5, 4}, 0.5), 3);
  EXPECT_EQ(at_share({3, 1, 2, 5, 4}, 1), 5);
}

TEST(Vocabulary, TokensDependOnTheText) {
  const engine::Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.tokens_of("some words"), vocabulary.tokens_of("some words"));
  EXPECT_NE(vocabulary.tokens_of("some words"), vocabulary.tokens_of("some wards"));
  EXPECT_NE(vocabulary.tokens_of("some words"), vocabulary.tokens_of("words some"));
  EXPECT_EQ(vocabulary.tokens_of(""), 0u);
}

class OneDevice : public testing::Test {
 protected:
  void SetUp() override {
    auto runtime = wic::Runtime::create({});
    ASSERT_TRUE(runtime) << runtime.error().message;
    runtime_ = *std::move(runtime);
  }
  std::unique_ptr<wic::Runtime> runtime_;
};

TEST_F(OneDevice, ANeighbourWorksUntilTheProgramsKernelEnds) {
  for (const char* word : {"memory", "host", "compute"}) {
    const auto kind = Neighbour::kind_of(word);
    ASSERT_TRUE(kind);
    auto neighbour = Neighbour::make(runtime_->device(0), *kind, 1, 60 * wic::kSecond);
    ASSERT_TRUE(neighbour) << neighbour.error().message;
    auto stream = runtime_->device(0).make_stream();
    ASSERT_TRUE(stream);
    for (int run = 0; run < 2; ++run) {
      const EndNeighbour end{(*neighbour)->next_run()};
      ASSERT_TRUE((*neighbour)->start());
      ASSERT_TRUE(wic::launch(**stream, {1, 32}, end));
      const auto finished = (*neighbour)->finish();
      EXPECT_TRUE(finished) << word << ": " << finished.error().message;
      ASSERT_TRUE((*stream)->synchronize());
    }
    (*neighbour)->take_work();
    EXPECT_EQ((*neighbour)->take_work(), 0);  // since the last call
    EXPECT_NE((*neighbour)->unit(), nullptr);
  }
}

TEST_F(OneDevice, ANeighbourThatNobodyEndsReportsItsDeadline) {
  auto neighbour = Neighbour::make(runtime_->device(0), NeighbourKind::compute, 1, wic::kMillisecond);
  ASSERT_TRUE(neighbour);
  (*neighbour)->next_run();
  ASSERT_TRUE((*neighbour)->start());
  const auto finished = (*neighbour)->finish();
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message.find("deadline"), std::string::npos) << finished.error().message;
  EXPECT_GT((*neighbour)->take_work(), 0);
}

TEST(Neighbour, RefusesAnUnknownWord) {
  const auto kind = Neighbour::kind_of("loud");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().kind, wic::ErrorKind::bad_input);
}

TEST(Programs, PrintWhatTheirUserFeels) {
  const auto storage = sample_test::run(FIELD_STORAGE, "--iterations 2 --timeout 60");
  EXPECT_TRUE(storage.ok()) << storage.output;
  EXPECT_TRUE(std::regex_search(
      storage.output,
      std::regex("field_storage: [0-9.e+]+ pages/s, each p50 [0-9.]+ us, p99 [0-9.]+ us, [0-9.]+ CPUs")))
      << storage.output;
  const auto locks = sample_test::run(FIELD_LOCKS, "--iterations 2 --timeout 60 --lock queue");
  EXPECT_TRUE(locks.ok()) << locks.output;
  EXPECT_TRUE(std::regex_search(locks.output, std::regex("puts and takes/s, beside it [0-9.e+-]+ GB/s, ")))
      << locks.output;
}

TEST(Programs, ReadAFileByIoUring) {
  const auto storage = sample_test::run(FIELD_STORAGE, "--iterations 3 --timeout 60 --folder " + testing::TempDir());
  if (storage.status == sample_test::kMachineCannot) GTEST_SKIP() << storage.output;
  EXPECT_TRUE(storage.ok()) << storage.output;
  EXPECT_NE(storage.output.find("a file"), std::string::npos) << storage.output;
  const auto missing = sample_test::run(FIELD_STORAGE, "--folder /nowhere/at/all");
  EXPECT_EQ(missing.status, sample_test::kMachineCannot);
  EXPECT_NE(missing.output.find("/nowhere/at/all"), std::string::npos) << missing.output;
}

TEST(Programs, RefuseBadUsage) {
  EXPECT_EQ(sample_test::run(FIELD_LOCKS, "--lock none").status, 2);
  EXPECT_EQ(sample_test::run(FIELD_LOCKS, "--neighbour loud").status, 2);
  EXPECT_EQ(sample_test::run(FIELD_STORAGE, "--rival gps").status, 2);
}

}  // namespace
}  // namespace sample
