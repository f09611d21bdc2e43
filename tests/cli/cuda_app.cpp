// A CUDA program that needs no GPU: it loads the test's libcuda (which loads the collector) and "launches kernels"
// through the test's CUPTI. Its command line lists its actions:
//   load                     dlopen libcuda and call cuInit
//   context                  create the first context
//   kernels N                launch N kernels
//   stream SECONDS           launch a kernel every ms for that time
//   graphs SECONDS           launch a graph of three kernels every ms for that time
//   range NAME SECONDS       the same within an NVTX range
//   marked NAME WORDS... end    what follows, within an NVTX range
//   in_range NAME WORDS... end  what follows, within an NVTX range, of which CUPTI has only the callbacks
//   wait WHAT N MS           N times: launch a kernel of so many ms and wait for it, as a runtime that is linked in
//                            does; WHAT: stream (the default one), per_thread_stream, event, blocking_event
//                            (cudaEventBlockingSync), device, other_context, blocking_other_context,
//                            stream_of_other_context, stream_of_blocking_context, stream_from_blocking_context,
//                            blocking_context, captured_stream, blocking_stream (by its policy), within_callback
//                            (where the driver answers no question), or a copy: see kCopies; pinned_later: every
//                            second copy finds its memory pinned. The other context is that of another GPU
//   busy_gpu NAME MS         the GPU of that context (own or other) has work for so many ms more
//   threads N WORDS... end   N threads take these actions at the same time
//   wait_until FILE          launch a kernel that runs until the file exists, and wait for it (stream); write
//                            FILE.asked once wic-prof asks the driver for its end, and FILE.left once the thread
//                            has not slept for half a second after that: it asks nothing, or without a pause
//   asked_of NUMBER          exit with status 97 unless wic-prof's last question was about the stream or context with
//                            that handle
//   unasked WORDS... end     take these actions; exit with status 96 if wic-prof asks the driver meanwhile
//   checked FILE             launch a kernel and wait for it, in turn, until the file exists; exit with status 98 if a
//                            call fails or returns before the kernel has ended, and with 89 after half an hour
//   until FILE               do nothing until the file exists
//   close_all                close all descriptors but the first three
//   flush                    wait until all events are flushed
//   fork WORDS... end        a child takes these actions; the program waits for it
//   chain N WORDS...         take these actions N times, each time after an exec of itself
//   children N WORDS... end  N children, one after the other, by fork and exec, take these actions
//   say TEXT | exit N | _exit N | abort | kill
#include <dlfcn.h>
#include <generated_nvtx_meta.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "collector/cupti/records.h"
#include "tests/cli/fake_gpu.h"
#include "tests/collector/fake_cupti.h"

namespace {

using namespace wicprof::collector;

const FakeCuptiControls* cupti = nullptr;
std::atomic<std::uint32_t> correlation{0};
std::uint32_t range_id = 0;

std::uint64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

void load() {
  void* driver = dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) std::_Exit(90);
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (init == nullptr || init(0) != 0) std::_Exit(91);
  void* fake = dlopen(FAKE_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (fake == nullptr) std::_Exit(92);
  cupti = reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(fake, "fake_cupti_controls"))();
}

void kernel() {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = ++correlation;
  record.start = now();
  record.end = record.start + 1'000;
  record.name = "_Z4workPf";
  cupti->add(&record, sizeof record);
}

void stream(double seconds) {
  const std::uint64_t end = now() + static_cast<std::uint64_t>(seconds * 1e9);
  while (now() < end) {
    kernel();
    usleep(1000);
  }
}

