// CUDA activity and scheduling of a process, written by the recorder and read back as rows.
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/overhead.h"
#include "protocol/events/process.h"
#include "protocol/events/sync.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

class ActivityRows : public testing::Test {
 protected:
  void SetUp() override {
    Result<Recorder> made = Recorder::create(options_for(path_));
    ASSERT_TRUE(made) << made.error().message;
    recorder_.emplace(std::move(*made));
    recorder_->add(0, Text(5, "name").header());
    recorder_->add(0, Text(6, "name --all").header());
    ProcessEvent process = make_event<ProcessEvent>();
    process.pid = 4000;
    process.parent = 3999;
    process.name = 5;
    process.command = 6;
    process.rank = 3;
    process.local_rank = -1;
    process.seen_ns = 77;
    recorder_->set_ring_process(0, 4000);
    add(process);
  }
  template <class Event>
  void add(const Event& event) {
    recorder_->add(0, event.header);
  }
  Reader finish() {
    EXPECT_TRUE(recorder_->finish());
    Result<Reader> reader = Reader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }

  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
  std::optional<Recorder> recorder_;
};

TEST_F(ActivityRows, Process) {
  const auto rows = finish().rows<ProcessTable>();
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  const ProcessRow& r = rows->front();
  EXPECT_EQ(r.id, 4000u);
  EXPECT_EQ(r.parent, 3999u);
  EXPECT_EQ(r.name, "name");
  EXPECT_EQ(r.command, "name --all");
  EXPECT_EQ(r.rank, 3);
  EXPECT_EQ(r.local_rank, std::nullopt);
  EXPECT_EQ(r.seen, 77);
}

