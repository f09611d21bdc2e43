#include "cuda/clock_exchange.h"
#include "wic/thread.h"

namespace wic::cuda {

namespace {

__global__ void answer_pings(ClockMailbox* mailbox, std::uint32_t first_ping) {
#if WIC_ON_GPU
  const Thread thread;
  const std::uint64_t deadline = thread.clock_ns() + kClockDeadlineNs;
  thread.store_release(&mailbox->started, first_ping);
  for (std::uint32_t ping = first_ping; ping != first_ping + kClockExchanges; ++ping) {
    while (thread.load(&mailbox->ping) != ping) {
      if (thread.clock_ns() > deadline) return;
    }
    thread.store(&mailbox->device_ns, thread.clock_ns());
    thread.store_release(&mailbox->pong, ping);
  }
#endif
}

}  // namespace

cudaError_t launch_clock_exchange(ClockMailbox* mailbox, std::uint32_t first_ping, cudaStream_t stream) {
  answer_pings<<<1, 1, 0, stream>>>(mailbox, first_ping);
  return cudaGetLastError();
}

}  // namespace wic::cuda
