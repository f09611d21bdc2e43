// What diagnose() concludes, and what it does not.
#include "analyzer/stuck/stuck.h"

#include <gtest/gtest.h>

#include <limits>

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

/// Process 1 waits at a word whose value and goal are not known.
StuckView view_of_a_barrier(std::vector<SeenProcess> processes) {
  StuckView view;
  view.now = kNow;
  OpenCall call;
  copy_name(call.name, "barrier");
  call.waits_for_word = 1;
  call.begin = kNow - 5 * kSecond;
  call.thread = 10;
  view.calls.push_back({1, call});
  view.call_values.push_back(std::nullopt);
  view.processes = std::move(processes);
  return view;
}

TEST(Stuck, ARankThatRunsElsewhere) {
  const StuckView view = view_of_a_barrier({{1, "app", 0, 2, true}, {2, "app", 1, 2, true}});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  EXPECT_NE(answer.causes[0].text.find("rank 1 of 2 (process 2) does not wait there"), std::string::npos);
}

TEST(Stuck, RanksByTheBillionAreNotLookedAtOneByOne) {
  const StuckView view =
      view_of_a_barrier({{1, "app", 0, 2, true}, {2, "app", std::numeric_limits<std::int32_t>::max(), 2, true}});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_NE(answer.causes[0].kind, CauseKind::absent_rank);
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

OpenWait patched_wait(WantedRelation relation, std::uint64_t wanted, std::uint64_t value) {
  OpenWait wait = wait_at("spin.cu:12", 3, 0, 0, 0);
  wait.source = WaitSource::patched;
  wait.names_wanted = 0;
  wait.iteration = 0;
  wait.memory = WordMemory::device;
  wait.relation = relation;
  wait.wide_wanted = wanted;
  wait.wanted_mask = ~std::uint64_t{0};
  wait.wide_value = value;
  wait.word_tag = 77;
  wait.seen = kNow;
  return wait;
}

/// At "spin.cu:12" with the word 77, and at the other site with the word 78; both want another value than 0.
StuckView two_patched_waits(const char* other_site) {
  StuckView view;
  view.now = kNow;
  for (int i = 0; i < 2; ++i) view.waits.push_back({1, patched_wait(WantedRelation::not_equal, 0, 0)});
  OpenWait& other = view.waits[1].value;
  copy_name(other.site, other_site);
  other.address += 4096;
  other.word_tag = 78;
  return view;
}

/// By host thread 40, of 3.
LastSignal copy_to(WordTag word) {
  LastSignal copy = signal_of("spin.cu:12", 0, 3);
  copy.device = kHostDevice;
  copy.thread = 40;
  copy.writer = SignalWriter::copy;
  copy.word = word;
  return copy;
}

TEST(Stuck, APatchedLoopSaysWhatItWants) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::at_least, 5, 3)});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::unknown);
  EXPECT_NE(answer.causes[0].text.find("wants at least 5, has 3"), std::string::npos) << answer.causes[0].text;
  view.waits[0].value = patched_wait(WantedRelation::unknown, 0, 3);
  EXPECT_NE(diagnose(view).causes[0].text.find("the code has it in a register, has 3"), std::string::npos);
  view.waits[0].value.address = 0;
  const std::string unknown_word = diagnose(view).causes[0].text;
  EXPECT_NE(unknown_word.find("for a word of site"), std::string::npos) << unknown_word;
  EXPECT_NE(unknown_word.find("the loop's code does not show"), std::string::npos);
  EXPECT_FALSE(diagnose(view).words[0].value);
}

TEST(Stuck, APatchedLoopWhoseWordHasTheValueIsNoCause) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::at_least, 5, 6)});
  const StuckAnswer answer = diagnose(view);
  EXPECT_TRUE(answer.causes.empty());
  ASSERT_EQ(answer.words.size(), 1u);
  EXPECT_TRUE(answer.words[0].is_satisfied());
}

TEST(Stuck, OnlyWritesOfItsOwnWordCountForAPatchedLoop) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::equal, 5, 3)});
  view.signals.push_back(copy_to(78));  // another word
  EXPECT_FALSE(diagnose(view).words[0].last);
  view.signals[0].word = WordTag{77};
  const StuckAnswer answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);  // a kernel may have written it since
  EXPECT_NE(answer.causes[0].text.find("host thread 40 of process 1 wrote it last by a copy, 6"), std::string::npos)
      << answer.causes[0].text;
  view.signals[0].writer = SignalWriter::unknown_copy;
  EXPECT_NE(diagnose(view).causes[0].text.find("with a value that is not known"), std::string::npos);
}

