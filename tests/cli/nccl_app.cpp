// Ranks of a job that call a made NCCL: this program does with the plugin that NCCL_PROFILER_PLUGIN names what NCCL
// does, and writes what CUPTI would have recorded. The structs are declared here by NCCL's headers once more, so that a
// wrong layout in the plugin shows. A rank's device is a clock: work begins when it is launched and the device is free.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/event_sink.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/process.h"
#include "protocol/session.h"

namespace {

using namespace wicprof;

constexpr int kMaxRanks = 8, kMaxSteps = 512;
constexpr TimeNs kDeadline = 20 * kSecond;

// By NCCL's headers.
struct CollApi {
  const char* func;
  size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graphCaptured;
};
struct P2pApi {
  const char* func;
  size_t count;
  const char* datatype;
  void* stream;
  bool graphCaptured;
};
struct Coll {
  uint64_t seqNumber;
  const char* func;
  void const* sendBuff;
  void* recvBuff;
  size_t count;
  int root;
  const char* datatype;
  uint8_t nChannels;
  uint8_t nWarps;
  const char* algo;
  const char* proto;
  void* parentGroup;
};
struct P2p {
  const char* func;
  void* buff;
  const char* datatype;
  size_t count;
  int peer;
  uint8_t nChannels;
  void* parentGroup;
};
struct DescrV4 {
  uint8_t type;
  void* parentObj;
  int rank;
  union {
    CollApi collApi;
    P2pApi p2pApi;
    Coll coll;
    P2p p2p;
  };
};
struct DescrV5 {
  uint64_t type;
  void* parentObj;
  int rank;
  union {
    CollApi collApi;
    P2pApi p2pApi;
    Coll coll;
    P2p p2p;
  };
};
template <class Descr, class... Init>
struct Plugin {
  const char* name;
  int (*init)(Init...);
  int (*startEvent)(void*, void**, Descr*);
  int (*stopEvent)(void*);
  int (*recordEventState)(void*, int, void*);
  int (*finalize)(void*);
};
using PluginV4 = Plugin<DescrV4, void**, int*, const char*, uint64_t, int, int, int, void*>;
using PluginV5 = Plugin<DescrV5, void**, uint64_t, int*, const char*, int, int, int, void*>;
enum { kColl = 2, kP2p = 4, kGroupApi = 256, kCollApi = 512, kP2pApi = 1024 };

struct Options {
  int version = 5, ranks = 2, steps = 40, late = 1, late_ms = 5, every = 2, kernel_us = 500;
  std::string how = "host";         // host, spin, kernel, copy, none
  std::string what = "collective";  // collective, message, broadcast, mixed
  int alone = -1;                   // --rank N: is that rank alone, which shares the file --shared with the others
  std::string shared, times;
  std::string hang;  // how the late rank keeps the others from the last step: sleep, exit, size, order
  bool kernels = true, captured = false, launcher = true, twice = false, fork_after = false, ranges = false;
};

/// What the ranks share: the begin of each rank's kernel in each step.
struct Shared {
  std::atomic<TimeNs> begin[kMaxSteps + 2][kMaxRanks];
};

std::uint32_t own_thread() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "nccl_app: %s\n", what);
  std::_Exit(70);
}

void sleep_until(TimeNs at) {
  if (const TimeNs now = now_ns(); now < at) usleep(static_cast<useconds_t>((at - now) / 1000));
}

