// A program that hangs on purpose, until a deadline in its kernels and host threads: stuck_app SCENARIO DEVICES
// SECONDS.
//   missing_signal  the host releases a kernel's block three times, and then no more
//   wrong_count     a barrier of a kernel's blocks counts one block too many
//   grid_too_large  a barrier of more blocks than the device holds
//   two_kernels     two kernels signal each other twice, then each waits for the other
//   silent_kernels  two kernels wait for each other from the start
//   late_writer     two kernels signal the two blocks of a third; the second stops a round early
//   ranks           three of four processes come to a barrier in shared memory
//   ranks_gone      four come once; the fourth ends before the second time
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using wic::Array;
using wic::Memory;

struct alignas(128) Word {
  std::uint32_t value;
};

struct Consumer {
  wic::Site site;
  const Word* word;
  std::uint32_t rounds;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (!site.wait(thread, round, &word[thread.block()].value, wic::AtLeast{round})) return;
    }
  }
};

struct Barrier {
  wic::Site site;
  std::uint32_t* count;
  std::uint32_t wanted;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.index() == 0) thread.fetch_add_acq_rel(count, 1);
    site.wait(thread, 1, count, wic::AtLeast{wanted});
  }
};

struct Partner {
  wic::Site mine, other;
  Word* my_word;
  Word* other_word;
  std::uint32_t rounds;  // in which it signals first
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (thread.index() == 0) other.signal(thread, round, &other_word->value, round);
      if (!mine.wait(thread, round, &my_word->value, wic::AtLeast{round})) return;
    }
    mine.wait(thread, rounds + 1, &my_word->value, wic::AtLeast{rounds + 1});
  }
};

struct Producer {
  wic::Site site;
  Word* word;
  std::uint32_t rounds;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.index() != 0) return;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      site.signal(thread, round, &word->value, round);
      thread.sleep_ns(100'000);
    }
  }
};

template <class T>
T must(wic::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "stuck_app: %s\n", result.error().message.c_str());
    std::_Exit(3);
  }
  return std::move(*result);
}

void must(const wic::Result<>& result) {
  if (!result) {
    std::fprintf(stderr, "stuck_app: %s\n", result.error().message.c_str());
    std::_Exit(3);
  }
}

// What the ranks share.
struct Shared {
  alignas(128) std::atomic<std::uint32_t> came;
};

constexpr std::uint32_t kRanks = 4;

Shared* map_shared(int file) {
  return static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
}

int rank_main(const std::string& devices, wic::TimeNs timeout, Shared* shared, int times) {
  auto runtime = must(wic::Runtime::create({.devices = devices}));
  const wic::SiteId site = must(runtime->add_site({.name = "ranks.barrier"}));
  auto* const word = reinterpret_cast<std::uint32_t*>(&shared->came);
  for (int time = 1; time <= times; ++time) {
    const auto iteration = static_cast<std::uint32_t>(time);
    const std::uint32_t now = shared->came.fetch_add(1) + 1;
    runtime->record_signal(site, iteration, word, wic::now_ns(), now);
    if (!runtime->wait_until(site, iteration, word, wic::AtLeast{kRanks * iteration}, timeout)) return 0;
  }
  return 0;
}

// Each rank is a program of its own, as a launcher starts them: its environment says which one it is.
int ranks(const char* devices, const char* seconds, bool all_begin) {
  const int file = memfd_create("stuck_app", 0);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return 3;
  setenv("WORLD_SIZE", std::to_string(kRanks).c_str(), 1);
  for (std::uint32_t rank = 0; rank < (all_begin ? kRanks : kRanks - 1); ++rank) {
    if (fork() != 0) continue;
    setenv("RANK", std::to_string(rank).c_str(), 1);
    const std::string times = all_begin && rank != kRanks - 1 ? "2" : "1";
    execl("/proc/self/exe", "stuck_app", "rank", devices, seconds, std::to_string(file).c_str(), times.c_str(),
          static_cast<char*>(nullptr));
    std::_Exit(4);
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}

int run(const std::string& scenario, const std::string& devices, wic::TimeNs timeout) {
  auto runtime = must(wic::Runtime::create({.devices = devices}));
  wic::Device& device = runtime->device(0);
  const wic::SiteId first = must(runtime->add_site({.name = "first", .word_memory = wic::WordMemory::pinned_host}));
  const wic::SiteId second = must(runtime->add_site({.name = "second", .word_memory = wic::WordMemory::pinned_host}));
  auto words = must(Array<Word>::make(device, 8, Memory::pinned_host));
  auto count = must(Array<std::uint32_t>::make(device, 32, Memory::device));
  auto stream = must(device.make_stream());
  auto other_stream = must(device.make_stream());
  const auto site = [&](wic::SiteId id) { return runtime->site(id, static_cast<std::uint64_t>(timeout)); };
  if (scenario == "missing_signal") {
    must(wic::launch(*stream, {1, 64}, Consumer{site(first), words.data(), 100}));
    for (std::uint32_t round = 1; round <= 3; ++round) {
      runtime->signal(first, round, &words[0].value, round);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    must(stream->synchronize());
  } else if (scenario == "wrong_count") {
    must(wic::launch(*stream, {6, 64}, Barrier{site(first), count.data(), 7}));
    must(stream->synchronize());
  } else if (scenario == "grid_too_large") {
    Barrier barrier{site(first), count.data(), 0};
    wic::LaunchShape shape{1, 256};
    shape.blocks = must(device.resident_blocks(shape, wic::kernel_ref(barrier))) + 5;
    barrier.wanted = shape.blocks;
    must(wic::launch(*stream, shape, barrier));
    must(stream->synchronize());
  } else if (scenario == "two_kernels" || scenario == "silent_kernels") {
    const std::uint32_t rounds = scenario == "two_kernels" ? 2 : 0;
    must(wic::launch(*stream, {1, 64}, Partner{site(first), site(second), &words[0], &words[1], rounds}));
    must(wic::launch(*other_stream, {1, 64}, Partner{site(second), site(first), &words[1], &words[0], rounds}));
    must(stream->synchronize());
    must(other_stream->synchronize());
  } else if (scenario == "late_writer") {
    auto third = must(device.make_stream());
    must(wic::launch(*stream, {2, 64}, Consumer{site(first), words.data(), 3}));
    must(wic::launch(*other_stream, {1, 64}, Producer{site(first), &words[0], 3}));
    must(wic::launch(*third, {1, 64}, Producer{site(first), &words[1], 2}));
    for (auto* each : {&stream, &other_stream, &third}) must((*each)->synchronize());
  } else {
    std::fprintf(stderr, "stuck_app: no scenario %s\n", scenario.c_str());
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string scenario = argv[1];
  const auto timeout = static_cast<wic::TimeNs>(std::atof(argv[3]) * 1e9);
  if (scenario == "ranks" || scenario == "ranks_gone") return ranks(argv[2], argv[3], scenario == "ranks_gone");
  if (scenario == "rank") return rank_main(argv[2], timeout, map_shared(std::atoi(argv[4])), std::atoi(argv[5]));
  return run(scenario, argv[2], timeout);
}
