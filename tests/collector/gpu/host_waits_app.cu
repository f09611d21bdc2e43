// A plain CUDA program with the runtime linked in: launches a kernel of a known length and waits for it, over and over.
//   host_waits_app WHAT MICROSECONDS SPREAD SECONDS
//     WHAT: stream, event, device, copy, plane (a copy of two dimensions), to_device, pageable (an asynchronous copy to
//     memory that is not pinned), pageable_plane; SPREAD: 0.5 = 50 % more or less
//   host_waits_app idle SECONDS FILE
//     calls cudaStreamSynchronize without work, and writes a line per 2,000 calls: their begin (CLOCK_MONOTONIC, ns),
//     and the nanoseconds of one
//   host_waits_app calls CPU
//     on that CPU, calls cudaStreamSynchronize without work, cudaEventSynchronize of an event that has occurred and
//     cudaDeviceSynchronize, and prints the nanoseconds of one call of each: the medians of groups; also of a look at
//     the clock, and of 100 dependent operations, which tell how fast the CPU was
//   host_waits_app copies CPU
//     the same for asynchronous copies of 4 bytes that find nothing to wait for: to pageable and to pinned memory of
//     the host, and to the device
// Otherwise prints a checksum, the same for the same arguments but SECONDS, and the number of waits.
#include <cuda_runtime.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/collector/gpu/busy.h"

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(3);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Work {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  unsigned* count = nullptr;
  unsigned* other = nullptr;
};

