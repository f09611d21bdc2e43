// The source of program counter samples, with a CUPTI made of the functions below.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "collector/sources/list.h"
#include "collector/sources/sampling_period.h"
#include "protocol/environment.h"
#include "protocol/events/loss.h"
#include "protocol/events/pc_interval.h"
#include "protocol/events/pc_sample.h"
#include "tests/collector/made_cubin.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

constexpr const char* kReasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
                                    "smsp__pcsamp_sample_count", "smsp__pcsamp_warps_issue_stalled_membar"};
constexpr std::uint32_t kLongScoreboard = 10, kMembar = 13;  // 10 + index above

struct FakeSample {
  std::uint64_t module;
  const char* function;
  std::uint64_t pc;
  std::uint32_t reason, samples;
};

// The fake CUPTI's answers, set by each test.
struct Fake {
  CUptiResult enabled = CUPTI_SUCCESS, data = CUPTI_SUCCESS;
  std::deque<std::vector<FakeSample>> batches;  // one per call
  std::uint64_t dropped = 0, foreign = 0;
  bool buffer_full = false;
  std::map<std::uint64_t, std::uint32_t> lines;  // by program counter; empty: built without -lineinfo
  CUpti_ComputeCrcCallbackFunc number = nullptr;
  std::set<CUpti_CallbackId> callbacks;
  std::uint32_t period = 0;
  std::vector<std::uint32_t> reasons;
  int fetches = 0, lookups = 0, switched_off = 0;
  std::atomic<bool> hang{false}, hanging{false};
};
Fake fake;

CUptiResult get_data(CUpti_PCSamplingGetDataParams* params) {
  ++fake.fetches;
  const TimeNs deadline = now_ns() + 20 * kSecond;
  while (fake.hang && now_ns() < deadline) fake.hanging = true;
  auto& data = *static_cast<CUpti_PCSamplingData*>(params->pcSamplingData);
  data.hardwareBufferFull = fake.buffer_full ? 1 : 0;
  if (fake.data != CUPTI_SUCCESS || fake.batches.empty()) return fake.data;
  const auto batch = fake.batches.front();
  fake.batches.pop_front();
  for (const FakeSample& sample : batch) {
    CUpti_PCSamplingPCData& pc = data.pPcData[data.totalNumPcs++];
    pc.cubinCrc = sample.module;
    pc.pcOffset = sample.pc;
    pc.functionIndex = 1;
    pc.functionName = const_cast<char*>(sample.function);
    pc.stallReasonCount = 1;
    pc.stallReason[0] = {sample.reason, sample.samples};
    data.totalSamples += sample.samples;
  }
  data.droppedSamples = std::exchange(fake.dropped, 0);
  data.nonUsrKernelsTotalSamples = std::exchange(fake.foreign, 0);
  data.remainingNumPcs = fake.batches.empty() ? 0 : fake.batches.front().size();
  return CUPTI_SUCCESS;
}

CuptiApi fake_api() {
  CuptiApi api;
  api.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId id) {
    fake.callbacks.insert(id);
    return CUPTI_SUCCESS;
  };
  api.get_device_id = [](CUcontext, std::uint32_t* device) {
    *device = 3;
    return CUPTI_SUCCESS;
  };
  api.get_context_id = [](CUcontext, std::uint32_t* id) {
    *id = 5;
    return CUPTI_SUCCESS;
  };
  api.pc_sampling_enable = [](CUpti_PCSamplingEnableParams*) { return fake.enabled; };
  api.pc_sampling_set_configuration_attribute = [](CUpti_PCSamplingConfigurationInfoParams* params) {
    for (std::size_t i = 0; i < params->numAttributes; ++i) {
      const auto& info = params->pPCSamplingConfigurationInfo[i];
      if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD) {
        fake.period = info.attributeData.samplingPeriodData.samplingPeriod;
      }
      if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON) {
        const auto& reasons = info.attributeData.stallReasonData;
        fake.reasons.assign(reasons.pStallReasonIndex, reasons.pStallReasonIndex + reasons.stallReasonCount);
      }
    }
    return CUPTI_SUCCESS;
  };
  api.pc_sampling_get_num_stall_reasons = [](CUpti_PCSamplingGetNumStallReasonsParams* params) {
    *params->numStallReasons = std::size(kReasons);
    return CUPTI_SUCCESS;
  };
  api.pc_sampling_get_stall_reasons = [](CUpti_PCSamplingGetStallReasonsParams* params) {
    for (std::uint32_t i = 0; i < std::size(kReasons); ++i) {
      params->stallReasonIndex[i] = 10 + i;
      std::strcpy(params->stallReasons[i], kReasons[i]);
    }
    return CUPTI_SUCCESS;
  };
  api.pc_sampling_get_data = get_data;
  api.register_compute_crc_callback = [](CUpti_ComputeCrcCallbackFunc number) {
    fake.number = number;
    return CUPTI_SUCCESS;
  };
  api.get_sass_to_source_correlation = [](CUpti_GetSassToSourceCorrelationParams* params) {
    ++fake.lookups;
    const auto found = fake.lines.find(params->pcOffset);
    if (found == fake.lines.end()) return CUPTI_ERROR_UNKNOWN;
    params->lineNumber = found->second;
    params->fileName = strdup("poll.cu");
    params->dirName = strdup("/src");
    return CUPTI_SUCCESS;
  };
  return api;
}

class PcSamplingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::destroy_at(&fake);
    std::construct_at(&fake);
    folder_ = ::testing::TempDir() + "wicprof-pcs-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv(kModulesVariable, folder_.c_str(), 1);
    source_ = make_pc_sampling();
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv(kModulesVariable);
  }

  void start() {
    const Result<> prepared = source_->prepare({api_, nullptr});
    ASSERT_TRUE(prepared) << prepared.error().message;
    ASSERT_TRUE(source_->enable({api_, nullptr}));
    resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  void resource(CUpti_CallbackId id, void* descriptor = nullptr, int context = 1) {
    CUpti_ResourceData data{};
    data.context = reinterpret_cast<CUcontext>(reinterpret_cast<char*>(this) + context);
    data.resourceDescriptor = descriptor;
    source_->resource(id, data, sink_);
  }
  std::uint64_t load(const std::vector<char>& cubin) {
    std::uint64_t number = 0;
    fake.number(cubin.data(), cubin.size(), &number);
    return number;
  }
  Delivered finish() {
    source_->finish(sink_);
    return ring_.read();
  }

  std::string folder_;
  PlainRing ring_;
  EventSink sink_{ring_.ring()};
  CuptiApi api_ = fake_api();
  std::unique_ptr<Source> source_;
};

TEST_F(PcSamplingTest, SamplesHaveTheirFunctionReasonLineAndInterval) {
  start();
  const std::vector<char> cubin(9'000, 'x');
  const std::uint64_t module = load(cubin);
  fake.lines = {{0x90, 7}};
  fake.foreign = 3;
  fake.batches = {{{module, "_Z4spinPi", 0x90, kLongScoreboard, 40}},
                  {{module, "_Z4spinPi", 0x90, kLongScoreboard, 2}, {module, "_Z4spinPi", 0xa0, kMembar, 5}}};
  const Delivered got = finish();
  const auto samples = got.all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 2u);
  const PcSampleEvent& load_sample = samples[0].pc_offset == 0x90 ? samples[0] : samples[1];
  const PcSampleEvent& fence_sample = samples[0].pc_offset == 0x90 ? samples[1] : samples[0];
  EXPECT_EQ(load_sample.samples, 42u);
  EXPECT_EQ(load_sample.module, module);
  EXPECT_EQ(load_sample.device, cuda_device(3));
  EXPECT_EQ(got.text(load_sample.function), "spin(int*)");
  EXPECT_EQ(got.text(load_sample.symbol), "_Z4spinPi");
  EXPECT_EQ(got.text(load_sample.stall_reason), "long_scoreboard");
  EXPECT_EQ(got.text(load_sample.file), "/src/poll.cu");
  EXPECT_EQ(load_sample.line, 7u);
  EXPECT_EQ(got.text(fence_sample.stall_reason), "membar");
  EXPECT_EQ(fence_sample.file, 0u);
  EXPECT_LE(load_sample.begin_ns, load_sample.at_ns);
  const auto intervals = got.all<PcIntervalEvent>();
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_EQ(intervals[0].samples, 47u);
  EXPECT_EQ(intervals[0].foreign_samples, 3u);
  EXPECT_EQ(intervals[0].dropped, 0u);
  EXPECT_EQ(intervals[0].context, 5u);
  EXPECT_EQ(intervals[0].period_cycles, std::uint64_t{1} << fake.period);
  EXPECT_TRUE(got.all<LossEvent>().empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // the sampled module
}

// As for functions that kernels call.
TEST_F(PcSamplingTest, TakesTheNameFromTheModuleIfCuptiGivesNone) {
  start();
  const std::vector<char> cubin = made_cubin({"_Z4spinPi"});
  fake.batches = {{{load(cubin), nullptr, 0x90, kMembar, 5}}};
  const Delivered got = finish();
  const auto samples = got.all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(got.text(samples[0].symbol), "_Z4spinPi");
  EXPECT_EQ(got.text(samples[0].function), "spin(int*)");
}

TEST_F(PcSamplingTest, KeepsSamplesWithoutAnyName) {
  start();
  fake.batches = {{{load(std::vector<char>(9'000, 'x')), nullptr, 0x90, kMembar, 5}}};
  const auto samples = finish().all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].symbol, 0u);
}

TEST_F(PcSamplingTest, RequestsEachReasonOnce) {
  start();
  EXPECT_EQ(fake.reasons, (std::vector<std::uint32_t>{kLongScoreboard, kMembar}));
  EXPECT_TRUE(fake.callbacks.contains(CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
}

TEST_F(PcSamplingTest, SumsSamplesOverSeveralTicks) {
  start();
  EventBatch batch(sink_);
  for (int i = 0; i < 3; ++i) {
    fake.batches.push_back({{1, "f", 0x10, kMembar, 1}});
    source_->tick(batch);
  }
  batch.flush();
  EXPECT_TRUE(ring_.read().all<PcSampleEvent>().empty());  // the interval has not ended
  const auto samples = finish().all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].samples, 3u);
}

TEST_F(PcSamplingTest, DiscardsSamplesWhileDisabled) {
  start();
  source_->disable({api_, nullptr});
  fake.batches = {{{1, "f", 0x10, kMembar, 4}}};
  const Delivered got = finish();
  EXPECT_EQ(fake.fetches, 2);
  EXPECT_TRUE(got.all<PcSampleEvent>().empty());
  EXPECT_TRUE(got.all<PcIntervalEvent>().empty());
}

TEST_F(PcSamplingTest, ARecordingHasExactlyTheSamplesBetweenItsStartAndEnd) {
  start();
  fake.batches = {{{1, "f", 0x10, kMembar, 4}}};
  source_->disable({api_, nullptr});
  auto samples = ring_.read().all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].samples, 4u);
  fake.batches = {{{1, "f", 0x10, kMembar, 100}}};
  const TimeNs before = now_ns();
  ASSERT_TRUE(source_->enable({api_, nullptr}));
  fake.batches = {{{1, "f", 0x10, kMembar, 7}}};
  samples = finish().all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].samples, 7u);
  EXPECT_GE(samples[0].begin_ns, before);
}