// As CUPTI: a launch as a whole where that kind is enabled, else its kernels.
void graph() {
  ++correlation;
  if (cupti->records(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    GraphRecord record{};
    record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    record.correlationId = correlation;
    record.graphId = 9;
    record.start = now();
    record.end = record.start + 3'000;
    return cupti->add(&record, sizeof record);
  }
  for (int node = 0; node < 3; ++node) {
    KernelRecord record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.correlationId = correlation;
    record.graphId = 9;
    record.graphNodeId = 1 + static_cast<std::uint64_t>(node);
    record.start = now();
    record.end = record.start + 1'000;
    record.name = node == 0 ? "_Z4workPf" : "_Z5tightPf";
    cupti->add(&record, sizeof record);
  }
}

void graphs(double seconds) {
  cupti->enter(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, ++correlation);
  cupti->leave(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, correlation);
  const std::uint64_t end = now() + static_cast<std::uint64_t>(seconds * 1e9);
  while (now() < end) {
    graph();
    usleep(1000);
  }
}

void marker(CUpti_ActivityFlag flag, const char* name) {
  MarkerRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER;
  record.flags = flag;
  record.id = range_id;
  record.timestamp = now();
  record.name = name;
  cupti->add(&record, sizeof record);
}

template <class Function>
Function driver(const char* name) {
  return reinterpret_cast<Function>(dlsym(dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_NOLOAD), name));
}

std::atomic<std::uint64_t> kernel_ends{0};  // of wait_until
// What the test's driver takes for pinned memory and for the device's.
const void* const kPinned = reinterpret_cast<const void*>(64);
const void* const kOnDevice = reinterpret_cast<const void*>(4096 + 64);

// A copy in the driver: it spins until the work is done.
void wait_in_driver(CUpti_CallbackId id, const void* params, std::uint64_t until) {
  cupti->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, id, ++correlation, params);
  while (now() < until) {
  }
  cupti->leave_with(CUPTI_CB_DOMAIN_DRIVER_API, id, correlation, params);
}

// In place of the runtime's functions: those that are linked into a program have these names.
template <class... Argument>
__attribute__((noinline, noclone)) void wait_in_runtime(CUpti_CallbackId runtime, const char* call,
                                                        Argument... argument) {
  cupti->enter(CUPTI_CB_DOMAIN_RUNTIME_API, runtime, ++correlation);
  const std::uint32_t outer = correlation;
  driver<CUresult (*)(Argument...)>(call)(argument...);
  cupti->leave(CUPTI_CB_DOMAIN_RUNTIME_API, runtime, outer);
}

void driver_call(CUpti_CallbackId id) {
  const void* const params[8] = {};
  cupti->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, id, ++correlation, params);
  cupti->leave_with(CUPTI_CB_DOMAIN_DRIVER_API, id, correlation, params);
}

struct Copy {
  const char* name;
  const void *to, *from;
  cudaMemcpyKind kind;
  bool is_async, waits;
  std::size_t bytes = 64;
};
const Copy kCopies[] = {
    {"pageable_copy", &kernel_ends, kOnDevice, cudaMemcpyDeviceToHost, true, true},
    {"default_copy", &kernel_ends, kOnDevice, cudaMemcpyDefault, true, true},
    {"hosts_copy", &kernel_ends, kPinned, cudaMemcpyDefault, true, true},
    {"pinned_hosts_copy", kPinned, kPinned, cudaMemcpyDefault, true, true},
    {"large_copy", kOnDevice, &kernel_ends, cudaMemcpyHostToDevice, true, true, std::size_t{4} << 20},
    {"copy_to_device", kOnDevice, &kernel_ends, cudaMemcpyHostToDevice, false, true},
    {"pinned_copy", kPinned, kOnDevice, cudaMemcpyDeviceToHost, true, false},
    {"captured_copy", &kernel_ends, kOnDevice, cudaMemcpyDeviceToHost, true, false},
    {"small_copy", kOnDevice, &kernel_ends, cudaMemcpyHostToDevice, true, false},
    {"large_pinned_copy", kOnDevice, kPinned, cudaMemcpyHostToDevice, true, false, std::size_t{4} << 20},
    {"copy_within_device", kOnDevice, kOnDevice, cudaMemcpyDefault, false, false},
};

