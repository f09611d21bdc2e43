// The whole library, loaded into a program: without a session, without CUPTI, without a driver, and with a fake CUPTI
// that the test controls.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "protocol/environment.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/device.h"
#include "protocol/events/graph.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/loss.h"
#include "protocol/events/notice.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/process.h"
#include "protocol/events/site.h"
#include "protocol/events/sync.h"
#include "protocol/events/uvm.h"
#include "protocol/session.h"
#include "tests/collector/fake_cupti.h"
#include "tests/collector/record_bytes.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Outcome {
  int status = -1;     // exit status, or 128 + signal
  std::string output;  // stdout and stderr
};

Outcome run_guest(const std::string& scenario, const Variables& variables, const char* guest = GUEST) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (const char* name : {kSessionVariable, kTraceVariable, kCuptiPathVariable, kFlushVariable,
                             kNvtxInjectionVariable, kNvtxOpenVariable, kFakeVariable}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    alarm(60);  // a hanging guest fails instead of blocking the test
    execl(guest, guest, INJECT_LIBRARY, scenario.c_str(), FAKE_CUPTI_LIBRARY, nullptr);
    _exit(127);
  }
  close(ends[1]);
  Outcome outcome;
  std::array<char, 4096> bytes;
  for (ssize_t n; (n = read(ends[0], bytes.data(), bytes.size())) > 0;) outcome.output.append(bytes.data(), n);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// As many waits from 0 on.
using Numbers = std::vector<std::uint32_t>;
Numbers numbers(std::uint32_t count) {
  Numbers all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}
constexpr std::uint32_t kTurns = 20;  // as in guest.cpp

/// The iterations of the threads that waited at a place. One thread's waits may be in the trace before another's.
using ByThread = std::map<std::uint32_t, Numbers>;
std::multiset<Numbers> of_threads(const ByThread& threads) {
  std::multiset<Numbers> all;
  for (const auto& [thread, iterations] : threads) all.insert(iterations);
  return all;
}
using OfThreads = std::multiset<Numbers>;

class Inject : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "wicprof-inject-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    SessionOptions options;
    options.name = "inject";
    options.app = "guest";
    options.rings[0] = {2, std::size_t{4} << 20};
    Result<SessionOwner> session = SessionOwner::create(options);
    ASSERT_TRUE(session) << session.error().message;
    session_.emplace(*std::move(session));
  }
  void TearDown() override {
    session_.reset();
    rmdir((folder_ + "/wic-prof").c_str());
    rmdir(folder_.c_str());
  }

  Variables with_session(Variables more = {}) const {
    more.emplace_back(kSessionVariable, session_->path());
    return more;
  }
  Variables with_fake(const std::string& options = "", Variables more = {}) const {
    more.emplace_back(kCuptiPathVariable, FAKE_CUPTI_LIBRARY);
    more.emplace_back(kFakeVariable, options);
    return with_session(std::move(more));
  }
  // Runs the guest and expects it to succeed without output.
  Delivered deliver(const std::string& scenario, const Variables& variables, const char* guest = GUEST) {
    const Outcome outcome = run_guest(scenario, variables, guest);
    EXPECT_EQ(outcome.status, 0) << scenario;
    EXPECT_EQ(outcome.output, "") << scenario;
    return Delivered(session_->map().ring(0));
  }
  static std::vector<std::string> reasons(const Delivered& delivered) {
    std::vector<std::string> list;
    for (const LossEvent& loss : delivered.all<LossEvent>()) list.push_back(delivered.text(loss.reason));
    return list;
  }
  bool claimed(std::size_t ring) const { return session_->map().ring(ring)->owner.load() != 0; }

  std::string folder_;
  std::optional<SessionOwner> session_;
};

