// The NVTX ranges in which each thread of the program is: they name its waits.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wicprof::collector {

/// A range's name as wait sites have it.
struct RangeName {
  static constexpr std::size_t kMost = 32;
  std::uint64_t key = 0;  ///< tells names apart
  std::uint8_t length = 0;
  std::array<char, kMost> text{};

  /// A name is cut before the first ", " (the arguments that PyTorch's emit_nvtx() adds), and a number at its end is
  /// left out ("step 17"): else each iteration would be a site.
  static RangeName of(std::string_view name);
  std::string_view str() const { return {text.data(), length}; }
};

/// Follows the callbacks of CUPTI's NVTX domain on the calling thread. Any thread. Ranges of libraries' own domains
/// (is_library_domain) are left out: a program's wait within NCCL's "ncclCommInitRank" says what the library does.
class RangeNames {
 public:
  /// The callbacks to enable: pushes, pops, and the names of domains and texts that are registered.
  static constexpr std::size_t kCallbacks = 7;
  static const std::array<CUpti_CallbackId, kCallbacks>& callbacks();

  /// Forgets the ranges in which threads are: their ends will not be seen. No callback may come meanwhile.
  static void forget();

  /// A callback of the domain CUPTI_CB_DOMAIN_NVTX.
  static void callback(CUpti_CallbackId id, const CUpti_NvtxData& data);

  /// The innermost range in which the calling thread is; nullptr for none, and for one without a readable name. A range
  /// that a thread starts and any thread ends (nvtxRangeStart) is none.
  static const RangeName* innermost() { return any_.load(std::memory_order_relaxed) ? innermost_of_thread() : nullptr; }

 private:
  static const RangeName* innermost_of_thread();

  static inline std::atomic<bool> any_{false};  // a thread has entered a range: most programs have none
};

}  // namespace wicprof::collector
