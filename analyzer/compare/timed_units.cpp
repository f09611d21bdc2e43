#include "analyzer/compare/timed_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/measure/numbered_names.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {
constexpr std::size_t kLongestName = 60;

/// `matches` tells by a range's name whether it counts.
template <class Matches>
std::vector<Iterations> ranges_by_thread(const TraceModel& model, std::string_view shown,
                                         std::optional<std::string_view> domain, const Matches& matches) {
  // Threads of one program iterate in parallel, so ranges count per thread; the comparison times the first list.
  std::map<std::pair<store::ProcessId, std::uint32_t>, Iterations> by_thread;
  for (const store::NvtxRow& range : model.nvtx) {
    if (range.kind != NvtxKind::range || range.end <= range.start || !matches(range.name)) continue;
    if (domain && range.domain != *domain) continue;
    Iterations& units = by_thread[{range.process, range.thread}];
    units.list.push_back({0, static_cast<std::uint32_t>(units.list.size()), range.start, range.end});
  }
  std::vector<Iterations> all;
  for (auto& [thread, units] : by_thread) {
    units.site_name = "NVTX range " + std::string(shown);
    units.runs = 1;
    all.push_back(std::move(units));
  }
  std::stable_sort(all.begin(), all.end(), [](const Iterations& a, const Iterations& b) {
    if (a.list.size() != b.list.size()) return a.list.size() > b.list.size();
    return a.list.front().begin < b.list.front().begin;
  });
  return all;
}

}  // namespace

std::vector<Iterations> find_ranges(const TraceModel& model, std::string_view name) {
  const std::size_t at = name.rfind('@');
  const std::string_view wanted = name.substr(0, at);
  std::optional<std::string_view> domain;
  if (at != std::string_view::npos) domain = name.substr(at + 1);
  std::vector<Iterations> exact =
      ranges_by_thread(model, name, domain, [&](std::string_view each) { return each == wanted; });
  if (!exact.empty() || wanted.find('#') == wanted.npos) return exact;
  return ranges_by_thread(model, name, domain, [&](std::string_view each) { return without_numbers(each) == wanted; });
}

namespace {

/// From each of the times to the next.
Iterations between(std::vector<TimeNs> times, std::string name, DeviceId device) {
  std::sort(times.begin(), times.end());
  Iterations units;
  units.site_name = std::move(name);
  units.device = device;
  units.runs = 1;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) units.list.push_back({0, static_cast<std::uint32_t>(i - 1), times[i - 1], times[i]});
  }
  return units;
}

std::vector<Iterations> fewest_first(std::vector<Iterations> all) {
  std::erase_if(all, [](const Iterations& units) { return units.list.empty(); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Iterations& a, const Iterations& b) { return a.list.size() < b.list.size(); });
  return all;
}

}  // namespace

