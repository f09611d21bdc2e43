// A program that loads wic-prof's collector as the CUDA driver does: dlopen(), then InitializeInjection().
//   guest LIBRARY SCENARIO [FAKE_CUPTI]
// Its exit status identifies the failed expectation; 0: none.
#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>

#include "collector/cupti/records.h"
#include "tests/collector/fake_cupti.h"

namespace {

using namespace wicprof::collector;

const FakeCuptiControls* cupti = nullptr;

std::uint64_t monotonic() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

template <class Record>
void add(const Record& record) {
  cupti->add(&record, sizeof record);
}

void add_kernel(std::uint32_t correlation, std::uint64_t start, std::uint64_t end, const char* name = "_Z4workPf") {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  record.name = name;
  add(record);
}

void add_everything() {
  DeviceRecord device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "Test GPU";
  device.numMultiprocessors = 132;
  device.isCudaVisible = 1;
  for (int i = 0; i < 16; ++i) device.uuid.bytes[i] = static_cast<char>(i + 1);
  add(device);
  device.id = 1;
  device.name = "Hidden GPU";
  device.isCudaVisible = 0;
  add(device);
  CallRecord call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.start = 1'000;
  call.end = 1'100;
  call.correlationId = 1;
  add(call);
  add_kernel(1, 1'200, 1'300);
  CopyRecord copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.start = 1'400;
  copy.end = 1'500;
  copy.bytes = 4096;
  add(copy);
  PeerCopyRecord peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.start = 1'600;
  peer.end = 1'700;
  peer.dstDeviceId = 1;
  add(peer);
  MemsetRecord memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.start = 1'800;
  memset.end = 1'900;
  add(memset);
  MarkerRecord marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.id = 1;
  marker.timestamp = 900;
  marker.name = "phase";
  marker.domain = "solver";
  add(marker);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  marker.timestamp = 2'000;
  marker.name = nullptr;
  add(marker);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.id = 2;
  marker.name = "open at exit";
  add(marker);
}

// A record of every kind that add_everything() omits.
void add_the_rest() {
  SyncRecord sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  sync.start = 2'000;
  sync.end = 2'100;
  sync.correlationId = 5;
  sync.contextId = 1;
  sync.streamId = 7;
  sync.cudaEventId = 3;
  sync.cudaEventSyncId = 77;
  sync.returnValue = 1;
  add(sync);
  CudaEventRecord event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.eventId = 3;
  event.streamId = 8;
  event.cudaEventSyncId = 77;
  add(event);
  cupti->enter(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, 9);
  cupti->leave(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, 9);
  GraphRecord graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.graphId = 9;
  graph.start = 3'000;
  graph.end = 3'500;
  add(graph);
  OverheadRecord overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.threadId = 4'242;
  overhead.start = 3'600;
  overhead.end = 3'700;
  overhead.correlationId = 11;
  overhead.overheadData = std::malloc(16);  // the reader of the record frees it
  add(overhead);
  UvmRecord uvm{};
  uvm.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  uvm.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING;
  uvm.value = 65'536;
  uvm.start = 4'000;
  uvm.end = 1;  // meaningless for this kind
  uvm.address = 0x7f00'0000'1000;
  uvm.srcId = 1 << 2;
  uvm.processors[0] = 1 << 2;
  add(uvm);
  MarkerRecord mark{};
  mark.kind = CUPTI_ACTIVITY_KIND_MARKER;
  mark.flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
  mark.id = 40;
  mark.timestamp = 4'500;
  mark.name = "coloured";
  add(mark);
  MarkerDataRecord data{};
  data.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA;
  data.flags = CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB;
  data.id = 40;
  data.color = 0xff336699;
  data.category = 6;
  add(data);
}

void allocate_managed() {
  constexpr auto kRuntime = CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000;
  cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, kRuntime, 1);
  cupti->context_created();
  cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, kRuntime, 1);
}

void synchronize(std::uint32_t correlation) {
  constexpr auto kId = CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020;
  cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, kId, correlation);
  cupti->enter(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, correlation + 1);
  cupti->leave(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, correlation + 1);
  cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, kId, correlation);
}

}  // namespace

// In the place of the runtime that is linked into a program: its functions have names, and call CUPTI.
extern "C" __attribute__((noinline)) cudaError_t cudaStreamSynchronize(cudaStream_t) {
  constexpr auto kId = CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020;
  cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, kId, 70);
  cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, kId, 70);
  return cudaSuccess;
}

volatile int kept = 0;  // so that no call is the last action of its function, and each has a frame

// The same with the driver's call within. `nested_id`: whether both have one id, as with CUPTI. Like the runtime, it
// calls the driver from another place where it has no callbacks.
bool nested_id = true;
extern "C" __attribute__((noinline)) void libcudart_static_waits(std::uint32_t correlation,
                                                                 const cuEventSynchronize_params& params) {
  cupti->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, correlation, &params);
  cupti->leave(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, correlation);
  kept = kept + 1;
}
extern "C" __attribute__((noinline)) cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  constexpr auto kId = CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020;
  static std::uint32_t correlation = 100;
  const std::uint32_t outer = ++correlation, inner = nested_id ? outer : ++correlation;
  const cuEventSynchronize_params params{event};
  if (cupti->enabled(CUPTI_CB_DOMAIN_RUNTIME_API, kId)) {
    cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, kId, outer);
    libcudart_static_waits(inner, params);
    cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, kId, outer);
  } else {
    libcudart_static_waits(inner, params);
    kept = kept + 1;
  }
  return cudaSuccess;
}

