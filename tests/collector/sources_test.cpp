#include "collector/sources/list.h"
#include "collector/waits/open_captures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "collector/cupti/records.h"
#include "collector/program/environment.h"
#include "collector/waits/own_calls.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/graph.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/loss.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/sync.h"
#include "protocol/events/uvm.h"
#include "protocol/open_work.h"
#include "protocol/trace_words.h"
#include "tests/collector/of_process.h"
#include "tests/collector/small_cupti.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

std::vector<std::string> names(const Selection& selection) {
  std::vector<std::string> list;
  for (const auto& source : selection.sources) list.emplace_back(source->name());
  return list;
}

TEST(Sources, TheDefaultExcludesSourcesThatCostTimeOrOtherRecords) {
  const Selection selection = select_sources(split_list("cuda,nvtx"), of_process());
  EXPECT_EQ(names(selection), (std::vector<std::string>{"devices", "kernels", "copies", "calls", "host_waits", "syncs",
                                                        "events", "overhead", "nvtx", "graphs"}));
  EXPECT_TRUE(selection.unknown.empty());
}

TEST(Sources, AreSelectedOnceByNameAndUnknownWordsAreReported) {
  const Selection selection = select_sources(split_list(" kernels, kernels ,nvtx,,osrt"), of_process());
  EXPECT_EQ(names(selection), (std::vector<std::string>{"devices", "kernels", "nvtx"}));
  EXPECT_EQ(selection.unknown, std::vector<std::string>{"osrt"});
  EXPECT_EQ(names(select_sources({"uvm", "graphs"}, of_process())),
            (std::vector<std::string>{"devices", "uvm", "graphs"}));
  EXPECT_EQ(names(select_sources({"nodes"}, of_process())), (std::vector<std::string>{"devices", "kernels", "copies"}));
  EXPECT_EQ(names(select_sources({"nvtx", "calls"}, of_process())),
            (std::vector<std::string>{"calls", "nvtx", "graphs"}));
  // Of a program that has used CUDA before, and may have graphs.
  EXPECT_EQ(names(select_sources({"kernels", "graphs"}, of_process(), nullptr, nullptr, true)),
            (std::vector<std::string>{"devices", "kernels"}));
  EXPECT_EQ(names(select_sources({"calls"}, of_process(), nullptr, nullptr, true)), std::vector<std::string>{"calls"});
  EXPECT_EQ(names(select_sources({"syncs"}, of_process())),
            (std::vector<std::string>{"devices", "syncs", "events", "graphs"}));
  EXPECT_TRUE(select_sources({"host"}, of_process()).sources.empty());  // recorded by the tool
  EXPECT_TRUE(select_sources({"host"}, of_process()).unknown.empty());
  EXPECT_TRUE(select_sources({"none"}, of_process()).sources.empty());
  EXPECT_TRUE(select_sources({"none"}, of_process()).unknown.empty());
}

TEST(Sources, ToolAndCollectorKnowTheSameWords) {
  std::vector<std::string> all;
  for (const TraceWord& word : kTraceWords) {
    all.emplace_back(word.word);
    EXPECT_TRUE(select_sources({std::string(word.word)}, of_process()).unknown.empty()) << word.word;
  }
  for (const std::string& name : names(select_sources(all, of_process()))) EXPECT_TRUE(is_trace_word(name)) << name;
}

TEST(Sources, NoKindHasTwoSourcesAndNoneSerializesKernels) {
  std::set<CUpti_ActivityKind> kinds;
  for (const auto& source : select_sources({"cuda", "nvtx", "uvm", "graphs", "pcsampling"}, of_process()).sources) {
    for (const CUpti_ActivityKind kind : source->kinds()) EXPECT_TRUE(kinds.insert(kind).second) << kind;
  }
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_KERNEL));
}

// A record as bytes, as in CUPTI's buffers.
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

int graphs_enabled = 0, graphs_disabled = 0;