TEST_F(ActivityRows, DeviceLimits) {
  DeviceEvent e = make_event<DeviceEvent>();
  e.kind = DeviceKind::cuda;
  e.compute_major = 9;
  e.compute_minor = 1;
  e.uuid = 5;
  e.max_threads_per_sm = 2048;
  e.max_blocks_per_sm = 32;
  e.registers_per_sm = 65'536;
  e.shared_bytes_per_sm = 233'472;
  e.reserved_shared_bytes_per_block = 1024;
  e.clock_khz = 1'980'000;
  add(e);
  const auto rows = finish().rows<DeviceTable>();
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  const DeviceRow& r = rows->front();
  EXPECT_EQ(r.compute_major, 9u);
  EXPECT_EQ(r.compute_minor, 1u);
  EXPECT_EQ(r.uuid, "name");
  EXPECT_EQ(r.max_threads_per_sm, 2048u);
  EXPECT_EQ(r.max_blocks_per_sm, 32u);
  EXPECT_EQ(r.registers_per_sm, 65'536u);
  EXPECT_EQ(r.shared_bytes_per_sm, 233'472u);
  EXPECT_EQ(r.reserved_shared_bytes_per_block, 1024u);
  EXPECT_EQ(r.clock_khz, 1'980'000u);
}

TEST_F(ActivityRows, KernelAndCopy) {
  KernelEvent k = make_event<KernelEvent>();
  k.start_ns = 10;
  k.end_ns = 20;
  k.shared_executed_bytes = 32'768;
  k.local_bytes_per_thread = 48;
  k.cluster[0] = 2;
  k.cluster[1] = 3;
  k.cluster[2] = 4;
  k.graph = 7;
  k.graph_node = 0x1'0000'0008;
  add(k);
  KernelEvent plain = make_event<KernelEvent>();
  plain.start_ns = 30;
  plain.end_ns = 40;
  add(plain);
  CopyEvent c = make_event<CopyEvent>();
  c.start_ns = 10;
  c.end_ns = 20;
  c.source = CopyMemory::pageable;
  c.destination = CopyMemory::device;
  c.asynchronous = 1;
  c.graph = 9;
  c.graph_node = 11;
  add(c);
  const Reader reader = finish();
  const auto kernels = reader.rows<KernelTable>();
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 2u);
  const KernelRow& r = (*kernels)[0];
  EXPECT_EQ(r.shared_executed_bytes, 32'768u);
  EXPECT_EQ(r.local_bytes_per_thread, 48u);
  EXPECT_EQ(r.cluster[0], 2u);
  EXPECT_EQ(r.cluster[1], 3u);
  EXPECT_EQ(r.cluster[2], 4u);
  EXPECT_EQ(r.graph, 7u);
  EXPECT_EQ(r.graph_node, 0x1'0000'0008u);
  EXPECT_EQ(r.process, 4000u);
  EXPECT_EQ((*kernels)[1].cluster[0], 0u);
  EXPECT_EQ((*kernels)[1].graph, 0u);
  EXPECT_EQ((*kernels)[1].shared_executed_bytes, std::nullopt);
  const auto copies = reader.rows<CopyTable>();
  ASSERT_TRUE(copies) << copies.error().message;
  ASSERT_EQ(copies->size(), 1u);
  EXPECT_EQ(copies->front().source, CopyMemory::pageable);
  EXPECT_EQ(copies->front().destination, CopyMemory::device);
  EXPECT_TRUE(copies->front().asynchronous);
  EXPECT_EQ(copies->front().graph, 9u);
  EXPECT_EQ(copies->front().graph_node, 11u);
  EXPECT_EQ(copies->front().process, 4000u);
}

TEST_F(ActivityRows, SyncAndCudaEvent) {
  SyncEvent s = make_event<SyncEvent>();
  s.kind = SyncKind::stream_waits_for_event;
  s.start_ns = 100;
  s.end_ns = 110;
  s.event_sync = 0x2'0000'0001;
  s.context = 3;
  s.stream = 4;
  s.event = 5;
  s.correlation = 6;
  s.result = 700;
  add(s);
  SyncEvent bare = make_event<SyncEvent>();
  bare.kind = SyncKind::context;
  bare.start_ns = 200;
  bare.stream = SyncEvent::kNoStream;
  add(bare);
  CudaEventEvent e = make_event<CudaEventEvent>();
  e.device = 0;
  e.event = 5;
  e.event_sync = 0x2'0000'0001;
  e.at_ns = 90;
  e.context = 3;
  e.stream = 8;
  e.correlation = 9;
  add(e);
  CudaEventEvent untimed = make_event<CudaEventEvent>();
  add(untimed);
  const Reader reader = finish();
  const auto syncs = reader.rows<SyncTable>();
  ASSERT_TRUE(syncs) << syncs.error().message;
  ASSERT_EQ(syncs->size(), 2u);
  const SyncRow& r = (*syncs)[0];
  EXPECT_EQ(r.kind, SyncKind::stream_waits_for_event);
  EXPECT_EQ(r.start, 100);
  EXPECT_EQ(r.end, 110);
  EXPECT_EQ(r.event_sync, 0x2'0000'0001u);
  EXPECT_EQ(r.context, 3u);
  EXPECT_EQ(r.stream, 4u);
  EXPECT_EQ(r.event, 5u);
  EXPECT_EQ(r.correlation, 6u);
  EXPECT_EQ(r.result, 700);
  EXPECT_EQ(r.process, 4000u);
  EXPECT_EQ((*syncs)[1].stream, std::nullopt);
  EXPECT_EQ((*syncs)[1].event_sync, std::nullopt);
  EXPECT_EQ(reader.rows<SyncTable>(1)->size(), 1u);
  const auto events = reader.rows<CudaEventTable>();
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].at, std::nullopt);
  EXPECT_EQ((*events)[0].event_sync, std::nullopt);
  const CudaEventRow& at = (*events)[1];
  EXPECT_EQ(at.event, 5u);
  EXPECT_EQ(at.event_sync, 0x2'0000'0001u);
  EXPECT_EQ(at.at, 90);
  EXPECT_EQ(at.context, 3u);
  EXPECT_EQ(at.stream, 8u);
  EXPECT_EQ(at.correlation, 9u);
  EXPECT_EQ(at.process, 4000u);
}

