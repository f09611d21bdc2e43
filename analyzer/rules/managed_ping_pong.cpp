// Pages of managed memory that move back and forth.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// The driver tracks managed memory in blocks of 2 MiB; the rule counts migrations per block.
constexpr std::uint64_t kBlockBytes = 2ull << 20;
/// The first round trip brings data to a device, and the second may return a result; from the third on the block
/// bounces.
constexpr std::uint64_t kRoundTrips = 3;
/// Share of the traced time spent migrating such blocks. Not calibrated.
constexpr double kMovingCritical = 0.2;

bool migrates(UvmKind kind) {
  return kind == UvmKind::host_to_device || kind == UvmKind::device_to_host || kind == UvmKind::device_to_device;
}

struct Block {
  DeviceId at = 0;
  bool known = false;
  std::uint64_t moves = 0;  ///< migrations to a device that differs from the previous one
  std::uint64_t bytes = 0;
  std::vector<Interval> times;
};

}  // namespace

template <>
RuleOutcome apply<struct ManagedPingPong>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.uvm.empty()) {
    outcome.refused =
        "the trace holds no managed memory (record it with wic-prof run --trace=cuda,uvm), or the program uses none";
    return outcome;
  }
  std::map<std::pair<store::ProcessId, std::uint64_t>, Block> all;
  std::uint64_t gpu_faults = 0, cpu_faults = 0, thrashing = 0;
  for (const store::UvmRow& row : model.uvm) {
    if (row.kind == UvmKind::gpu_fault) gpu_faults += row.count;
    if (row.kind == UvmKind::cpu_fault) cpu_faults += row.count;
    if (row.kind == UvmKind::thrashing) ++thrashing;
    if (!migrates(row.kind)) continue;
    Block& block = all[{row.process, row.address / kBlockBytes}];
    const DeviceId to = row.kind == UvmKind::device_to_host ? kHostDevice : row.device;
    if (block.known && block.at != to) ++block.moves;
    block.known = true;
    block.at = to;
    block.bytes += row.bytes;
    block.times.push_back({row.start, row.end});
  }
  std::uint64_t blocks = 0, bytes = 0, moves = 0, most = 0, worst = 0;
  std::vector<Interval> times;
  for (const auto& [where, block] : all) {
    if (block.moves < 2 * kRoundTrips) continue;
    ++blocks;
    bytes += block.bytes;
    moves += block.moves;
    if (block.moves > most) {
      most = block.moves;
      worst = where.second * kBlockBytes;
    }
    for (const Interval& time : block.times) {
      const Interval part = input.within_ground(time.begin, time.end);
      if (part.end > part.begin) times.push_back(part);
    }
  }
  const TimeNs moving = covered(std::move(times));
  const double share = input.ground_ns() > 0 ? static_cast<double>(moving) / static_cast<double>(input.ground_ns()) : 0;
  if (blocks == 0 || (share < kWorthNaming && thrashing == 0)) return outcome;
  Finding finding;
  finding.cost = Cost{Cost::Unit::time, share};
  finding.severity = share >= kMovingCritical ? Severity::critical : Severity::warning;
  finding.text =
      fmt::format("managed memory moves back and forth: {} of 2 MiB moved {} times, for {} ({} of the traced time)",
                  count_of(blocks, "block"), format_count(moves), format_duration(moving), format_percent(share));
  finding.evidence = fmt::format(
      "{} in all; the block at 0x{:x} moved most often, {} times; {} GPU faults, {} CPU faults, {} reports of "
      "thrashing",
      format_bytes(bytes), worst, format_count(most), format_count(gpu_faults), format_count(cpu_faults),
      format_count(thrashing));
  finding.remedy =
      "keep the words of waits out of managed memory (wic::Memory::pinned_host or device); give each "
      "side a separate part, call cudaMemPrefetchAsync for data that has to move, and set "
      "cudaMemAdviseSetPreferredLocation for data that does not; messages through a wic channel (wic-prof explain "
      "channel) move no pages";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