/// How often a program with these words has whole launches of graphs enabled, until it is about to make its first graph
/// and afterwards.
std::pair<int, int> whole_graphs(const std::vector<std::string>& words, CUpti_CallbackId makes = kCaptureCalls[0]) {
  graphs_enabled = graphs_disabled = 0;
  CuptiApi api = api_with(no_name);
  api.activity_enable = [](CUpti_ActivityKind kind) {
    graphs_enabled += kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    return CUPTI_SUCCESS;
  };
  api.activity_disable = [](CUpti_ActivityKind kind) {
    graphs_disabled += kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    return CUPTI_SUCCESS;
  };
  const Selection selection = select_sources(words, of_process());
  PlainRing memory;
  EventSink sink(memory.ring());
  CUpti_CallbackData data{};
  const auto call = [&](CUpti_ApiCallbackSite site, CUpti_CallbackId id) {
    data.callbackSite = site;
    for (const auto& source : selection.sources) {
      if (source->wants_callbacks() && source->name() == "graphs")
        source->callback(CUPTI_CB_DOMAIN_DRIVER_API, id, data, sink);
    }
  };
  for (const auto& source : selection.sources) static_cast<void>(source->prepare({api, nullptr}));
  for (const auto& source : selection.sources) static_cast<void>(source->enable({api, nullptr}));
  call(CUPTI_API_ENTER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  call(CUPTI_API_EXIT, makes);
  const int before = graphs_enabled;
  for (int time = 0; time < 2; ++time) {
    call(CUPTI_API_ENTER, makes);
    for (const auto& source : selection.sources) source->disable({api, nullptr});
  }
  EXPECT_EQ(graphs_disabled, 0);
  return {before, graphs_enabled};
}

// CUPTI may end a program with graphs in which that changes while it runs. In one without graphs it would make each
// launch of a kernel slower.
TEST(Sources, GraphsAreRecordedAsAWholeFromTheFirstOnUnlessTheirNodesAreWanted) {
  constexpr std::pair kFromTheFirstOn{0, 1}, kNever{0, 0};
  EXPECT_EQ(whole_graphs({"cuda"}), kFromTheFirstOn);
  EXPECT_EQ(whole_graphs({"cuda"}, CUPTI_DRIVER_TRACE_CBID_cuGraphCreate), kFromTheFirstOn);
  EXPECT_EQ(whole_graphs({"graphs", "kernels"}), kFromTheFirstOn);
  EXPECT_EQ(whole_graphs({"host_waits"}), kFromTheFirstOn);
  EXPECT_EQ(whole_graphs({"cuda", "nodes"}), kNever);
  EXPECT_EQ(whole_graphs({"kernels"}), kNever);
}

TEST(Sources, LaunchesOfGraphsAreRecordedWhileRecordingIsOn) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(no_name);
  const auto graphs = make_graphs();
  GraphRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.start = 1;
  record.end = 2;
  {
    EventBatch batch(sink);
    EXPECT_TRUE(graphs->record(Raw(record).activity(), batch));
    ASSERT_TRUE(graphs->enable({api, nullptr}));
    EXPECT_TRUE(graphs->record(Raw(record).activity(), batch));
    graphs->disable({api, nullptr});
    EXPECT_TRUE(graphs->record(Raw(record).activity(), batch));
  }
  EXPECT_EQ(memory.read().all<GraphEvent>().size(), 1u);
}

TEST(Sources, ACallWithoutANameIsNamedByItsNumber) {
  PlainRing memory;
  EventSink sink(memory.ring());
  EventBatch batch(sink);
  const CuptiApi api = api_with(no_name);
  const auto calls = make_calls(of_process().own_calls);
  ASSERT_TRUE(calls->prepare({api, nullptr}));
  ASSERT_TRUE(calls->enable({api, nullptr}));
  CallRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = 98'765;
  record.start = 1;
  record.end = 2;
  EXPECT_TRUE(calls->record(Raw(record).activity(), batch));
  batch.flush();
  const Delivered delivered = memory.read();
  ASSERT_EQ(delivered.all<CallEvent>().size(), 1u);
  EXPECT_EQ(delivered.text(delivered.all<CallEvent>()[0].name), "driver call 98765");
}

// CUPTI delivers no record of the driver's call within a launch by the runtime, so that both kinds are needed.
TEST(Sources, EachLaunchHasACall) {
  static std::set<std::pair<bool, CUpti_CallbackId>> excluded;  // of the driver or of the runtime
  excluded.clear();
  CuptiApi api = api_with(no_name);
  api.activity_enable_driver_api = [](CUpti_CallbackId id, std::uint8_t on) {
    if (on == 0) excluded.insert({true, id});
    return CUPTI_SUCCESS;
  };
  api.activity_enable_runtime_api = [](CUpti_CallbackId id, std::uint8_t on) {
    if (on == 0) excluded.insert({false, id});
    return CUPTI_SUCCESS;
  };
  constexpr std::pair<bool, CUpti_CallbackId> kSetDevice{false, CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020};
  PlainRing memory;
  EventSink sink(memory.ring());
  EventBatch batch(sink);
  const auto calls = make_calls(of_process().own_calls);
  ASSERT_TRUE(calls->prepare({api, nullptr}));
  ASSERT_TRUE(calls->enable({api, nullptr}));
  EXPECT_FALSE(excluded.contains(kSetDevice));  // it may make a context
  calls->tick(batch);                           // there is one
  EXPECT_TRUE(excluded.contains(kSetDevice));
  excluded.clear();
  ASSERT_TRUE(calls->enable({api, nullptr}));  // the recording begins once more
  EXPECT_TRUE(excluded.contains(kSetDevice));
  EXPECT_TRUE(excluded.contains({true, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute}));
  EXPECT_FALSE(excluded.contains({false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}));
  EXPECT_FALSE(excluded.contains({true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel}));
  EXPECT_FALSE(excluded.contains({true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}));
  EXPECT_FALSE(excluded.contains({false, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000}));
}

