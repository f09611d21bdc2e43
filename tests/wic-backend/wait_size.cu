// Kernels whose size and registers wait_size_test.py reads.
#include "wic/launch.h"
#include "wic/site.h"

namespace {

struct Nothing {
  wic::Site site;
  const std::uint32_t* word;
  float* data;
  WIC_DEVICE void operator()(const wic::Thread& thread) const { data[thread.index()] *= 2; }
};

struct BlockWaits {
  wic::Site site;
  const std::uint32_t* word;
  float* data;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (site.wait(thread, 1, word, wic::AtLeast{1})) data[thread.index()] *= 2;
  }
};

struct LongForm {
  wic::Site site;
  const std::uint32_t* word;
  float* data;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (const std::uint32_t i : {1u, 2u}) {
      if (!wic::wait_until(thread, site.view, wic::block_group(thread), site.id, i, word + 32 * i, wic::AtLeast{i},
                           site.timeout_ns)) {
        return;
      }
      data[thread.index()] *= static_cast<float>(i);
    }
  }
};

// Two groups of warps, each with its own barrier.
struct WarpsWait {
  wic::Site site;
  const std::uint32_t* word;
  float* data;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::WaitResult wait = thread.warp() < 4
                                     ? site.wait(thread, wic::warps_group(0, 4, 1), 1, word, wic::AtLeast{1})
                                     : site.wait(thread, wic::warps_group(4, 4, 2), 1, word + 32, wic::AtLeast{1});
    if (wait) data[thread.index()] *= 2;
  }
};

// Launch bounds that leave 32 registers.
struct ThreeWaits {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 2;
  wic::Site site;
  const std::uint32_t* word;
  float* data;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (const std::uint32_t i : {1u, 2u, 3u}) {
      if (!site.wait(thread, i, word + 32 * i, wic::AtLeast{i})) return;
      data[thread.index()] *= static_cast<float>(i);
    }
  }
};

}  // namespace

template __global__ void wic::detail::gpu_entry<Nothing>(const __grid_constant__ Nothing);
template __global__ void wic::detail::gpu_entry<BlockWaits>(const __grid_constant__ BlockWaits);
template __global__ void wic::detail::gpu_entry<LongForm>(const __grid_constant__ LongForm);
template __global__ void wic::detail::gpu_entry<WarpsWait>(const __grid_constant__ WarpsWait);
template __global__ void wic::detail::bounded_gpu_entry<ThreeWaits>(const __grid_constant__ ThreeWaits);
