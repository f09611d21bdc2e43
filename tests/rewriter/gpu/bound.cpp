// A patched module without the collector: loads the PTX that `wic-prof rewrite -o` has written, gives its table what
// the collector would, and toggles it. So a checker such as compute-sanitizer sees the patched code alone. Compares the
// results with those of the original, and checks all records. The kernel is that of loads.cpp, a chain of blocks that
// wait for each other. Prints one line of JSON.
//
//   bound ORIGINAL.ptx PATCHED.ptx poll|record|park|toggle [ROUNDS [LAUNCHES]]
#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "rewriter/patch/words.h"

namespace {

using namespace wicprof::rewriter;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown";
  cuGetErrorString(result, &text);
  std::printf("{\"error\": \"%s: %s\"}\n", what, text);
  std::exit(1);
}

std::string text_of(const char* file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

template <class T>
T* pinned(std::size_t count, CUdeviceptr& address) {
  void* memory = nullptr;
  check(cuMemHostAlloc(&memory, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  std::memset(memory, 0, count * sizeof(T));
  check(cuMemHostGetDevicePointer(&address, memory, 0), "cuMemHostGetDevicePointer");
  return static_cast<T*>(memory);
}

struct Chain {
  CUfunction kernel = nullptr;
  int blocks = 0;
  CUdeviceptr flags = 0, values = 0;

  std::vector<unsigned> run(int rounds) {
    const std::size_t count = static_cast<std::size_t>(blocks) * 64;
    check(cuMemsetD8(flags, 0, blocks * 128), "cuMemsetD8");
    check(cuMemsetD8(values, 0, count * 4), "cuMemsetD8");
    check(cuCtxSynchronize(), "prepare");
    void* arguments[] = {&flags, &values, &rounds};
    check(cuLaunchKernel(kernel, blocks, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
    check(cuCtxSynchronize(), "chain");
    std::vector<unsigned> result(count);
    check(cuMemcpyDtoH(result.data(), values, count * 4), "cuMemcpyDtoH");
    return result;
  }
};

struct Records {
  unsigned long long begins = 0, ends = 0, rounds = 0, torn = 0;
};

/// Those that the ring still holds; nobody writes now.
Records read_ring(const Record* ring) {
  Records read;
  for (std::uint32_t i = 0; i < kRecords; ++i) {
    const Record& record = ring[i];
    if (record.number_plus_one == 0) continue;
    std::uint64_t words[8], check_word = 0;
    std::memcpy(words, &record, sizeof record);
    for (int word = 0; word < 7; ++word) check_word ^= words[word];
    if (check_word != record.check || (record.number_plus_one - 1) % kRecords != i) {
      ++read.torn;
    } else if ((record.site & Record::kEnd) != 0) {
      ++read.ends;
      read.rounds += record.rounds;
    } else {
      ++read.begins;
    }
  }
  return read;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("bound ORIGINAL.ptx PATCHED.ptx poll|record|park|toggle [ROUNDS [LAUNCHES]]\n", stderr);
    return 2;
  }
  const std::string original = text_of(argv[1]), patched = text_of(argv[2]), mode = argv[3];
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 200, launches = argc > 5 ? std::atoi(argv[5]) : 5;
  const std::size_t name = patched.find("__wic_sites_");
  if (name == std::string::npos) {
    std::printf("{\"error\": \"%s is not patched\"}\n", argv[2]);
    return 1;
  }
  const std::string table = patched.substr(name, patched.find('[', name) - name);

  check(cuInit(0), "cuInit");
  CUdevice device;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context;
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Chain chain;
  check(cuDeviceGetAttribute(&chain.blocks, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "attribute");
  check(cuMemAlloc(&chain.flags, chain.blocks * 128), "cuMemAlloc");
  check(cuMemAlloc(&chain.values, static_cast<std::size_t>(chain.blocks) * 64 * 4), "cuMemAlloc");
  CUmodule modules[2];
  check(cuModuleLoadData(&modules[0], original.c_str()), "the original");
  check(cuModuleLoadData(&modules[1], patched.c_str()), "the patched module");
  check(cuModuleGetFunction(&chain.kernel, modules[0], "chain"), "cuModuleGetFunction");
  const std::vector<unsigned> expected = chain.run(rounds);
  check(cuModuleGetFunction(&chain.kernel, modules[1], "chain"), "cuModuleGetFunction");

  CUdeviceptr words = 0, bytes_at = 0, ring_address = 0;
  std::size_t bytes = 0;
  SiteWords* const sites = pinned<SiteWords>(16, words);
  const Record* const ring = pinned<Record>(kRecords, ring_address);
  check(cuModuleGetGlobal(&bytes_at, &bytes, modules[1], table.c_str()), "the table");
  const std::uint64_t head[] = {words, ring_address};
  check(cuMemcpyHtoD(bytes_at, head, sizeof head), "cuMemcpyHtoD");
  const auto want = [&](std::uint32_t control) {
    for (int i = 0; i < 16; ++i) std::atomic_ref(sites[i].control).store(control, std::memory_order_relaxed);
  };
  want(mode == "poll" ? 0 : mode == "park" ? kRecord | kLongestPause : kRecord);
  std::atomic<bool> done{false};
  std::thread toggles([&] {
    for (unsigned turn = 0; mode == "toggle" && !done; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::uint32_t controls[] = {0, kRecord, kRecord | kLongestPause, kLongestPause};
      want(controls[turn % 4]);
    }
  });
  bool same = true;
  for (int launch = 0; launch < launches; ++launch) same &= chain.run(rounds) == expected;
  done = true;
  toggles.join();
  const Records read = read_ring(ring);
  std::printf(
      "{\"scenario\": \"bound_%s\", \"launches\": %d, \"begins\": %llu, \"ends\": %llu, \"rounds\": %llu, "
      "\"torn\": %llu, \"failed\": %d}\n",
      mode.c_str(), launches, read.begins, read.ends, read.rounds, read.torn, same && read.torn == 0 ? 0 : 1);
  return same && read.torn == 0 ? 0 : 1;
}