std::vector<Iterations> find_collectives(const TraceModel& model) {
  if (model.is_digest()) return {};  // which has few of the calls
  std::map<std::pair<CommunicatorId, MpiOperation>, std::map<store::ProcessId, std::vector<TimeNs>>> ends;
  for (const store::MpiCallRow& call : model.mpi_calls) {
    if (call.communicator && call.sequence)
      ends[{*call.communicator, call.operation}][call.process].push_back(call.end);
  }
  std::vector<Iterations> all;
  for (auto& [key, processes] : ends) {
    const auto most = std::max_element(processes.begin(), processes.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    all.push_back(
        between(std::move(most->second), fmt::format("calls of {}", mpi_operation_name(key.second)), kHostDevice));
  }
  return fewest_first(std::move(all));
}

std::vector<Iterations> find_launches(const TraceModel& model) {
  std::map<std::tuple<store::ProcessId, DeviceId, std::string_view>, std::vector<TimeNs>> starts;
  for (const store::KernelRow& kernel : model.kernels) {
    if (!is_backend_work(kernel)) starts[{kernel.process, kernel.device, kernel.name}].push_back(kernel.start);
  }
  std::vector<Iterations> all;
  for (auto& [key, times] : starts) {
    const std::string kernel = shorten(function_name(one_line(std::get<2>(key))), kLongestName);
    all.push_back(between(std::move(times), "launches of " + kernel, std::get<1>(key)));
  }
  return fewest_first(std::move(all));
}

namespace {

TimeNs total(const Iterations& units) {
  return std::accumulate(units.list.begin(), units.list.end(), TimeNs{0},
                         [](TimeNs sum, const Iteration& one) { return sum + one.duration(); });
}

/// Whether most of the segments hold enough of them.
bool fits(const Iterations& units, const std::vector<Segment>& segments) {
  std::size_t enough = 0;
  for (const Segment& segment : segments) {
    Segment filled = segment;
    fill(filled, units.list);
    enough += filled.iterations.size() >= kFewestInSegment ? 1 : 0;
  }
  return 2 * enough > segments.size();
}

/// How many ranges have a name, of the thread that has most of them.
using RangeCounts = std::map<std::string, std::size_t, std::less<>>;

template <class NameOf>
RangeCounts count_ranges(const TraceModel& model, const NameOf& name_of) {
  std::map<std::tuple<store::ProcessId, std::uint32_t, std::string>, std::size_t> of_threads;
  for (const store::NvtxRow& range : model.nvtx) {
    if (range.kind == NvtxKind::range) ++of_threads[{range.process, range.thread, name_of(range.name)}];
  }
  RangeCounts counts;
  for (const auto& [key, count] : of_threads) {
    std::size_t& most = counts[std::get<2>(key)];
    most = std::max(most, count);
  }
  return counts;
}

/// Those of which most segments hold some, the longest in all first.
std::vector<Iterations> repeated_ranges(const TraceModel& model, const RangeCounts& names,
                                        const std::vector<Segment>& segments) {
  std::vector<Iterations> all;
  for (const auto& [name, count] : names) {
    if (count < kFewestInSegment) continue;
    // An @ in a name would begin a domain.
    std::vector<Iterations> ranges = find_ranges(model, name.find('@') == name.npos ? name : name + "@");
    if (!ranges.empty() && fits(ranges.front(), segments)) all.push_back(std::move(ranges.front()));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Iterations& a, const Iterations& b) { return total(a) > total(b); });
  return all;
}

/// The same by whole names; where none repeats, by names without numbers that are one.
std::vector<Iterations> repeated_ranges(const TraceModel& model, const std::vector<Segment>& segments) {
  const RangeCounts names = count_ranges(model, [](std::string_view name) { return std::string(name); });
  if (std::vector<Iterations> exact = repeated_ranges(model, names, segments); !exact.empty()) return exact;
  NumberedNames numbered;
  for (const store::NvtxRow& range : model.nvtx) {
    if (range.kind == NvtxKind::range) numbered.add(std::uint64_t{range.process} << 32 | range.thread, range.name);
  }
  RangeCounts numberless = count_ranges(model, without_numbers);
  std::erase_if(numberless, [&](const auto& each) { return !numbered.are_one(each.first); });
  return repeated_ranges(model, numberless, segments);
}

bool are_calls(const TraceModel& model, const std::vector<Iterations>& at_sites) {
  return std::any_of(model.sites.begin(), model.sites.end(), [&](const store::SiteRow& site) {
    return site.id == at_sites.front().site && site.side == SiteSide::host;
  });
}

/// The same units, those first that a verdict could rest on.
void prefer_many(std::vector<Iterations>& units) {
  std::stable_partition(units.begin(), units.end(),
                        [](const Iterations& each) { return each.list.size() >= kFewestOfSide; });
}

constexpr std::string_view kNoRange =
    "since no NVTX range repeats often enough; to time a step of the program, mark it with a range and name that with "
    "--nvtx";

}  // namespace

std::vector<TimedUnits> all_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments,
                                  std::vector<Iterations> at_sites) {
  if (!nvtx.empty()) return {{find_ranges(model, nvtx), {}, UnitSource::ranges}};
  if (!at_sites.empty() && !are_calls(model, at_sites)) return {{std::move(at_sites), {}, UnitSource::iterations}};
  std::vector<TimedUnits> all;
  std::vector<Iterations> ranges = repeated_ranges(model, segments);
  prefer_many(ranges);
  if (!ranges.empty()) {
    const std::string name = one_line(ranges.front().site_name);
    std::string why =
        fmt::format("the {} is timed{}, since the program has no wait sites of its own and the range repeats", name,
                    name.find('#') == name.npos ? "" : " (# stands for numbers)");
    all.push_back({std::move(ranges), std::move(why), UnitSource::ranges});
  }
  const auto add_repeated = [&](std::vector<Iterations> units, UnitSource source) {
    std::erase_if(units, [&](const Iterations& each) { return !fits(each, segments); });
    prefer_many(units);
    if (units.empty()) return;
    std::string why =
        fmt::format("the time from one of the {} to the next is taken, {}", units.front().site_name, kNoRange);
    all.push_back({std::move(units), std::move(why), source});
  };
  add_repeated(find_collectives(model), UnitSource::collectives);
  add_repeated(find_launches(model), UnitSource::launches);
  if (!at_sites.empty()) {
    std::string why = fmt::format("the time from one wait at {} to the next is taken, {}, and no kernel does either",
                                  one_line(at_sites.front().site_name), kNoRange);
    all.push_back({std::move(at_sites), std::move(why), UnitSource::calls});
  }
  return all;
}

TimedUnits find_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments,
                      std::vector<Iterations> at_sites) {
  std::vector<TimedUnits> all = all_units(model, nvtx, segments, std::move(at_sites));
  return all.empty() ? TimedUnits{} : std::move(all.front());
}

TimedUnits find_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments) {
  return find_units(model, nvtx, segments, nvtx.empty() ? find_iterations(model) : std::vector<Iterations>{});
}

}  // namespace wicprof::analyzer
