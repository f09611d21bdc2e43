// Who called CUDA: the address in the program to which the current call returns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wicprof::collector {

/// A call of CUDA's libraries that callbacks report.
struct CudaCall {
  std::uint32_t number = 0;     ///< distinguishes the calls for the cache; below Caller::kCalls
  bool runtime = false;         ///< of the runtime (cudaStreamSynchronize), not of the driver (cuStreamSynchronize)
  std::string_view name;        ///< as the program's linker knows it
  const void* cupti = nullptr;  ///< an address in CUPTI, whose frames are not the program's
  /// Of a call of the driver: the calls of the runtime that may have made it, whose frames are not the program's.
  std::span<const std::string> runtime_calls = {};
  /// By the same index, for a runtime that is linked into a program without names: where the function of that call
  /// begins (Caller::callee_of()); nullptr: not known. Where it has no callbacks, it calls the driver from
  /// other places of its code.
  std::span<const std::atomic<const void*>> inside = {};
};

/// Finds callers. One object per thread, used by that thread alone, since it remembers where on the thread's stack the
/// return addresses of the calls lie: reading one such word takes a few nanoseconds, and unwinding the stack some
/// microseconds.
class Caller {
 public:
  static constexpr std::size_t kCalls = 64;

  /// The return address in the program of the CUDA call that the thread is in; nullptr if the stack cannot be unwound
  /// that far. `frame`: __builtin_frame_address(0) of one and the same function at every call. `known`: whether an
  /// address that the thread found earlier on the same path is a caller of this call. Call within the callback. Reads
  /// words of the callers' frames, which AddressSanitizer takes for an error.
  template <class Known>
  __attribute__((no_sanitize("address"))) const void* find(const CudaCall& call, const void* frame, Known&& known) {
    const auto at = reinterpret_cast<std::uintptr_t>(frame);
    for (const std::ptrdiff_t distance : distances_[call.number]) {
      if (distance == 0 || !on_stack(at, distance)) break;
      const void* const address = *reinterpret_cast<const void* const*>(static_cast<const char*>(frame) + distance);
      if (known(address)) return address;
    }
    if (const void* const address = found_by_another(call, frame)) return address;
    return unwind(call, frame);
  }

  /// The same from the stack's frames alone.
  const void* unwind(const CudaCall& call, const void* frame);

  /// Where on the thread's stack find() would read that return address next time; nullptr: nowhere, or on a stack whose
  /// end is not known.
  __attribute__((no_sanitize("address"))) const void* const* slot_of(std::uint32_t call, const void* frame,
                                                                     const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(frame);
    for (const std::ptrdiff_t distance : distances_[call]) {
      if (distance == 0 || !on_stack(at, distance)) break;
      const auto* const slot = reinterpret_cast<const void* const*>(static_cast<const char*>(frame) + distance);
      if (*slot == address) return slot;
    }
    return nullptr;
  }

  /// Within a call of CUDA whose caller is known: where the function begins that `caller` has called. nullptr: none in
  /// the same module.
  static const void* callee_of(const void* caller);

  /// How often find() had to unwind the stack.
  std::uint64_t unwound() const { return unwound_; }

  /// What the last walk of the stack saw, for a call of the driver: the call of the runtime that made it, one of
  /// CudaCall::runtime_calls; empty: none.
  const std::string& runtime_call() const { return runtime_call_; }
  /// The same: whether functions without names may be those of a runtime that is linked into the program.
  bool ambiguous() const { return ambiguous_; }

 private:
  /// The caller that another thread has found on a path that looks the same; nullptr: none. A program that makes a
  /// thread for each request would walk a stack for each, which takes longer than the rest of a first wait.
  const void* found_by_another(const CudaCall& call, const void* frame);
  void remember(std::uint32_t call, std::ptrdiff_t distance);
  /// Looks up the bounds of the thread's stack, once.
  void know_stack();

  /// Whether the word at that distance lies on the thread's own stack. False on a stack that the program made itself (a
  /// fiber's), whose end is not known; find() then unwinds.
  bool on_stack(std::uintptr_t frame, std::ptrdiff_t distance) const {
    return frame >= stack_begin_ && frame < stack_end_ &&
           stack_end_ - frame >= static_cast<std::uintptr_t>(distance) + sizeof(void*);
  }

  /// A call reaches its callback on few paths, of which each has frames of one size. Not calibrated.
  static constexpr std::size_t kPaths = 4;

  std::ptrdiff_t distances_[kCalls][kPaths] = {};  // from `frame` to the return address, the shortest first; 0: none
  /// A stack that could not be unwound so often for a call will not be next time, and each attempt takes microseconds.
  static constexpr std::uint8_t kMostFailures = 8;
  std::uint8_t failures_[kCalls] = {};
  std::uint64_t unwound_ = 0;
  std::string runtime_call_;
  bool ambiguous_ = false;
  bool stack_known_ = false;
  std::uintptr_t stack_begin_ = 0, stack_end_ = 0;  // of the thread; 0: not looked up yet, or not known
};

}  // namespace wicprof::collector
