#include "analyzer/communication/copy_traffic.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace wicprof::analyzer {
namespace {

/// Copies occur between at least this many pairs of kernels, or the program does not communicate by them. Not
/// calibrated.
constexpr std::size_t kMinRounds = 4;
/// The driver also migrates pages that no one accessed, so migrations show less clearly what the program intended. Not
/// calibrated.
constexpr double kMigrationCertainty = 0.75;

struct Ends {
  DeviceId from, to;
};

std::optional<Ends> ends_of(const store::CopyRow& copy) {
  switch (copy.kind) {
    case CopyKind::host_to_device:
      return Ends{kHostDevice, copy.device};
    case CopyKind::device_to_host:
      return Ends{copy.device, kHostDevice};
    case CopyKind::peer_to_peer:
      return Ends{copy.device, copy.peer_device};
    default:
      return std::nullopt;
  }
}

std::optional<Ends> ends_of(const store::UvmRow& row) {
  const bool migration = row.kind == UvmKind::host_to_device || row.kind == UvmKind::device_to_host ||
                         row.kind == UvmKind::device_to_device;
  if (!migration || row.device == row.peer_device) return std::nullopt;
  return Ends{row.peer_device, row.device};
}

/// The number of times that transfers start again after a kernel has started.
std::size_t rounds(const TraceModel& model, const auto& rows) {
  std::size_t count = 0, kernel = 0;
  bool new_round = true;
  for (const auto& row : rows) {
    if (!ends_of(row)) continue;
    for (; kernel < model.kernels.size() && model.kernels[kernel].start <= row.start; ++kernel) new_round = true;
    if (new_round) ++count;
    new_round = false;
  }
  return count;
}

/// Parties by device, in order of first use.
class DeviceParties {
 public:
  DeviceParties(const TraceModel& model, Traffic& traffic) : model_(model), traffic_(traffic) {}
  PartyIndex of(DeviceId device) {
    std::vector<Party>& all = traffic_.parties;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Party& p) { return p.device == device; });
    if (found != all.end()) return static_cast<PartyIndex>(found - all.begin());
    all.push_back({device, model_.device_name(device)});
    return static_cast<PartyIndex>(all.size() - 1);
  }

 private:
  const TraceModel& model_;
  Traffic& traffic_;
};

std::uint32_t size_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

void count_losses(const TraceModel& model, std::size_t rows, Traffic& traffic) {
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
      traffic.lost += static_cast<std::uint64_t>(stat.value);
  }
  if (traffic.lost == 0) return;
  const auto kept = static_cast<double>(rows + model.kernels.size() + model.calls.size());
  traffic.completeness.seen = kept / (kept + static_cast<double>(traffic.lost));
}

}  // namespace

Traffic copy_traffic(const TraceModel& model) {
  Traffic traffic;
  if (rounds(model, model.copies) < kMinRounds) return traffic;
  DeviceParties parties(model, traffic);
  for (const store::CopyRow& copy : model.copies) {
    const std::optional<Ends> ends = ends_of(copy);
    if (!ends || ends->from == ends->to) continue;
    Message message;
    message.from = parties.of(ends->from);
    message.to = parties.of(ends->to);
    message.at = copy.start;
    message.received = copy.end;
    if (copy.bytes > 0) message.place = traffic.add_place({.bytes = size_of(copy.bytes)});
    traffic.messages.push_back(message);
  }
  count_losses(model, model.copies.size(), traffic);
  return traffic;
}

Traffic migration_traffic(const TraceModel& model) {
  Traffic traffic;
  if (rounds(model, model.uvm) < kMinRounds) return traffic;
  DeviceParties parties(model, traffic);
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const store::UvmRow& row : model.uvm) {
    if (ends_of(row)) lowest = std::min(lowest, row.address);
  }
  for (const store::UvmRow& row : model.uvm) {
    const std::optional<Ends> ends = ends_of(row);
    if (!ends || row.bytes == 0) continue;
    Message message;
    message.from = parties.of(ends->from);
    message.to = parties.of(ends->to);
    message.at = row.start;
    message.received = row.end;
    message.place = traffic.add_place({row.address - lowest, row.bytes, size_of(row.bytes), 1, true});
    traffic.messages.push_back(message);
  }
  traffic.certainty = kMigrationCertainty;
  count_losses(model, model.uvm.size(), traffic);
  return traffic;
}

}  // namespace wicprof::analyzer