TEST_F(Inject, WithoutASessionNothingHappens) {
  deliver("bare", {});
  deliver("bare", {{kSessionVariable, ""}});
  deliver("bare", {{kSessionVariable, folder_ + "/none.session"}});
  deliver("bare", {{kSessionVariable, "/proc/self/exe"}});
  EXPECT_FALSE(claimed(0));
}

TEST_F(Inject, MissingCuptiIsReportedOnce) {
  const Delivered delivered = deliver("bare", with_session({{kCuptiPathVariable, folder_ + "/libnone.so"}}));
  const auto losses = delivered.all<LossEvent>();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].source, LossSource::cupti);
  EXPECT_GE(losses[0].count, 1u);
  const std::string reason = delivered.text(losses[0].reason);
  EXPECT_NE(reason.find("libnone.so"), std::string::npos) << reason;
  EXPECT_NE(reason.find(kCuptiPathVariable), std::string::npos) << reason;
  EXPECT_TRUE(claimed(0));
  EXPECT_FALSE(claimed(1));
}

TEST_F(Inject, UsesTheCuptiThatNvtxUses) {
  const std::string path = folder_ + "/libcupti.so.13";
  ASSERT_EQ(symlink(FAKE_CUPTI_LIBRARY, path.c_str()), 0);
  const Delivered delivered = deliver("exit", with_session({{kNvtxInjectionVariable, path}}));
  EXPECT_EQ(delivered.all<KernelEvent>().size(), 1u);  // from the fake CUPTI
  unlink(path.c_str());
}

TEST_F(Inject, NamesALibraryThatIsNotCupti) {
  const Delivered delivered = deliver("bare", with_session({{kCuptiPathVariable, INJECT_LIBRARY}}));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("lacks cuptiGetVersion"), std::string::npos) << reasons(delivered)[0];
}

TEST_F(Inject, AnOldCuptiIsRefused) {
  const Delivered delivered = deliver("bare", with_fake("old"));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("older than CUDA 11.8"), std::string::npos) << reasons(delivered)[0];
}

TEST_F(Inject, ReportsThatTheRealCuptiHasNoDriver) {
#ifdef REAL_CUPTI_LIBRARY
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this machine has a driver";
  const Delivered delivered = deliver("bare", with_session({{kCuptiPathVariable, REAL_CUPTI_LIBRARY}}));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("cuptiSubscribe failed: CUPTI_ERROR"), std::string::npos)
      << reasons(delivered)[0];
  EXPECT_NE(reasons(delivered)[0].find("wic-prof doctor"), std::string::npos);
#else
  GTEST_SKIP() << "this build found no libcupti";
#endif
}

TEST_F(Inject, SwitchesOffIfSubscriptionOrClockIsRefused) {
  for (const char* function : {"cuptiSubscribe", "cuptiActivityRegisterTimestampCallback"}) {
    const std::string failing = std::string("fail=") + function;
    TearDown();
    SetUp();
    const Delivered delivered = deliver("running", with_fake(failing));
    ASSERT_EQ(reasons(delivered).size(), 1u);
    EXPECT_NE(reasons(delivered)[0].find(std::string(function) + " failed: CUPTI_ERROR_FROM_THE_TEST"),
              std::string::npos)
        << reasons(delivered)[0];
    EXPECT_TRUE(delivered.all<KernelEvent>().empty());
  }
}

// CUPTI serves one subscriber: a refused collector must not keep the program's own profiler out.
TEST_F(Inject, GivesTheSubscriptionBackIfItCannotRecord) {
  deliver("subscription given back", with_fake("fail=cuptiActivityRegisterTimestampCallback"));
}

TEST_F(Inject, NamesTheToolThatHasSubscribedAndTheCure) {
  const Delivered delivered = deliver("bare", with_fake("fail=cuptiSubscribe other=CUPTI_for_torch"));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("in use by 'CUPTI_for_torch'"), std::string::npos) << reasons(delivered)[0];
  EXPECT_NE(reasons(delivered)[0].find("--trace host"), std::string::npos) << reasons(delivered)[0];
}