void copy_in_driver(const Copy& copy, std::uint64_t until) {
  void* const to = const_cast<void*>(copy.to);
  const auto to_address = reinterpret_cast<CUdeviceptr>(to), from_address = reinterpret_cast<CUdeviceptr>(copy.from);
  if (copy.kind == cudaMemcpyDefault && copy.is_async) {
    const cuMemcpyAsync_params params{to_address, from_address, copy.bytes, nullptr};
    wait_in_driver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, &params, until);
  } else if (copy.kind == cudaMemcpyDefault) {
    const cuMemcpy_params params{to_address, from_address, copy.bytes};
    wait_in_driver(CUPTI_DRIVER_TRACE_CBID_cuMemcpy, &params, until);
  } else if (copy.kind == cudaMemcpyDeviceToHost) {
    const cuMemcpyDtoHAsync_v2_params params{to, from_address, copy.bytes, nullptr};
    wait_in_driver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, &params, until);
  } else if (copy.is_async) {
    const cuMemcpyHtoDAsync_v2_params params{to_address, copy.from, copy.bytes, nullptr};
    wait_in_driver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &params, until);
  } else {
    const cuMemcpyHtoD_v2_params params{to_address, copy.from, copy.bytes};
    wait_in_driver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &params, until);
  }
}

// Waits if it is one that waits.
__attribute__((noinline)) void copy_memory(const Copy& copy, std::uint64_t until) {
  if (!copy.waits) until = 1;
  void* const to = const_cast<void*>(copy.to);
  const cudaMemcpyAsync_v3020_params async{to, copy.from, copy.bytes, copy.kind, nullptr};
  const cudaMemcpy_v3020_params sync{to, copy.from, copy.bytes, copy.kind};
  const CUpti_CallbackId id =
      copy.is_async ? CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020 : CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020;
  const void* const params = copy.is_async ? static_cast<const void*>(&async) : &sync;
  cupti->enter_with(CUPTI_CB_DOMAIN_RUNTIME_API, id, ++correlation, params);
  const std::uint32_t outer = correlation;
  copy_in_driver(copy, until);
  cupti->leave_with(CUPTI_CB_DOMAIN_RUNTIME_API, id, outer, params);
}

void set_busy(bool other, std::uint64_t until) {
  driver<void (*)(long long)>(other ? "fake_cuda_other_busy_until"
                                    : "fake_cuda_busy_until")(static_cast<long long>(until));
}

// On the GPU of the own or of the other context.
std::uint64_t launch(double milliseconds, bool other) {
  const cuLaunchKernel_params params{
      reinterpret_cast<CUfunction>(64), 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr};
  cupti->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, ++correlation, &params);
  cupti->leave_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation, &params);
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.start = now();
  record.end = record.start + static_cast<std::uint64_t>(milliseconds * 1e6);
  record.name = "_Z4workPf";
  cupti->add(&record, sizeof record);
  set_busy(other, record.end);
  return record.end;
}

