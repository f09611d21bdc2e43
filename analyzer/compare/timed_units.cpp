#include "analyzer/compare/timed_units.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace wicprof::analyzer {

std::vector<Iterations> find_ranges(const TraceModel& model, std::string_view name) {
  const std::size_t at = name.rfind('@');
  const std::string_view wanted = name.substr(0, at);
  std::optional<std::string_view> domain;
  if (at != std::string_view::npos) domain = name.substr(at + 1);

  // Threads of one program iterate in parallel, so ranges count per thread; the comparison times the first list.
  std::map<std::pair<store::ProcessId, std::uint32_t>, Iterations> by_thread;
  for (const store::NvtxRow& range : model.nvtx) {
    if (range.kind != NvtxKind::range || range.end <= range.start || range.name != wanted) continue;
    if (domain && range.domain != *domain) continue;
    Iterations& units = by_thread[{range.process, range.thread}];
    units.list.push_back({0, static_cast<std::uint32_t>(units.list.size()), range.start, range.end});
  }
  std::vector<Iterations> all;
  for (auto& [thread, units] : by_thread) {
    units.site_name = "NVTX range " + std::string(name);
    units.runs = 1;
    all.push_back(std::move(units));
  }
  std::stable_sort(all.begin(), all.end(), [](const Iterations& a, const Iterations& b) {
    if (a.list.size() != b.list.size()) return a.list.size() > b.list.size();
    return a.list.front().begin < b.list.front().begin;
  });
  return all;
}

std::vector<Iterations> find_units(const TraceModel& model, std::string_view nvtx) {
  return nvtx.empty() ? find_iterations(model) : find_ranges(model, nvtx);
}

}  // namespace wicprof::analyzer
