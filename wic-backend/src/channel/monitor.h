// Watches the arriving messages for host threads that wait for several (DAB and PFQ on the host). Its thread sleeps on
// the producer's doorbell while requests are pending, and on a condition variable while none are.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "src/channel/activator.h"
#include "src/channel/availability_bitmap.h"
#include "src/channel/pending_queue.h"
#include "wic/device.h"
#include "wic/span.h"
#include "wic/wait.h"

namespace wic {

/// Any thread.
class Monitor {
 public:
  /// `arrived(tag, cycle)`: the last cycle of the tag, among those with the parity of `cycle`, whose message has
  /// arrived; 0 = none. Any thread calls it. The producer rings the bell after each message.
  Monitor(std::uint32_t tags, std::unique_ptr<Doorbell> bell,
          std::function<std::uint32_t(Tag, std::uint32_t cycle)> arrived);
  Monitor(const Monitor&) = delete;
  ~Monitor();  ///< no thread may be waiting

  /// Sleeps until the messages have arrived, `timeout` has passed, or the producer is lost (checked every 20 ms). Does
  /// not sleep if all have arrived already. The cycle two before the requested one must have arrived.
  wicprof::WaitStatus wait(Span<const Tag> tags, std::uint32_t cycle, wicprof::TimeNs timeout,
                           const std::function<bool()>& producer_lost);

  std::size_t pending() const;
  Doorbell& bell() const { return *bell_; }

 private:
  void run();
  void look(Tag tag, std::uint32_t cycle);  // with mutex_ held
  void scan();                              // with mutex_ held
  void end_idle_listening();                // with mutex_ held

  const std::unique_ptr<Doorbell> bell_;
  const std::function<std::uint32_t(Tag, std::uint32_t)> arrived_;
  Activator activator_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  AvailabilityBitmap available_;
  PendingQueue queue_;
  std::set<std::pair<Tag, std::uint32_t>> awaited_;  // (tag, cycle) that pending requests wait for
  RequestId next_id_ = 1;
  bool listening_ = false;  // the thread is at the bell
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wic
