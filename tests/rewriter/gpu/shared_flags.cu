// Two processes that answer each other through flags in each other's memory (cudaIpc), on two GPUs, or on one where
// only one is visible. It contains no wic code. Prints one line of JSON once both have ended.
//
//   shared_flags [ROUNDS [killed]]
//
// killed: the second process kills itself after half of the rounds, and the first one's kernel gives up after its
// deadline: what wic-prof stuck says.
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "waits.cuh"

namespace {

constexpr int kBlocks = 16;
constexpr size_t kStride = 32;  // words: a flag in a line of its own

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"process %d: %s: %s\"}\n", getpid(), what, cudaGetErrorString(error));
  std::exit(1);
}

/// Block b answers block b of the other process.
__global__ void answer(const unsigned* heard, unsigned* said, bool begins, unsigned rounds, unsigned* failed) {
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  const volatile unsigned* const mine = heard + blockIdx.x * kStride;
  volatile unsigned* const others = said + blockIdx.x * kStride;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (begins) *others = round;
    while (*mine < round) {
      if (now_ns() > deadline) {
        *failed = 1;
        return;
      }
    }
    if (!begins) *others = round;
  }
}

void exchange(int socket, const void* mine, void* others, size_t bytes) {
  if (write(socket, mine, bytes) != static_cast<ssize_t>(bytes)) std::exit(1);
  if (recv(socket, others, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) std::exit(1);
}

/// Whether a wait gave up.
bool talk(int socket, bool begins, unsigned rounds) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  check(cudaSetDevice(begins || gpus == 1 ? 0 : 1), "cudaSetDevice");
  unsigned *flags = nullptr, *others = nullptr, *failed = nullptr;
  check(cudaMalloc(&flags, kBlocks * kStride * sizeof(unsigned)), "cudaMalloc");
  check(cudaMalloc(&failed, sizeof(unsigned)), "cudaMalloc");
  check(cudaMemset(flags, 0, kBlocks * kStride * sizeof(unsigned)), "cudaMemset");
  check(cudaMemset(failed, 0, sizeof(unsigned)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaMemset");
  cudaIpcMemHandle_t mine, of_other;
  check(cudaIpcGetMemHandle(&mine, flags), "cudaIpcGetMemHandle");
  exchange(socket, &mine, &of_other, sizeof mine);
  check(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&others), of_other, cudaIpcMemLazyEnablePeerAccess),
        "cudaIpcOpenMemHandle");
  answer<<<kBlocks, 1>>>(flags, others, begins, rounds, failed);
  unsigned gave_up = 0;
  check(cudaMemcpy(&gave_up, failed, sizeof gave_up, cudaMemcpyDeviceToHost), "answer");
  return gave_up != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000;
  const bool killed = argc > 2 && std::strcmp(argv[2], "killed") == 0;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  const pid_t other = fork();
  if (other == 0) {
    close(sockets[0]);  // so that the end of either process is seen by the other one
    const bool failed = talk(sockets[1], false, killed ? rounds / 2 : rounds);
    if (killed) raise(SIGKILL);
    char byte;  // the memory stays until the first process has ended its kernel
    const bool read_end = read(sockets[1], &byte, 1) == 0;
    return failed || !read_end;
  }
  close(sockets[1]);
  const bool failed = talk(sockets[0], true, rounds);
  close(sockets[0]);
  int status = 0;
  waitpid(other, &status, 0);
  std::printf("{\"scenario\": \"shared_flags\", \"failed\": %d}\n", failed || (status != 0 && !killed));
  return 0;
}