TEST(Sources, AKernelMayHaveNoName) {
  PlainRing memory;
  EventSink sink(memory.ring());
  EventBatch batch(sink);
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1;
  record.end = 2;
  EXPECT_TRUE(make_kernels(of_process().open_kernels)->record(Raw(record).activity(), batch));
  batch.flush();
  const Delivered delivered = memory.read();
  ASSERT_EQ(delivered.all<KernelEvent>().size(), 1u);
  EXPECT_EQ(delivered.all<KernelEvent>()[0].name, 0u);
}

TEST(Sources, NestedCallsAreOneHostWait) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(a_name);
  const auto waits = make_host_waits(of_process());
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
  send(kDriver, kInner, inner, CUPTI_API_EXIT);  // entered before callbacks were enabled
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
  EXPECT_GT(events[0].begin_ns, 0);
  EXPECT_GE(events[0].end_ns, events[0].begin_ns);
  EXPECT_GE(events[0].cpu_ns, 0);
  EXPECT_EQ(events[0].status, WaitStatus::satisfied);
}

TEST(Sources, AProcessThatSharesMemoryOfAGpuIsKnownAtOnce) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const auto work = std::make_unique<OpenWork>();
  const auto waits = make_host_waits(of_process(), nullptr, work.get());
  const cuIpcGetMemHandle_params params{};
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  CUpti_CallbackData data{};
  data.functionParams = &params;
  data.functionReturnValue = &result;
  const auto call = [&](CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    waits->callback(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, data, sink);
  };
  const auto own = static_cast<std::uint32_t>(getpid());
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(site);
  EXPECT_FALSE(is_sharer(*work, own)) << "the call failed";
  result = CUDA_SUCCESS;
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(site);
  EXPECT_TRUE(is_sharer(*work, own));
}

// A recording may begin long after the first context.
TEST(Sources, ATickBeforeTheRecordingBeginsOnlyExcludesCalls) {
  CuptiApi api = api_with(no_name);
  PlainRing memory;
  EventSink sink(memory.ring());
  EventBatch batch(sink);
  const auto calls = make_calls(of_process().own_calls);
  ASSERT_TRUE(calls->prepare({api, nullptr}));
  calls->tick(batch);
  ASSERT_TRUE(calls->enable({api, nullptr}));
}

TEST(Sources, CallsOmitWhatWicProfAsksWhileItWaitsInACallsPlace) {
  PlainRing memory;
  EventSink sink(memory.ring());
  CuptiApi api = api_with(no_name);
  const auto calls = make_calls(of_process().own_calls);
  ASSERT_TRUE(calls->prepare({api, nullptr}));
  ASSERT_TRUE(calls->enable({api, nullptr}));
  CallRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.threadId = 77;
  {
    EventBatch batch(sink);
    const auto at = [&](CUpti_CallbackId id, std::uint32_t thread, TimeNs time) {
      record.cbid = id;
      record.threadId = thread;
      record.start = static_cast<std::uint64_t>(time);
      record.end = record.start + 100;
      EXPECT_TRUE(calls->record(Raw(record).activity(), batch));
      calls->end_of_buffer(batch);
    };
    const TimeNs before = now_ns() - 1;
    {
      const OwnCalls::Span own(of_process().own_calls, 77);
      at(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, 77, now_ns());  // ours; the span is still open
      at(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 77, now_ns());
    }
    at(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, 77, before);
    at(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, 77, now_ns() + 1);
    at(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, 78, now_ns());
  }
  EXPECT_EQ(memory.read().all<CallEvent>().size(), 4u);
}