/// What NCCL does with its plugin.
class Nccl {
 public:
  Nccl(int version, const char* path) : version_(version) {
    library_ = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    const std::string symbol = "ncclProfiler_v" + std::to_string(version);
    (version == 4 ? reinterpret_cast<void*&>(v4_) : reinterpret_cast<void*&>(v5_)) = dlsym(library_, symbol.c_str());
    if (v4_ == nullptr && v5_ == nullptr) fail("the plugin has no such version");
  }
  void make_communicator(uint64_t id, int ranks, int rank, const char* name = "made") {
    if (library_ == nullptr) return;
    const int failed = version_ == 4 ? v4_->init(&context_, &mask, name, id, 1, ranks, rank, nullptr)
                                     : v5_->init(&context_, id, &mask, name, 1, ranks, rank, nullptr);
    if (failed != 0) fail("init failed");
  }
  void* start(uint64_t type, void* parent, auto fill) {
    void* handle = nullptr;
    const auto begin = [&](auto* plugin, auto event) {
      std::memset(static_cast<void*>(&event), 0xff, sizeof event);  // NCCL leaves what is not of the event as it was
      event.type = static_cast<decltype(event.type)>(type);
      event.parentObj = parent;
      fill(event);
      if (plugin->startEvent(context_, &handle, &event) != 0) fail("startEvent failed");
    };
    if (library_ == nullptr) return nullptr;
    version_ == 4 ? begin(v4_, DescrV4()) : begin(v5_, DescrV5());
    return handle;
  }
  void stop(void* handle) {
    if (library_ == nullptr || handle == nullptr) return;
    if ((version_ == 4 ? v4_->stopEvent(handle) : v5_->stopEvent(handle)) != 0) fail("stopEvent failed");
  }
  void record(void* handle) {
    if (library_ == nullptr) return;
    if ((version_ == 4 ? v4_->recordEventState(handle, 23, nullptr) : v5_->recordEventState(handle, 23, nullptr)) != 0)
      fail("recordEventState failed");
  }
  void destroy() {
    if (library_ == nullptr) return;
    if (context_ != nullptr && (version_ == 4 ? v4_->finalize(context_) : v5_->finalize(context_)) != 0)
      fail("finalize failed");
    context_ = nullptr;
    dlclose(library_);
  }
  bool shows_calls() const { return version_ > 4; }

  int mask = 0;

 private:
  int version_;
  void *library_ = nullptr, *context_ = nullptr;
  PluginV4* v4_ = nullptr;
  PluginV5* v5_ = nullptr;
};

class Rank {
 public:
  Rank(const Options& options, Shared& shared, int rank)
      : options_(options), shared_(shared), rank_(rank), nccl_(options.version, std::getenv("NCCL_PROFILER_PLUGIN")) {
    if (const char* path = std::getenv(kSessionVariable); path != nullptr) {
      Result<SessionMap> session = SessionMap::attach(path);
      if (session) session_ = *std::move(session);
    }
    if (session_ && options.kernels) {
      if (RingHeader* const ring = session_.claim_ring()) sink_ = std::make_unique<EventSink>(ring);
    }
    if (sink_ == nullptr) return;
    write_process_event(*sink_);
    auto device = make_event<DeviceEvent>();
    device.device = cuda_device(rank);
    device.name = sink_->text("a GPU of the test");
    device.sm_count = 4;
    device.compute_major = 9;
    device.kind = DeviceKind::cuda;
    sink_->write(device);
  }

  int run() {
    nccl_.make_communicator(0x1234567890abcdefu, options_.ranks, rank_);
    std::printf("rank %d: mask %d\n", rank_, nccl_.mask);
    if (options_.twice) {  // a second one, of this rank alone, which ends first
      Nccl other(options_.version, std::getenv("NCCL_PROFILER_PLUGIN"));
      other.make_communicator(7, 1, 0);
      other.destroy();
    }
    step(0);  // ranks begin together, but for the time that they need to start
    for (int i = 1; i <= options_.steps; ++i) {
      const bool late = rank_ == options_.late && options_.how != "none" && i % options_.every == 0;
      const TimeNs by = late ? options_.late_ms * kMillisecond : 0;
      const TimeNs before = now_ns();
      if (!options_.hang.empty() && i == options_.steps) hang();
      if (options_.how == "host" && late) sleep_until(now_ns() + by);
      if (options_.how == "spin") spin(by);
      if (options_.ranges) range("load " + std::to_string(i), before);
      if (options_.how == "copy" && late) copy(by);
      kernel("work(float*)", options_.kernel_us * kMicrosecond + (options_.how == "kernel" ? by : 0));
      lateness_ += options_.how == "host" || options_.how == "spin" ? (late ? now_ns() - before : 0) : by;
      step(i);
      times_ += (i > 1 ? "," : "") + std::to_string(now_ns() - before);
      if (options_.how != "none" && i % options_.every == 0)
        late_ += (late_.empty() ? "" : ",") + std::to_string(i - 1);
      if (options_.fork_after && i == 1) forked();
    }
    std::printf("rank %d: late by %lld ns, mask %d\n", rank_, static_cast<long long>(lateness_), nccl_.mask);
    nccl_.destroy();
    if (rank_ == 0 && !options_.times.empty()) {
      std::FILE* const out = std::fopen(options_.times.c_str(), "w");
      if (out == nullptr) fail("no file for times");
      std::fprintf(out, "{\"steps\":[%s],\"late\":[%s],\"small\":1}", times_.c_str(), late_.c_str());
      std::fclose(out);
    }
    return 0;
  }

