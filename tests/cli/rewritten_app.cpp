// A CUDA program without a GPU whose waits wic-prof patches: it loads PTX into the test's driver, and plays what the
// patched loops would write. rewritten_app writers: waits that are released in different ways, one block each:
//   0  a copy of 7 from the host; a copy of 5 came before the wait
//   1  a memset to 9
//   2  a write of 11 by a stream
//   3  a copy within the device, whose value nobody sees
//   4  kernel `raises`, which stores to the very word; `fills` stores to its allocation
//   5  a store of the CPU to a word of host memory
//   6  not by the copy of 3 in the meantime, since the wait ends with 4
// Status 94: nobody has read the clock of the device.
// rewritten_app hang SECONDS: waits that do not end:
//   0  on a word that a copy wrote last, with 0
//   1  on a word to which kernel `raises` stores
//   2  on a word of host memory
//   3  on a word that holds what the loop waits for: the loop has ended, and its thread goes on
// rewritten_app load [FILE SECONDS]: ends when its module is loaded and patched (status 93: it is not patched). With a
// file of PTX: loads that, and lives on for so long.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "collector/cupti/records.h"
#include "rewriter/patch/words.h"
#include "tests/cli/fake_rewriting_libcuda.h"
#include "tests/collector/fake_cupti.h"

namespace {

using namespace wicprof::collector;
using wicprof::rewriter::kRecords;
using wicprof::rewriter::Record;

constexpr char kPtx[] = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "/src/flags.cu"
.visible .entry waits(.param .u64 p)
{
.reg .pred %p<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
$L:
.loc 1 7 3
ld.volatile.global.u32 %r1, [%rd1];
setp.eq.s32 %p1, %r1, 0;
@%p1 bra $L;
ret;
}
.visible .entry raises(.param .u64 flag)
{
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [flag];
st.volatile.global.u32 [%rd1], 1;
ret;
}
.visible .entry fills(.param .u64 data)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [data];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r1;
ret;
}
)";

const FakeCuptiControls* cupti = nullptr;
std::uint32_t correlation = 0;
Record* ring = nullptr;
std::uint64_t written = 0;

struct alignas(4096) Words {
  std::uint32_t at[64];
};
Words device_words, host_words;

std::uint64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

template <class Function>
Function driver(const char* name) {
  void* const library = dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
  const auto function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) std::_Exit(91);
  return function;
}