TEST_F(Inject, LeavesCuptiToTheProgramWithoutASource) {
  for (const char* words : {"none", "host", "none,host"}) {
    TearDown();
    SetUp();
    const Delivered delivered = deliver("CUPTI not even loaded", with_fake("", {{kTraceVariable, words}}));
    EXPECT_TRUE(reasons(delivered).empty());
    EXPECT_EQ(delivered.all<ProcessEvent>().size(), 1u);
    EXPECT_EQ(run_guest("nvtx", with_fake("", {{kTraceVariable, words}})).status, 5);
  }
}

TEST_F(Inject, ReportsUnknownWordsWithoutASource) {
  const Delivered delivered = deliver("CUPTI not even loaded", with_fake("", {{kTraceVariable, "osrt"}}));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("'osrt'"), std::string::npos);
}

TEST_F(Inject, SaysThatTheProgramsOwnProfilerIsShutOut) {
  const Delivered delivered = deliver("program with CUPTI", with_fake());
  const auto notices = delivered.all<NoticeEvent>();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].severity, NoticeSeverity::info);
  EXPECT_NE(delivered.text(notices[0].text).find("--trace host"), std::string::npos);
  TearDown();
  SetUp();
  EXPECT_TRUE(deliver("program with CUPTI", with_fake("", {{kTraceVariable, "none"}})).all<NoticeEvent>().empty());
  TearDown();
  SetUp();
  EXPECT_TRUE(deliver("bare", with_fake()).all<NoticeEvent>().empty());
}