 private:
  /// Until somebody ends the program, or it has waited too long.
  [[noreturn]] void hang() {
    const bool is_late = rank_ == options_.late;
    const auto number = static_cast<uint64_t>(options_.steps);
    if (is_late && options_.hang == "exit") std::_Exit(0);
    if (options_.hang == "order") {
      Nccl other(options_.version, std::getenv("NCCL_PROFILER_PLUGIN"));
      other.make_communicator(77, options_.ranks, rank_, "other");
      if (is_late) std::swap(nccl_, other);
      call("AllReduce", is_late ? 0 : number, false);
    } else if (!is_late || options_.hang != "sleep") {
      call("AllReduce", number, false, is_late ? 512 : 1024);
    }
    sleep_until(now_ns() + kDeadline);
    fail("another rank did not come");
  }

  void range(const std::string& name, TimeNs begin) {
    if (sink_ == nullptr) return;
    auto event = make_event<NvtxEvent>();
    event.kind = NvtxKind::range;
    event.name = sink_->text(name);
    event.thread = own_thread();
    event.start_ns = begin;
    event.end_ns = now_ns();
    sink_->write(event);
  }
  void spin(TimeNs by) {
    for (const TimeNs end = now_ns() + by; now_ns() < end;) {
    }
  }
  void forked() {
    const pid_t child = fork();
    if (child == 0) {
      call("AllReduce", 99, false);
      nccl_.destroy();
      std::_Exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the child failed");
  }

  void launch(const char* name, std::uint32_t correlation) {
    if (sink_ == nullptr) return;
    auto event = make_event<CallEvent>();
    event.name = sink_->text(name);
    event.thread = own_thread();
    event.start_ns = now_ns();
    event.end_ns = now_ns();
    event.correlation = correlation;
    event.api = CallApi::driver;
    sink_->write(event);
  }
  void ran(const char* name, std::uint32_t correlation, TimeNs begin, TimeNs end) {
    if (sink_ == nullptr) return;
    auto event = make_event<KernelEvent>();
    event.device = cuda_device(rank_);
    event.name = sink_->text(name);
    event.start_ns = begin;
    event.end_ns = end;
    event.context = 1;
    event.stream = 7;
    event.correlation = correlation;
    std::fill_n(event.grid, 3, 1);
    std::fill_n(event.block, 3, 32);
    sink_->write(event);
  }
  void kernel(const char* name, TimeNs time) {
    const std::uint32_t correlation = ++correlation_;
    launch("cuLaunchKernel", correlation);
    const TimeNs begin = std::max(now_ns(), free_);
    free_ = begin + time;
    ran(name, correlation, begin, free_);
  }
  void copy(TimeNs time) {
    if (sink_ == nullptr) return;
    auto event = make_event<CopyEvent>();
    event.device = cuda_device(rank_);
    event.start_ns = std::max(now_ns(), free_);
    free_ = event.end_ns = event.start_ns + time;
    event.peer_device = event.device;
    event.bytes = 1 << 20;
    event.context = 1;
    event.stream = 7;
    sink_->write(event);
  }

  /// As NCCL does: the group, the call, the launch, and only then the collective.
  void call(const char* func, uint64_t sequence, bool message, std::size_t count = 1024) {
    void* const group = nccl_.shows_calls() ? nccl_.start(kGroupApi, nullptr, [](auto&) {}) : nullptr;
    nccl_.record(group);
    const bool captured = options_.captured;
    void* api = nullptr;
    if (nccl_.shows_calls() && !message) {
      api = nccl_.start(kCollApi, group,
                        [&](auto& event) { event.collApi = {func, 1024, "ncclFloat32", 0, nullptr, captured}; });
    } else if (nccl_.shows_calls()) {
      api = nccl_.start(kP2pApi, group, [&](auto& event) {
        event.p2pApi = {func, 1024, "ncclFloat32", nullptr, captured};
      });
    }
    nccl_.stop(api);
    launch("cuLaunchKernelEx", correlation_ + 1);
    void* task = nullptr;
    if (message) {
      task = nccl_.start(kP2p, api, [&](auto& event) {
        event.rank = rank_;
        event.p2p = {func, nullptr, "ncclInt8", 4096, 1 - rank_, 1, nullptr};
      });
    } else {
      task = nccl_.start(kColl, api, [&](auto& event) {
        event.rank = rank_;
        event.coll = {sequence, func, nullptr, nullptr, count, 0, "ncclFloat32", 1, 4, "RING", "LL", nullptr};
      });
    }
    nccl_.stop(task);
    nccl_.stop(api);  // NCCL stops calls whose handle is out of date
    nccl_.stop(group);
  }

  /// A collective of all ranks, and the wait for it.
  void step(int number) {
    const bool message = options_.what == "message";
    const bool broadcast = options_.what == "broadcast" || (options_.what == "mixed" && number % 2 == 1);
    const char* const func = message ? (rank_ == 0 ? "Send" : "Recv") : broadcast ? "Broadcast" : "AllReduce";
    const auto sequence = static_cast<uint64_t>(options_.what == "mixed" ? number / 2 : number);
    call(func, sequence, message);
    const std::uint32_t correlation = ++correlation_;
    const TimeNs begin = std::max(now_ns(), free_);
    shared_.begin[number][rank_].store(begin);
    TimeNs last = 0;
    for (int rank = 0; rank < options_.ranks; ++rank) {
      const std::atomic<TimeNs>& other = shared_.begin[number][rank];
      while (other.load() == 0) {
        if (now_ns() - begin > kDeadline) fail("another rank did not come");
        usleep(50);
      }
      last = std::max(last, other.load());
    }
    free_ = last + 100 * kMicrosecond;
    const std::string name =
        std::string("ncclDevKernel_") + func + "_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    ran(name.c_str(), correlation, begin, free_);
    const TimeNs waits = now_ns();
    sleep_until(free_);
    if (sink_ == nullptr) return;
    auto event = make_event<HostWaitEvent>();
    event.call = sink_->text("cudaStreamSynchronize");
    event.thread = own_thread();
    event.begin_ns = begin;  // with the time in which this rank waited for the others' numbers
    event.end_ns = std::max(now_ns(), waits);
    event.cpu_ns = 0;
    event.run_delay_ns = 0;
    event.awaited = Awaited::stream;
    sink_->write(event);
  }

  const Options& options_;
  Shared& shared_;
  const int rank_;
  Nccl nccl_;
  SessionMap session_;
  std::unique_ptr<EventSink> sink_;
  std::uint32_t correlation_ = 0;
  TimeNs free_ = 0, lateness_ = 0;
  std::string times_, late_;
};

int be_rank(const Options& options, Shared& shared, int rank) {
  if (options.launcher) {
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("WORLD_SIZE", std::to_string(options.ranks).c_str(), 1);
    setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  }
  return Rank(options, shared, rank).run();
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto text = [&]() -> const char* { return i + 1 < argc ? argv[++i] : ""; };
    const auto value = [&] { return std::atoi(text()); };
    if (option == "--version") o.version = value();
    if (option == "--ranks") o.ranks = std::min(value(), kMaxRanks);
    if (option == "--steps") o.steps = std::min(value(), kMaxSteps);
    if (option == "--late") o.late = value();
    if (option == "--late-ms") o.late_ms = value();
    if (option == "--kernel-us") o.kernel_us = value();
    if (option == "--every") o.every = value();
    if (option == "--how") o.how = text();
    if (option == "--hang") o.hang = text();
    if (option == "--what") o.what = text();
    if (option == "--rank") o.alone = value();
    if (option == "--shared") o.shared = text();
    if (option == "--times") o.times = text();  // rank 0's steps, for bench/nccl_ranks.py
    if (option == "--no-kernels") o.kernels = false;
    if (option == "--captured") o.captured = true;
    if (option == "--no-launcher") o.launcher = false;
    if (option == "--twice") o.twice = true;
    if (option == "--fork") o.fork_after = true;
    if (option == "--ranges") o.ranges = true;
  }
  const int file = o.shared.empty() ? -1 : open(o.shared.c_str(), O_RDWR | O_CREAT, 0600);
  if (file >= 0 && ftruncate(file, sizeof(Shared)) != 0) fail("no file");
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  if (memory == MAP_FAILED) fail("no memory");
  auto* const shared = static_cast<Shared*>(memory);
  if (o.alone >= 0) return be_rank(o, *shared, o.alone);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < o.ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) fail("no process");
    if (child == 0) {
      const int status = be_rank(o, *shared, rank);
      std::fflush(stdout);
      std::_Exit(status);
    }
    ranks.push_back(child);
  }
  int worst = 0;
  for (const pid_t rank : ranks) {
    int status = 0;
    waitpid(rank, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 71);
  }
  return worst;
}
