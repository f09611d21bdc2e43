// Copies as the other ends of waits in patched loops, and what stays open.
#include "analyzer/waits/open_edges.h"

#include <gtest/gtest.h>

#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

constexpr SiteId kLoop = 4096;
constexpr TimeNs kBegin = 1'000'000'000;

class OpenEdges : public testing::Test {
 protected:
  OpenEdges() {
    model.sites.push_back({kLoop, "spin.cu:12", WordMemory::unknown, Pollers::each_thread, 0});
    add_word(7, WordMemory::device);
  }
  void add_word(WordTag tag, WordMemory memory) {
    store::PolledWordRow word;
    word.site = kLoop;
    word.word = tag;
    word.address = 0x1000u + tag;
    word.memory = memory;
    model.polled_words.push_back(word);
  }
  void wait(WordTag tag, TimeNs arrived, TimeNs resumed, std::uint32_t value) {
    store::WaitRow row{};
    row.id = static_cast<store::RowId>(model.waits.size() + 1);
    row.site = kLoop;
    row.device = 0;
    row.arrived = kBegin + arrived;
    row.resumed = kBegin + resumed;
    row.value = value;
    row.word = tag;
    row.status = WaitStatus::satisfied;
    model.waits.push_back(row);
  }
  void write(WordTag tag, TimeNs at, SignalWriter writer, std::uint32_t value) {
    store::SignalRow row{};
    row.site = kLoop;
    row.device = kHostDevice;
    row.word = tag;
    row.at = kBegin + at;
    row.writer = writer;
    row.value = value;
    model.signals.push_back(row);
  }
  SiteEdges edges() {
    settle(model);
    matching = match(model);
    const std::vector<SiteEdges> all = open_edges(model, matching);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? SiteEdges{} : all.front();
  }

  TraceModel model = empty_program();
  Matching matching;
};

TEST_F(OpenEdges, AWriteWithinTheWaitWithItsValueIsItsOtherEnd) {
  write(7, 50'000, SignalWriter::copy, 3);
  wait(7, 0, 52'000, 3);
  const SiteEdges found = edges();
  EXPECT_EQ(found.copies, 1u);
  EXPECT_EQ(found.open, 0u);
  ASSERT_EQ(matching.edges.size(), 1u);
  EXPECT_EQ(wake_latency(model, matching.edges[0]), 2'000);
  EXPECT_EQ(open_edges_text(found), "");
}

TEST_F(OpenEdges, OtherWritesAreNot) {
  write(7, -50'000, SignalWriter::memset, 3);       // before the wait
  write(7, 40'000, SignalWriter::copy, 2);          // another value
  write(8, 41'000, SignalWriter::copy, 3);          // another word
  write(7, 90'000, SignalWriter::stream_write, 3);  // after its end
  wait(7, 0, 52'000, 3);
  const SiteEdges found = edges();
  EXPECT_TRUE(matching.edges.empty());
  EXPECT_EQ(found.open, 1u);
  ASSERT_EQ(found.reasons.size(), 1u);
  EXPECT_NE(found.reasons[0].text.find("stores of kernels are not seen"), std::string::npos);
}

TEST_F(OpenEdges, ACopyOfAnUnknownValueCounts) {
  write(7, 40'000, SignalWriter::unknown_copy, 0);
  wait(7, 0, 52'000, 3);
  EXPECT_EQ(edges().copies, 1u);
}

TEST_F(OpenEdges, SignalsOfAProgramAreMatchedAsBefore) {
  add_handoff(model, {.waiters = 4, .iterations = 30});
  write(7, 40'000, SignalWriter::copy, 3);
  wait(7, 0, 52'000, 3);
  EXPECT_EQ(edges().copies, 1u);
  EXPECT_EQ(matching.edges.size(), 121u);
}

TEST_F(OpenEdges, CandidatesRanAtTheEndOfAWait) {
  wait(7, 0, 52'000, 3);
  wait(7, 100'000, 152'000, 3);
  const auto candidate = [&](const char* kernel, bool exact) {
    store::WriterCandidateRow row{};
    row.site = kLoop;
    row.word = WordTag{7};
    row.kernel = kernel;
    row.exact = exact;
    model.writer_candidates.push_back(row);
  };
  candidate("fills", false);
  candidate("raises", true);
  candidate("elsewhere", true);
  const auto kernel = [&](const char* name, TimeNs start, TimeNs end) {
    store::KernelRow row{};
    row.name = name;
    row.device = 0;
    row.start = kBegin + start;
    row.end = kBegin + end;
    model.kernels.push_back(row);
  };
  kernel("fills", 0, 200'000);
  kernel("raises", 46'000, 49'000);  // the waiter sees its store a little later
  kernel("elsewhere", 0, 40'000);
  kernel("elsewhere", 300'000, 400'000);
  const SiteEdges found = edges();
  ASSERT_EQ(found.candidates.size(), 2u);
  EXPECT_EQ(found.candidates[0].kernel, "raises");
  EXPECT_EQ(found.candidates[0].waits, 1u);
  EXPECT_EQ(found.candidates[1].kernel, "fills");
  EXPECT_EQ(found.candidates[1].waits, 2u);
  EXPECT_EQ(found.open, 2u);  // a candidate is no edge
  EXPECT_NE(open_edges_text(found).find("candidates, no more: kernel raises"), std::string::npos);
}

TEST_F(OpenEdges, EachMemoryHasItsReason) {
  add_word(8, WordMemory::pinned_host);
  wait(7, 0, 52'000, 3);
  wait(8, 0, 52'000, 3);
  wait(9, 0, 52'000, 3);  // a word that was not told
  const SiteEdges found = edges();
  EXPECT_EQ(found.open, 3u);
  EXPECT_EQ(found.reasons.size(), 3u);
}

TEST(OpenEdgesOfOthers, ProgramsWithoutPatchedLoopsHaveNone) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 4, .iterations = 30});
  settle(model);
  EXPECT_TRUE(open_edges(model, match(model)).empty());
}

}  // namespace
}  // namespace wicprof::analyzer