TEST_F(ActivityRows, ThreadsAndOverheads) {
  ThreadSampleEvent t = make_event<ThreadSampleEvent>();
  t.pid = 5000;  // a process that the tool observes, not the ring's
  t.thread = 5001;
  t.name = 5;
  t.begin_ns = 10;
  t.end_ns = 110;
  t.cpu_ns = 60;
  t.run_delay_ns = 30;
  t.voluntary_switches = 2;
  t.involuntary_switches = 3;
  add(t);
  t.begin_ns = 110;
  t.run_delay_ns = -1;
  add(t);
  OverheadEvent o = make_event<OverheadEvent>();
  o.what = 5;
  o.thread = 12;
  o.start_ns = 13;
  o.end_ns = 14;
  add(o);
  CallEvent call = make_event<CallEvent>();
  add(call);
  HostWaitEvent wait = make_event<HostWaitEvent>();
  wait.call = 5;
  wait.cpu_ns = -1;
  wait.involuntary_switches = 4;
  wait.run_delay_ns = 500;
  add(wait);
  const Reader reader = finish();
  const auto samples = reader.rows<ThreadSampleTable>();
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->size(), 2u);
  const ThreadSampleRow& r = (*samples)[0];
  EXPECT_EQ(r.process, 5000u);
  EXPECT_EQ(r.thread, 5001u);
  EXPECT_EQ(r.name, "name");
  EXPECT_EQ(r.begin, 10);
  EXPECT_EQ(r.end, 110);
  EXPECT_EQ(r.cpu, 60);
  EXPECT_EQ(r.run_delay, 30);
  EXPECT_EQ(r.voluntary_switches, 2u);
  EXPECT_EQ(r.involuntary_switches, 3u);
  EXPECT_EQ((*samples)[1].run_delay, std::nullopt);
  const auto overheads = reader.rows<OverheadTable>();
  ASSERT_TRUE(overheads) << overheads.error().message;
  ASSERT_EQ(overheads->size(), 1u);
  EXPECT_EQ(overheads->front().what, "name");
  EXPECT_EQ(overheads->front().thread, 12u);
  EXPECT_EQ(overheads->front().start, 13);
  EXPECT_EQ(overheads->front().end, 14);
  EXPECT_EQ(overheads->front().correlation, std::nullopt);
  EXPECT_EQ(overheads->front().process, 4000u);
  const auto calls = reader.rows<CallTable>();
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->at(0).process, 4000u);
  const auto waits = reader.rows<HostWaitTable>();
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->at(0).involuntary_switches, 4u);
  EXPECT_EQ(waits->at(0).run_delay, 500);
  EXPECT_EQ(waits->at(0).process, 4000u);
}

TEST_F(ActivityRows, ManagedMemory) {
  UvmEvent event = make_event<UvmEvent>();
  event.kind = UvmKind::device_to_host;
  event.device = kHostDevice;
  event.peer_device = 2;
  event.address = 0x7f0000000000;
  event.bytes = 65536;
  event.start_ns = 300;
  event.end_ns = 450;
  event.count = 3;
  event.cause = 5;
  add(event);
  event.start_ns = 100;
  event.cause = 0;
  add(event);
  const auto rows = finish().rows<UvmTable>();
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0).start, 100) << "in order of time";
  EXPECT_EQ(rows->at(0).cause, "");
  const UvmRow& r = rows->at(1);
  EXPECT_EQ(r.kind, UvmKind::device_to_host);
  EXPECT_EQ(r.device, kHostDevice);
  EXPECT_NE(r.peer_device, kHostDevice);
  EXPECT_EQ(r.address, 0x7f0000000000u);
  EXPECT_EQ(r.bytes, 65536u);
  EXPECT_EQ(r.end, 450);
  EXPECT_EQ(r.count, 3u);
  EXPECT_EQ(r.cause, "name");
  EXPECT_EQ(r.process, 4000u);
}

}  // namespace
}  // namespace wicprof::store
