// An ordinary CUDA program with many host threads in several processes, like a rank launcher. It contains no wic-prof
// code and shows what wic-prof records of such programs.
//
// The parent starts itself once per rank, with RANK and LOCAL_RANK set, and waits. Each rank drives device rank %
// devices with a few threads. Each thread uses a separate stream: it copies a vector to the GPU, doubles it in many
// small kernels, copies it back, waits and checks it.
#include <cuda_runtime.h>
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Options {
  int processes = 2;
  int threads = 4;   // per process
  int devices = 0;   // 0: all available devices
  int rounds = 20;   // per thread
  int kernels = 16;  // per round
  int elements = 65'536;
  int timeout = 60;  // seconds
};

// Minimal error handling: print what failed and exit.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "many_hosts: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

__global__ void twice(unsigned* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) values[i] *= 2;
}

// Returns the number of wrong elements.
long run_thread(const Options& options, int device, int rank, int thread) {
  check(cudaSetDevice(device), "cudaSetDevice");
  const std::size_t bytes = sizeof(unsigned) * options.elements;
  cudaStream_t stream;
  cudaEvent_t done;
  unsigned *host, *values;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreateWithFlags");
  check(cudaMallocHost(&host, bytes), "cudaMallocHost");
  check(cudaMalloc(&values, bytes), "cudaMalloc");

  long wrong = 0;
  const int blocks = (options.elements + 255) / 256;
  for (int round = 0; round < options.rounds; ++round) {
    const unsigned first = static_cast<unsigned>((rank * 64 + thread) * 1000 + round);
    for (int i = 0; i < options.elements; ++i) host[i] = first + static_cast<unsigned>(i);
    check(cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    for (int k = 0; k < options.kernels; ++k) twice<<<blocks, 256, 0, stream>>>(values, options.elements);
    check(cudaGetLastError(), "kernel launch");
    check(cudaMemcpyAsync(host, values, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    if (round % 2 == 0) {  // alternate between spinning and sleeping
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    } else {
      check(cudaEventRecord(done, stream), "cudaEventRecord");
      check(cudaEventSynchronize(done), "cudaEventSynchronize");
    }
    for (int i = 0; i < options.elements; ++i) {
      if (host[i] != (first + static_cast<unsigned>(i)) << options.kernels) ++wrong;
    }
  }
  check(cudaFree(values), "cudaFree");
  check(cudaFreeHost(host), "cudaFreeHost");
  check(cudaEventDestroy(done), "cudaEventDestroy");
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return wrong;
}

int run_rank(const Options& options, int rank) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (options.devices > devices) {
    std::fprintf(stderr, "many_hosts: --devices %d, but the machine has %d\n", options.devices, devices);
    return 3;
  }
  if (options.devices > 0) devices = options.devices;
  std::vector<long> wrong(options.threads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) {
    threads.emplace_back([&, t] { wrong[t] = run_thread(options, rank % devices, rank, t); });
  }
  for (std::thread& thread : threads) thread.join();
  long total = 0;
  for (const long n : wrong) total += n;
  if (total > 0) std::fprintf(stderr, "many_hosts: rank %d: %ld wrong elements\n", rank, total);
  return total == 0 ? 0 : 1;
}

// Starts this program again as a rank. The process must not have used CUDA before the fork.
pid_t start_rank(char** argv, int rank) {
  const std::string number = std::to_string(rank);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setenv("RANK", number.c_str(), 1);
  setenv("LOCAL_RANK", number.c_str(), 1);
  setenv("MANY_HOSTS_RANK", number.c_str(), 1);
  execv("/proc/self/exe", argv);
  std::perror("many_hosts: cannot start the rank");
  _exit(1);
}

int status_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 1; }

int run_parent(const Options& options, char** argv) {
  std::vector<pid_t> ranks;
  for (int r = 0; r < options.processes; ++r) ranks.push_back(start_rank(argv, r));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(options.timeout);
  int worst = 0;
  std::size_t left = ranks.size();
  for (pid_t& pid : ranks) {
    if (pid > 0) continue;
    std::perror("many_hosts: fork");
    worst = 1;
    pid = 0;
    --left;
  }
  while (left > 0) {
    for (pid_t& pid : ranks) {
      int status = 0;
      if (pid == 0 || waitpid(pid, &status, WNOHANG) != pid) continue;
      pid = 0;
      --left;
      if (status_of(status) > worst) worst = status_of(status);
    }
    if (left > 0 && std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr, "many_hosts: %zu ranks still ran after %d s\n", left, options.timeout);
      for (const pid_t pid : ranks) {
        if (pid > 0) kill(pid, SIGKILL);
      }
      for (const pid_t pid : ranks) {
        if (pid > 0) waitpid(pid, nullptr, 0);
      }
      return 1;
    }
    if (left > 0) usleep(5'000);
  }
  if (worst == 0) {
    std::printf("many_hosts: %d processes of %d threads, %d rounds each: correct, ok\n", options.processes,
                options.threads, options.rounds);
  }
  return worst;
}

[[noreturn]] void usage(int status) {
  std::fprintf(status == 0 ? stdout : stderr,
               "usage: many_hosts [--processes P] [--threads T] [--devices N] [--rounds N] [--kernels N]\n"
               "                  [--elements N] [--timeout SECONDS]\n"
               "  --processes P  ranks, one process each (2)\n"
               "  --threads T    threads per rank, one stream each (4)\n"
               "  --devices N    rank R drives device R %% N (all devices)\n"
               "  --rounds N     round trips per thread (20)\n"
               "  --kernels N    kernels per round, at most 24 (16)\n"
               "  --elements N   numbers per vector (65536)\n"
               "  --timeout S    seconds until the ranks are killed (60)\n"
               "example: many_hosts --processes 2 --threads 8 --devices 2\n");
  std::exit(status);
}

int number(const char* option, const char* text, int max) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && value >= 1 && value <= max) return static_cast<int>(value);
  std::fprintf(stderr, "many_hosts: --%s takes a number from 1 to %d, not '%s'\n", option, max, text);
  std::exit(2);
}

Options read_options(int argc, char** argv) {
  Options options;
  struct Number {
    const char* name;
    int* value;
    int max;
  };
  const Number number_options[] = {{"processes", &options.processes, 64}, {"threads", &options.threads, 64},
                                   {"devices", &options.devices, 64},     {"rounds", &options.rounds, 100'000},
                                   {"kernels", &options.kernels, 24},     {"elements", &options.elements, 1 << 24},
                                   {"timeout", &options.timeout, 3600}};
  std::vector<option> known;
  for (const Number& n : number_options) known.push_back({n.name, required_argument, nullptr, 1});
  known.push_back({"help", no_argument, nullptr, 'h'});
  known.push_back({nullptr, 0, nullptr, 0});
  int index = 0;
  for (int c; (c = getopt_long(argc, argv, "h", known.data(), &index)) != -1;) {
    if (c == 1) {
      *number_options[index].value = number(number_options[index].name, optarg, number_options[index].max);
    } else {
      usage(c == 'h' ? 0 : 2);
    }
  }
  if (optind != argc) usage(2);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const char* rank = std::getenv("MANY_HOSTS_RANK");
  return rank == nullptr ? run_parent(options, argv) : run_rank(options, std::atoi(rank));
}