__attribute__((noinline)) void wait_for_work(const std::string& what, int times, double milliseconds) {
  CUevent event = nullptr;
  if (what.ends_with("event")) {
    driver<CUresult (*)(CUevent*, unsigned)>("cuEventCreate")(&event, what == "event" ? 0 : CU_EVENT_BLOCKING_SYNC);
  }
  driver<void (*)(unsigned)>("fake_cuda_context_flags")(
      what == "blocking_context" || what == "stream_from_blocking_context" ? CU_CTX_SCHED_BLOCKING_SYNC : 0);
  driver<void (*)(unsigned)>("fake_cuda_other_context_flags")(
      what == "blocking_other_context" || what == "stream_of_blocking_context" ? CU_CTX_SCHED_BLOCKING_SYNC : 0);
  driver<void (*)(int)>("fake_cuda_capture_status")(what.starts_with("captured_") ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                                                  : 0);
  driver<void (*)(int)>("fake_cuda_stream_policy")(what == "blocking_stream" ? CU_SYNC_POLICY_BLOCKING_SYNC : 0);
  driver<void (*)(int)>("fake_cuda_query_error")(what == "within_callback" ? CUDA_ERROR_NOT_PERMITTED : 0);
  for (int i = 0; i < times; ++i) {
    const bool of_other = what.ends_with("other_context") || what.starts_with("stream_");
    const std::uint64_t end = launch(milliseconds, of_other);
    if (what.ends_with("event")) {
      driver<CUresult (*)(CUevent, CUstream)>("cuEventRecord")(event, nullptr);
      wait_in_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, "cuEventSynchronize", event);
    } else if (what.ends_with("other_context") && !what.starts_with("stream")) {
      driver<CUresult (*)(CUcontext)>("cuCtxSynchronize_v2")(reinterpret_cast<CUcontext>(77));
    } else if (what == "per_thread_stream") {
      wait_in_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, "cuStreamSynchronize_ptsz",
                      CUstream{nullptr});
    } else if (what == "pinned_later") {
      const Copy copy{"", &kernel_ends, kOnDevice, cudaMemcpyDeviceToHost, true, i % 2 == 0};
      driver<void (*)(const void*)>("fake_cuda_pin")(copy.waits ? nullptr : copy.to);
      driver_call(copy.waits ? CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister
                             : CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2);
      copy_memory(copy, end);
    } else if (const auto copy = std::ranges::find(kCopies, what, &Copy::name); copy != std::end(kCopies)) {
      const bool captured = what == "captured_copy";
      if (captured) driver_call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
      copy_memory(*copy, end);
      if (captured) driver_call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
    } else if (what == "device") {
      wait_in_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cuCtxSynchronize");
    } else {
      wait_in_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cuStreamSynchronize",
                      of_other ? reinterpret_cast<CUstream>(78) : nullptr);
    }
  }
}

int asked();

void busy_until(std::uint64_t time) { set_busy(false, kernel_ends = time); }