namespace {

__attribute__((noinline)) void first_step() { kept = kept + cudaStreamSynchronize(nullptr); }
__attribute__((noinline)) void second_step() {
  kept = kept + cudaStreamSynchronize(nullptr);
  kept = kept + cudaStreamSynchronize(nullptr);
}

// One place, reached on stacks of different depth.
void deeper(int levels) {
  if (levels > 0) {
    deeper(levels - 1);
  } else {
    first_step();
  }
  kept = kept + 1;
}

int places_scenario() {
  for (int i = 0; i < 3; ++i) {
    deeper(i);
    second_step();
  }
  std::thread(first_step).join();
  return 0;
}

__attribute__((noinline)) void waiting_step() { kept = kept + cudaEventSynchronize(nullptr); }
__attribute__((noinline)) void other_step() { kept = kept - 1 + cudaEventSynchronize(nullptr); }

// A program that calls the driver itself.
__attribute__((noinline)) void driver_step() {
  const cuEventSynchronize_params params{};
  cupti->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, 7, &params);
  cupti->leave(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, 7);
  kept = kept + 1;
}

void wait_for_flushes(int more) {
  const int goal = cupti->flushes() + more;
  while (cupti->flushes() < goal) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Of two places in turn: most of these waits are like earlier ones.
constexpr int kTurns = 20;

// Whether the collector leaves the runtime's callbacks alone once it knows that the driver's suffice.
int nested_calls_scenario(bool one_id) {
  constexpr auto kId = CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020;
  nested_id = one_id;
  cupti->context_created();
  for (int i = 0; i < 3; ++i) waiting_step();
  wait_for_flushes(4);
  if (cupti->enabled(CUPTI_CB_DOMAIN_RUNTIME_API, kId) == one_id) return 27;
  for (int i = 0; i < 3; ++i) waiting_step();
  for (int i = 0; i < kTurns; ++i) {
    waiting_step();
    other_step();
  }
  std::thread(waiting_step).join();
  other_step();
  wait_for_flushes(4);
  if (cupti->enabled(CUPTI_CB_DOMAIN_RUNTIME_API, kId) == one_id) return 28;
  driver_step();
  return 0;
}

int fork_scenario(bool parent_records) {
  add_kernel(1, 100, 200);
  const pid_t child = fork();
  if (child == 0) {
    add_kernel(666, 300, 400);
    synchronize(666);
    cupti->context_created();
    std::exit(0);  // runs the inherited exit handlers
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!parent_records) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 21);
  add_kernel(2, 500, 600);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 21;
}

int threads_scenario() {
  cupti->context_created();  // starts the flushing thread
  std::thread threads[4];
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads[t] = std::thread([t] {
      for (std::uint32_t i = 0; i < 2'000; ++i) {
        add_kernel(t * 2'000 + i, 100, 200);
        synchronize(100'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string_view scenario = argv[2];
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 3;

  if (scenario == "nvtx") {
    const auto initialize = reinterpret_cast<int (*)(void*)>(dlsym(library, "InitializeInjectionNvtx2"));
    return initialize == nullptr ? 4 : initialize(&argc) == 1 ? 0 : 5;
  }
  // As PyTorch does, whose profiler brings its own CUPTI.
  if (scenario == "program with CUPTI" && dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) == nullptr) return 7;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) return 4;
  if (initialize() != 1) return 5;
  if (initialize() != 1) return 6;  // a second initialisation changes nothing
  if (scenario == "bare" || scenario == "program with CUPTI") return 0;

  if (argc < 4) return 2;
  if (scenario == "CUPTI not even loaded") return dlopen(argv[3], RTLD_NOW | RTLD_NOLOAD) == nullptr ? 0 : 25;
  void* fake = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
  if (fake == nullptr) return 7;
  cupti = reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(fake, "fake_cupti_controls"))();

  if (scenario == "subscription given back") return cupti->subscribed() ? 26 : 0;
  if (scenario == "exit") {
    const std::uint64_t before = monotonic();
    const std::uint64_t now = cupti->now();
    if (now < before || now > monotonic()) return 20;  // the clock of records is not CLOCK_MONOTONIC
    add_everything();
    synchronize(40);
    return cupti->forced_flushes() == 0 ? 0 : 22;
  }
  if (scenario == "every kind") {
    allocate_managed();
    add_everything();
    add_the_rest();
    return cupti->queries_left_out() ? 0 : 24;
  }
  if (scenario == "one buffer of kernels") {
    for (std::uint32_t i = 0; i < 500; ++i) add_kernel(i, 100, 200);
    return 0;
  }
  if (scenario == "managed later") {
    cupti->context_created();
    wait_for_flushes(2);  // without an allocation, the flusher configures the counters
    add_the_rest();
    return 0;
  }
  if (scenario == "_exit") {
    cupti->context_created();
    add_everything();
    wait_for_flushes(2);  // one may have been in progress
    _exit(0);
  }
  if (scenario == "reset") {
    add_kernel(1, 100, 200);
    cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, 1);
    cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, 1);
    _exit(0);
  }
  if (scenario == "running") {
    add_kernel(1, 100, 200);
    add_kernel(2, 300, 0);
    return 0;
  }
  if (scenario == "no flush before a context") {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return cupti->flushes() == 0 ? 0 : 23;
  }
  if (scenario == "fork") return fork_scenario(true);
  if (scenario == "fork, parent silent") return fork_scenario(false);
  if (scenario == "threads") return threads_scenario();
  if (scenario == "places") return places_scenario();
  if (scenario == "nested calls") return nested_calls_scenario(true);
  if (scenario == "nested calls with two ids") return nested_calls_scenario(false);
  return 2;
}
