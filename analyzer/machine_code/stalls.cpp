#include "analyzer/machine_code/stalls.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace wicprof::analyzer {
namespace {

constexpr std::string_view kNotIssued = "_not_issued";

std::string_view plain_reason(std::string_view reason) {
  if (reason.ends_with(kNotIssued)) reason.remove_suffix(kNotIssued.size());
  return reason;
}

void most_samples_first(auto& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
}

std::uint64_t total(const std::vector<StallShare>& reasons) {
  std::uint64_t samples = 0;
  for (const StallShare& share : reasons) samples += share.samples;
  return samples;
}

// One program counter's samples by reason, process, and whether the reason is the "_not_issued" one.
struct PcReasons {
  std::map<std::string, std::map<std::pair<std::uint32_t, bool>, std::uint64_t>> by_reason;
  std::string file;
  std::uint32_t line = 0;
};

SampledPc summed(std::uint64_t offset, const PcReasons& gathered) {
  SampledPc pc;
  pc.offset = offset;
  pc.file = gathered.file;
  pc.line = gathered.line;
  for (const auto& [reason, parts] : gathered.by_reason) {
    std::map<std::uint32_t, std::uint64_t> by_process;
    for (const auto& [part, samples] : parts) {
      std::uint64_t& most = by_process[part.first];
      most = std::max(most, samples);
    }
    StallShare share{reason, 0};
    for (const auto& [process, samples] : by_process) share.samples += samples;
    pc.samples += share.samples;
    if (share.samples > 0) pc.reasons.push_back(std::move(share));
  }
  most_samples_first(pc.reasons);
  return pc;
}

std::vector<SampledLine> lines_of(const std::vector<SampledPc>& pcs) {
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> by_line;
  for (const SampledPc& pc : pcs) {
    if (pc.line != 0) by_line[{pc.file, pc.line}] += pc.samples;
  }
  std::vector<SampledLine> lines;
  for (const auto& [where, samples] : by_line) lines.push_back({where.first, where.second, samples});
  most_samples_first(lines);
  return lines;
}

}  // namespace

std::vector<StallShare> sum_reasons(const std::vector<const SampledPc*>& pcs) {
  std::map<std::string, std::uint64_t> by_reason;
  for (const SampledPc* pc : pcs) {
    for (const StallShare& share : pc->reasons) by_reason[share.reason] += share.samples;
  }
  std::vector<StallShare> reasons;
  for (const auto& [reason, samples] : by_reason) reasons.push_back({reason, samples});
  most_samples_first(reasons);
  return reasons;
}

double share_of(const std::vector<StallShare>& reasons, std::string_view reason) {
  const std::uint64_t all = total(reasons);
  if (all == 0) return 0;
  const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& s) { return s.reason == reason; });
  return found == reasons.end() ? 0 : static_cast<double>(found->samples) / static_cast<double>(all);
}

double waiting_share(const std::vector<StallShare>& reasons) {
  static constexpr std::array<std::string_view, 7> kWaiting = {
      "long_scoreboard", "short_scoreboard", "membar", "branch_resolve", "branch_resolving", "sleeping", "barrier"};
  double share = 0;
  for (const std::string_view reason : kWaiting) share += share_of(reasons, reason);
  return share;
}

Stalls gather_stalls(const TraceModel& model) {
  using FunctionKey = std::tuple<DeviceId, std::uint64_t, std::string>;
  struct Gathered {
    std::string function;
    std::map<std::uint64_t, PcReasons> pcs;
  };
  std::map<FunctionKey, Gathered> functions;
  for (const store::PcTotalRow& row : model.pc_totals) {
    const std::string& symbol = row.symbol.empty() ? row.function : row.symbol;
    Gathered& gathered = functions[{row.device, row.module, symbol}];
    if (gathered.function.empty()) gathered.function = row.function.empty() ? symbol : row.function;
    PcReasons& pc = gathered.pcs[row.offset];
    const std::string_view reason = plain_reason(row.reason);
    const bool twin = reason.size() != row.reason.size();
    pc.by_reason[std::string(reason)][{row.process.value_or(0), twin}] += row.samples;
    if (pc.line == 0) {
      pc.file = row.file;
      pc.line = row.line;
    }
  }

  Stalls stalls;
  std::map<DeviceId, DeviceSamples> devices;
  for (auto& [key, gathered] : functions) {
    FunctionStalls function;
    std::tie(function.device, function.module, function.symbol) = key;
    function.function = gathered.function;
    std::vector<const SampledPc*> all;
    for (const auto& [offset, reasons] : gathered.pcs) function.pcs.push_back(summed(offset, reasons));
    for (const SampledPc& pc : function.pcs) {
      function.samples += pc.samples;
      all.push_back(&pc);
    }
    if (function.samples == 0) continue;
    function.reasons = sum_reasons(all);
    function.lines = lines_of(function.pcs);
    devices[function.device].samples += function.samples;
    stalls.functions.push_back(std::move(function));
  }
  for (const store::PcIntervalRow& interval : model.pc_intervals) {
    DeviceSamples& device = devices[interval.device];
    device.dropped += interval.dropped;
    device.foreign += interval.foreign_samples;
  }
  for (auto& [id, device] : devices) {
    device.device = id;
    device.samples += device.foreign;
    stalls.devices.push_back(device);
  }
  for (FunctionStalls& function : stalls.functions) {
    function.share = static_cast<double>(function.samples) / static_cast<double>(devices[function.device].samples);
  }
  most_samples_first(stalls.functions);
  return stalls;
}

}  // namespace wicprof::analyzer