TEST(Stuck, AThreadThatCopiedAndWaitsNeedNotBeTheWriter) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::at_least, 4, 3)});
  view.signals.push_back(copy_to(77));
  OpenCall call;
  copy_name(call.name, "cudaStreamSynchronize");
  call.begin = kNow - 4 * kSecond;
  call.thread = 40;
  view.calls.push_back({1, call});
  view.call_values.push_back(std::nullopt);
  StuckAnswer answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[0].evidence.back(),
            "host thread 40 of process 1 has been in cudaStreamSynchronize for 4.00 s");
  view.signals[0].writer = SignalWriter::program;  // it signals by itself, and cannot while it waits
  EXPECT_EQ(diagnose(view).causes[0].kind, CauseKind::mutual_wait);
}

TEST(Stuck, WordsOfASiteThatLackTheSameAreOneCause) {
  StuckView view;
  view.now = kNow;
  for (std::uint32_t block = 0; block < 16; ++block) {
    OpenWait wait = patched_wait(WantedRelation::at_least, 5, 3);
    wait.block = block;
    wait.address += 128 * block;
    wait.word_tag = static_cast<WordTag>(77 + block);
    wait.begin -= block == 7 ? kSecond : 0;
    view.waits.push_back({1, wait});
  }
  OpenWait other = patched_wait(WantedRelation::at_least, 5, 3);
  copy_name(other.site, "other.cu:30");
  view.waits.push_back({1, other});
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.words.size(), 17u);
  ASSERT_EQ(answer.causes.size(), 2u);
  EXPECT_EQ(answer.words[*answer.causes[0].word].blocks, std::vector<std::uint32_t>{7});  // the one that waits longest
  EXPECT_NE(answer.causes[0].text.find("15 more words of the site lack a signal, too"), std::string::npos)
      << answer.causes[0].text;
  EXPECT_EQ(answer.causes[0].evidence.back(), "and 10 more words");
}

TEST(Stuck, AProcessThatSharesMemoryAndHasEndedIsTheCause) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::equal, 5, 3)});
  view.processes = {
      {1, "app", {}, {}, true, true}, {2, "app", {}, {}, false, true}, {3, "other", {}, {}, false, false}};
  StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
  EXPECT_NE(answer.causes[0].text.find("process 2 (app), which shares memory of GPUs, has ended; in process 1, block"),
            std::string::npos)
      << answer.causes[0].text;
  view.processes[1].shares_memory = false;  // its last calls are not recorded
  answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  EXPECT_NE(answer.causes[0].text.find("process 2 (app), which runs the same program, has ended; in process 1, block"),
            std::string::npos)
      << answer.causes[0].text;
  view.processes[1].shares_memory = true;
  view.processes[1].alive = true;
  view.threads.push_back({2, 2, "app", 'S', "hrtimer_nanosleep"});
  answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  EXPECT_NE(answer.causes[0].text.find("waits for no word; its thread 2 sleeps in hrtimer_nanosleep"),
            std::string::npos)
      << answer.causes[0].text;
  view.processes.push_back({4, "app", {}, {}, true, true});  // which of two is not known
  EXPECT_EQ(diagnose(view).causes[0].kind, CauseKind::missing_signal);
  view.processes.pop_back();
  view.processes[0].shares_memory = false;
  EXPECT_EQ(diagnose(view).causes[0].kind, CauseKind::missing_signal);
  view.processes[0].shares_memory = true;
  view.waits[0].value.memory = WordMemory::pinned_host;
  EXPECT_EQ(diagnose(view).causes[0].kind, CauseKind::missing_signal);
}

TEST(Stuck, RanksOfNcclCountWhereTheLauncherSaysNone) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::equal, 5, 3)});
  view.processes = {{1, "app", {}, {}, true}, {2, "app", {}, {}, true}};
  for (std::int32_t rank : {0, 1}) {
    OpenNccl communicator;
    communicator.communicator = 7;
    communicator.rank = communicator.world_rank = rank;
    communicator.size = 2;
    view.nccl.push_back({static_cast<std::uint32_t>(rank + 1), communicator});
  }
  const StuckAnswer answer = diagnose(view);
  EXPECT_EQ(answer.causes.at(0).kind, CauseKind::absent_rank);
  EXPECT_NE(answer.causes[0].text.find("rank 1 of 2 (process 2) does not wait there"), std::string::npos)
      << answer.causes[0].text;
}