TEST_F(Inject, ASourceThatCannotBeEnabledIsReportedAndTheOthersRecord) {
  const std::string kernels = std::to_string(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const Delivered delivered = deliver("exit", with_fake("fail_kind=" + kernels));
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_EQ(reasons(delivered)[0].find("kernels not recorded"), 0u) << reasons(delivered)[0];
  EXPECT_TRUE(delivered.all<KernelEvent>().empty());
  EXPECT_EQ(delivered.all<CopyEvent>().size(), 3u);
}

void expect_everything(const Delivered& delivered) {
  const auto devices = delivered.all<DeviceEvent>();
  ASSERT_EQ(devices.size(), 1u);  // without the hidden device
  EXPECT_EQ(delivered.text(devices[0].name), "Test GPU");
  EXPECT_EQ(devices[0].sm_count, 132u);
  EXPECT_EQ(delivered.text(devices[0].uuid), "GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
  auto kernels = delivered.all<KernelEvent>();
  std::erase_if(kernels, [](const KernelEvent& kernel) { return kernel.graph != 0; });
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(delivered.text(kernels[0].name), "work(float*)");
  EXPECT_EQ(kernels[0].start_ns, 1'200);
  const auto calls = delivered.all<CallEvent>();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(delivered.text(calls[0].name), "cudaLaunchKernel");
  const auto copies = delivered.all<CopyEvent>();
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_EQ(copies[0].kind, CopyKind::host_to_device);
  EXPECT_EQ(copies[1].kind, CopyKind::peer_to_peer);
  EXPECT_EQ(copies[2].kind, CopyKind::memset);
  const auto ranges = delivered.all<NvtxEvent>();
  ASSERT_GE(ranges.size(), 1u);
  EXPECT_EQ(delivered.text(ranges[0].name), "phase");
  EXPECT_EQ(delivered.text(ranges[0].domain), "solver");
  EXPECT_EQ(ranges[0].start_ns, 900);
  EXPECT_EQ(ranges[0].end_ns, 2'000);
  EXPECT_TRUE(delivered.all<LossEvent>().empty());
}

TEST_F(Inject, EverythingArrivesByTheProgramsExit) {
  const Delivered delivered = deliver("exit", with_fake());
  expect_everything(delivered);
  const auto waits = delivered.all<HostWaitEvent>();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(delivered.text(waits[0].call), "cudaDeviceSynchronize");
  EXPECT_EQ(waits[0].correlation, 40u);
  const auto ranges = delivered.all<NvtxEvent>();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(delivered.text(ranges[1].name), "open at exit");
  EXPECT_GE(ranges[1].end_ns, ranges[1].start_ns);
}

TEST_F(Inject, EachPlaceThatWaitsIsASite) {
  const Delivered delivered = deliver("places", with_fake());
  std::map<SiteId, std::string> names;
  for (const SiteEvent& site : delivered.all<SiteEvent>()) {
    EXPECT_EQ(site.side, SiteSide::host);
    EXPECT_EQ(delivered.text(site.place).find("wicprof_collector_guest+0x"), 0u) << delivered.text(site.place);
    names[site.site] = delivered.text(site.name);
    EXPECT_NE(find_site(session_->map().control(), names[site.site].c_str()), 0u);  // a toggle finds it
  }
  std::map<std::string, std::vector<std::uint32_t>> iterations;
  for (const HostWaitEvent& wait : delivered.all<HostWaitEvent>()) {
    EXPECT_EQ(delivered.text(wait.call), "cudaStreamSynchronize");
    EXPECT_EQ(wait.awaited, Awaited::stream);
    iterations[names.at(wait.site)].push_back(wait.iteration);
  }
  const std::map<std::string, Numbers> expected = {{"cudaStreamSynchronize in first_step", {0, 1, 2, 0}},
                                                   {"cudaStreamSynchronize in second_step", {0, 1, 2}},
                                                   {"cudaStreamSynchronize in second_step#2", {0, 1, 2}}};
  EXPECT_EQ(iterations, expected);
}

// The guest checks that the runtime's callbacks end, or do not.
TEST_F(Inject, WaitsKeepTheirSitesWhereTheDriversCallbacksSuffice) {
  for (const char* scenario : {"nested calls", "nested calls with two ids"}) {
    const Delivered delivered = deliver(scenario, with_fake("", {{kFlushVariable, "10"}}));
    std::map<SiteId, std::string> names;
    for (const SiteEvent& site : delivered.all<SiteEvent>()) names[site.site] = delivered.text(site.name);
    std::map<std::string, ByThread> iterations;
    std::map<std::uint32_t, HostWaitEvent> last;  // of each thread
    for (const HostWaitEvent& wait : delivered.all<HostWaitEvent>()) {
      if (const auto before = last.find(wait.thread); before != last.end()) {
        EXPECT_GE(wait.begin_ns, before->second.end_ns);
        if (wait.correlation != 7) {
          EXPECT_GT(wait.correlation, before->second.correlation);
        }
      }
      last[wait.thread] = wait;
      EXPECT_EQ(wait.awaited, Awaited::event);
      EXPECT_GE(wait.end_ns, wait.begin_ns);
      if (names.at(wait.site).find("driver_step") == std::string::npos) {
        EXPECT_EQ(delivered.text(wait.call), "cudaEventSynchronize");
      }
      iterations[names.at(wait.site)][wait.thread].push_back(wait.iteration);
    }
    ASSERT_EQ(iterations.size(), 3u) << scenario;
    EXPECT_EQ(of_threads(iterations["cudaEventSynchronize in waiting_step"]), (OfThreads{numbers(6 + kTurns), {0}}))
        << scenario;
    EXPECT_EQ(of_threads(iterations["cudaEventSynchronize in other_step"]), OfThreads{numbers(kTurns + 1)}) << scenario;
    session_.reset();
    SetUp();
  }
}

// A program that is shipped without names, with the runtime linked in. The guest checks that the runtime's callbacks
// end.
TEST_F(Inject, WaitsOfAProgramWithoutNamesKeepTheirSites) {
  const Delivered delivered = deliver("nested calls", with_fake("", {{kFlushVariable, "10"}}), GUEST_WITHOUT_NAMES);
  std::map<SiteId, ByThread> iterations;
  for (const HostWaitEvent& wait : delivered.all<HostWaitEvent>()) {
    if (wait.site == 0) continue;  // the program's own call of the driver: nobody knows whether a runtime makes it
    EXPECT_EQ(delivered.text(wait.call), "cudaEventSynchronize");
    iterations[wait.site][wait.thread].push_back(wait.iteration);
  }
  std::vector<OfThreads> found;
  for (const auto& [site, threads] : iterations) found.push_back(of_threads(threads));
  EXPECT_EQ(found, (std::vector<OfThreads>{{numbers(6 + kTurns), {0}}, {numbers(kTurns + 1)}}));
}

TEST_F(Inject, CompleteRecordsArriveWithoutExitHandlers) {
  expect_everything(deliver("_exit", with_fake("", {{kFlushVariable, "5"}})));
}

TEST_F(Inject, FlushesBeforeADeviceReset) {
  EXPECT_EQ(deliver("reset", with_fake("", {{kFlushVariable, "0"}})).all<KernelEvent>().size(), 1u);
}

TEST_F(Inject, DoesNotFlushBeforeTheFirstContext) {
  deliver("no flush before a context", with_fake("", {{kFlushVariable, "1"}}));
}

TEST_F(Inject, CountsAKernelStillRunningAtExitAsLost) {
  const Delivered delivered = deliver("running", with_fake());
  EXPECT_EQ(delivered.all<KernelEvent>().size(), 1u);
  const auto losses = delivered.all<LossEvent>();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].count, 1u);
  EXPECT_EQ(delivered.text(losses[0].reason).find("kernels without usable times"), 0u);
}

TEST_F(Inject, CountsRecordsDroppedByCupti) {
  const auto losses = deliver("running", with_fake("dropped=7")).all<LossEvent>();
  EXPECT_EQ(std::count_if(losses.begin(), losses.end(), [](const LossEvent& loss) { return loss.count == 7; }), 1);
}

// The same records in the layout of each CUPTI version: only the fields that a layout lacks are missing.
TEST_F(Inject, ReadsEveryKindOfRecordInEveryLayout) {
  for (const std::uint32_t version : kCuptiVersions) {
    SCOPED_TRACE(version);
    TearDown();
    SetUp();
    const Delivered delivered = deliver(
        "every kind", with_fake("version=" + std::to_string(version), {{kTraceVariable, "cuda,nvtx,uvm,graphs,host"}}));
    expect_everything(delivered);
    const bool sync_ids = version >= 26;
    const auto syncs = delivered.all<SyncEvent>();
    ASSERT_EQ(syncs.size(), 1u);
    EXPECT_EQ(syncs[0].kind, SyncKind::stream_waits_for_event);
    EXPECT_EQ(syncs[0].start_ns, 2'000);
    EXPECT_EQ(syncs[0].end_ns, 2'100);
    EXPECT_EQ(syncs[0].stream, 7u);
    EXPECT_EQ(syncs[0].event, 3u);
    EXPECT_EQ(syncs[0].event_sync, sync_ids ? 77u : 0u);
    EXPECT_EQ(syncs[0].result, sync_ids ? 1 : 0);
    const auto events = delivered.all<CudaEventEvent>();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].event, 3u);
    EXPECT_EQ(events[0].stream, 8u);
    EXPECT_EQ(events[0].event_sync, sync_ids ? 77u : 0u);
    EXPECT_EQ(events[0].device, sync_ids ? 0 : kHostDevice);
    const auto graphs = delivered.all<GraphEvent>();
    ASSERT_EQ(graphs.size(), 1u);
    EXPECT_EQ(graphs[0].graph, 9u);
    EXPECT_EQ(graphs[0].end_ns, 3'500);
    const auto kernels = delivered.all<KernelEvent>();
    EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                            [&](const KernelEvent& kernel) {
                              return kernel.graph == 9 && kernel.graph_node == 0 && kernel.end_ns == 3'500 &&
                                     delivered.text(kernel.name) == "CUDA graph 9";
                            }),
              1);
    const auto overheads = delivered.all<OverheadEvent>();
    ASSERT_EQ(overheads.size(), 1u);
    EXPECT_EQ(delivered.text(overheads[0].what), "command buffer full");
    EXPECT_EQ(overheads[0].thread, 4'242u);
    EXPECT_EQ(overheads[0].correlation, version >= 20 ? 11u : 0u);
    const auto uvm = delivered.all<UvmEvent>();
    ASSERT_EQ(uvm.size(), 1u);
    EXPECT_EQ(uvm[0].kind, UvmKind::thrashing);
    EXPECT_EQ(uvm[0].device, 2);
    EXPECT_EQ(uvm[0].address, 0x7f00'0000'1000u);
    EXPECT_EQ(uvm[0].bytes, 65'536u);
    EXPECT_EQ(uvm[0].end_ns, 4'000);
    const auto ranges = delivered.all<NvtxEvent>();
    const auto mark =
        std::find_if(ranges.begin(), ranges.end(), [](const auto& e) { return e.kind == NvtxKind::mark; });
    ASSERT_NE(mark, ranges.end());
    EXPECT_EQ(delivered.text(mark->name), "coloured");
    EXPECT_EQ(mark->has_colour, 1);
    EXPECT_EQ(mark->colour, 0xff336699);
    EXPECT_EQ(mark->category, 6u);
  }
}

TEST_F(Inject, RecordsManagedMemoryWithoutAllocations) {  // as for __managed__ variables
  const Delivered delivered = deliver("managed later", with_fake("", {{kTraceVariable, "uvm"}, {kFlushVariable, "2"}}));
  EXPECT_EQ(delivered.all<UvmEvent>().size(), 1u);
  EXPECT_TRUE(reasons(delivered).empty());
}

TEST_F(Inject, ReportsUnsupportedManagedMemoryOnce) {
  const Delivered delivered = deliver("every kind", with_fake("no_uvm", {{kTraceVariable, "cuda,uvm"}}));
  EXPECT_TRUE(delivered.all<UvmEvent>().empty());
  EXPECT_EQ(delivered.all<KernelEvent>().size(), 2u);  // and a graph
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_EQ(reasons(delivered)[0].find("uvm not recorded"), 0u) << reasons(delivered)[0];
  EXPECT_NE(reasons(delivered)[0].find("leave uvm out"), std::string::npos) << reasons(delivered)[0];
}

TEST_F(Inject, RecordsStartsOfRangesOnRequest) {
  EXPECT_TRUE(deliver("exit", with_fake()).all<NvtxOpenEvent>().empty());
  TearDown();
  SetUp();
  const Delivered delivered = deliver("exit", with_fake("", {{kNvtxOpenVariable, "1"}}));
  const auto opened = delivered.all<NvtxOpenEvent>();
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(delivered.text(opened[0].name), "phase");
  EXPECT_EQ(delivered.text(opened[0].domain), "solver");
  EXPECT_EQ(opened[0].start_ns, 900);
  EXPECT_EQ(delivered.text(opened[1].name), "open at exit");
  EXPECT_EQ(delivered.all<NvtxEvent>().size(), 2u);
}

TEST_F(Inject, RecordsOnlyRequestedSources) {
  const Delivered delivered = deliver("exit", with_fake("", {{kTraceVariable, "kernels,osrt"}}));
  EXPECT_EQ(delivered.all<KernelEvent>().size(), 1u);
  EXPECT_TRUE(delivered.all<CopyEvent>().empty());
  EXPECT_TRUE(delivered.all<NvtxEvent>().empty());
  EXPECT_TRUE(delivered.all<HostWaitEvent>().empty());
  ASSERT_EQ(reasons(delivered).size(), 1u);
  EXPECT_NE(reasons(delivered)[0].find("'osrt'"), std::string::npos);
}

TEST_F(Inject, ProgramExitWaitsForAFullRing) {
  session_.reset();
  SessionOptions options;
  options.name = "small";
  options.app = "guest";
  options.rings[0] = {1, 2 * kMaxEventSize};
  Result<SessionOwner> session = SessionOwner::create(options);
  ASSERT_TRUE(session) << session.error().message;
  session_.emplace(*std::move(session));
  std::atomic<bool> ended{false};
  std::vector<std::uint32_t> correlations;
  std::thread reader([&] {
    RingReader ring(session_->map().ring(0));
    for (bool last = false; !last; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      last = ended;
      ring.read([&](const EventHeader& header) {
        if (const auto* kernel = event_cast<KernelEvent>(header)) correlations.push_back(kernel->correlation);
      });
    }
  });
  EXPECT_EQ(run_guest("one buffer of kernels", with_fake("", {{kFlushVariable, "0"}})).status, 0);
  ended = true;
  reader.join();
  ASSERT_EQ(correlations.size(), 500u);
  for (std::uint32_t i = 0; i < 500; ++i) EXPECT_EQ(correlations[i], i);
  EXPECT_EQ(session_->map().ring(0)->dropped.load(), 0u);
}

TEST_F(Inject, ProgramExitDoesNotHangOnAnUnreadRing) {
  session_.reset();
  SessionOptions options;
  options.name = "unread";
  options.app = "guest";
  options.rings[0] = {1, 2 * kMaxEventSize};
  Result<SessionOwner> session = SessionOwner::create(options);
  ASSERT_TRUE(session) << session.error().message;
  session_.emplace(*std::move(session));
  EXPECT_EQ(run_guest("one buffer of kernels", with_fake("", {{kFlushVariable, "0"}})).status,
            0);  // not the alarm's signal
  EXPECT_GT(session_->map().ring(0)->dropped.load(), 0u);
}

TEST_F(Inject, TheChildOfAForkRecordsNothing) {
  // First without records of the parent, which would overwrite those of a child.
  const Delivered silent = deliver("fork, parent silent", with_fake("", {{kFlushVariable, "0"}}));
  ASSERT_EQ(silent.all<ProcessEvent>().size(), 1u);  // the parent's
  EXPECT_EQ(silent.records.size(), 3u);              // including its name and its command
  TearDown();
  SetUp();
  const Delivered delivered = deliver("fork", with_fake());
  std::vector<std::uint32_t> correlations;
  for (const KernelEvent& kernel : delivered.all<KernelEvent>()) correlations.push_back(kernel.correlation);
  EXPECT_EQ(correlations, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(delivered.all<HostWaitEvent>().empty());
  EXPECT_FALSE(claimed(1));
}

TEST_F(Inject, ManyThreadsLoseNothing) {
  const Delivered delivered = deliver("threads", with_fake("", {{kFlushVariable, "1"}}));
  const auto kernels = delivered.all<KernelEvent>();
  EXPECT_EQ(kernels.size(), 8'000u);
  std::vector<bool> seen(8'000);
  for (const KernelEvent& kernel : kernels) seen.at(kernel.correlation) = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 8'000);
  EXPECT_EQ(delivered.all<HostWaitEvent>().size(), 8'000u);
  EXPECT_TRUE(delivered.all<LossEvent>().empty());
}

TEST_F(Inject, ConnectsNvtxToCuptiOnlyWithASession) {
  EXPECT_EQ(run_guest("nvtx", with_fake()).status, 0);
  EXPECT_EQ(run_guest("nvtx", {{kCuptiPathVariable, FAKE_CUPTI_LIBRARY}}).status, 5);
  EXPECT_EQ(run_guest("nvtx", with_session({{kCuptiPathVariable, folder_ + "/libnone.so"}})).status, 5);
}

}  // namespace
}  // namespace wicprof::collector
