#include "collector/sources/list.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <set>

#include "collector/environment.h"
#include "collector/translate/records.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

std::vector<std::string> names(const Selection& selection) {
  std::vector<std::string> list;
  for (const auto& source : selection.sources) list.emplace_back(source->name());
  return list;
}

TEST(Sources, TheDefaultIsAllOfThem) {
  const Selection selection = select_sources(split_list("cuda,nvtx"));
  EXPECT_EQ(names(selection),
            (std::vector<std::string>{"devices", "kernels", "copies", "calls", "host_waits", "nvtx"}));
  EXPECT_TRUE(selection.unknown.empty());
}

TEST(Sources, ByNameOnceAndUnknownOnesSaidSo) {
  const Selection selection = select_sources(split_list(" kernels, kernels ,nvtx,,osrt"));
  EXPECT_EQ(names(selection), (std::vector<std::string>{"kernels", "nvtx"}));
  EXPECT_EQ(selection.unknown, std::vector<std::string>{"osrt"});
  EXPECT_TRUE(select_sources({"none"}).sources.empty());
  EXPECT_TRUE(select_sources({"none"}).unknown.empty());
}

TEST(Sources, NoKindHasTwoTakersAndNoneSerialisesKernels) {
  std::set<CUpti_ActivityKind> kinds;
  for (const auto& source : select_sources({"cuda", "nvtx"}).sources) {
    for (const CUpti_ActivityKind kind : source->kinds()) EXPECT_TRUE(kinds.insert(kind).second) << kind;
  }
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_KERNEL));
}

// A record as it lies in CUPTI's buffers: bytes.
class Raw {
 public:
  Raw() = default;
  template <class Record>
  explicit Raw(const Record& record) {
    static_assert(sizeof(Record) <= sizeof bytes_);
    std::memcpy(bytes_, &record, sizeof record);
  }
  template <class Field>
  void set(std::size_t at, Field value) {
    std::memcpy(bytes_ + at, &value, sizeof value);
  }
  const CUpti_Activity& activity() const { return *reinterpret_cast<const CUpti_Activity*>(bytes_); }
  static constexpr std::size_t kBytes = 512;

 private:
  alignas(8) std::byte bytes_[kBytes] = {};
};

// Enough of CUPTI for sources that ask it for names.
CUptiResult no_name(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = nullptr;
  return CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult a_name(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = "cudaEventSynchronize_v3020";
  return CUPTI_SUCCESS;
}
CUptiResult enable_kind(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult enable_callback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
CUptiResult result_string(CUptiResult, const char** text) {
  *text = "AN_ERROR";
  return CUPTI_SUCCESS;
}

CuptiApi api_with(decltype(&cuptiGetCallbackName) get_callback_name) {
  CuptiApi api;
  api.get_result_string = result_string;
  api.get_callback_name = get_callback_name;
  api.activity_enable = enable_kind;
  api.enable_callback = enable_callback;
  return api;
}

TEST(Sources, ACallWithoutANameSaysItsNumber) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(no_name);
  const auto calls = make_calls();
  ASSERT_TRUE(calls->enable({api, nullptr}));
  CallRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = 98'765;
  record.start = 1;
  record.end = 2;
  EXPECT_TRUE(calls->record(Raw(record).activity(), sink));
  const Delivered delivered = memory.read();
  ASSERT_EQ(delivered.all<CallEvent>().size(), 1u);
  EXPECT_EQ(delivered.text(delivered.all<CallEvent>()[0].name), "driver call 98765");
}

TEST(Sources, AKernelWithoutANameHasNone) {
  PlainRing memory;
  EventSink sink(memory.ring());
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1;
  record.end = 2;
  EXPECT_TRUE(make_kernels()->record(Raw(record).activity(), sink));
  const Delivered delivered = memory.read();
  ASSERT_EQ(delivered.all<KernelEvent>().size(), 1u);
  EXPECT_EQ(delivered.all<KernelEvent>()[0].name, 0u);
}

TEST(Sources, OneHostWaitForNestedCalls) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(a_name);
  const auto waits = make_host_waits();
  ASSERT_TRUE(waits->enable({api, nullptr}));
  CUpti_CallbackData outer{};
  outer.correlationId = 50;
  CUpti_CallbackData inner{};
  inner.correlationId = 51;
  const auto send = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_CallbackData data,
                        CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    waits->callback(domain, id, data, sink);
  };
  constexpr auto kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;
  constexpr auto kDriver = CUPTI_CB_DOMAIN_DRIVER_API;
  constexpr auto kOuter = CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020;
  constexpr auto kInner = CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize;
  send(kDriver, kInner, inner, CUPTI_API_EXIT);  // entered before anybody listened
  send(kRuntime, kOuter, outer, CUPTI_API_ENTER);
  send(kDriver, kInner, inner, CUPTI_API_ENTER);
  send(kDriver, kInner, inner, CUPTI_API_EXIT);
  send(kRuntime, kOuter, outer, CUPTI_API_EXIT);
  send(kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, outer, CUPTI_API_ENTER);  // not a waiting call
  send(kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, outer, CUPTI_API_EXIT);
  const Delivered delivered = memory.read();
  const auto events = delivered.all<HostWaitEvent>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(delivered.text(events[0].call), "cudaEventSynchronize");
  EXPECT_EQ(events[0].correlation, 50u);
  EXPECT_EQ(events[0].site, 0u);
  EXPECT_GT(events[0].begin_ns, 0);
  EXPECT_GE(events[0].end_ns, events[0].begin_ns);
  EXPECT_GE(events[0].cpu_ns, 0);
  EXPECT_EQ(events[0].status, WaitStatus::satisfied);
}

