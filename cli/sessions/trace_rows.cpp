#include "cli/sessions/trace_rows.h"

#include <algorithm>
#include <map>

namespace wicprof::cli {

namespace {

// The collector sums samples over half a second; the flush and the drain take less than that.
constexpr TimeNs kRecentSamples = 2 * kSecond;

void add_processes(const std::vector<store::ProcessRow>& rows, std::uint32_t app, analyzer::StuckView& view) {
  for (const store::ProcessRow& row : rows) {
    const auto known = std::find_if(view.processes.begin(), view.processes.end(),
                                    [&](const analyzer::SeenProcess& process) { return process.pid == row.id; });
    analyzer::SeenProcess& process = known == view.processes.end() ? view.processes.emplace_back() : *known;
    process.pid = row.id;
    process.name = row.name;
    process.rank = row.rank;
    process.ranks = row.ranks;
    if (row.id == app && row.rank && row.ranks.value_or(2) > 1) view.has_all_ranks = false;
  }
}

}  // namespace

void add_rows(const store::Reader& reader, std::uint32_t app, SeenSession& to) {
  analyzer::StuckView& view = to.view;
  const auto read = [&](auto rows) {
    if (!rows) to.not_seen.push_back(rows.error().message);
    return rows ? *std::move(rows) : std::remove_cvref_t<decltype(*rows)>();
  };
  add_processes(read(reader.rows<store::ProcessTable>()), app, view);
  for (const auto& row : read(reader.last_messages()))
    view.messages.push_back({row.process, row.received, row.communicator, row.peer, row.tag, row.number, row.at});
  std::map<SiteId, std::string> names;
  for (const store::SiteRow& site : read(reader.rows<store::SiteTable>())) names[site.id] = site.name;
  for (const auto& [process, row] : read(reader.last_signals())) {
    view.signals.push_back({names[row.site], process.value_or(0), row.device, row.block, row.sm, row.iteration,
                            row.value, row.word, row.thread, row.at, row.writer});
  }
  for (const store::WriterCandidateRow& row : read(reader.rows<store::WriterCandidateTable>()))
    view.candidates.push_back({names[row.site], row.kernel, row.word.value_or(0), row.exact});
  for (const store::PcTotalRow& row : read(reader.pc_totals())) {
    if (row.end < view.now - kRecentSamples) continue;
    view.samples.push_back({row.function, row.reason, row.file, row.offset, row.samples, row.line});
  }
  std::stable_sort(view.samples.begin(), view.samples.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
}

}  // namespace wicprof::cli
