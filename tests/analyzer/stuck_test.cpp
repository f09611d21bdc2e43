// What diagnose() concludes, and what it does not.
#include "analyzer/waits/stuck.h"

#include <gtest/gtest.h>

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kNow = 100 * kSecond;

OpenWait wait_at(const char* site, std::uint32_t block, std::uint32_t blocks, std::uint32_t value, std::uint32_t wanted,
                 std::uint64_t address = 0x1000) {
  OpenWait wait;
  copy_name(wait.site, site);
  wait.block = block;
  wait.blocks = blocks;
  wait.sm = static_cast<std::uint16_t>(block);
  wait.value = value;
  wait.wanted = wanted;
  wait.names_wanted = 1;
  wait.iteration = wanted;
  wait.address = address;
  wait.begin = wait.seen = kNow - 5 * kSecond;
  return wait;
}

LastSignal signal_of(const char* site, std::uint32_t block, std::uint32_t value, std::uint32_t process = 1) {
  LastSignal signal;
  signal.site = site;
  signal.process = process;
  signal.block = signal.sm = block;
  signal.iteration = signal.value = value;
  signal.at = kNow - 6 * kSecond;
  return signal;
}

TEST(Stuck, NothingWaits) {
  StuckView view;
  view.now = kNow;
  OpenCall call;
  call.begin = kNow - kSecond / 2;  // not long
  view.calls.push_back({1, call});
  EXPECT_TRUE(diagnose(view).causes.empty());
}

TEST(Stuck, BlocksInTheMiddleThatDoNotComeAreNoLackOfRoom) {
  StuckView view;
  view.now = kNow;
  for (const std::uint32_t block : {0u, 1u, 3u}) view.waits.push_back({1, wait_at("barrier", block, 4, 3, 4)});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_blocks);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  EXPECT_NE(answer.causes[0].text.find("blocks 2 of 4"), std::string::npos);
}

TEST(Stuck, BlocksThatCameBeforeHaveHadRoom) {
  StuckView view;
  view.now = kNow;
  for (const std::uint32_t block : {0u, 1u, 2u}) view.waits.push_back({1, wait_at("barrier", block, 4, 7, 8)});
  EXPECT_EQ(diagnose(view).causes.at(0).kind, CauseKind::absent_blocks);  // 7 arrivals: the second round
}

TEST(Stuck, AWordThatIsNoCountOfItsBlocksIsNoBarrier) {
  StuckView view;
  view.now = kNow;
  for (const std::uint32_t block : {0u, 1u}) view.waits.push_back({1, wait_at("flag", block, 4, 7, 8)});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::unknown);
}

TEST(Stuck, AChainEndsAtTheWriterThatDoesNotWait) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, wait_at("last", 5, 8, 1, 2, 0x1000)});
  view.waits.push_back({1, wait_at("middle", 4, 8, 1, 2, 0x2000)});
  view.signals.push_back(signal_of("last", 4, 1));    // block 4 writes for block 5, and waits at `middle`
  view.signals.push_back(signal_of("middle", 3, 1));  // block 3 writes for block 4, and waits nowhere
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 2u);
  EXPECT_EQ(answer.words[*answer.causes[0].word].site, "middle");
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
  EXPECT_EQ(answer.causes[1].kind, CauseKind::consequence);
}

TEST(Stuck, PatchedLoopsAreWaitsLikeOthers) {
  StuckView view;
  view.now = kNow;
  OpenWait wait = wait_at("spin.cu:12", 0, 1, 0, 1);
  wait.source = WaitSource::patched;
  wait.names_wanted = 0;
  view.waits.push_back({1, wait});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.words.size(), 1u);
  EXPECT_EQ(answer.words[0].source, WaitSource::patched);
  EXPECT_FALSE(answer.words[0].wanted);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::unknown);
}

TEST(Stuck, ThoseWhoHaveComeToABarrierDoNotWaitForEachOther) {
  StuckView view;
  view.now = kNow;
  for (const std::uint32_t process : {1u, 2u}) {  // one word, at an address of its own in each
    OpenCall call;
    copy_name(call.name, "barrier");
    call.waits_for_word = call.names_wanted = 1;
    call.wanted = 3;
    call.handle = 0x1000 * process;
    call.begin = kNow - 5 * kSecond;
    call.thread = 10 * process;
    view.calls.push_back({process, call});
    view.call_values.push_back(2);
    LastSignal came;
    came.site = "barrier";
    came.process = process;
    came.device = kHostDevice;
    came.thread = call.thread;
    came.at = call.begin;
    view.signals.push_back(came);
    view.processes.push_back({process, "app", static_cast<std::int32_t>(process - 1), 3, true});
  }
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
}

TEST(Stuck, ARankThatRunsElsewhere) {
  StuckView view;
  view.now = kNow;
  OpenCall call;
  copy_name(call.name, "barrier");
  call.waits_for_word = 1;
  call.begin = kNow - 5 * kSecond;
  call.thread = 10;
  view.calls.push_back({1, call});
  view.call_values.push_back(std::nullopt);
  view.processes = {{1, "app", 0, 2, true}, {2, "app", 1, 2, true}};
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);  // the word's value and goal are not known
  EXPECT_NE(answer.causes[0].text.find("rank 1 of 2 (process 2) does not wait there"), std::string::npos);
}

TEST(Stuck, OneOfSeveralKernelsOfAStream) {
  StuckView view;
  view.now = kNow;
  OpenCall call;
  copy_name(call.name, "cudaStreamSynchronize");
  call.awaited = Awaited::stream;
  call.stream = 7;
  call.begin = kNow - 5 * kSecond;
  view.calls.push_back({1, call});
  view.call_values.push_back(std::nullopt);
  for (const auto& [name, stream] : {std::pair("first", 7), std::pair("second", 7), std::pair("elsewhere", 8)}) {
    OpenKernel kernel;
    copy_name(kernel.name, name);
    kernel.stream = static_cast<std::uint64_t>(stream);
    kernel.launched = kNow - 6 * kSecond;
    view.kernels.push_back({1, kernel});
  }
  const StuckAnswer guess = diagnose(view);
  ASSERT_EQ(guess.causes.size(), 1u);
  EXPECT_EQ(guess.causes[0].confidence, Confidence::unknown);
  EXPECT_NE(guess.causes[0].text.find("one of 2 kernels of the stream without a known end (first, second)"),
            std::string::npos);
  view.samples.push_back({"second", "long_scoreboard", "", 16, 100, 0});
  const StuckAnswer sampled = diagnose(view);
  EXPECT_NE(sampled.causes[0].text.find("behind kernel second"), std::string::npos);
}

TEST(Stuck, Ranges) { EXPECT_EQ(ranges_of({0, 1, 2, 5, 7, 8}), "0 to 2, 5, 7, 8"); }

}  // namespace
}  // namespace wicprof::analyzer