TEST_F(PcSamplingTest, DisablesSamplingThatCannotBeConfigured) {
  api_.pc_sampling_set_configuration_attribute = [](CUpti_PCSamplingConfigurationInfoParams*) {
    return CUPTI_ERROR_UNKNOWN;
  };
  api_.pc_sampling_disable = [](CUpti_PCSamplingDisableParams*) {
    ++fake.switched_off;
    return CUPTI_SUCCESS;
  };
  start();
  EXPECT_EQ(fake.switched_off, 1);
  EXPECT_EQ(finish().all<LossEvent>().size(), 1u);
  EXPECT_EQ(fake.fetches, 0);
}

// CUPTI is busy with one thread's fetch and waits for a lock of the program's thread.
TEST_F(PcSamplingTest, ContextsAreCreatedAndDestroyedDuringAHangingFetch) {
  start();
  fake.hang = true;
  std::thread fetching([this] {
    EventBatch batch(sink_);
    source_->tick(batch);
  });
  const TimeNs deadline = now_ns() + 20 * kSecond;
  while (!fake.hanging && now_ns() < deadline) std::this_thread::yield();
  resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr, 2);  // returns while the fetch hangs
  resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);     // gives up
  EXPECT_TRUE(fake.hanging);
  fake.hang = false;
  fetching.join();
  fake.fetches = 0;
  EventBatch batch(sink_);
  source_->tick(batch);
  EXPECT_EQ(fake.fetches, 1);  // from the remaining context
  EXPECT_EQ(finish().all<LossEvent>().size(), 1u);
}

