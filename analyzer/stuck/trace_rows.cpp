#include "analyzer/stuck/trace_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/stuck/view_text.h"

namespace wicprof::analyzer {

namespace {

// The collector sums samples over half a second; the flush and the drain take less than that.
constexpr TimeNs kRecentSamples = 2 * kSecond;

void add_processes(const TraceModel& model, StuckView& view) {
  const std::uint32_t app = model.app();
  for (const store::ProcessRow& row : model.processes) {
    const auto known = std::find_if(view.processes.begin(), view.processes.end(),
                                    [&](const SeenProcess& process) { return process.pid == row.id; });
    SeenProcess& process = known == view.processes.end() ? view.processes.emplace_back() : *known;
    process.pid = row.id;
    process.name = row.name;
    process.parent = row.parent;
    process.rank = row.rank;
    process.ranks = row.ranks;
    if (row.id == app && row.rank && row.ranks.value_or(2) > 1) view.has_all_ranks = false;
  }
}

}  // namespace

Result<TraceModel> load_stuck_rows(const store::Reader& reader, std::string name) {
  TraceModel model;
  model.name = std::move(name);
  std::optional<Error> error;
  const auto read = [&](auto from, auto& to) {
    if (from) {
      to = *std::move(from);
    } else if (!error) {
      error = from.error();
    }
  };
  read(reader.meta(), model.meta);
  read(reader.rows<store::ProcessTable>(), model.processes);
  read(reader.rows<store::SiteTable>(), model.sites);
  read(reader.rows<store::WriterCandidateTable>(), model.writer_candidates);
  read(reader.pc_totals(), model.pc_totals);
  read(reader.last_messages(), model.last_messages);
  read(reader.last_signals(), model.last_signals);
  return error ? Result<TraceModel>(*error) : model;
}

void add_rows(const TraceModel& model, StuckView& view) {
  add_processes(model, view);
  for (const auto& row : model.last_messages)
    view.messages.push_back({row.process, row.received, row.communicator, row.peer, row.tag, row.number, row.at});
  std::map<SiteId, std::string> names;
  for (const store::SiteRow& site : model.sites) names[site.id] = site.name;
  for (const auto& [process, row] : model.last_signals) {
    view.signals.push_back({names[row.site], process.value_or(0), row.device, row.block, row.sm, row.iteration,
                            row.value, row.word, row.thread, row.at, row.writer});
  }
  for (const store::WriterCandidateRow& row : model.writer_candidates)
    view.candidates.push_back({names[row.site], row.kernel, row.word.value_or(0), row.exact});
  for (const store::PcTotalRow& row : model.pc_totals) {
    if (row.end < view.now - kRecentSamples) continue;
    view.samples.push_back({row.function, row.reason, row.file, row.offset, row.samples, row.line});
  }
  std::stable_sort(view.samples.begin(), view.samples.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
}

std::optional<RecordedHang> recorded_hang(const TraceModel& model) {
  const std::string text = model.meta_value(store::MetaKey::open_work);
  Result<StuckView> view = text.empty() ? Result<StuckView>(StuckView()) : view_of(text);
  if (!view || !view->hung) return std::nullopt;
  view->by = SeenBy::traces;
  if (model.joined.empty()) {
    add_rows(model, *view);
  } else {
    view->has_all_ranks = false;  // the processes have other numbers there
  }
  RecordedHang hang{*std::move(view), {}};
  hang.answer = diagnose(hang.view);
  return hang.answer.causes.empty() ? std::nullopt : std::optional(std::move(hang));
}

}  // namespace wicprof::analyzer