void load(const char* ptx) {
  driver<int (*)(unsigned)>("cuInit")(0);
  void* const fake = dlopen(FAKE_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (fake == nullptr) std::_Exit(92);
  cupti = reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(fake, "fake_cupti_controls"))();
  cupti->context_created();
  const FakeMemory memories[] = {{reinterpret_cast<std::uint64_t>(&device_words), sizeof device_words, false},
                                 {reinterpret_cast<std::uint64_t>(&host_words), sizeof host_words, true}};
  for (const FakeMemory& memory : memories) driver<void (*)(const FakeMemory*)>("fake_cuda_memory")(&memory);
  CUlibrary library = nullptr;
  driver<decltype(&cuLibraryLoadData)>("cuLibraryLoadData")(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  const std::uint64_t* const table = driver<std::uint64_t* (*)()>("fake_cuda_table")();
  if (table == nullptr || table[1] == 0) std::_Exit(93);  // the module was not patched
  ring = reinterpret_cast<Record*>(table[1]);
}

/// Waits have no time before the clock of the device has been read. False: this machine is too busy, or the system
/// refused the thread that reads it.
bool await_clock() {
  const auto readings = driver<unsigned (*)()>("fake_cuda_clock_readings");
  for (int i = 0; readings() == 0 && i < 5'000; ++i) usleep(1000);
  return readings() > 0;
}

void write(Record record) {
  record.number_plus_one = written + 1;
  record.check = 0;
  std::uint64_t words[8];
  std::memcpy(words, &record, sizeof record);
  for (const std::uint64_t word : words) record.check ^= word;
  std::memcpy(words, &record, sizeof record);
  auto* const to = reinterpret_cast<std::uint64_t*>(&ring[written++ % kRecords]);
  for (std::size_t i = 0; i < 8; ++i) std::atomic_ref(to[i]).store(words[i]);
}

void begin(std::uint32_t block, std::uint32_t& word) {
  Record record{};
  record.site = Record::kKnowsValue;
  record.device_ns = now();
  record.address = reinterpret_cast<std::uint64_t>(&word);
  record.value = word;
  record.block = block;
  record.rounds = 20;
  write(record);
  usleep(40'000);  // until the tool has read it
}

void end(std::uint32_t block, std::uint32_t value) {
  Record record{};
  record.site = Record::kEnd | Record::kKnowsValue;
  record.device_ns = now();
  record.value = value;
  record.block = block;
  record.rounds = 500;
  write(record);
}

template <class Params>
void call(CUpti_CallbackId id, Params params, const char* symbol = nullptr) {
  cupti->enter_as(symbol, CUPTI_CB_DOMAIN_DRIVER_API, id, ++correlation, &params);
  cupti->leave_with(CUPTI_CB_DOMAIN_DRIVER_API, id, correlation, &params);
}

CUdeviceptr pointer(std::uint32_t& word) { return reinterpret_cast<CUdeviceptr>(&word); }

void executed(CUpti_ActivityMemcpyKind kind) {
  CopyRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(kind);
  record.correlationId = correlation;
  record.start = now();
  record.end = record.start + 500;
  record.bytes = 4;
  cupti->add(&record, sizeof record);
}

void copy_from_host(std::uint32_t& word, std::uint32_t value) {
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_params{pointer(word), &value, sizeof value});
  word = value;
  executed(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
}

/// `ms`: how long it runs; 0: its end is not known yet.
void launch(const char* kernel, std::uint32_t& argument, double ms) {
  std::uint64_t value = pointer(argument);
  void* arguments[] = {&value};
  cuLaunchKernel_params params{};
  params.f = reinterpret_cast<CUfunction>(64);
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, params, kernel);
  if (ms == 0) return;
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.start = now();
  record.end = record.start + static_cast<std::uint64_t>(ms * 1e6);
  record.name = kernel;
  cupti->add(&record, sizeof record);
}

void writers() {
  std::uint32_t* const word = device_words.at;
  copy_from_host(word[0], 5);
  word[0] = 0;
  begin(0, word[0]);
  copy_from_host(word[0], 7);
  end(0, 7);

  begin(1, word[1]);
  call(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, cuMemsetD32_v2_params{pointer(word[1]), 9, 1});
  MemsetRecord set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.correlationId = correlation;
  set.start = now();
  set.end = set.start + 500;
  set.bytes = 4;
  cupti->add(&set, sizeof set);
  end(1, 9);

  begin(2, word[2]);
  call(CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2,
       cuStreamWriteValue32_v2_params{nullptr, pointer(word[2]), 11, 0});
  end(2, 11);

  begin(3, word[3]);
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
       cuMemcpyDtoDAsync_v2_params{pointer(word[3]), pointer(word[40]), 4, nullptr});
  executed(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
  end(3, 13);

  launch("raises", word[4], 200);
  launch("fills", word[8], 200);
  launch("raises", word[9], 200);  // another word
  begin(4, word[4]);
  end(4, 1);

  begin(5, host_words.at[0]);
  host_words.at[0] = 1;
  end(5, 1);

  begin(6, word[6]);
  copy_from_host(word[6], 3);
  end(6, 4);
  usleep(300'000);  // until the records of the copies have been read
}

void hang(double seconds) {
  await_clock();
  std::uint32_t* const word = device_words.at;
  begin(0, word[0]);
  copy_from_host(word[0], 0);
  launch("raises", word[1], 0);
  begin(1, word[1]);
  begin(2, host_words.at[0]);
  begin(3, word[3]);
  word[3] = 1;
  std::puts("hangs");
  std::fflush(stdout);
  const std::uint64_t until = now() + static_cast<std::uint64_t>(seconds * 1e9);
  while (now() < until) usleep(10'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argv[1];
  const bool from_file = mode == "load" && argc == 4;
  std::ostringstream text;
  if (from_file) text << std::ifstream(argv[2]).rdbuf();
  load(from_file ? text.str().c_str() : kPtx);
  if (from_file) sleep(static_cast<unsigned>(std::atoi(argv[3])));
  if (mode == "writers") {
    if (!await_clock()) return 94;
    writers();
  }
  if (mode == "hang" && argc == 3) hang(std::atof(argv[2]));
  return 0;
}
