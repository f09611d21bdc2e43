// The copies of host_manners_app: those to the host, and all others.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/collector/gpu/busy.h"
#include "tests/collector/gpu/host_manners.h"

// What a copy has brought once its call has returned; how many of the two pinned ones came back before their kernel.
void copies(unsigned* count) {
  const cudaStream_t stream = new_stream();
  unsigned seen[8] = {};
  unsigned* pinned = nullptr;
  check(cudaMallocHost(&pinned, sizeof *pinned), "cudaMallocHost");
  check(cudaMemset(count, 0, sizeof(unsigned)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const auto launch = [&](cudaStream_t to) { busy<<<1, 1, 0, to>>>(kKernel, count); };
  cudaMemcpy3DParms volume{};
  volume.srcPtr = make_cudaPitchedPtr(count, 4, 4, 1);
  volume.extent = make_cudaExtent(4, 1, 1);
  volume.kind = cudaMemcpyDeviceToHost;
  const auto to = [&](unsigned* host) {
    volume.dstPtr = make_cudaPitchedPtr(host, 4, 4, 1);
    return &volume;
  };
  launch(stream);
  check(cudaMemcpyAsync(&seen[0], count, 4, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  launch(stream);
  check(cudaMemcpyAsync(&seen[1], count, 4, cudaMemcpyDefault, stream), "cudaMemcpyAsync, default");
  launch(stream);
  check(cudaMemcpy2DAsync(&seen[2], 4, count, 4, 4, 1, cudaMemcpyDeviceToHost, stream), "cudaMemcpy2DAsync");
  launch(stream);
  check(cudaMemcpy3DAsync(to(&seen[3]), stream), "cudaMemcpy3DAsync");
  launch(nullptr);
  check(cudaMemcpy2D(&seen[4], 4, count, 4, 4, 1, cudaMemcpyDeviceToHost), "cudaMemcpy2D");
  launch(nullptr);
  check(cudaMemcpy3D(to(&seen[5])), "cudaMemcpy3D");
  launch(nullptr);
  check(cudaMemcpyAsync(&seen[6], count, 4, cudaMemcpyDeviceToHost, nullptr), "cudaMemcpyAsync, default stream");
  int early = 0;
  for (int turn = 0; turn < 2; ++turn) {
    launch(stream);
    if (turn == 0) check(cudaMemcpyAsync(pinned, count, 4, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync, pinned");
    if (turn == 1) check(cudaMemcpy3DAsync(to(pinned), stream), "cudaMemcpy3DAsync, pinned");
    early += cudaStreamQuery(stream) == cudaErrorNotReady;
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  // While another stream is captured, and in a capture.
  const cudaStream_t captured = new_stream();
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  launch(stream);
  const cudaError_t beside = cudaMemcpyAsync(&seen[7], count, 4, cudaMemcpyDeviceToHost, stream);
  unsigned in_graph = 0;
  launch(captured);
  const cudaError_t within = cudaMemcpyAsync(&in_graph, count, 4, cudaMemcpyDeviceToHost, captured);
  const cudaError_t ended = cudaStreamEndCapture(captured, &graph);
  cudaGraphExec_t executable = nullptr;
  if (graph != nullptr) {
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(executable, captured), "cudaGraphLaunch");
    check(cudaStreamSynchronize(captured), "cudaStreamSynchronize");
  }
  std::printf("copies:");
  for (const unsigned one : seen) std::printf(" %u", one);
  std::printf(", pinned %u, %d early, beside a capture %s, within %s, end %s, from the graph %u\n", *pinned, early,
              cudaGetErrorName(beside), cudaGetErrorName(within), cudaGetErrorName(ended), in_graph);
  cudaGetLastError();
}

// Which copies have returned only once the kernel in front of them had ended, and what they have brought.
void other_copies(unsigned* count) {
  const cudaStream_t stream = new_stream();
  constexpr std::size_t kLong = std::size_t{16} << 20;
  std::vector<unsigned> from(kLong / sizeof(unsigned), 7), page(1024, 0);
  unsigned *pinned = nullptr, *device = nullptr;
  check(cudaMallocHost(&pinned, kLong), "cudaMallocHost");
  check(cudaMalloc(&device, kLong), "cudaMalloc");
  check(cudaMemset(count, 0, sizeof(unsigned)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  cudaEvent_t kernel = nullptr;
  check(cudaEventCreateWithFlags(&kernel, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  std::string late;
  const auto copy = [&](cudaStream_t behind, auto&& call) {
    busy<<<1, 1, 0, behind>>>(kKernel, count);
    check(cudaEventRecord(kernel, behind), "cudaEventRecord");
    check(call(), "a copy");
    late += cudaEventQuery(kernel) == cudaErrorNotReady ? '-' : 'w';
    check(cudaStreamSynchronize(behind), "cudaStreamSynchronize");
  };
  const auto async = [&](void* to, const void* of, std::size_t bytes, cudaMemcpyKind kind) {
    copy(stream, [&] { return cudaMemcpyAsync(to, of, bytes, kind, stream); });
  };
  copy(nullptr, [&] { return cudaMemcpy(device, from.data(), 4, cudaMemcpyHostToDevice); });
  copy(nullptr, [&] { return cudaMemcpy(device, pinned, 4, cudaMemcpyDefault); });
  copy(nullptr, [&] { return cudaMemcpy2D(device, 64, from.data(), 64, 32, 4, cudaMemcpyHostToDevice); });
  copy(nullptr, [&] { return cudaMemcpy(device + 1024, device, 4, cudaMemcpyDefault); });
  async(device, from.data(), 4, cudaMemcpyHostToDevice);
  async(device, from.data(), kLong, cudaMemcpyHostToDevice);
  async(device, pinned, kLong, cudaMemcpyHostToDevice);
  async(pinned, from.data(), 4, cudaMemcpyHostToHost);
  async(page.data(), pinned, 4, cudaMemcpyDefault);
  // The same address again and again, of which two copies find pinned memory.
  for (int turn = 0; turn < 6; ++turn) {
    const bool pins = turn == 2 || turn == 3;
    if (turn == 2) check(cudaHostRegister(page.data(), page.size() * sizeof(unsigned), 0), "cudaHostRegister");
    if (turn == 4) check(cudaHostUnregister(page.data()), "cudaHostUnregister");
    async(page.data(), count, 4, cudaMemcpyDeviceToHost);
    late += pins ? 'p' : ' ';
  }
  check(cudaMemcpy(pinned, device, kLong, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("other copies: %s, %u kernels, %u\n", late.c_str(), page[0], pinned[kLong / sizeof(unsigned) - 1]);
}