// Of a thread that polls, all equal queries of a buffer are one event: not those behind another call, another result or
// a longer pause, nor those of another thread.
TEST(Sources, EqualQueriesAreOneEvent) {
  PlainRing memory;
  EventSink sink(memory.ring());
  {
    EventBatch batch(sink);
    const CuptiApi api = api_with([](CUpti_CallbackDomain, std::uint32_t id, const char** name) {
      *name = id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020 ? "cudaDeviceSynchronize" : "query";
      return CUPTI_SUCCESS;
    });
    const auto calls = make_calls(of_process().own_calls);
    ASSERT_TRUE(calls->prepare({api, nullptr}));
    ASSERT_TRUE(calls->enable({api, nullptr}));
    const auto at = [&](bool driver, std::uint32_t id, std::uint32_t thread, std::uint64_t time, std::uint32_t result) {
      CallRecord record{};
      record.kind = driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
      record.cbid = id;
      record.threadId = thread;
      record.start = time;
      record.end = time + (driver ? 500 : 1'000);
      record.returnValue = result;
      EXPECT_TRUE(calls->record(Raw(record).activity(), batch));
    };
    const auto asks = [&](std::uint32_t thread, std::uint64_t time, std::uint32_t result) {
      at(true, CUPTI_DRIVER_TRACE_CBID_cuEventQuery, thread, time + 200, result);
      at(false, CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, thread, time, result);
    };
    for (std::uint64_t i = 0; i < 100; ++i) {
      asks(7, 1'000'000 + i * 2'000, 600);
      asks(8, 1'000'300 + i * 2'000, 600);
    }
    asks(7, 1'200'000, 0);
    asks(8, 1'211'000, 600);  // 10.7 us later
    at(false, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, 8, 1'212'000, 0);
    asks(8, 1'213'000, 600);
    calls->end_of_buffer(batch);
    asks(8, 1'215'000, 600);
    calls->end_of_buffer(batch);
  }
  const Delivered delivered = memory.read();
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::array<std::int64_t, 4>>> seen;
  for (const CallEvent& call : delivered.all<CallEvent>())
    seen[{call.thread, call.api == CallApi::driver}].push_back({call.start_ns, call.end_ns, call.queries, call.result});
  using Rows = std::vector<std::array<std::int64_t, 4>>;
  EXPECT_EQ((seen[{7, false}]), (Rows{{1'000'000, 1'199'000, 100, 600}, {1'200'000, 1'201'000, 0, 0}}));
  EXPECT_EQ((seen[{7, true}]), (Rows{{1'000'200, 1'198'700, 100, 600}, {1'200'200, 1'200'700, 0, 0}}));
  EXPECT_EQ((seen[{8, false}]), (Rows{{1'000'300, 1'199'300, 100, 600},
                                      {1'211'000, 1'212'000, 0, 600},
                                      {1'212'000, 1'213'000, 0, 0},
                                      {1'213'000, 1'214'000, 0, 600},
                                      {1'215'000, 1'216'000, 0, 600}}));
  EXPECT_EQ((seen[{8, true}].size()), 4u);
}

TEST(Sources, AReusedAddressOfANameIsNoticed) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const auto kernels = make_kernels(of_process().open_kernels);
  char name[16] = "first";
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1;
  record.end = 2;
  record.name = name;
  {
    EventBatch batch(sink);
    EXPECT_TRUE(kernels->record(Raw(record).activity(), batch));
    EXPECT_TRUE(kernels->record(Raw(record).activity(), batch));
    std::strcpy(name, "second");
    EXPECT_TRUE(kernels->record(Raw(record).activity(), batch));
  }
  const Delivered delivered = memory.read();
  const auto events = delivered.all<KernelEvent>();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(delivered.text(events[0].name), "first");
  EXPECT_EQ(delivered.text(events[1].name), "first");
  EXPECT_EQ(delivered.text(events[2].name), "second");
}

// The program's threads read them in callbacks.
TEST(Sources, NamesOfWaitingCallsStayOnceCallbacksCome) {
  static bool callbacks_come = false;
  CuptiApi api = api_with([](CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    EXPECT_FALSE(callbacks_come);
    return a_name(domain, id, name);
  });
  api.enable_callback = [](std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
    callbacks_come |= on != 0;
    return CUPTI_SUCCESS;
  };
  const auto waits = make_host_waits(of_process());
  ASSERT_TRUE(waits->enable({api, nullptr}));
  EXPECT_TRUE(callbacks_come);
  waits->disable({api, nullptr});
  ASSERT_TRUE(waits->enable({api, nullptr}));
}

TEST(Sources, ASynchronousCopyIsAHostWait) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(a_name);
  const auto waits = make_host_waits(of_process());
  ASSERT_TRUE(waits->enable({api, nullptr}));
  int to = 0;
  const cudaMemcpy_v3020_params params{&to, nullptr, sizeof to, cudaMemcpyDeviceToHost};
  CUpti_CallbackData data{};
  data.correlationId = 1;
  data.functionParams = &params;
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    data.callbackSite = site;
    waits->callback(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, data, sink);
  }
  const auto events = memory.read().all<HostWaitEvent>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(events[0].involuntary_switches, HostWaitEvent::kUnknownSwitches);
}

