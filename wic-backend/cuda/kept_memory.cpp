#include "cuda/kept_memory.h"

#include <cuda.h>

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cuda/driver_function.h"

namespace wic::cuda {

namespace {

constexpr std::size_t kMostKept = std::size_t{256} << 20;

struct Kind {
  unsigned long long context = 0;
  Memory where = Memory::device;
  std::size_t bytes = 0;
  auto operator<=>(const Kind&) const = default;
};

/// Differs from that of every other context of the process: cudaDeviceReset ends a context with its memory, and a later
/// one may get the same handle.
unsigned long long current_context_number() {
  static const auto number_of = driver_function<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000);
  unsigned long long number = 0;
  if (number_of == nullptr || number_of(nullptr, &number) != CUDA_SUCCESS) return 0;
  return number;
}

class KeptMemory {
 public:
  /// nullptr if no memory of that kind is kept.
  void* take(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(kind);
    if (found == kept_.end()) return nullptr;
    void* memory = found->second;
    kept_.erase(found);
    kept_bytes_[kind.context] -= kind.bytes;
    in_use_[memory] = kind;
    return memory;
  }
  void add(void* memory, const Kind& kind) {
    const std::lock_guard lock(mutex_);
    in_use_[memory] = kind;
  }
  /// Returns what the memory was; `kept`: whether it stays here.
  Kind remove(void* memory, bool& kept) {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(memory);
    if (found == in_use_.end()) return {};
    const Kind kind = found->second;
    in_use_.erase(found);
    std::size_t& sum = kept_bytes_[kind.context];
    kept = kind.bytes <= kMostKept - sum;
    if (kept) {
      sum += kind.bytes;
      kept_.emplace(kind, memory);
    }
    return kind;
  }
  void forget(void* memory) {
    const std::lock_guard lock(mutex_);
    in_use_.erase(memory);
  }

 private:
  std::mutex mutex_;
  std::multimap<Kind, void*> kept_;
  std::unordered_map<void*, Kind> in_use_;
  std::map<unsigned long long, std::size_t> kept_bytes_;  // by context; at most kMostKept each
};

KeptMemory& kept_memory() {
  static KeptMemory* const memory = new KeptMemory;  // outlives static objects that own memory
  return *memory;
}

cudaError_t allocate_new(void** memory, std::size_t bytes, Memory where) {
  switch (where) {
    case Memory::device:
      return cudaMalloc(memory, bytes);
    case Memory::managed:
      return cudaMallocManaged(memory, bytes);
    default:
      return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
  }
}

}  // namespace

cudaError_t allocate_kept(void** memory, std::size_t bytes, Memory where) {
  const Kind kind{current_context_number(), where, bytes};
  *memory = kept_memory().take(kind);
  if (*memory != nullptr) return cudaSuccess;
  const cudaError_t status = allocate_new(memory, bytes, where);
  if (status == cudaSuccess) kept_memory().add(*memory, kind);
  return status;
}

void release_kept(void* memory, bool in_use) {
  if (memory == nullptr) return;
  if (in_use) return kept_memory().forget(memory);
  bool kept = false;
  const Kind kind = kept_memory().remove(memory, kept);
  if (kept || kind.context != current_context_number()) return;  // a context that was reset has freed its memory
  if (kind.where == Memory::pinned_host) {
    cudaFreeHost(memory);
  } else {
    cudaFree(memory);
  }
}

}  // namespace wic::cuda
