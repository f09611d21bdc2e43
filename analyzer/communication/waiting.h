// The common part of waits on devices and on the host.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/communication/traffic.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

struct Waiting {
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> value;  ///< wanted, or else seen
  std::uint32_t block = Message::kNobody;
  TimeNs arrived = 0, resumed = 0;
  std::optional<WordTag> word;
};

inline Waiting waiting_of(const store::WaitRow& w) {
  return {w.site, w.device, w.iteration, w.wanted.value_or(w.value), w.block, w.arrived, w.resumed, w.word};
}
inline Waiting waiting_of(const store::HostWaitRow& w) {
  return {w.site, kHostDevice, w.iteration, w.wanted ? w.wanted : w.value, Message::kNobody, w.begin, w.end, w.word};
}
inline Waiting waiting_of(const TraceModel& model, const WakeEdge& edge) {
  return edge.host ? waiting_of(model.host_waits[edge.wait]) : waiting_of(model.waits[edge.wait]);
}

}  // namespace wicprof::analyzer