TEST(Sources, AWaitInWhichRecordingStopsIsForgotten) {
  PlainRing memory;
  EventSink sink(memory.ring());
  const CuptiApi api = api_with(a_name);
  const auto waits = make_host_waits(of_process());
  const auto send = [&](CUpti_CallbackId id, std::uint32_t correlation, const void* params,
                        CUpti_ApiCallbackSite site) {
    CUpti_CallbackData data{};
    data.correlationId = correlation;
    data.functionParams = params;
    data.callbackSite = site;
    waits->callback(CUPTI_CB_DOMAIN_RUNTIME_API, id, data, sink);
  };
  ASSERT_TRUE(waits->enable({api, nullptr}));
  int to = 0;
  const cudaMemcpy_v3020_params copy{&to, nullptr, sizeof to, cudaMemcpyDeviceToHost};
  send(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, 1, &copy, CUPTI_API_ENTER);
  waits->disable({api, nullptr});  // its end comes without a callback
  ASSERT_TRUE(waits->enable({api, nullptr}));
  for (const std::uint32_t correlation : {2u, 3u}) {
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT})
      send(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, correlation, nullptr, site);
  }
  const auto events = memory.read().all<HostWaitEvent>();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].correlation, 2u);
}

TEST(Sources, CallsOfThreadsThatHaveEndedAreKeptForSomeOfThem) {
  OwnCalls& own = of_process().own_calls;
  constexpr std::uint32_t kFirst = 1'000'000, kThreads = 200;
  TimeNs first = 0, last = 0;
  for (std::uint32_t thread = kFirst; thread < kFirst + kThreads; ++thread) {
    const OwnCalls::Span span(own, thread);
    (thread == kFirst ? first : last) = now_ns();
    own.thread_ended(thread);
  }
  EXPECT_FALSE(own.made(kFirst, first));
  EXPECT_TRUE(own.made(kFirst + kThreads - 1, last));
}

TEST(Sources, AnOpenRangeEndsWithTheRecording) {
  PlainRing memory;
  EventSink sink(memory.ring());
  CuptiApi api = api_with(no_name);
  api.activity_disable = enable_kind;
  const auto nvtx = make_nvtx();
  ASSERT_TRUE(nvtx->enable({api, nullptr}));
  MarkerRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER;
  record.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  record.name = "step";
  record.timestamp = static_cast<std::uint64_t>(now_ns());
  {
    EventBatch batch(sink);
    EXPECT_TRUE(nvtx->record(Raw(record).activity(), batch));
  }
  nvtx->disable({api, nullptr});
  const TimeNs ended = now_ns();
  while (now_ns() <= ended) {
  }
  nvtx->finish(sink);
  const auto ranges = memory.read().all<NvtxEvent>();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_LE(ranges[0].end_ns, ended);
  EXPECT_GE(ranges[0].end_ns, ranges[0].start_ns);
}

TEST(Sources, ManagedMemoryFollowsEnableAndDisable) {
  static bool enabled;
  enabled = false;
  CuptiApi api = api_with(no_name);
  api.activity_enable = [](CUpti_ActivityKind) {
    enabled = true;
    return CUPTI_SUCCESS;
  };
  api.activity_disable = [](CUpti_ActivityKind) {
    enabled = false;
    return CUPTI_SUCCESS;
  };
  const auto uvm = make_uvm();
  ASSERT_TRUE(uvm->prepare({api, nullptr}));
  ASSERT_TRUE(uvm->context_created({api, nullptr}));
  EXPECT_FALSE(enabled);
  ASSERT_TRUE(uvm->enable({api, nullptr}));  // recording begins after the first context
  EXPECT_TRUE(enabled);
  uvm->disable({api, nullptr});
  EXPECT_FALSE(enabled);
}

}  // namespace
}  // namespace wicprof::collector
