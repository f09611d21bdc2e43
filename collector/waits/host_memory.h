// Which addresses of the host the driver knows: those of memory that is pinned or managed. A copy to another one keeps
// its thread waiting.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wicprof::collector {

/// `pageable`: the driver does not know the address. `device`: of a device, or managed. `unknown`: it gives no answer.
enum class MemoryKind : std::uint8_t { pageable, pinned, device, unknown };

/// The calls of the driver that make addresses of the host known to it, or unknown.
inline constexpr CUpti_CallbackId kHostMemoryCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemFree,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemMap,
                                                        CUPTI_DRIVER_TRACE_CBID_cuMemUnmap};

/// The last answers of a thread, so that not every copy asks the driver. Used by that thread alone.
class HostMemory {
 public:
  /// After and before each of kHostMemoryCalls. Any thread.
  static void changed() { changes_.fetch_add(1); }

  /// `pageable` or `pinned`, or else `unknown`. `ask`: what lies at an address that is not known, or may have changed.
  template <class Ask>
  MemoryKind at(std::uintptr_t address, Ask&& ask) {
    Answer& kept = answers_[address / kLine % kRoom];
    const std::uint32_t changes = changes_.load(std::memory_order_acquire);  // before the question
    if (kept.address != address || kept.changes != changes) {
      const MemoryKind found = ask(address);
      if (found == MemoryKind::unknown) return found;
      kept = {address, changes, found == MemoryKind::pageable};
    }
    return kept.pageable ? MemoryKind::pageable : MemoryKind::pinned;
  }

 private:
  static constexpr std::size_t kRoom = 16, kLine = 64;  // not calibrated; allocators align to lines
  struct Answer {
    std::uintptr_t address = 0;
    std::uint32_t changes = 0;
    bool pageable = false;
  };
  static inline std::atomic<std::uint32_t> changes_{0};
  std::array<Answer, kRoom> answers_;
};

}  // namespace wicprof::collector