// Any bytes in any record, with its size right and its pointers valid or null, give an event in order or none.
TEST(Sources, FuzzedRecordsGiveSoundEventsOrNone) {
  std::mt19937_64 random(20'240'607);
  const CuptiApi api = api_with(no_name);
  Selection selection = select_sources({"cuda", "nvtx"});
  PlainRing memory;
  EventSink sink(memory.ring());
  std::size_t events = 0;
  for (const auto& source : selection.sources) ASSERT_TRUE(source->enable({api, nullptr}));
  for (int round = 0; round < 20'000; ++round) {
    Source& source = *selection.sources[random() % selection.sources.size()];
    if (source.kinds().empty()) continue;
    const CUpti_ActivityKind kind = source.kinds()[random() % source.kinds().size()];
    Raw raw;
    for (std::size_t at = 0; at < Raw::kBytes; at += 8) {
      switch (random() % 4) {
        case 0:
          raw.set(at, random());
          break;
        case 1:
          raw.set(at, std::uint64_t{0});
          break;
        case 2:
          raw.set(at, ~std::uint64_t{0});
          break;
        default:
          raw.set(at, random() % 1'000);
          break;
      }
    }
    raw.set(offsetof(CUpti_Activity, kind), kind);
    const char* name = random() % 2 == 0 ? nullptr : "_ZN5fuzzyEv";
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) raw.set(offsetof(KernelRecord, name), name);
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) raw.set(offsetof(DeviceRecord, name), name);
    if (kind == CUPTI_ACTIVITY_KIND_MARKER) {
      raw.set(offsetof(MarkerRecord, name), name);
      raw.set(offsetof(MarkerRecord, domain), name);
    }
    source.record(raw.activity(), sink);
    const Delivered delivered = memory.read();
    events += delivered.records.size();
    for (const auto& event : delivered.all<KernelEvent>()) EXPECT_LE(event.start_ns, event.end_ns);
    for (const auto& event : delivered.all<CopyEvent>()) EXPECT_LE(event.start_ns, event.end_ns);
    for (const auto& event : delivered.all<CallEvent>()) EXPECT_LE(event.start_ns, event.end_ns);
    for (const auto& event : delivered.all<NvtxEvent>()) EXPECT_LE(event.start_ns, event.end_ns);
    for (const auto& event : delivered.all<KernelEvent>()) EXPECT_LT(event.device, kSimtDeviceBase);
  }
  EXPECT_GT(events, 100u);  // the fuzzing does reach events
  EXPECT_EQ(RingReader(memory.ring()).corrupt(), 0u);
}

}  // namespace
}  // namespace wicprof::collector