__attribute__((noinline)) void step(const Work& work, const std::string& what, unsigned long long ns) {
  const bool on_default = what == "copy" || what == "plane" || what == "to_device";
  busy<<<1, 1, 0, on_default ? nullptr : work.stream>>>(ns, work.count);
  if (what == "stream") {
    check(cudaStreamSynchronize(work.stream), "cudaStreamSynchronize");
  } else if (what == "event") {
    check(cudaEventRecord(work.event, work.stream), "cudaEventRecord");
    check(cudaEventSynchronize(work.event), "cudaEventSynchronize");
  } else if (what == "device") {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  } else if (what == "pageable") {
    unsigned seen = 0;
    check(cudaMemcpyAsync(&seen, work.count, sizeof seen, cudaMemcpyDeviceToHost, work.stream), "cudaMemcpyAsync");
  } else if (what == "pageable_plane") {
    unsigned seen = 0;
    check(cudaMemcpy2DAsync(&seen, 4, work.count, 4, 4, 1, cudaMemcpyDeviceToHost, work.stream), "cudaMemcpy2DAsync");
  } else if (what == "to_device") {
    const unsigned one = 1;
    check(cudaMemcpy(work.other, &one, sizeof one, cudaMemcpyHostToDevice), "cudaMemcpy");
  } else if (what == "plane") {
    unsigned seen = 0;
    check(cudaMemcpy2D(&seen, 4, work.count, 4, 4, 1, cudaMemcpyDeviceToHost), "cudaMemcpy2D");
  } else {
    unsigned seen = 0;
    check(cudaMemcpy(&seen, work.count, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
}

int idle(const Work& work, double length, const char* file) {
  constexpr int kCalls = 2000;
  std::vector<double> begins;
  for (const double end = seconds() + length; begins.empty() || begins.back() < end;) {
    begins.push_back(seconds());
    for (int i = 0; i < kCalls; ++i) check(cudaStreamSynchronize(work.stream), "cudaStreamSynchronize");
  }
  std::FILE* const to = std::fopen(file, "w");
  if (to == nullptr) return 3;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    std::fprintf(to, "%.0f %.1f\n", begins[i] * 1e9, (begins[i + 1] - begins[i]) / kCalls * 1e9);
  return std::fclose(to) == 0 ? 0 : 3;
}

/// The median over groups of calls, in ns. No group finds the GPU's queue full: its copies take longer than the calls.
template <class Call>
double median_of(Call&& call, int groups) {
  constexpr int kGroup = 500;
  std::vector<double> times;
  for (int i = 0; i < groups; ++i) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const double begin = seconds();
    for (int j = 0; j < kGroup; ++j) call();
    times.push_back((seconds() - begin) / kGroup * 1e9);
  }
  std::nth_element(times.begin(), times.begin() + groups / 2, times.end());
  return times[static_cast<std::size_t>(groups / 2)];
}

/// The calling thread alone: a tool's threads, which it may start at the first wait, have the other CPUs.
bool stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

struct Named {
  const char* name;
  std::function<void()> call;
};

/// Prints the nanoseconds of each call.
int measure(const std::vector<Named>& calls, int cpu) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (!stay_on(cpu)) return 3;
  const auto all = [&] {
    for (const Named& each : calls) each.call();
  };
  // A tool may find out first which of its callbacks it needs.
  for (const double begin = seconds(); seconds() - begin < 0.4;) {
    all();
    usleep(200);
  }
  // The first 100,000 calls go through a tool's buffers for the first time.
  for (int i = 0; i < 35000; ++i) all();
  volatile double state = 1;
  const auto operations = [&] {
    double value = state;
    for (int i = 0; i < 50; ++i) value = value * 0.999999 + 1e-6;
    state = value;
  };
  constexpr int kGroups = 60;
  const double cpu_before = median_of(operations, kGroups);
  std::printf("{");
  for (const Named& each : calls) std::printf("\"%s\": %.1f, ", each.name, median_of(each.call, kGroups));
  const double clock = median_of([] { seconds(); }, kGroups), cpu_after = median_of(operations, kGroups);
  std::printf("\"clock\": %.1f, \"cpu\": [%.1f, %.1f]}\n", clock, cpu_before, cpu_after);
  return 0;
}

int calls(const Work& work, int cpu) {
  check(cudaEventRecord(work.event, work.stream), "cudaEventRecord");
  return measure({{"stream", [&] { check(cudaStreamSynchronize(work.stream), "cudaStreamSynchronize"); }},
                  {"event", [&] { check(cudaEventSynchronize(work.event), "cudaEventSynchronize"); }},
                  {"device", [] { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }}},
                 cpu);
}

int copies(const Work& work, int cpu) {
  unsigned pageable = 0;
  unsigned* pinned = nullptr;
  check(cudaMallocHost(&pinned, sizeof *pinned), "cudaMallocHost");
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, sizeof pageable, kind, work.stream), "cudaMemcpyAsync");
  };
  return measure({{"pageable", [&] { copy(&pageable, work.count, cudaMemcpyDeviceToHost); }},
                  {"pinned", [&] { copy(pinned, work.count, cudaMemcpyDeviceToHost); }},
                  {"to_device", [&] { copy(work.count, pinned, cudaMemcpyHostToDevice); }}},
                 cpu);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string what = argv[1];
  Work work;
  check(cudaStreamCreateWithFlags(&work.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaEventCreateWithFlags(&work.event, cudaEventDisableTiming), "cudaEventCreate");
  check(cudaMalloc(&work.count, sizeof(unsigned)), "cudaMalloc");
  check(cudaMalloc(&work.other, sizeof(unsigned)), "cudaMalloc");
  check(cudaMemset(work.count, 0, sizeof(unsigned)), "cudaMemset");
  if (what == "calls") return calls(work, std::atoi(argv[2]));
  if (what == "copies") return copies(work, std::atoi(argv[2]));
  if (what == "idle" && argc > 3) return idle(work, std::atof(argv[2]), argv[3]);
  if (argc < 5) return 2;
  const double length = std::atof(argv[2]) * 1e3, spread = std::atof(argv[3]);
  const double end = seconds() + std::atof(argv[4]);
  unsigned long long random = 88172645463325252ull;
  unsigned waits = 0;
  while (seconds() < end) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const double part = static_cast<double>(random >> 11) / 9007199254740992.0;  // 0 to 1
    step(work, what, static_cast<unsigned long long>(length * (1 + spread * (2 * part - 1))));
    ++waits;
  }
  unsigned counted = 0;
  check(cudaMemcpy(&counted, work.count, sizeof counted, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("waits %u, kernels %s\n", waits, counted == waits ? "all" : "LOST");
  return counted == waits ? 0 : 4;
}