TEST(Stuck, KernelsThatMayWriteAreCandidatesAndNoMore) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::equal, 5, 3)});
  view.candidates.push_back({"spin.cu:12", "fills", 77, false});
  view.candidates.push_back({"spin.cu:12", "raises", 77, true});
  view.candidates.push_back({"spin.cu:12", "other", 78, true});
  const StuckAnswer answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  ASSERT_EQ(answer.words[0].candidates.size(), 2u);
  EXPECT_EQ(answer.words[0].candidates[0].kernel, "raises");
  EXPECT_EQ(answer.causes[0].evidence.back(),
            "candidate: kernel fills stores through a pointer to the word's allocation");
}

TEST(Stuck, AWordThatOnlyAWaitingKernelStoresToIsAConsequence) {
  StuckView view = two_patched_waits("raises:30");
  view.waits[1].value.memory = WordMemory::pinned_host;
  view.candidates.push_back({"spin.cu:12", "raises(unsigned int*)", 77, true});
  StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 2u);
  EXPECT_EQ(answer.words[*answer.causes[0].word].site, "raises:30");
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[1].kind, CauseKind::consequence);
  // Where another kernel stores to the word as well, that one may be the writer.
  view.candidates.push_back({"spin.cu:12", "other(unsigned int*)", 77, true});
  for (const Cause& cause : diagnose(view).causes) EXPECT_EQ(cause.kind, CauseKind::missing_signal) << cause.text;
  view.candidates.pop_back();
  copy_name(view.waits[0].value.site, "polls:12");
  view.candidates[0].site = "polls:12";
  view.candidates.push_back({"raises:30", "polls(unsigned int*)", 78, true});
  answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::mutual_wait);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
}

TEST(Stuck, AWaitForTheHostsWordIsNoWaitForTheOther) {
  StuckView view = two_patched_waits("other.cu:30");
  EXPECT_EQ(diagnose(view).causes[0].kind, CauseKind::mutual_wait);
  view.waits[1].value.memory = WordMemory::pinned_host;
  for (const Cause& cause : diagnose(view).causes) EXPECT_EQ(cause.kind, CauseKind::missing_signal) << cause.text;
}

TEST(Stuck, TheCpuMayWriteAWordOfTheHost) {
  StuckView view;
  view.now = kNow;
  view.waits.push_back({1, patched_wait(WantedRelation::not_equal, 0, 0)});
  view.waits[0].value.memory = WordMemory::pinned_host;
  OpenCall call;
  copy_name(call.name, "cudaDeviceSynchronize");
  call.begin = kNow - 4 * kSecond;
  call.thread = 9;
  view.calls.push_back({1, call});
  view.call_values.push_back(std::nullopt);
  const StuckAnswer answer = diagnose(view);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
  EXPECT_NE(answer.causes[0].text.find("the CPU may be its writer"), std::string::npos);
  EXPECT_NE(answer.causes[0].evidence.back().find("host thread 9 has waited in cudaDeviceSynchronize"),
            std::string::npos);
  EXPECT_EQ(answer.causes[1].kind, CauseKind::consequence);
}

TEST(Stuck, WantedTexts) {
  const std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(wanted_text({WantedRelation::equal, false, 7, all}), "7");
  EXPECT_EQ(wanted_text({WantedRelation::not_equal, false, 0, 16}), "other than 0x0 in the bits 0x10");
  EXPECT_EQ(wanted_text({WantedRelation::signed_at_most, false, 0xffff'ffff, all}), "at most -1 (signed)");
  EXPECT_EQ(wanted_text({WantedRelation::at_least, true, std::uint64_t{1} << 40, all}), "at least 1099511627776");
  EXPECT_EQ(wanted_text({}), "");
}

TEST(Stuck, Ranges) { EXPECT_EQ(ranges_of({0, 1, 2, 5, 7, 8}), "0 to 2, 5, 7, 8"); }

}  // namespace
}  // namespace wicprof::analyzer
