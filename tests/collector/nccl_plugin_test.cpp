// NCCL's plugin as a library of this program: many communicators and threads at once, and what NCCL does in odd orders.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "collector/nccl/profiler_interface.h"
#include "collector/nccl/recording.h"
#include "protocol/session.h"
#include "tests/protocol/ring_contents.h"
#include "tests/protocol/runtime_folder.h"

extern "C" {
extern wicprof::nccl::Profiler4 ncclProfiler_v4;
extern wicprof::nccl::Profiler5 ncclProfiler_v5, ncclProfiler_v6;
}

namespace wicprof {
namespace {

using nccl::Description5;

/// The recording begins once per process, so all tests share the session.
struct Session {
  RuntimeFolder folder;
  SessionOwner owner = *SessionOwner::create({"nccl", false, "test"});
  Session() {
    setenv(kSessionVariable, owner.path().c_str(), 1);
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
  }
};
Session& session() {
  static Session shared;
  return shared;
}

/// What the tests so far have made the plugin write.
Delivered delivered() { return Delivered(session().owner.map().ring(0)); }

struct Made {
  explicit Made(std::uint64_t id, nccl::Profiler5& by = ncclProfiler_v5) : plugin(by) {
    (void)session();
    EXPECT_EQ(plugin.init(&context, id, &mask, nullptr, 1, 4, 2, nullptr), 0);
  }
  ~Made() { EXPECT_EQ(plugin.finalize(context), 0); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  void* start(const Description5& event) {
    Description5 copy = event;
    void* handle = &copy;  // as NCCL leaves it: not empty
    EXPECT_EQ(plugin.start_event(context, &handle, &copy), 0);
    return handle;
  }
  void stop(void* handle) { EXPECT_EQ(plugin.stop_event(handle), 0); }

  nccl::Profiler5& plugin;
  void* context = nullptr;
  int mask = 0;
};

Description5 group() {
  Description5 event;
  std::memset(static_cast<void*>(&event), 0xff, sizeof event);
  event.type = nccl::kGroupApi;
  event.parent = nullptr;
  return event;
}
Description5 call(void* parent, bool captured = false) {
  Description5 event = group();
  event.type = nccl::kCollApi;
  event.parent = parent;
  event.collective_call = {"AllReduce", 4, "ncclFloat32", 0, nullptr, captured};
  return event;
}
Description5 collective(void* parent, std::uint64_t sequence, const char* operation = "AllReduce") {
  Description5 event = group();
  event.type = nccl::kColl;
  event.parent = parent;
  event.collective = {sequence, operation, nullptr, nullptr, 4, 1, "ncclFloat32"};
  return event;
}
Description5 message(int peer, const char* operation) {
  Description5 event = group();
  event.type = nccl::kP2p;
  event.message = {operation, nullptr, "ncclInt8", 7, peer};
  return event;
}

TEST(NcclPlugin, NamesOfOperationsAndTypes) {
  EXPECT_EQ(collector::nccl_operation("AllReduce"), MpiOperation::nccl_all_reduce);
  EXPECT_EQ(collector::nccl_operation("ReduceScatter"), MpiOperation::nccl_reduce_scatter);
  EXPECT_EQ(collector::nccl_operation("Recv"), MpiOperation::nccl_recv);
  for (const char* other : {"", "Reduc", "PutSignal", "Invalid", static_cast<const char*>(nullptr)})
    EXPECT_EQ(collector::nccl_operation(other), MpiOperation::none);
  const std::pair<const char*, int> sizes[] = {{"ncclInt8", 1},     {"ncclUint8", 1},      {"ncclInt32", 4},
                                               {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat64", 8},
                                               {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1},
                                               {"Unknown", 0},      {nullptr, 0}};
  for (const auto& [name, bytes] : sizes) EXPECT_EQ(collector::nccl_datatype_bytes(name), bytes) << name;
}

// A process with a thread for each GPU. The first test: the recording begins once per process.
TEST(NcclPlugin, ThreadsThatBeginTogetherAreAllRecorded) {
  const SessionMap& map = session().owner.map();
  map.header().reclaims_rings = 1;  // whoever finds no free ring waits for one
  for (std::size_t i = 0; i < map.ring_count(); ++i) map.ring(i)->owner.claim(&map);
  std::atomic<int> ready{0};
  std::array<int, 8> masks{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < static_cast<int>(masks.size())) std::this_thread::yield();
      const Made made(100 + i);
      masks[i] = made.mask;
    });
  }
  while (ready < static_cast<int>(masks.size())) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (std::size_t i = 0; i < map.ring_count(); ++i) map.ring(i)->owner.give_back();
  for (std::thread& each : threads) each.join();
  for (const int mask : masks) EXPECT_NE(mask, 0);
}

TEST(NcclPlugin, CollectiveHasTheTimeOfItsCall) {
  (void)session();
  {
    Made made(21);
    EXPECT_EQ(made.mask, 2 | 4 | 256 | 512 | 1024);
    void* const outer = made.start(group());
    const TimeNs before = now_ns();
    void* const entered = made.start(call(outer));
    const TimeNs after = now_ns();
    made.stop(entered);
    usleep(2000);
    EXPECT_EQ(made.start(collective(entered, 6, "Broadcast")), nullptr);
    made.stop(entered);  // NCCL does so
    made.stop(outer);
    const std::vector<MpiCallEvent> calls = delivered().all<MpiCallEvent>();
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_LE(before, calls[0].begin_ns);
    EXPECT_LE(calls[0].begin_ns, after);
    EXPECT_GE(calls[0].end_ns - calls[0].begin_ns, 2 * kMillisecond);
    EXPECT_EQ(calls[0].sequence, 7u);
    EXPECT_EQ(calls[0].peer, 1);  // its root
    EXPECT_EQ(calls[0].bytes, 16);
    EXPECT_EQ(calls[0].communicator, 21u);
    EXPECT_EQ(calls[0].operation, MpiOperation::nccl_broadcast);
  }
}

/// What the session shows of the communicator.
std::optional<OpenNccl> shown(CommunicatorId communicator) {
  for (const OpenEntry<OpenNccl>& entry : session().owner.map().open_work().nccl) {
    if (const std::optional<OpenNccl> of = entry.read(); of && of->communicator == communicator) return of;
  }
  return std::nullopt;
}

TEST(NcclPlugin, ShowsWhatIsEnqueued) {
  (void)session();
  EXPECT_FALSE(shown(31));
  {
    Made made(31);
    ASSERT_TRUE(shown(31));
    EXPECT_EQ(shown(31)->collectives, 0u);
    EXPECT_EQ(shown(31)->size, 4);
    EXPECT_EQ(shown(31)->rank, 2);
    EXPECT_EQ(shown(31)->world_rank, 3);
    const TimeNs before = now_ns();
    for (std::uint64_t i = 0; i < OpenNccl::kKept + 2; ++i) made.start(collective(nullptr, i));
    made.start(collective(nullptr, 0, "Broadcast"));
    made.start(message(1, "Send"));  // no collective
    const OpenNccl last = *shown(31);
    EXPECT_EQ(last.collectives, OpenNccl::kKept + 3);
    EXPECT_EQ(last.number(3), nullptr);
    ASSERT_NE(last.number(4), nullptr);
    EXPECT_EQ(last.number(4)->operation, MpiOperation::nccl_all_reduce);
    EXPECT_EQ(last.number(4)->root, -1);
    EXPECT_EQ(last.number(last.collectives)->operation, MpiOperation::nccl_broadcast);
    EXPECT_EQ(last.number(last.collectives)->root, 1);
    EXPECT_EQ(last.number(last.collectives)->bytes, 16);
    EXPECT_GE(last.number(last.collectives)->at, before);
    EXPECT_EQ(last.number(last.collectives + 1), nullptr);
  }
  EXPECT_FALSE(shown(31));
  (void)delivered();
}

TEST(NcclPlugin, OddOrders) {
  Made made(22, ncclProfiler_v6);
  (void)delivered();
  void* handle = nullptr;
  Description5 event = collective(nullptr, 0);
  EXPECT_EQ(made.plugin.start_event(nullptr, &handle, &event), 0);  // a communicator that the plugin refused
  EXPECT_EQ(made.plugin.start_event(made.context, nullptr, &event), 0);
  EXPECT_EQ(made.plugin.start_event(made.context, &handle, nullptr), 0);
  EXPECT_EQ(made.plugin.finalize(nullptr), 0);
  EXPECT_EQ(made.plugin.record_state(nullptr, 99, nullptr), 0);
  for (void* any : {static_cast<void*>(nullptr), static_cast<void*>(&handle), reinterpret_cast<void*>(-3)}) {
    made.stop(any);
    EXPECT_EQ(made.start(collective(any, 1)), nullptr);  // parents of other kinds, as version 4 has a group's
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (bit == 1 || bit == 2 || (bit >= 8 && bit <= 10)) continue;
    event.type = std::uint64_t{1} << bit;
    EXPECT_EQ(made.start(event), nullptr) << bit;
  }
  event = collective(nullptr, 1, nullptr);
  EXPECT_EQ(made.start(event), nullptr);
  made.start(collective(made.start(call(nullptr, true)), 1));  // in a graph
  void* const again = made.start(group());
  made.start(group());  // a group that an error ended
  made.stop(again);
  made.stop(again);
  const Delivered all = delivered();
  // Those of the loop over parents, of which the last looks like a call in the future.
  EXPECT_EQ(all.all<MpiCallEvent>().size(), 3u);
  EXPECT_EQ(all.all<LossEvent>().size(), 1u);
  for (const MpiCallEvent& each : all.all<MpiCallEvent>()) EXPECT_LE(each.begin_ns, each.end_ns);
}

TEST(NcclPlugin, MessagesAreNumberedByPeerAndDirection) {
  Made made(23);
  (void)delivered();
  for (int round = 0; round < 2; ++round) {
    for (const char* operation : {"Send", "Recv"}) {
      for (int peer : {0, 1}) made.start(message(peer, operation));
    }
  }
  std::vector<MpiCallEvent> calls = delivered().all<MpiCallEvent>();
  ASSERT_EQ(calls.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(calls[i].sequence, i / 4 + 1);
    EXPECT_EQ(calls[i].tag, 0);
    EXPECT_EQ(calls[i].bytes, 7);
  }
}

TEST(NcclPlugin, OldestVersion) {
  (void)session();
  (void)delivered();
  void* context = nullptr;
  int mask = 0;
  ASSERT_EQ(ncclProfiler_v4.init(&context, &mask, "named", 24, 1, 2, 0, nullptr), 0);
  nccl::Description4 event;
  std::memset(static_cast<void*>(&event), 0xff, sizeof event);
  event.type = 2;
  event.parent = nullptr;
  event.collective = {0, "AllReduce", nullptr, nullptr, 4, 0, "ncclFloat32"};
  void* handle = nullptr;
  ASSERT_EQ(ncclProfiler_v4.start_event(context, &handle, &event), 0);
  ASSERT_EQ(ncclProfiler_v4.finalize(context), 0);
  const Delivered all = delivered();
  ASSERT_EQ(all.all<MpiCommunicatorEvent>().size(), 1u);
  EXPECT_EQ(all.all<MpiCommunicatorEvent>()[0].world_rank, 3);
  EXPECT_EQ(all.all<MpiCallEvent>().size(), 1u);
}

TEST(NcclPlugin, ManyThreads) {
  constexpr int kThreads = 8, kRounds = 300;
  (void)session();
  (void)delivered();
  std::atomic<int> ready{0};
  Made shared(31);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) {
        Made own(100 + static_cast<std::uint64_t>(i));
        for (Made* made : {&own, &shared}) {
          void* const outer = made->start(group());
          void* const entered = made->start(call(outer));
          made->stop(entered);
          made->start(collective(entered, static_cast<std::uint64_t>(round)));
          made->start(message(i, "Send"));
          made->stop(outer);
        }
      }
    });
  }
  std::size_t calls = 0;
  for (std::thread& thread : threads) thread.join();
  calls += delivered().all<MpiCallEvent>().size();
  EXPECT_EQ(calls, std::size_t{kThreads} * kRounds * 4);
}

}  // namespace
}  // namespace wicprof
