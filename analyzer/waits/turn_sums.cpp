#include "analyzer/waits/turn_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analyzer/waits/late_starts.h"

namespace wicprof::analyzer {

namespace {

using store::DigestSumRow;
using store::ProcessId;
using store::SumOf;

/// The details of rows of turn_parts, which stay as they are: files have them.
enum : std::uint32_t { kStarts = 0, kKinds = 1, kContext = 2, kSure = 3, kOther = 4 };
/// Of each process.
constexpr std::size_t kMostTurns = 32, kMostOthers = 32;

using UseOfDevice = std::pair<DeviceId, ProcessId>;
/// From the first to the last kernel.
using UsesOfDevices = std::map<UseOfDevice, Interval>;

void add_use(UsesOfDevices& uses, UseOfDevice use, TimeNs begin, TimeNs end) {
  const auto [at, first] = uses.try_emplace(use, Interval{begin, end});
  if (!first) at->second = {std::min(at->second.begin, begin), std::max(at->second.end, end)};
}

UsesOfDevices uses_of_devices(const TraceModel& model) {
  UsesOfDevices uses;
  for (const auto& kernel : model.kernels) add_use(uses, {kernel.device, kernel.process}, kernel.start, kernel.end);
  for (const DigestSumRow& sum : model.digest_sums) {
    if (sum.of == SumOf::turns) add_use(uses, {static_cast<DeviceId>(sum.detail), sum.process}, sum.begin, sum.end);
  }
  return uses;
}

DigestSumRow& add_row(std::vector<DigestSumRow>& sums, ProcessId process, SumOf of, std::uint32_t detail,
                      std::uint64_t rows) {
  DigestSumRow& row = sums.emplace_back();
  row.process = process;
  row.of = of;
  row.detail = detail;
  row.rows = rows;
  return row;
}

DigestSumRow& add_use_of(std::vector<DigestSumRow>& sums, UseOfDevice use, Interval time, std::uint64_t kernels) {
  DigestSumRow& row = add_row(sums, use.second, SumOf::turns, static_cast<std::uint32_t>(use.first), kernels);
  row.begin = time.begin;
  row.end = time.end;
  return row;
}

void add_found(std::vector<DigestSumRow>& sums, const InterruptedKernels& found, Interval time) {
  DigestSumRow& row = add_use_of(sums, {found.device, found.process}, time, found.kernels);
  row.total = found.lost_ns;
  row.longest = found.turn_ns;
  const auto part = [&](std::uint32_t detail, std::uint64_t rows) -> DigestSumRow& {
    return add_row(sums, found.process, SumOf::turn_parts, detail, rows);
  };
  part(kStarts, found.late_starts);
  part(kContext, found.context);
  DigestSumRow& kinds = part(kKinds, found.kinds);
  kinds.total = found.shortest_ns;
  kinds.longest = found.longest_ns;
  if (found.sure) part(kSure, 1);
  for (std::size_t i = 0; i < std::min(found.others.size(), kMostOthers); ++i)
    part(kOther, 1).process = found.others[i];
}

void take_part(const DigestSumRow& row, InterruptedKernels& to) {
  switch (row.detail) {
    case kStarts:
      to.late_starts = row.rows;
      break;
    case kKinds:
      to.kinds = row.rows;
      to.shortest_ns = row.total;
      to.longest_ns = row.longest;
      break;
    case kContext:
      to.context = static_cast<std::uint32_t>(row.rows);
      break;
    case kSure:
      to.sure = true;
      break;
    case kOther:
      to.others.push_back(row.process);
      break;
    default:  // of a later wic-prof
      break;
  }
}

}  // namespace

std::vector<DigestSumRow> turn_sums(const TraceModel& model) {
  std::vector<DigestSumRow> sums;
  const DeviceWork work(model);
  const UsesOfDevices uses = uses_of_devices(model);
  UsesOfDevices quiet = uses;
  std::map<ProcessId, std::size_t> kept;
  for (const InterruptedKernels& found :
       interrupted_kernels(model, WaitKernels(model, Waiters(model)), work, late_starts(model, work))) {
    if (kept[found.process]++ >= kMostTurns) continue;
    const UseOfDevice of{found.device, found.process};
    const auto use = uses.find(of);
    add_found(sums, found, use == uses.end() ? Interval{} : use->second);
    quiet.erase(of);
  }
  for (const auto& [use, time] : quiet) {
    if (kept[use.second]++ < kMostTurns) add_use_of(sums, use, time, 0);
  }
  return sums;
}

std::vector<InterruptedKernels> turns_of_digests(const TraceModel& model) {
  std::vector<InterruptedKernels> all;
  bool has_parts = false;  // the rows that follow are parts of the last one
  for (const DigestSumRow& row : model.digest_sums) {
    if (row.of == SumOf::turns) {
      has_parts = row.longest > 0;
      if (!has_parts) continue;
      InterruptedKernels& found = all.emplace_back();
      found.process = row.process;
      found.device = static_cast<DeviceId>(row.detail);
      found.kernels = row.rows;
      found.lost_ns = row.total;
      found.turn_ns = row.longest;
    } else if (row.of == SumOf::turn_parts && has_parts) {
      take_part(row, all.back());
    }
  }
  return all;
}

bool lacks_turns(const TraceModel& model) {
  std::set<ProcessId> with_turns;
  for (const DigestSumRow& sum : model.digest_sums) {
    if (sum.of == SumOf::turns) with_turns.insert(sum.process);
  }
  return std::ranges::any_of(model.digest_sums, [&](const DigestSumRow& sum) {
    return sum.of == SumOf::kernel && !with_turns.contains(sum.process);
  });
}

void suppose_others(const TraceModel& model, std::vector<InterruptedKernels>& all) {
  const UsesOfDevices uses = uses_of_devices(model);
  for (InterruptedKernels& found : all) {
    const auto own = uses.find({found.device, found.process});
    // Traces that do not declare their devices give those of two machines one number.
    if (!found.others.empty() || own == uses.end() || model.device(found.device) == nullptr) continue;
    const auto [begin, end] = own->second;
    for (auto use = uses.lower_bound({found.device, 0}); use != uses.end() && use->first.first == found.device; ++use) {
      const TimeNs both = std::min(use->second.end, end) - std::max(use->second.begin, begin);
      if (use != own && 2 * both >= end - begin) found.others.push_back(use->first.second);
    }
    found.others_supposed = !found.others.empty();
  }
}

}  // namespace wicprof::analyzer
