// Pages of managed memory that go to and fro.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/rules/list.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// What the driver keeps track of together; migrations of one block are counted as of one place.
constexpr std::uint64_t kBlock = 2ull << 20;
/// There and back: the first time is how data gets to a device, and twice may be a result that is read.
constexpr std::uint64_t kRoundTrips = 3;
/// Of the traced time spent migrating such blocks.
constexpr double kWarning = 0.01;
constexpr double kCritical = 0.2;

bool migrates(UvmKind kind) {
  return kind == UvmKind::host_to_device || kind == UvmKind::device_to_host || kind == UvmKind::device_to_device;
}

struct Place {
  DeviceId at = 0;
  bool known = false;
  std::uint64_t turns = 0;  ///< migrations to another device than the one before
  std::uint64_t bytes = 0;
  std::vector<Interval> times;
};

}  // namespace

RuleOutcome managed_ping_pong(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.uvm.empty()) {
    outcome.refused = "managed memory was not recorded (wic-prof run --trace=cuda,uvm), or the program uses none";
    return outcome;
  }
  std::map<std::pair<store::ProcessId, std::uint64_t>, Place> places;
  std::uint64_t gpu_faults = 0, cpu_faults = 0, thrashing = 0;
  for (const store::UvmRow& row : model.uvm) {
    if (row.kind == UvmKind::gpu_fault) gpu_faults += row.count;
    if (row.kind == UvmKind::cpu_fault) cpu_faults += row.count;
    if (row.kind == UvmKind::thrashing) ++thrashing;
    if (!migrates(row.kind)) continue;
    Place& place = places[{row.process, row.address / kBlock}];
    const DeviceId to = row.kind == UvmKind::device_to_host ? kHostDevice : row.device;
    if (place.known && place.at != to) ++place.turns;
    place.known = true;
    place.at = to;
    place.bytes += row.bytes;
    place.times.push_back({row.start, row.end});
  }
  std::uint64_t blocks = 0, bytes = 0, turns = 0, most = 0, worst = 0;
  std::vector<Interval> times;
  for (const auto& [where, place] : places) {
    if (place.turns < 2 * kRoundTrips) continue;
    ++blocks;
    bytes += place.bytes;
    turns += place.turns;
    if (place.turns > most) {
      most = place.turns;
      worst = where.second * kBlock;
    }
    times.insert(times.end(), place.times.begin(), place.times.end());
  }
  const TimeNs moving = covered(std::move(times));
  const double share = model.span() > 0 ? static_cast<double>(moving) / static_cast<double>(model.span()) : 0;
  if (blocks == 0 || (share < kWarning && thrashing == 0)) return outcome;
  Finding finding;
  finding.severity = share >= kCritical ? Severity::critical : Severity::warning;
  finding.text =
      fmt::format("managed memory goes to and fro: {} of 2 MiB moved {} times, for {} ({} of the traced time)",
                  count_of(blocks, "block"), format_count(turns), format_duration(moving), format_percent(share));
  finding.evidence = fmt::format(
      "{} in all; most often the block at 0x{:x}, {} times; {} GPU faults, {} CPU faults, {} "
      "reported as thrashing",
      format_bytes(bytes), worst, format_count(most), format_count(gpu_faults), format_count(cpu_faults),
      format_count(thrashing));
  finding.remedy =
      "keep words that are waited on out of managed memory (wic::Memory::pinned_host or device, docs/waiting.md); give "
      "each "
      "side a part of its own, cudaMemPrefetchAsync what moves, cudaMemAdviseSetPreferredLocation what need not; "
      "messages "
      "through a wic channel (docs/channels.md) move no pages";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
