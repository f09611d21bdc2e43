// Copies for which a host thread may wait. Where the CUDA Runtime API says so (API synchronization behavior), and as
// bench/waiting_calls.cu finds:
//   synchronous: with memory of the host at either end, in both directions; not between devices
//   asynchronous: to memory of the host that is not pinned, as PyTorch makes them in tolist(), cpu() and numpy();
//   between memory of the host and memory of the host; from memory that is not pinned to a device, once the driver's
//   buffers do not hold the copy
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/waits/host_memory.h"

namespace wicprof::collector {

/// `unknown`: the driver finds out.
enum class Where : std::uint8_t { host, device, unknown };

/// What a call is, by its name.
enum class CopyCall : std::uint8_t { none, synchronous, asynchronous };

/// What the parameters of a call say of its copy.
struct HostCopy {
  std::uintptr_t to = 0, from = 0;
  Where to_is = Where::unknown, from_is = Where::unknown;
  std::size_t bytes = 0;      ///< 0: not known
  CUstream stream = nullptr;  ///< in whose order the copy is
};

/// An asynchronous copy of so many bytes from memory that is not pinned to a device waits; of half as many, it does not
/// (docs/results/waiting_calls.h100.json). What lies between is taken for no wait.
inline constexpr std::size_t kTooLongForBuffers = std::size_t{4} << 20;

/// nullopt: the call is none of the copies in waiting_calls.h. `default_stream`: what the call takes for the default
/// stream. Any thread.
std::optional<HostCopy> host_copy(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params,
                                  CUstream default_stream);

/// What only the driver knows.
class CopyQuestions {
 public:
  virtual ~CopyQuestions() = default;
  virtual MemoryKind memory_of(std::uintptr_t address) = 0;
  /// Whether the stream records a graph at present.
  virtual bool captures(CUstream stream) = 0;
};

/// Whether the copy keeps the thread waiting for the work in front of it; nullopt: the driver gives no answer. `known`:
/// of the calling thread.
std::optional<bool> waits(const HostCopy& copy, CopyCall call, HostMemory& known, CopyQuestions& driver);

}  // namespace wicprof::collector
