// Reads a GPU's clock and the host's at the same moment: one GPU thread answers the host's pings with its clock, and
// the host keeps the exchange with the shortest round trip. The GPU reads its clock between the ping and the answer, so
// half the round trip bounds the error.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "protocol/result.h"
#include "wic/device.h"

namespace wic::cuda {

/// In pinned host memory. Each side writes only to its own lines.
struct ClockMailbox {
  alignas(128) std::uint32_t ping;
  alignas(128) std::uint32_t pong;
  std::uint32_t started;
  std::uint64_t device_ns;
};

inline constexpr std::uint32_t kClockExchanges = 24;
inline constexpr std::uint64_t kClockDeadlineNs = 20'000'000;  ///< the GPU thread gives up if the host is late

/// Launches the answering thread. Defined in clock_exchange.cu.
cudaError_t launch_clock_exchange(ClockMailbox* mailbox, std::uint32_t first_ping, cudaStream_t stream);

/// One thread at a time.
class ClockExchange {
 public:
  ClockExchange() = default;
  ClockExchange(const ClockExchange&) = delete;
  ~ClockExchange() { close(); }

  /// The calling thread's current context is the GPU's, here and in the other functions.
  wicprof::Result<> open();
  void close();
  /// Launches the GPU side unless it is running; never waits for the GPU.
  void request();
  /// Once the GPU side has started: makes the exchanges, some tens of microseconds. Else returns nothing.
  std::optional<ClockReading> take();

 private:
  std::optional<ClockReading> exchange();

  ClockMailbox* mailbox_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::uint32_t last_ping_ = 0;
  bool running_ = false;
};

}  // namespace wic::cuda
