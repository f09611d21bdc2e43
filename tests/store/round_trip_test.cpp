// Every field of every kind of event is read back as it was written.
#include <map>

#include "protocol/control.h"
#include "protocol/events/call.h"
#include "protocol/events/choice.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/decision.h"
#include "protocol/events/device_state.h"
#include "protocol/events/energy.h"
#include "protocol/events/graph.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/pc_interval.h"
#include "protocol/events/pc_sample.h"
#include "protocol/events/process.h"
#include "protocol/events/strategy.h"
#include "protocol/events/sync.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

class RoundTrip : public testing::Test {
 protected:
  void SetUp() override {
    Result<Recorder> made = Recorder::create(options_for(path_));
    ASSERT_TRUE(made) << made.error().message;
    recorder_.emplace(std::move(*made));
  }
  template <class Event>
  void add(const Event& event) {
    recorder_->add(0, event.header);
  }
  void text(TextId id, const std::string& value) { recorder_->add(0, Text(id, value).header()); }

  Reader finish() {
    const Result<> done = recorder_->finish();
    EXPECT_TRUE(done) << done.error().message;
    Result<Reader> reader = Reader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }

  // One row of a table that Reader has no list for.
  std::vector<std::int64_t> row(const std::string& sql, int columns) {
    Database database;
    EXPECT_EQ(database.open(path_, OpenMode::read_only), 0);
    int code = 0;
    Statement statement = database.prepare(sql, code);
    std::vector<std::int64_t> values;
    EXPECT_TRUE(statement.next(code)) << database.message();
    for (int i = 0; i < columns; ++i) values.push_back(statement.integer(i));
    return values;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
  std::optional<Recorder> recorder_;
};

TEST_F(RoundTrip, Device) {
  text(3, "H200");
  text(4, "GPU-7");
  DeviceEvent e = make_event<DeviceEvent>();
  e.device = cuda_device(2);
  e.name = 3;
  e.memory_bytes = 150'000'000'000;
  e.sm_count = 132;
  e.compute_major = 9;
  e.compute_minor = 1;
  e.kind = DeviceKind::cuda;
  e.host_native_atomics = 1;
  e.uuid = 4;
  e.max_threads_per_sm = 2'048;
  e.max_blocks_per_sm = 32;
  e.registers_per_sm = 65'536;
  e.shared_bytes_per_sm = 233'472;
  e.reserved_shared_bytes_per_block = 1'024;
  e.clock_khz = 1'980'000;
  add(e);
  const auto rows = finish().rows<DeviceTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const DeviceRow& r = rows->front();
  EXPECT_EQ(r.id, 2);
  EXPECT_EQ(r.kind, DeviceKind::cuda);
  EXPECT_EQ(r.name, "H200");
  EXPECT_EQ(r.sm_count, 132u);
  EXPECT_EQ(r.memory_bytes, 150'000'000'000u);
  EXPECT_EQ(r.clock_error_ns, std::nullopt);
  EXPECT_EQ(row("SELECT compute_major, compute_minor, host_native_atomics, max_threads_per_sm, max_blocks_per_sm, "
                "registers_per_sm, shared_bytes_per_sm, reserved_shared_bytes_per_block, clock_khz, u.value = 'GPU-7' "
                "FROM device t JOIN string u ON u.id = t.uuid_id",
                10),
            (std::vector<std::int64_t>{9, 1, 1, 2'048, 32, 65'536, 233'472, 1'024, 1'980'000, 1}));
}

TEST_F(RoundTrip, ADeviceDeclaredTwiceIsOneRowAndKeepsItsClockError) {
  DeviceEvent e = make_event<DeviceEvent>();
  e.device = cuda_device(0);
  e.sm_count = 1;
  add(e);
  add(clock_event(0, 1000, 1'000'000, 250));
  add(wait_event(0, 0));
  e.sm_count = 132;
  add(e);
  const auto rows = finish().rows<DeviceTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().sm_count, 132u);
  ASSERT_TRUE(rows->front().clock_error_ns);
  EXPECT_GE(*rows->front().clock_error_ns, 250);
}

TEST_F(RoundTrip, Site) {
  text(9, "halo west");
  SiteEvent e = make_event<SiteEvent>();
  e.site = 5;
  e.name = 9;
  e.word_memory = WordMemory::pinned_host;
  e.pollers = Pollers::each_thread;
  e.words = 1;
  e.purpose = SitePurpose::acknowledgement;
  e.releasing = kFirstDeviceEnd + 1;
  e.waiting = kHostEnd;
  e.side = SiteSide::host;
  e.place = 9;
  add(e);
  const auto rows = finish().rows<SiteTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const SiteRow& r = rows->front();
  EXPECT_EQ(r.id, 5u);
  EXPECT_EQ(r.name, "halo west");
  EXPECT_EQ(r.word_memory, WordMemory::pinned_host);
  EXPECT_EQ(r.pollers, Pollers::each_thread);
  EXPECT_EQ(r.side, SiteSide::host);
  EXPECT_EQ(r.place, "halo west");
  EXPECT_EQ(r.words, 1u);
  EXPECT_EQ(r.purpose, SitePurpose::acknowledgement);
  EXPECT_EQ(r.releasing, kFirstDeviceEnd + 1);
  EXPECT_EQ(r.waiting, kHostEnd);
}

TEST_F(RoundTrip, Strategy) {
  text(1, "leader_bar_sync");
  StrategyEvent e = make_event<StrategyEvent>();
  e.strategy = 3;
  e.name = 1;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT t.id, n.value = 'leader_bar_sync' FROM strategy t JOIN string n ON n.id = t.name_id", 2),
            (std::vector<std::int64_t>{3, 1}));
}

