#include "analyzer/copy_traffic.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// Copies fall between so many pairs of kernels at least, or the program does not live on them.
constexpr std::size_t kLeastRounds = 4;

struct Way {
  DeviceId from, to;
};

std::optional<Way> way_of(const store::CopyRow& copy) {
  switch (copy.kind) {
    case CopyKind::host_to_device: return Way{kHostDevice, copy.device};
    case CopyKind::device_to_host: return Way{copy.device, kHostDevice};
    case CopyKind::peer_to_peer: return Way{copy.device, copy.peer_device};
    default: return std::nullopt;
  }
}

/// How many times copies began again after a kernel had begun.
std::size_t rounds(const TraceModel& model) {
  std::size_t count = 0, kernel = 0;
  bool since = true;
  for (const store::CopyRow& copy : model.copies) {
    if (!way_of(copy)) continue;
    for (; kernel < model.kernels.size() && model.kernels[kernel].start <= copy.start; ++kernel) since = true;
    if (since) ++count;
    since = false;
  }
  return count;
}

}  // namespace

Traffic copy_traffic(const TraceModel& model) {
  Traffic traffic;
  if (rounds(model) < kLeastRounds) return traffic;
  const auto party = [&](DeviceId device) {
    const auto found = std::find_if(traffic.parties.begin(), traffic.parties.end(),
                                    [&](const Party& p) { return p.device == device; });
    if (found != traffic.parties.end()) return static_cast<PartyIndex>(found - traffic.parties.begin());
    traffic.parties.push_back({device, model.device_name(device)});
    return static_cast<PartyIndex>(traffic.parties.size() - 1);
  };
  for (const store::CopyRow& copy : model.copies) {
    const std::optional<Way> way = way_of(copy);
    if (!way || way->from == way->to) continue;
    Message message;
    message.from = party(way->from);
    message.to = party(way->to);
    message.at = copy.start;
    message.received = copy.end;
    if (copy.bytes > 0) {
      message.place.emplace();
      message.place->bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(copy.bytes, std::numeric_limits<std::uint32_t>::max()));
    }
    traffic.messages.push_back(message);
  }
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0) traffic.lost += static_cast<std::uint64_t>(stat.value);
  }
  if (traffic.lost > 0) {
    const auto kept = static_cast<double>(model.copies.size() + model.kernels.size() + model.calls.size());
    traffic.seen = kept / (kept + static_cast<double>(traffic.lost));
  }
  return traffic;
}

}  // namespace wicprof::analyzer
