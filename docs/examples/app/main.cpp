// A kernel waits for numbers that the host writes while the kernel already runs, and adds them up.
#include <cstdio>
#include <string>

#include "wic/launch.h"
#include "wic/runtime.h"

constexpr std::uint32_t kNumbers = 1000, kRounds = 100;
constexpr std::uint64_t kTimeoutNs = 2'000'000'000;

struct Sum {
  wic::Site site;
  std::uint32_t round;
  const std::uint32_t* flag;     // pinned host memory
  const std::uint32_t* numbers;  // pinned host memory
  std::uint32_t* sum;            // device memory

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!site.wait(thread, round, flag, wic::AtLeast{round})) return;
    std::uint32_t mine = 0;
    for (std::uint32_t i = thread.index(); i < kNumbers; i += thread.block_size()) mine += numbers[i];
    thread.fetch_add(sum, mine);
  }
};

wic::Result<std::uint32_t> run(const std::string& devices) {
  auto runtime = wic::Runtime::create({.devices = devices});
  if (!runtime) return runtime.error();
  wic::Runtime& rt = **runtime;
  wic::Device& device = rt.device(0);
  const auto site = rt.add_site({.name = "app.numbers", .word_memory = wic::WordMemory::pinned_host});
  if (!site) return site.error();
  auto stream = device.make_stream();
  if (!stream) return stream.error();
  auto flag = wic::Array<std::uint32_t>::make(device, 1, wic::Memory::pinned_host);
  auto numbers = wic::Array<std::uint32_t>::make(device, kNumbers, wic::Memory::pinned_host);
  auto sum = wic::Array<std::uint32_t>::make(device, 1, wic::Memory::device);  // zeroed, like all arrays
  auto result = wic::Array<std::uint32_t>::make(device, 1, wic::Memory::pinned_host);
  for (const auto* array : {&flag, &numbers, &sum, &result}) {
    if (!*array) return array->error();
  }

  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    const Sum kernel{rt.site(*site, kTimeoutNs), round, flag->data(), numbers->data(), sum->data()};
    if (auto launched = wic::launch(**stream, {.blocks = 1, .threads = 128}, kernel); !launched)
      return launched.error();
    for (std::uint32_t i = 0; i < kNumbers; ++i) (*numbers)[i] = round;
    rt.signal(*site, round, flag->data(), round);
    if (auto done = (*stream)->synchronize(); !done) return done.error();
  }
  if (auto copied = (*stream)->copy(result->data(), sum->data(), sum->bytes()); !copied) return copied.error();
  if (auto done = (*stream)->synchronize(); !done) return done.error();
  return (*result)[0];
}

int main(int argc, char** argv) {
  const auto sum = run(argc > 1 ? argv[1] : "simt:1");
  if (!sum) {
    std::fprintf(stderr, "app: %s\n", sum.error().message.c_str());
    return 1;
  }
  std::printf("sum %u\n", *sum);
  return *sum == kNumbers * kRounds * (kRounds + 1) / 2 ? 0 : 1;
}