TEST_F(RoundTrip, Wait) {
  WaitEvent e = make_event<WaitEvent>();
  e.site = 4;
  e.device = kHostDevice;
  e.block = 4'000'000'000;
  e.warp = 31;
  e.sm = 131;
  e.iteration = 4'000'000'001;
  e.polls = 4'000'000'002;
  e.arrived_ns = 1'000'000'000'000;
  e.resumed_ns = 1'000'000'005'000;
  e.switched_after_ns = 1234;
  e.value = 4'000'000'003;
  e.strategy = 3;
  e.status = WaitStatus::deadline_passed;
  e.word_tag = 65'535;
  e.ahead_plus_one = 3;
  add(e);
  e.ahead_plus_one = 0;
  add(e);
  const auto rows = finish().rows<WaitTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->back().wanted, std::nullopt);
  const WaitRow& r = rows->front();
  EXPECT_EQ(r.wanted, 4'000'000'001u);
  EXPECT_EQ(r.id, 1);
  EXPECT_EQ(r.site, 4u);
  EXPECT_EQ(r.device, kHostDevice);
  EXPECT_EQ(r.block, 4'000'000'000u);
  EXPECT_EQ(r.warp, 31u);
  EXPECT_EQ(r.sm, 131u);
  EXPECT_EQ(r.iteration, 4'000'000'001u);
  EXPECT_EQ(r.polls, 4'000'000'002u);
  EXPECT_EQ(r.arrived, 1'000'000'000'000);
  EXPECT_EQ(r.resumed, 1'000'000'005'000);
  EXPECT_EQ(r.ready, std::nullopt);
  EXPECT_EQ(r.switched, 1'000'000'001'234);
  EXPECT_EQ(r.value, 4'000'000'003u);
  EXPECT_EQ(r.strategy, StrategyId::leader_bar_sync);
  EXPECT_EQ(r.word, 65'535);
  EXPECT_EQ(r.status, WaitStatus::deadline_passed);
}

TEST_F(RoundTrip, AWaitWithoutASwitchHasNone) {
  add(wait_event(7));
  const auto rows = finish().rows<WaitTable>();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->at(0).switched, std::nullopt);
  EXPECT_EQ(rows->at(0).word, std::nullopt);
}

TEST_F(RoundTrip, Signal) {
  SignalEvent e = make_event<SignalEvent>();
  e.site = 4;
  e.device = kHostDevice;
  e.block = 11;
  e.warp = 12;
  e.sm = 13;
  e.iteration = 14;
  e.value = 15;
  e.at_ns = 16;
  e.word_tag = 17;
  add(e);
  const auto rows = finish().rows<SignalTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const SignalRow& r = rows->front();
  EXPECT_EQ(r.site, 4u);
  EXPECT_EQ(r.device, kHostDevice);
  EXPECT_EQ(r.thread, 11u);  // of the CPU; kernels have blocks
  EXPECT_EQ(r.block, 0u);
  EXPECT_EQ(r.warp, 12u);
  EXPECT_EQ(r.sm, 13u);
  EXPECT_EQ(r.iteration, 14u);
  EXPECT_EQ(r.value, 15u);
  EXPECT_EQ(r.at, 16);
  EXPECT_EQ(r.word, 17);
}

TEST_F(RoundTrip, HostWaitAtASiteAndInACall) {
  text(2, "cudaStreamSynchronize");
  HostWaitEvent e = make_event<HostWaitEvent>();
  e.site = 6;
  e.thread = 77;
  e.iteration = 8;
  e.begin_ns = 100;
  e.end_ns = 900;
  e.cpu_ns = 0;
  e.polls = 55;
  e.status = WaitStatus::deadline_passed;
  e.involuntary_switches = 4;
  e.run_delay_ns = 0;
  e.value = 11;
  e.wanted = 9;
  e.names_wanted = 1;
  add(e);
  HostWaitEvent call = make_event<HostWaitEvent>();
  call.call = 2;
  call.thread = 78;
  call.begin_ns = 200;
  call.end_ns = 300;
  call.cpu_ns = -1;
  call.correlation = 99;
  call.involuntary_switches = HostWaitEvent::kUnknownSwitches;
  call.run_delay_ns = -1;
  call.awaited = Awaited::stream;
  call.strategy = 2;
  call.naps = 3;
  call.predicted_ns = 120;
  add(call);
  const auto rows = finish().rows<HostWaitTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  const HostWaitRow& site = rows->at(0);
  EXPECT_EQ(site.site, 6u);
  EXPECT_EQ(site.call, "");
  EXPECT_EQ(site.thread, 77u);
  EXPECT_EQ(site.iteration, 8u);
  EXPECT_EQ(site.begin, 100);
  EXPECT_EQ(site.end, 900);
  EXPECT_EQ(site.cpu, 0);  // zero CPU time differs from unknown CPU time
  EXPECT_EQ(site.polls, 55u);
  EXPECT_EQ(site.correlation, std::nullopt);
  EXPECT_EQ(site.status, WaitStatus::deadline_passed);
  EXPECT_EQ(site.value, 11u);
  EXPECT_EQ(site.wanted, 9u);
  EXPECT_FALSE(site.in_call());
  EXPECT_EQ(site.awaited, Awaited::unknown);
  EXPECT_EQ(site.strategy, StrategyId::poll);
  EXPECT_EQ(site.naps, std::nullopt);
  EXPECT_EQ(site.predicted, std::nullopt);
  EXPECT_TRUE(rows->at(1).in_call());
  EXPECT_EQ(rows->at(1).awaited, Awaited::stream);
  EXPECT_EQ(rows->at(1).strategy, StrategyId::predicted_sleep);
  EXPECT_EQ(rows->at(1).naps, 3u);
  EXPECT_EQ(rows->at(1).predicted, 120);
  EXPECT_EQ(rows->at(1).value, std::nullopt);
  EXPECT_EQ(rows->at(1).wanted, std::nullopt);
  EXPECT_EQ(rows->at(1).site, 0u);
  EXPECT_EQ(rows->at(1).call, "cudaStreamSynchronize");
  EXPECT_EQ(rows->at(1).cpu, std::nullopt);
  EXPECT_EQ(rows->at(1).polls, std::nullopt);
  EXPECT_EQ(rows->at(1).correlation, 99u);
  EXPECT_EQ(row("SELECT involuntary_switches, run_delay_ns FROM host_wait WHERE call_id IS NULL", 2),
            (std::vector<std::int64_t>{4, 0}));
  EXPECT_EQ(row("SELECT involuntary_switches IS NULL, run_delay_ns IS NULL FROM host_wait WHERE site_id IS NULL", 2),
            (std::vector<std::int64_t>{1, 1}));
}

TEST_F(RoundTrip, Kernel) {
  text(8, "stencil<float>");
  KernelEvent e = make_event<KernelEvent>();
  e.device = 1;
  e.name = 8;
  e.start_ns = 10;
  e.end_ns = 20;
  e.context = 2;
  e.stream = 3;
  e.correlation = 4;
  for (std::uint32_t i = 0; i < 3; ++i) e.grid[i] = 100 + i, e.block[i] = 200 + i;
  e.registers_per_thread = 64;
  e.static_shared_bytes = 1024;
  e.dynamic_shared_bytes = 2048;
  e.shared_executed_bytes = 102'400;
  e.local_bytes_per_thread = 64;
  for (std::uint32_t i = 0; i < 3; ++i) e.cluster[i] = 2 + i;
  e.graph = 12;
  e.graph_node = 0x1'0000'0007;
  add(e);
  const auto rows = finish().rows<KernelTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const KernelRow& r = rows->front();
  EXPECT_EQ(r.device, 1);
  EXPECT_EQ(r.name, "stencil<float>");
  EXPECT_EQ(r.start, 10);
  EXPECT_EQ(r.end, 20);
  EXPECT_EQ(r.context, 2u);
  EXPECT_EQ(r.stream, 3u);
  EXPECT_EQ(r.correlation, 4u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(r.grid[i], 100 + i);
    EXPECT_EQ(r.block[i], 200 + i);
  }
  EXPECT_EQ(r.registers_per_thread, 64u);
  EXPECT_EQ(r.static_shared_bytes, 1024u);
  EXPECT_EQ(r.dynamic_shared_bytes, 2048u);
  EXPECT_EQ(
      row("SELECT shared_executed_bytes, local_bytes_per_thread, cluster_x, cluster_y, cluster_z, graph, graph_node "
          "FROM kernel",
          7),
      (std::vector<std::int64_t>{102'400, 64, 2, 3, 4, 12, 0x1'0000'0007}));
}

TEST_F(RoundTrip, AbsentValuesOfKernelsAndCopiesAreNull) {
  add(make_event<KernelEvent>());
  add(make_event<CopyEvent>());
  finish();
  EXPECT_EQ(
      row("SELECT shared_executed_bytes IS NULL, cluster_x IS NULL, graph IS NULL, graph_node IS NULL FROM kernel", 4),
      (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(row("SELECT graph IS NULL, graph_node IS NULL FROM copy", 2), (std::vector<std::int64_t>{1, 1}));
}

TEST_F(RoundTrip, Copy) {
  CopyEvent e = make_event<CopyEvent>();
  e.device = 1;
  e.peer_device = 2;
  e.kind = CopyKind::peer_to_peer;
  e.start_ns = 10;
  e.end_ns = 20;
  e.bytes = 1ull << 40;
  e.context = 3;
  e.stream = 4;
  e.correlation = 5;
  e.source = CopyMemory::device;
  e.destination = CopyMemory::managed;
  e.asynchronous = 1;
  e.graph = 8;
  e.graph_node = 9;
  add(e);
  const auto rows = finish().rows<CopyTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const CopyRow& r = rows->front();
  EXPECT_EQ(r.device, 1);
  EXPECT_EQ(r.peer_device, 2);
  EXPECT_EQ(r.kind, CopyKind::peer_to_peer);
  EXPECT_EQ(r.start, 10);
  EXPECT_EQ(r.end, 20);
  EXPECT_EQ(r.bytes, 1ull << 40);
  EXPECT_EQ(r.context, 3u);
  EXPECT_EQ(r.stream, 4u);
  EXPECT_EQ(r.correlation, 5u);
  EXPECT_EQ(row("SELECT source_memory, destination_memory, asynchronous, graph, graph_node FROM copy", 5),
            (std::vector<std::int64_t>{3, 5, 1, 8, 9}));
}

TEST_F(RoundTrip, Call) {
  text(8, "cudaLaunchKernel");
  CallEvent e = make_event<CallEvent>();
  e.name = 8;
  e.api = CallApi::runtime;
  e.thread = 5;
  e.start_ns = 10;
  e.end_ns = 20;
  e.correlation = 6;
  e.result = -7;
  add(e);
  const auto rows = finish().rows<CallTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const CallRow& r = rows->front();
  EXPECT_EQ(r.name, "cudaLaunchKernel");
  EXPECT_EQ(r.api, 1);
  EXPECT_EQ(r.thread, 5u);
  EXPECT_EQ(r.start, 10);
  EXPECT_EQ(r.end, 20);
  EXPECT_EQ(r.correlation, 6u);
  EXPECT_EQ(r.result, -7);
}

TEST_F(RoundTrip, Nvtx) {
  text(1, "step");
  text(2, "solver");
  NvtxEvent e = make_event<NvtxEvent>();
  e.name = 1;
  e.domain = 2;
  e.kind = NvtxKind::mark;
  e.thread = 3;
  e.start_ns = 10;
  e.end_ns = 10;
  e.has_colour = 1;
  e.colour = 0xff336699;
  e.category = 6;
  add(e);
  const auto rows = finish().rows<NvtxTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const NvtxRow& r = rows->front();
  EXPECT_EQ(r.kind, NvtxKind::mark);
  EXPECT_EQ(r.name, "step");
  EXPECT_EQ(r.domain, "solver");
  EXPECT_EQ(r.thread, 3u);
  EXPECT_EQ(r.start, 10);
  EXPECT_EQ(r.end, 10);
  EXPECT_EQ(row("SELECT colour, category FROM nvtx", 2), (std::vector<std::int64_t>{0xff336699, 6}));
}

TEST_F(RoundTrip, NvtxWithoutColourAndBeginsOfRanges) {
  text(1, "step");
  NvtxOpenEvent open = make_event<NvtxOpenEvent>();
  open.name = 1;
  open.start_ns = 10;
  add(open);  // gives no row
  NvtxEvent e = make_event<NvtxEvent>();
  e.name = 1;
  e.colour = 5;  // ignored without has_colour
  add(e);
  finish();
  EXPECT_EQ(row("SELECT count(*), colour IS NULL, category IS NULL, domain_id IS NULL FROM nvtx", 4),
            (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST_F(RoundTrip, Process) {
  text(1, "train");
  text(2, "train --fast");
  ProcessEvent e = make_event<ProcessEvent>();
  e.pid = 4'000'000;
  e.parent = 17;
  e.name = 1;
  e.command = 2;
  e.rank = 5;
  e.local_rank = -1;
  e.seen_ns = 99;
  add(e);
  finish();
  EXPECT_EQ(
      row("SELECT t.id, t.parent, n.value = 'train', c.value = 'train --fast', t.rank, t.local_rank IS NULL, t.seen_ns "
          "FROM process t JOIN string n ON n.id = t.name_id JOIN string c ON c.id = t.command_id",
          7),
      (std::vector<std::int64_t>{4'000'000, 17, 1, 1, 5, 1, 99}));
}

TEST_F(RoundTrip, RowsNameTheirProcess) {
  recorder_->set_ring_process(0, 70);
  CallEvent call = make_event<CallEvent>();
  add(call);
  ThreadSampleEvent sample = make_event<ThreadSampleEvent>();  // the tool's sample names the process
  sample.pid = 71;
  add(sample);
  finish();
  EXPECT_EQ(row("SELECT c.process_id, s.process_id FROM call c, thread_sample s", 2),
            (std::vector<std::int64_t>{70, 71}));
}

TEST_F(RoundTrip, Sync) {
  SyncEvent e = make_event<SyncEvent>();
  e.kind = SyncKind::stream_waits_for_event;
  e.start_ns = 10;
  e.end_ns = 20;
  e.event_sync = 1ull << 40;
  e.context = 2;
  e.stream = 3;
  e.event = 4;
  e.correlation = 5;
  e.result = -6;
  add(e);
  e = make_event<SyncEvent>();
  e.start_ns = 30;
  e.stream = SyncEvent::kNoStream;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT kind, start_ns, end_ns, context, stream, event, event_sync, correlation, result FROM sync "
                "WHERE id = 1",
                9),
            (std::vector<std::int64_t>{2, 10, 20, 2, 3, 4, std::int64_t{1} << 40, 5, -6}));
  EXPECT_EQ(row("SELECT stream IS NULL, event IS NULL, event_sync IS NULL FROM sync WHERE id = 2", 3),
            (std::vector<std::int64_t>{1, 1, 1}));
}

TEST_F(RoundTrip, CudaEvent) {
  CudaEventEvent e = make_event<CudaEventEvent>();
  e.device = 1;
  e.event = 4;
  e.event_sync = 77;
  e.at_ns = 15;
  e.context = 2;
  e.stream = 3;
  e.correlation = 5;
  add(e);
  e.event_sync = 0;
  e.at_ns = 0;
  add(e);
  finish();
  EXPECT_EQ(
      row("SELECT device_id, event, event_sync, at_ns, context, stream, correlation FROM cuda_event WHERE id = 1", 7),
      (std::vector<std::int64_t>{1, 4, 77, 15, 2, 3, 5}));
  EXPECT_EQ(row("SELECT event_sync IS NULL, at_ns IS NULL FROM cuda_event WHERE id = 2", 2),
            (std::vector<std::int64_t>{1, 1}));
}

TEST_F(RoundTrip, Graph) {
  GraphEvent e = make_event<GraphEvent>();
  e.device = 1;
  e.graph = 9;
  e.start_ns = 10;
  e.end_ns = 20;
  e.context = 2;
  e.stream = 3;
  e.correlation = 5;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT device_id, graph, start_ns, end_ns, context, stream, correlation FROM graph", 7),
            (std::vector<std::int64_t>{1, 9, 10, 20, 2, 3, 5}));
}

TEST_F(RoundTrip, Overhead) {
  text(1, "CUPTI buffer flush");
  OverheadEvent e = make_event<OverheadEvent>();
  e.what = 1;
  e.thread = 4'242;
  e.start_ns = 10;
  e.end_ns = 20;
  e.correlation = 5;
  add(e);
  e.thread = e.correlation = 0;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT n.value = 'CUPTI buffer flush', t.thread, t.start_ns, t.end_ns, t.correlation FROM overhead t "
                "JOIN string n ON n.id = t.what_id WHERE t.id = 1",
                5),
            (std::vector<std::int64_t>{1, 4'242, 10, 20, 5}));
  EXPECT_EQ(row("SELECT thread IS NULL, correlation IS NULL FROM overhead WHERE id = 2", 2),
            (std::vector<std::int64_t>{1, 1}));
}

TEST_F(RoundTrip, ThreadSample) {
  text(1, "worker");
  ThreadSampleEvent e = make_event<ThreadSampleEvent>();
  e.pid = 70;
  e.thread = 71;
  e.name = 1;
  e.begin_ns = 10;
  e.end_ns = 20;
  e.cpu_ns = 7;
  e.run_delay_ns = 0;
  e.voluntary_switches = 1ull << 33;
  e.involuntary_switches = 3;
  add(e);
  e.run_delay_ns = -1;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT t.process_id, t.thread, n.value = 'worker', begin_ns, end_ns, cpu_ns, run_delay_ns, "
                "voluntary_switches, "
                "involuntary_switches FROM thread_sample t JOIN string n ON n.id = t.name_id WHERE t.id = 1",
                9),
            (std::vector<std::int64_t>{70, 71, 1, 10, 20, 7, 0, std::int64_t{1} << 33, 3}));
  EXPECT_EQ(row("SELECT run_delay_ns IS NULL FROM thread_sample WHERE id = 2", 1), (std::vector<std::int64_t>{1}));
}

TEST_F(RoundTrip, PcInterval) {
  PcIntervalEvent e = make_event<PcIntervalEvent>();
  e.device = 1;
  e.context = 2;
  e.begin_ns = 10;
  e.end_ns = 20;
  e.samples = 1ull << 40;
  e.dropped = 4;
  e.foreign_samples = 5;
  e.period_cycles = 4'096;
  add(e);
  finish();
  EXPECT_EQ(row("SELECT device_id, context, begin_ns, end_ns, samples, dropped, foreign_samples, period_cycles FROM "
                "pc_interval",
                8),
            (std::vector<std::int64_t>{1, 2, 10, 20, std::int64_t{1} << 40, 4, 5, 4'096}));
}

TEST_F(RoundTrip, WaitCount) {
  WaitCountEvent e = make_event<WaitCountEvent>();
  e.site = 3;
  e.device = 1;
  e.begin_ns = 10;
  e.end_ns = 20;
  e.waits = std::int64_t{1} << 40;
  e.looked = 4;
  e.sampled = -5;
  e.timed = 6;
  e.timed_rounds = 60;
  e.timed_ns = 7'000;
  e.sampled_squares = 9;
  e.one_in = 64;
  add(e);
  const Reader reader = finish();
  EXPECT_EQ(row("SELECT device_id, begin_ns, end_ns, waits, looked, sampled, sampled_squares, timed, timed_rounds, "
                "timed_ns, one_in FROM wait_count",
                11),
            (std::vector<std::int64_t>{1, 10, 20, std::int64_t{1} << 40, 4, -5, 9, 6, 60, 7'000, 64}));
  const auto rows = reader.rows<WaitCountTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().site, 3u);
  EXPECT_EQ(rows->front().waits, std::int64_t{1} << 40);
  EXPECT_EQ(rows->front().sampled, -5);
  EXPECT_EQ(rows->front().timed_time, 7'000);
}

TEST_F(RoundTrip, Energy) {
  text(1, "GPU 0 (a GPU)");
  EnergyEvent e = make_event<EnergyEvent>();
  e.meter = 1;
  e.at_ns = 10;
  e.energy_uj = std::uint64_t{1} << 50;
  add(e);
  const Reader reader = finish();
  const auto rows = reader.rows<EnergyTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().meter, "GPU 0 (a GPU)");
  EXPECT_EQ(rows->front().at, 10);
  EXPECT_EQ(rows->front().energy_uj, std::uint64_t{1} << 50);
}

TEST_F(RoundTrip, DeviceState) {
  text(1, "GPU-00000000-0000-0000-0000-000000000001");
  auto e = make_event<DeviceStateEvent>();
  e.uuid = 1;
  e.at_ns = 10;
  e.sm_clock_mhz = 1410;
  e.max_sm_clock_mhz = 1980;
  e.memory_clock_mhz = 3201;
  e.temperature_c = -3;
  e.slowdown_reasons = static_cast<std::uint64_t>(SlowdownReason::power_cap);
  add(e);
  e.at_ns = 20;
  e.sm_clock_mhz = e.max_sm_clock_mhz = e.memory_clock_mhz = 0;
  e.temperature_c = DeviceStateEvent::kUnknownTemperature;
  e.slowdown_reasons = DeviceStateEvent::kUnknownReasons;
  add(e);
  const Reader reader = finish();
  const auto rows = reader.rows<DeviceStateTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->front().uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(rows->front().at, 10);
  EXPECT_EQ(rows->front().sm_clock_mhz, 1410u);
  EXPECT_EQ(rows->front().max_sm_clock_mhz, 1980u);
  EXPECT_EQ(rows->front().memory_clock_mhz, 3201u);
  EXPECT_EQ(rows->front().temperature_c, -3);
  EXPECT_EQ(rows->front().slowdown_reasons, 4u);
  EXPECT_EQ(rows->back().sm_clock_mhz, 0u);
  EXPECT_FALSE(rows->back().temperature_c);
  EXPECT_FALSE(rows->back().slowdown_reasons);
  EXPECT_EQ(row("SELECT count(*) FROM device_state WHERE sm_clock_mhz IS NULL AND max_sm_clock_mhz IS NULL AND "
                "memory_clock_mhz IS NULL AND temperature_c IS NULL AND slowdown_reasons IS NULL",
                1),
            std::vector<std::int64_t>{1});
}

TEST_F(RoundTrip, Intervention) {
  InterventionEvent e = make_event<InterventionEvent>();
  e.site = 3;
  e.sequence = 9;
  e.old_mode = static_cast<std::uint8_t>(Mode::poll);
  e.new_mode = static_cast<std::uint8_t>(Mode::park);
  e.old_strategy = 0;
  e.new_strategy = 255;
  e.requested_ns = 100;
  e.effective_ns = 150;
  add(e);
  const Reader reader = finish();
  const auto rows = reader.rows<InterventionTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  const InterventionRow& r = rows->front();
  EXPECT_EQ(r.site, 3u);
  EXPECT_EQ(r.old_mode, Mode::poll);
  EXPECT_EQ(r.new_mode, Mode::park);
  EXPECT_EQ(r.old_strategy, StrategyId::poll);
  EXPECT_EQ(r.new_strategy, StrategyId::automatic);
  EXPECT_EQ(r.requested, 100);
  EXPECT_EQ(r.effective, 150);
  EXPECT_EQ(row("SELECT sequence FROM intervention", 1), std::vector<std::int64_t>{9});
}

TEST_F(RoundTrip, Choice) {
  text(1, "528 wait on one word");
  ChoiceEvent e = make_event<ChoiceEvent>();
  e.site = 3;
  e.strategy = static_cast<std::uint32_t>(StrategyId::shared_watch);
  e.at_ns = 150;
  e.reason = 1;
  e.waits = 600;
  e.waiters_per_word = 528;
  e.words = 2;
  e.median_wait_ns = 0;
  e.look_ns = 500'000;
  add(e);
  e.at_ns = 100;
  e.waits = e.waiters_per_word = e.words = 0;
  e.median_wait_ns = e.look_ns = -1;
  add(e);
  const auto rows = finish().rows<ChoiceTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  const ChoiceRow& first = rows->at(0);  // by time
  EXPECT_EQ(first.at, 100);
  EXPECT_EQ(first.waits, 0u);
  EXPECT_EQ(first.waiters_per_word, std::nullopt);
  EXPECT_EQ(first.words, std::nullopt);
  EXPECT_EQ(first.median_wait, std::nullopt);
  EXPECT_EQ(first.look, std::nullopt);
  const ChoiceRow& r = rows->at(1);
  EXPECT_EQ(r.site, 3u);
  EXPECT_EQ(r.strategy, StrategyId::shared_watch);
  EXPECT_EQ(r.at, 150);
  EXPECT_EQ(r.reason, "528 wait on one word");
  EXPECT_EQ(r.waits, 600u);
  EXPECT_EQ(r.waiters_per_word, 528u);
  EXPECT_EQ(r.words, 2u);
  EXPECT_EQ(r.median_wait, 0);
  EXPECT_EQ(r.look, 500'000);
}

TEST_F(RoundTrip, Decision) {
  text(1, "parking gains more than its error");
  text(2, "range step");
  DecisionEvent e = make_event<DecisionEvent>();
  e.decision = DecisionKind::keep;
  e.side = WaitSide::host;
  e.strategy = static_cast<std::uint32_t>(StrategyId::hybrid);
  e.from_ns = 50;
  e.at_ns = 150;
  e.reason = 1;
  e.unit = 2;
  e.blocks = 7;
  e.poll_units = 30;
  e.park_units = 40;
  e.ratio_ppm = 1'300'000;
  e.low_ppm = 1'200'000;
  e.high_ppm = 1'400'000;
  e.poll_ns = 13;
  e.park_ns = 10;
  e.poll_p99_ns = 20;
  e.park_p99_ns = 19;
  add(e);
  e = make_event<DecisionEvent>();
  e.decision = DecisionKind::trial;
  e.at_ns = 100;
  add(e);
  const auto rows = finish().rows<DecisionTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  const DecisionRow& trial = rows->at(0);  // by time
  EXPECT_EQ(trial.decision, DecisionKind::trial);
  for (const auto& unknown : {trial.ratio_ppm, trial.low_ppm, trial.high_ppm}) EXPECT_EQ(unknown, std::nullopt);
  for (const auto& unknown : {trial.poll, trial.park, trial.poll_p99, trial.park_p99}) EXPECT_EQ(unknown, std::nullopt);
  const DecisionRow& keep = rows->at(1);
  EXPECT_EQ(keep.decision, DecisionKind::keep);
  EXPECT_EQ(keep.side, WaitSide::host);
  EXPECT_EQ(keep.strategy, StrategyId::hybrid);
  EXPECT_EQ(keep.from, 50);
  EXPECT_EQ(keep.at, 150);
  EXPECT_EQ(keep.reason, "parking gains more than its error");
  EXPECT_EQ(keep.unit, "range step");
  EXPECT_EQ(keep.blocks, 7u);
  EXPECT_EQ(keep.poll_units, 30u);
  EXPECT_EQ(keep.park_units, 40u);
  EXPECT_EQ(keep.ratio_ppm, 1'300'000);
  EXPECT_EQ(keep.low_ppm, 1'200'000);
  EXPECT_EQ(keep.high_ppm, 1'400'000);
  EXPECT_EQ(keep.poll, 13);
  EXPECT_EQ(keep.park, 10);
  EXPECT_EQ(keep.poll_p99, 20);
  EXPECT_EQ(keep.park_p99, 19);
}

TEST_F(RoundTrip, Notice) {
  text(1, "a toggle failed");
  NoticeEvent e = make_event<NoticeEvent>();
  e.at_ns = 70;
  e.text = 1;
  e.severity = NoticeSeverity::warning;
  add(e);
  const auto rows = finish().rows<NoticeTable>();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().severity, NoticeSeverity::warning);
  EXPECT_EQ(rows->front().text, "a toggle failed");
  EXPECT_EQ(rows->front().at, 70);
}

TEST_F(RoundTrip, Clock) {
  add(clock_event(1, 1'700'000'000'000'000'000, 5'000, 300));
  finish();
  EXPECT_EQ(row("SELECT device_id, device_ns, host_ns, error_ns FROM clock", 4),
            (std::vector<std::int64_t>{1, 1'700'000'000'000'000'000, 5'000, 300}));
}

TEST_F(RoundTrip, PcSample) {
  text(4, "spin(int*)");
  text(5, "_Z4spinPi");
  text(6, "long_scoreboard");
  text(7, "spin.cu");
  PcSampleEvent e = make_event<PcSampleEvent>();
  e.device = 1;
  e.function = 4;
  e.symbol = 5;
  e.stall_reason = 6;
  e.module = 0xfeed'0000'0000'0001;
  e.pc_offset = 0x1230;
  e.begin_ns = 4;
  e.at_ns = 10;
  e.file = 7;
  e.line = 12;
  e.samples = 700;
  add(e);
  finish();
  EXPECT_EQ(
      row("SELECT t.device_id, n.value = 'spin(int*)', y.value = '_Z4spinPi', r.value = 'long_scoreboard', t.module, "
          "t.pc_offset, t.begin_ns, t.at_ns, f.value = 'spin.cu', t.line, t.samples FROM pc_sample t "
          "JOIN string n ON n.id = t.function_id JOIN string y ON y.id = t.symbol_id "
          "JOIN string r ON r.id = t.stall_reason_id JOIN string f ON f.id = t.file_id",
          11),
      (std::vector<std::int64_t>{1, 1, 1, 1, static_cast<std::int64_t>(0xfeed'0000'0000'0001), 0x1230, 4, 10, 1, 12,
                                 700}));
}

TEST_F(RoundTrip, SampledFunctionsAndTheirInstructions) {
  text(4, "spin(int*)");
  text(5, "_Z4spinPi");
  text(6, "long_scoreboard");
  text(7, "selected");
  PcSampleEvent e = make_event<PcSampleEvent>();
  e.function = 4;
  e.symbol = 5;
  e.module = 0xfeed'0000'0000'0001;
  e.pc_offset = 0x30;
  for (const auto& [reason, samples] : {std::pair{6u, 700u}, {7u, 5u}, {6u, 300u}}) {
    e.stall_reason = reason;
    e.samples = samples;
    e.begin_ns = e.at_ns;
    e.at_ns += 10;
    add(e);
  }
  PcIntervalEvent interval = make_event<PcIntervalEvent>();
  interval.begin_ns = 0;
  interval.end_ns = 30;
  interval.samples = 2'000;
  interval.dropped = 3;
  interval.foreign_samples = 4;
  interval.period_cycles = 1 << 15;
  add(interval);
  EXPECT_EQ(recorder_->sampled_functions(), (SampledFunctions{{0xfeed'0000'0000'0001, {"_Z4spinPi"}}}));
  recorder_->add_sass({0xfeed'0000'0000'0001, "_Z4spinPi", 0x40, "@!P0 BRA `(.L_x_1)", 0x30, "spin.cu", 12});
  recorder_->add_sass({0xfeed'0000'0000'0001, "_Z4spinPi", 0x30, "LDG.E.STRONG.SYS R0, desc[UR4][R2.64]", {}, "", 0});

  const Reader reader = finish();
  const auto totals = reader.pc_totals();
  ASSERT_TRUE(totals) << totals.error().message;
  ASSERT_EQ(totals->size(), 2u);
  const PcTotalRow& waits = totals->front();
  EXPECT_EQ(waits.reason, "long_scoreboard");
  EXPECT_EQ(waits.samples, 1'000u);
  EXPECT_EQ(waits.function, "spin(int*)");
  EXPECT_EQ(waits.symbol, "_Z4spinPi");
  EXPECT_EQ(waits.module, 0xfeed'0000'0000'0001u);
  EXPECT_EQ(waits.offset, 0x30u);
  EXPECT_EQ(waits.begin, 0);
  EXPECT_EQ(waits.end, 30);
  const auto intervals = reader.rows<PcIntervalTable>();
  ASSERT_TRUE(intervals) << intervals.error().message;
  ASSERT_EQ(intervals->size(), 1u);
  EXPECT_EQ(intervals->front().samples, 2'000u);
  EXPECT_EQ(intervals->front().dropped, 3u);
  EXPECT_EQ(intervals->front().foreign_samples, 4u);
  EXPECT_EQ(intervals->front().period_cycles, 1u << 15);
  const auto sass = reader.sass();
  ASSERT_TRUE(sass) << sass.error().message;
  ASSERT_EQ(sass->size(), 2u);
  EXPECT_EQ((*sass)[0].offset, 0x30u);
  EXPECT_FALSE((*sass)[0].target);
  EXPECT_EQ((*sass)[1].text, "@!P0 BRA `(.L_x_1)");
  EXPECT_EQ((*sass)[1].target, 0x30u);
  EXPECT_EQ((*sass)[1].file, "spin.cu");
  EXPECT_EQ((*sass)[1].line, 12u);
}

TEST_F(RoundTrip, Uvm) {
  text(1, "write");
  UvmEvent e = make_event<UvmEvent>();
  e.device = 1;
  e.kind = UvmKind::gpu_fault;
  e.address = 0x7fff'0000'1000;
  e.bytes = 65536;
  e.start_ns = 10;
  e.end_ns = 30;
  e.peer_device = 2;
  e.count = 17;
  e.cause = 1;
  add(e);
  finish();
  EXPECT_EQ(
      row("SELECT device_id, kind, address, bytes, start_ns, end_ns, peer_device_id, count, c.value = 'write' FROM uvm "
          "JOIN string c ON c.id = cause_id",
          9),
      (std::vector<std::int64_t>{1, 1, 0x7fff'0000'1000, 65536, 10, 30, 2, 17, 1}));
}

TEST_F(RoundTrip, Meta) {
  recorder_->set_meta(store::MetaKey::app, "samples/hot_flag");
  recorder_->set_meta(store::MetaKey::app, "samples/c_h3d");
  recorder_->set_meta(store::MetaKey::app_status, "0");
  const auto meta = finish().meta();
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->at("app"), "samples/c_h3d");
  EXPECT_EQ(meta->at("app_status"), "0");
  EXPECT_EQ(meta->at("state"), "complete");
  for (const char* key : {"started_ns", "started_utc", "ended_ns", "host", "wic_prof_version"}) {
    EXPECT_FALSE(meta->at(key).empty()) << key;
  }
}

}  // namespace
}  // namespace wicprof::store
