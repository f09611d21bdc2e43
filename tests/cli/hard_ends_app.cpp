// A program that waits through wic and then ends in a hard way: hard_ends_app SCENARIO DEVICES SECONDS. In each, four
// blocks have waited for three rounds before.
//   killed    the blocks wait for a signal that never comes; prints "waiting" once they do
//   returned  main returns while they wait
//   callback  _exit(7) in a host function of a CUDA stream while they wait; on the CPU device in another thread
//   error     another kernel writes to an illegal address while they wait (on a GPU); ends with status 5
//   busy      60 kernels of some 10 ms, of which one always runs, and then _exit(7) (on a GPU)
//   forked    the process forks; the child ends by exit(3), and then the parent goes on for three rounds
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/site.h"

namespace {

constexpr std::uint32_t kBlocks = 4;
constexpr std::uint32_t kRounds = 3;

struct alignas(128) Word {
  std::uint32_t value;
};

struct Consumer {
  wic::Site site;
  const Word* signal;
  Word* done;  // one per block: the rounds that it has begun to wait for
  std::uint32_t first, last;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t round = first; round <= last; ++round) {
      if (thread.index() == 0) thread.store(&done[thread.block()].value, round);
      if (!site.wait(thread, round, &signal->value, wic::AtLeast{round})) return;
    }
  }
};

struct Broken {
  std::uint32_t* nowhere;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.index() == 0) *nowhere = 1;
  }
};

constexpr int kBusyKernels = 60;

struct Busy {
  WIC_DEVICE void operator()(const wic::Thread&) const {
#ifdef __CUDA_ARCH__
    const long long begin = clock64();
    while (clock64() - begin < 15'000'000) {
    }
#endif
  }
};

template <class T>
T must(wic::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "hard_ends_app: %s\n", result.error().message.c_str());
    std::_Exit(4);
  }
  return std::move(*result);
}

void must(const wic::Result<>& result) {
  if (!result) {
    std::fprintf(stderr, "hard_ends_app: %s\n", result.error().message.c_str());
    std::_Exit(4);
  }
}

struct Program {
  std::unique_ptr<wic::Runtime> runtime;
  wic::SiteId id;
  wic::Array<Word> words;  // the signal, then one per block
  std::unique_ptr<wic::Stream> stream;
  wic::TimeNs timeout;

  Program(const std::string& devices, wic::TimeNs timeout_ns)
      : runtime(must(wic::Runtime::create({.devices = devices}))),
        id(must(runtime->add_site({.name = "hard_ends.word", .word_memory = wic::WordMemory::pinned_host}))),
        words(must(wic::Array<Word>::make(runtime->device(0), 1 + kBlocks, wic::Memory::pinned_host))),
        stream(must(runtime->device(0).make_stream())),
        timeout(timeout_ns) {}

  void launch(std::uint32_t first, std::uint32_t last) {
    const wic::Site site = runtime->site(id, static_cast<std::uint64_t>(timeout));
    must(wic::launch(*stream, {kBlocks, 64}, Consumer{site, &words[0], &words[1], first, last}));
  }
  void until_all_wait(std::uint32_t round) {
    const wic::TimeNs end = wic::now_ns() + timeout;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      while (std::atomic_ref(words[1 + block].value).load() < round) {
        if (wic::now_ns() > end) std::_Exit(8);  // a block did not come to wait
        std::this_thread::yield();
      }
    }
  }
  void run(std::uint32_t first, std::uint32_t last) {
    launch(first, last);
    for (std::uint32_t round = first; round <= last; ++round) {
      until_all_wait(round);
      runtime->signal(id, round, &words[0].value, round);
    }
    must(stream->synchronize());
  }
};

void exit_from_callback(bool gpu) {
#ifdef __CUDACC__
  const auto exit_now = [](void*) { _exit(7); };
  cudaStream_t stream;
  if (gpu && cudaStreamCreate(&stream) == cudaSuccess && cudaLaunchHostFunc(stream, exit_now, nullptr) == cudaSuccess) {
    std::this_thread::sleep_for(std::chrono::seconds(10));
  }
#endif
  if (!gpu) std::thread([] { _exit(7); }).join();
}

int error_beside(Program& program) {
  auto stream = must(program.runtime->device(0).make_stream());
  must(wic::launch(*stream, {1, 32}, Broken{nullptr}));
  const auto ended = stream->synchronize();
  std::printf("%s\n", ended ? "no error" : ended.error().message.c_str());
  return ended ? 6 : 5;
}

void exit_while_busy(Program& program) {
  wic::Device& device = program.runtime->device(0);
  const std::array streams{must(device.make_stream()), must(device.make_stream())};
  for (int i = 0; i < kBusyKernels; ++i) {
    must(wic::launch(*streams[i % 2], {1, 32}, Busy{}));
    must(streams[(i + 1) % 2]->synchronize());
  }
  _exit(7);
}

int forked(Program& program) {
  const pid_t child = fork();
  if (child == 0) std::exit(3);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3) return 6;
  program.run(kRounds + 1, 2 * kRounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string scenario = argv[1];
  Program program(argv[2], static_cast<wic::TimeNs>(std::atof(argv[3]) * 1e9));
  program.run(1, kRounds);
  if (scenario == "forked") return forked(program);
  if (scenario == "busy") exit_while_busy(program);
  program.launch(kRounds + 1, kRounds + 1);
  program.until_all_wait(kRounds + 1);
  std::printf("waiting\n");
  std::fflush(stdout);
  if (scenario == "error") return error_beside(program);
  if (scenario == "callback") exit_from_callback(argv[2][0] == 'c');
  if (scenario == "killed") must(program.stream->synchronize());
  return scenario == "returned" ? 0 : 6;
}