void wait_until(const std::string& file) {
  busy_until(now() + 60'000'000'000);
  std::thread device([&file, before = asked()] {
    const auto write = [&](const char* what) {
      std::FILE* const made = std::fopen((file + what).c_str(), "w");
      return made != nullptr && std::fclose(made) == 0;
    };
    bool written = false, left = false;
    int last = before, awake = 0;  // ms
    for (; now() < kernel_ends && access(file.c_str(), F_OK) != 0; usleep(1000)) {
      const int asked_now = asked();
      awake = asked_now == last || asked_now - last > 100 ? awake + 1 : 0;  // a thread that naps asks now and then
      last = asked_now;
      if (!written && asked_now != before) written = write(".asked");
      if (!left && written && awake == 500) left = write(".left");
    }
    busy_until(now());
  });
  wait_in_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cuStreamSynchronize", CUstream{nullptr});
  device.join();
}

/// A step of a program that checks what it gets.
bool step_is_right(CUstream stream) {
  volatile unsigned done = 0;
  fake_gpu::Kernel kernel{20'000, nullptr, &done};
  void* parameters[] = {&kernel};
  static const auto launch_kernel = driver<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  static const auto wait = driver<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
  const CUresult launched = launch_kernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  return launched == CUDA_SUCCESS && wait(stream) == CUDA_SUCCESS && done == 1;
}

bool exists(const std::string& file) { return access(file.c_str(), F_OK) == 0; }

void checked(const std::string& file) {
  CUstream stream = nullptr;
  if (driver<decltype(&cuStreamCreate)>("cuStreamCreate")(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
    std::_Exit(98);
  for (const std::uint64_t end = now() + 1'800'000'000'000; !exists(file);) {
    if (now() > end) std::_Exit(89);
    if (!step_is_right(stream)) std::_Exit(98);
    usleep(100);  // leaves CPUs to others
  }
}

void until(const std::string& file) {
  for (int i = 0; i < 60'000 && !exists(file); ++i) usleep(1000);
}

int asked() { return driver<int (*)()>("fake_cuda_queries")(); }

void flush() {
  const int goal = cupti->flushes() + 2;  // one may be in progress
  for (int i = 0; cupti->flushes() < goal && i < 20'000; ++i) usleep(1000);
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(95);
}

using Words = std::vector<std::string>;

[[noreturn]] void become(const std::string& program, const Words& words) {
  std::vector<char*> pointers{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());
  std::_Exit(94);
}

int run(const std::string& program, const Words& words);

// Returns the words up to the next "end", and moves `at` there.
Words block(const Words& words, std::size_t& at) {
  Words inner;
  for (++at; at < words.size() && words[at] != "end"; ++at) inner.push_back(words[at]);
  return inner;
}

int run(const std::string& program, const Words& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    const auto next = [&]() -> const std::string& { return words.at(++at); };
    if (word == "load") load();
    if (word == "context") cupti->context_created();
    if (word == "kernels") {
      for (int i = std::stoi(next()); i > 0; --i) kernel();
    }
    if (word == "graphs") graphs(std::stod(next()));
    if (word == "stream") stream(std::stod(next()));
    if (word == "range") {
      const std::string name = next();
      ++range_id;
      marker(CUPTI_ACTIVITY_FLAG_MARKER_START, name.c_str());
      stream(std::stod(next()));
      marker(CUPTI_ACTIVITY_FLAG_MARKER_END, nullptr);
    }
    if (word == "marked") {
      const std::string& name = next();  // CUPTI reads it when it hands over the record
      ++range_id;
      marker(CUPTI_ACTIVITY_FLAG_MARKER_START, name.c_str());
      if (const int status = run(program, block(words, at)); status != 0) return status;
      marker(CUPTI_ACTIVITY_FLAG_MARKER_END, nullptr);
    }
    if (word == "wait") {
      const std::string what = next();
      const int times = std::stoi(next());
      wait_for_work(what, times, std::stod(next()));
    }
    if (word == "busy_gpu") {
      const bool other = next() == "other";
      set_busy(other, now() + static_cast<std::uint64_t>(std::stod(next()) * 1e6));
    }
    if (word == "wait_until") wait_until(next());
    if (word == "in_range") {
      const nvtxRangePushA_params push{next().c_str()};
      cupti->nvtx(CUPTI_CBID_NVTX_nvtxRangePushA, &push, nullptr);
      const int status = run(program, block(words, at));
      cupti->nvtx(CUPTI_CBID_NVTX_nvtxRangePop, nullptr, nullptr);
      if (status != 0) return status;
    }
    if (word == "asked_of") {
      const auto handle = reinterpret_cast<std::uintptr_t>(driver<void* (*)()>("fake_cuda_asked_of")());
      if (handle != std::stoul(next())) return 97;
    }
    if (word == "unasked") {
      const int before = asked();
      if (const int status = run(program, block(words, at)); status != 0) return status;
      if (asked() != before) return 96;
    }
    if (word == "threads") {
      const int count = std::stoi(next());
      const Words inner = block(words, at);
      std::vector<std::thread> all;
      for (int i = 0; i < count; ++i) all.emplace_back([&] { run(program, inner); });
      for (std::thread& one : all) one.join();
    }
    if (word == "checked") checked(next());
    if (word == "until") until(next());
    if (word == "close_all") {
      for (int file = 3; file < 1024; ++file) close(file);
    }
    if (word == "flush") flush();
    if (word == "fork") {
      const Words inner = block(words, at);
      const pid_t child = fork();
      if (child == 0) std::exit(run(program, inner));
      wait_for(child);
    }
    if (word == "chain") {
      const int left = std::stoi(next());
      const Words inner(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
      const int status = run(program, inner);
      if (left <= 1) return status;
      Words again{"chain", std::to_string(left - 1)};
      again.insert(again.end(), inner.begin(), inner.end());
      become(program, again);
    }
    if (word == "children") {
      const int count = std::stoi(next());
      const Words inner = block(words, at);
      for (int i = 0; i < count; ++i) {
        const pid_t child = fork();
        if (child == 0) become(program, inner);
        wait_for(child);
      }
    }
    if (word == "say") {
      std::printf("%s\n", next().c_str());
      std::fflush(stdout);
    }
    if (word == "exit") std::exit(std::stoi(next()));
    if (word == "_exit") _exit(std::stoi(next()));
    if (word == "abort") std::abort();
    if (word == "kill") raise(SIGKILL);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argv[0], Words(argv + 1, argv + argc)); }
