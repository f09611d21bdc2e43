#include "tests/analyzer/made_programs/losses.h"

#include <algorithm>
#include <vector>

namespace wicprof::analyzer::made {
namespace {

template <class Rows>
void number_again(Rows& rows) {
  store::RowId id = 0;
  rows.edit_all([&](auto& row) { row.id = ++id; });
}

/// Erases rows for which `goes(device, time)` holds; returns how many.
template <class Goes>
std::size_t erase_rows(TraceModel& trace, const Goes& goes) {
  return trace.signals.erase_if([&](const auto& row) { return goes(row.device, row.at); }) +
         trace.waits.erase_if([&](const auto& row) { return goes(row.device, row.resumed); }) +
         trace.host_waits.erase_if([&](const auto& row) { return goes(kHostDevice, row.end); });
}

void count_as_lost(TraceModel& trace, std::size_t lost) {
  number_again(trace.signals);
  number_again(trace.waits);
  number_again(trace.host_waits);
  if (lost == 0) return;
  trace.stats.push_back({"ring_full", "", store::StatRow::Severity::data_loss, static_cast<std::int64_t>(lost)});
}

}  // namespace

void lose(TraceModel& trace, Losses losses, Random& random) {
  const std::uint32_t percent = std::vector<std::uint32_t>{2, 10, 30, 50}[draw(random, 4)];
  switch (losses) {
    case Losses::none:
      return;
    case Losses::removed_rows:
      erase_rows(trace, [&](DeviceId, TimeNs) { return chance(random, percent); });
      return;
    case Losses::counted_rows:
      count_as_lost(trace, erase_rows(trace, [&](DeviceId, TimeNs) { return chance(random, percent); }));
      return;
    case Losses::full_rings: {
      struct Burst {
        DeviceId device;
        TimeNs begin, end;
      };
      std::vector<Burst> bursts;
      const std::uint32_t count = draw(random, 1, 30);
      const TimeNs length = trace.span() * percent / 100 / count;
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto& device = trace.devices[draw(random, static_cast<std::uint32_t>(trace.devices.size()))];
        const TimeNs begin = trace.begin + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(trace.span()));
        bursts.push_back({device.id, begin, begin + length});
      }
      count_as_lost(trace, erase_rows(trace, [&](DeviceId device, TimeNs at) {
                      return std::any_of(bursts.begin(), bursts.end(), [&](const Burst& burst) {
                        return burst.device == device && at >= burst.begin && at < burst.end;
                      });
                    }));
      return;
    }
  }
}

}  // namespace wicprof::analyzer::made
