// The link to a session of wic-prof: the shared memory, this runtime's ring in it, and the events that go there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "protocol/event_sink.h"
#include "protocol/events/intervention.h"
#include "protocol/events/notice.h"
#include "protocol/session.h"
#include "src/strategy/automatic.h"
#include "wic/device.h"
#include "wic/payload.h"
#include "wic/runtime.h"

namespace wic {

/// Any thread, once attached. Until then every event is dropped.
class TraceLink {
 public:
  /// Error: no such session, or no free ring in it.
  Result<> attach(const char* session_path);
  /// False also in the child of a fork, which must not write to its parent's ring.
  bool attached() const { return sink_ != nullptr && forks_ == forks_so_far_.load(std::memory_order_relaxed); }
  const wicprof::SessionMap& session() const { return session_; }  ///< only where attached

  template <class Event>
  void write(const Event& event) {
    if (attached()) sink_->write(event);
  }
  /// The names of all strategies, which later events refer to by number.
  void write_strategies();
  void write_device(const DeviceProperties& device);
  void write_clock(DeviceId device, const ClockReading& reading);
  void write_site(SiteId site, const SiteSpec& spec);
  void write_choice(SiteId site, const Choice& choice);
  void write_host_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin, TimeNs end,
                       TimeNs cpu_ns, std::uint32_t polls, WaitStatus status, std::uint32_t value,
                       std::optional<std::uint32_t> wanted);
  void write_host_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at,
                         std::uint32_t value, const Payload& payload);
  /// `count` records are missing from the trace.
  void write_loss(std::uint64_t count, const std::string& reason, DeviceId device = wicprof::kHostDevice);
  /// Something that the user should know and that is not a loss of data.
  void write_notice(wicprof::NoticeSeverity severity, const std::string& text);

 private:
  static inline std::atomic<std::uint32_t> forks_so_far_{0};  // of this process's ancestors with such a link
  std::uint32_t forks_ = 0;                                   // when the session was attached
  wicprof::SessionMap session_;
  std::unique_ptr<wicprof::EventSink> sink_;  // nullptr = no session
};

}  // namespace wic