TEST_F(PcSamplingTest, ReportsDroppedSamples) {
  start();
  fake.dropped = 9;
  fake.batches = {{{1, "f", 0x10, kMembar, 1}}};
  const Delivered got = finish();
  ASSERT_EQ(got.all<LossEvent>().size(), 1u);
  EXPECT_EQ(got.all<LossEvent>()[0].count, 9u);
  EXPECT_EQ(got.all<LossEvent>()[0].source, LossSource::pc_sampling);
}

TEST_F(PcSamplingTest, ReportsAnOverflowOnceWithItsRemedy) {
  start();
  fake.buffer_full = true;
  fake.data = CUPTI_ERROR_OUT_OF_MEMORY;
  EventBatch batch(sink_);
  source_->tick(batch);
  source_->tick(batch);
  batch.flush();
  const Delivered got = finish();
  ASSERT_EQ(got.all<LossEvent>().size(), 1u);
  EXPECT_NE(got.text(got.all<LossEvent>()[0].reason).find(kPcSamplesVariable), std::string::npos);
}

TEST_F(PcSamplingTest, ReportsMissingPrivilegesWithTheirRemedy) {
  fake.enabled = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  start();
  fake.batches = {{{1, "f", 0x10, kMembar, 1}}};
  const Delivered got = finish();
  EXPECT_EQ(fake.fetches, 0);
  ASSERT_EQ(got.all<LossEvent>().size(), 1u);
  EXPECT_NE(got.text(got.all<LossEvent>()[0].reason).find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
}

TEST_F(PcSamplingTest, RefusesACuptiWithoutPcSampling) {
  CuptiApi old = api_;
  old.pc_sampling_enable = nullptr;
  const Result<> prepared = source_->prepare({old, nullptr});
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("CUDA 12"), std::string::npos);
}

TEST_F(PcSamplingTest, FetchesOnceMoreFromADestroyedContext) {
  start();
  fake.batches = {{{1, "f", 0x10, kMembar, 4}}};
  resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  const int fetches = fake.fetches;
  EXPECT_EQ(fetches, 1);
  const Delivered got = finish();
  EXPECT_EQ(fake.fetches, fetches);
  ASSERT_EQ(got.all<PcSampleEvent>().size(), 1u);
}

TEST_F(PcSamplingTest, FetchesAndSavesAModuleBeforeItIsUnloaded) {
  start();
  std::vector<char> cubin(9'000, 'y');
  const std::uint64_t number = load(cubin);
  fake.batches = {{{number, "f", 0x10, kMembar, 4}}};
  CUpti_ModuleResourceData module{};
  module.pCubin = cubin.data();
  module.cubinSize = cubin.size();
  resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &module);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));  // no file is written on a thread of the program
  std::fill(cubin.begin(), cubin.end(), '-');       // unloaded
  fake.lines = {{0x10, 7}};
  EventBatch batch(sink_);
  source_->tick(batch);
  batch.flush();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  const auto samples = finish().all<PcSampleEvent>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].line, 7u);
}

TEST_F(PcSamplingTest, StopsLookingUpFunctionsWithoutLines) {
  start();
  const std::vector<char> cubin(9'000, 'z');
  const std::uint64_t module = load(cubin);
  fake.batches.emplace_back();
  for (std::uint64_t pc = 0; pc < 100; ++pc) fake.batches.back().push_back({module, "f", pc * 16, kMembar, 1});
  EXPECT_EQ(finish().all<PcSampleEvent>().size(), 100u);
  EXPECT_LE(fake.lookups, 8);
}

TEST(SamplingPeriod, StaysWithinTheBudgetOnAnyGpus) {
  EXPECT_EQ(sampling_period(1'000'000, 132, 1'980'000'000, 1), 18u);
  EXPECT_EQ(sampling_period(1'000'000, 132, 1'980'000'000, 8), 21u);
  EXPECT_EQ(sampling_period(1'000'000, 1, 1'000, 1), 5u);
  EXPECT_EQ(sampling_period(0, 132, 1'980'000'000, 1), 31u);
  for (const std::uint64_t budget : {10'000ull, 300'000ull, 5'000'000ull}) {
    for (const std::uint32_t sms : {1u, 20u, 108u, 264u}) {
      const std::uint32_t n = sampling_period(budget, sms, 2'000'000'000, 2);
      EXPECT_LE(sms * 4e9 / static_cast<double>(std::uint64_t{1} << n), static_cast<double>(budget));
      EXPECT_GT(sms * 4e9 / static_cast<double>(std::uint64_t{1} << (n - 1)), static_cast<double>(budget));
    }
  }
}

}  // namespace
}  // namespace wicprof::collector
