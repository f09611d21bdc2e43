// The timeline, and below it the details of the selection.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/parts.h"
#include "gui/panels/timeline_canvas.h"

namespace wicprof::gui {

namespace {

void area_sums(App& app, const Ui& ui) {
  const Area& area = *app.area;
  heading(ui, fmt::format("{} on {}", analyzer::format_duration(area.end - area.begin),
                          analyzer::count_of(area.tracks, "track")));
  faint(ui, fmt::format("from {:.6f} s; {} in this stretch",
                        static_cast<double>(area.begin - app.timeline()->begin) / kSecond,
                        analyzer::count_of(area.events, "event")));
  if (area.sums.empty()) {
    faint(ui, "no events here");
    return;
  }
  if (!ImGui::BeginTable("area", 4, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthFixed, ui.px(130));
  ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, ui.px(110));
  ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_WidthFixed, ui.px(120));
  ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
  double all = 0;
  for (const AreaSum& sum : area.sums) all += sum.time_ns;
  for (const AreaSum& sum : area.sums) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    legend(ui, {sum.state});
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(analyzer::format_duration(static_cast<TimeNs>(sum.time_ns)).c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(fmt::format("{:.3g} at once", sum.mean_at_once).c_str());
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x - ui.px(60), 1.0f), height = size_of(ui.regular);
    const float part = static_cast<float>(sum.time_ns / all);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), ink(ui.theme().lane));
    list->AddRectFilled(at, ImVec2(at.x + width * part, at.y + height), state_ink(ui, sum.state));
    draw_text(list, ui.small, {at.x + width + ui.px(8), at.y, ui.px(52), height}, ink(ui.theme().faint),
              analyzer::format_percent(part));
    ImGui::Dummy(ImVec2(width, height));
  }
  ImGui::EndTable();
}

std::vector<Fact> all_facts(const App& app, EventRef ref) {
  std::vector<Fact> facts = facts_of(*app.model(), ref);
  const analyzer::WakeEdge* edge = app.timeline()->edge_of(ref);
  if (ref.kind == EventKind::signal) {
    const std::size_t woken = app.timeline()->edges_of(*app.model(), ref, 100'000).size();
    facts.push_back(
        {"ended", app.timeline()->edges.empty() ? "still being matched" : analyzer::count_of(woken, "wait")});
  } else if (edge != nullptr) {
    facts.push_back({"wake latency", analyzer::format_duration(analyzer::wake_latency(*app.model(), *edge))});
  }
  return facts;
}

/// The facts of the selected event, looked up once per selection: a long trace has many edges to search.
struct SelectedFacts {
  std::vector<Fact> facts;
  std::optional<EventRef> event;
  std::uint64_t version = 0;  ///< of the snapshot

  const std::vector<Fact>& of(const App& app) {
    if (event != app.selected || version != app.snapshot().version) {
      facts = all_facts(app, *app.selected);
      event = app.selected;
      version = app.snapshot().version;
    }
    return facts;
  }
};

void selected_facts(App& app, const Ui& ui, const std::vector<Fact>& facts) {
  heading(ui, title_of(*app.model(), *app.selected));
  // In columns, so that all facts fit a low panel.
  constexpr int kColumns = 3;
  const std::size_t each = (facts.size() + kColumns - 1) / kColumns;
  if (!ImGui::BeginTable("facts", kColumns, ImGuiTableFlags_SizingStretchSame)) return;
  for (int column = 0; column < kColumns; ++column) {
    ImGui::TableNextColumn();
    std::vector<std::pair<std::string, std::string>> part;
    for (std::size_t i = static_cast<std::size_t>(column) * each;
         i < std::min(facts.size(), (static_cast<std::size_t>(column) + 1) * each); ++i)
      part.emplace_back(facts[i].name, facts[i].value);
    ImGui::PushID(column);
    if (!part.empty()) fact_table(ui, "column", part);
    ImGui::PopID();
  }
  ImGui::EndTable();
}

}  // namespace

class TimelinePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  TimelineState timeline_;
  SelectedFacts selected_facts_;
};

template <>
std::unique_ptr<Panel> make_panel<TimelinePanel>() {
  return std::make_unique<TimelinePanel>();
}

void TimelinePanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, false)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float details = ui.px(168);
  draw_timeline(app, ui, {at.x, at.y, size.x, size.y - details}, timeline_);
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + size.y - details));
  begin_card(ui, "details", size.x, details);
  note_rect(ui, "details", {at.x, at.y + size.y - details, size.x, details});
  if (app.area) {
    area_sums(app, ui);
  } else if (app.selected) {
    selected_facts(app, ui, selected_facts_.of(app));
  } else {
    faint(ui, "Click an event to see its details; drag over tracks to sum up a stretch of time.");
    faint(ui,
          "W S zoom, A D move, F zoom to selection, [ ] along wake edges, . , next and previous, / search, M mark, ? "
          "all keys.");
    ImGui::Dummy(ImVec2(0, ui.px(6)));
    legend(ui, {State::computing, State::polling, State::parked, State::at_barrier, State::transferring,
                State::host_waiting, State::descheduled, State::calling, State::range});
    faint(ui,
          "The height of a strip is the number of warps of an SM that ever wait. A wait during a change of strategy "
          "shows "
          "both states.");
  }
  end_card();
}

}  // namespace wicprof::gui
