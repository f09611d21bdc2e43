// Which calls write which words, and which kernels may.
#include "collector/rewrite/word_writers.h"

#include <gtest/gtest.h>

#include <set>

#include "collector/rewrite/writer_candidates.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

std::uint64_t address(const void* word) { return reinterpret_cast<std::uint64_t>(word); }

class WordWritersTest : public testing::Test {
 protected:
  WordWritersTest() { writers_.begin(); }
  std::vector<SignalEvent> signals(TimeNs now = now_ns(), TimeNs patience = WordWriters::kPatience) {
    {
      EventBatch batch(sink_);
      writers_.write_signals(batch, now, patience);
    }
    return ring_.read().all<SignalEvent>();
  }
  void copy(std::uint32_t correlation, void* to, const void* from, std::uint64_t bytes, TimeNs called = now_ns()) {
    cuMemcpyHtoD_v2_params params{};
    params.dstDevice = address(to);
    params.srcHost = from;
    params.ByteCount = bytes;
    writers_.made(correlation, called, writes_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &params));
  }

  WordWriters writers_;
  PlainRing ring_;
  EventSink sink_{ring_.ring()};
  std::uint32_t words_[64] = {};
};

TEST_F(WordWritersTest, ACopyOverTheWordIsASignalWithItsTimeAndValue) {
  writers_.polled({address(&words_[5]), 4096, 77, false});
  std::uint32_t source[64] = {};
  source[5] = 42;
  copy(9, words_, source, sizeof source, 1'000);
  EXPECT_TRUE(signals(2'000).empty());  // the device has not said when
  writers_.executed(9, 1'500);
  const auto found = signals(2'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].site, 4096u);
  EXPECT_EQ(found[0].word_tag, 77u);
  EXPECT_EQ(found[0].value, 42u);
  EXPECT_EQ(found[0].writer, SignalWriter::copy);
  EXPECT_EQ(found[0].at_ns, 1'500u);
  EXPECT_EQ(found[0].correlation, 9u);
  EXPECT_EQ(found[0].device, kHostDevice);
  EXPECT_NE(found[0].block, 0u);  // the thread
}

TEST_F(WordWritersTest, CopiesBesideTheWordAreNone) {
  writers_.polled({address(&words_[5]), 4096, 77, false});
  writers_.polled({address(&words_[8]), 4096, 78, true});
  copy(1, words_, words_ + 32, 5 * sizeof words_[0]);
  copy(2, &words_[6], words_ + 32, sizeof words_[0]);
  copy(3, &words_[8], words_ + 32, sizeof words_[0]);  // half of a word of 64 bits
  EXPECT_TRUE(signals(now_ns(), 0).empty());
}

TEST_F(WordWritersTest, WithoutTheDevicesTimeTheCallsIsTaken) {
  writers_.polled({address(&words_[5]), 4096, 77, false});
  copy(1, &words_[5], &words_[40], 4, 1'000);
  EXPECT_TRUE(signals(1'000 + WordWriters::kPatience - 1).empty());
  const auto late = signals(1'000 + WordWriters::kPatience);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].at_ns, 1'000u);
  copy(2, &words_[5], &words_[40], 4, 1'000);
  const TimeNs asked = WordWriters::kPatienceWhenAsked;
  EXPECT_TRUE(signals(1'000 + asked - 1, asked).empty());
  EXPECT_EQ(signals(1'000 + asked, asked).size(), 1u);
}

TEST_F(WordWritersTest, AWordThatIsKnownLaterGetsTheWritesBefore) {
  std::uint32_t source = 3;
  copy(1, &words_[5], &source, 4, now_ns() - 20 * kSecond);
  copy(2, &words_[5], &source, 4, now_ns() - 10 * kSecond);
  source = 4;
  copy(3, &words_[5], &source, 4);
  source = 99;
  writers_.polled({address(&words_[5]), 4096, 77, false});
  const auto found = signals(now_ns(), 0);
  ASSERT_EQ(found.size(), 1u);  // of long ago only the last one counts
  EXPECT_EQ(found[0].value, 4u);
  EXPECT_EQ(found[0].writer, SignalWriter::copy);
}

TEST_F(WordWritersTest, TheContentOfALargeCopyIsUnknownAfterwards) {
  std::uint32_t source[64] = {};
  copy(1, words_, source, sizeof source);
  writers_.polled({address(&words_[5]), 4096, 77, false});
  const auto found = signals(now_ns(), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].writer, SignalWriter::unknown_copy);
}

TEST_F(WordWritersTest, FillsAndStreamsKnowTheirValues) {
  writers_.polled({address(&words_[5]), 4096, 77, false});
  cuMemsetD8Async_params bytes{};
  bytes.dstDevice = address(words_);
  bytes.uc = 0xab;
  bytes.N = sizeof words_;
  writers_.made(1, 1, writes_of(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, &bytes));
  cuMemsetD16_v2_params halves{};
  halves.dstDevice = address(words_);
  halves.us = 0x1234;
  halves.N = sizeof words_ / 2;
  writers_.made(2, 2, writes_of(CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2, &halves));
  cuStreamWriteValue64_v2_params wide{};
  wide.addr = address(&words_[4]);
  wide.value = std::uint64_t{7} << 32;
  writers_.made(3, 3, writes_of(CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64_v2, &wide));
  CUstreamBatchMemOpParams operations[2] = {};
  operations[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[0].waitValue.address = address(&words_[5]);
  operations[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[1].writeValue.address = address(&words_[5]);
  operations[1].writeValue.value = 8;
  cuStreamBatchMemOp_v2_params batch{};
  batch.count = 2;
  batch.paramArray = operations;
  writers_.made(4, 4, writes_of(CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, &batch));
  const auto found = signals(now_ns(), 0);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].value, 0xababababu);
  EXPECT_EQ(found[1].value, 0x12341234u);
  EXPECT_EQ(found[2].value, 7u);
  EXPECT_EQ(found[2].writer, SignalWriter::stream_write);
  EXPECT_EQ(found[3].value, 8u);
}

TEST_F(WordWritersTest, ASourceThatCannotBeReadIsNoCrash) {
  writers_.polled({address(&words_[5]), 4096, 77, false});
  copy(1, &words_[5], reinterpret_cast<const void*>(16), 4);
  const auto found = signals(now_ns(), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].writer, SignalWriter::unknown_copy);
}

TEST(WritingCalls, AllAreDistinctAndOthersAreNone) {
  std::set<CUpti_CallbackId> ids(writing_calls().begin(), writing_calls().end());
  EXPECT_EQ(ids.size(), writing_calls().size());
  EXPECT_TRUE(is_writing_call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz));
  EXPECT_FALSE(is_writing_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  EXPECT_TRUE(writes_of(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, nullptr).empty());
}

TEST(WriterCandidatesTest, PointersDecide) {
  WriterCandidates candidates;
  std::uint64_t flag = 0x5000, data = 0x4000, other = 0x9000;
  void* of_flag[] = {&flag};
  EXPECT_FALSE(candidates.any());
  candidates.launched("raises", of_flag, 1);
  candidates.loaded({{"raises", {{0, "", true, 64}}, false}, {"fills", {{0, "", false, 0}}, false}});
  EXPECT_TRUE(candidates.any());
  candidates.launched("raises", of_flag, 2);
  void* of_data[] = {&data};
  candidates.launched("fills", of_data, 3);
  void* of_other[] = {&other};
  candidates.launched("fills", of_other, 4);
  candidates.launched("raises", nullptr, 5);
  candidates.launched("unknown", of_flag, 6);
  const WriterCandidates::Word word{0x5040, 0x4000, 0x2000};
  const auto found = candidates.new_of(word);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kernel, "raises");
  EXPECT_TRUE(found[0].exact);
  EXPECT_EQ(found[0].correlation, 2u);
  EXPECT_EQ(found[1].kernel, "fills");
  EXPECT_FALSE(found[1].exact);
  EXPECT_TRUE(candidates.new_of(word).empty());  // each is named once
  EXPECT_TRUE(candidates.new_of({0x5044, 0x5044, 4}).empty());
}

TEST(WriterCandidatesTest, KernelsOfOneNameWithOtherParametersAreNotLookedAt) {
  WriterCandidates candidates;
  candidates.loaded({{"kernel", {{0, "", true, 0}}, false}});
  candidates.loaded({{"kernel", {{3, "", true, 0}}, false}});
  std::uint64_t flag = 0x5000;
  void* of_flag[] = {&flag};
  candidates.launched("kernel", of_flag, 1);
  EXPECT_TRUE(candidates.new_of({0x5000, 0x5000, 4}).empty());
}

}  // namespace
}  // namespace wicprof::collector
