// A running program: its growing timeline, the toggle, and the effect of the last change.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "gui/panels/timeline_canvas.h"
#include "gui/view/toggle_words.h"

namespace wicprof::gui {

namespace {

std::string where_words(WaitSide side, const std::string& site) {
  if (!site.empty()) return site;
  if (side == WaitSide::both) return "the whole program";
  return side == WaitSide::host ? "host threads in calls of CUDA" : "waits at the program's own sites";
}

/// Of the mode park. A change of both sides may name a strategy of either; the other side then has its default.
std::vector<StrategyName> strategies_of(WaitSide side) {
  std::vector<StrategyName> found;
  if (side != WaitSide::host) {
    std::copy_if(kStrategies.begin(), kStrategies.end(), std::back_inserter(found),
                 [](const StrategyName& one) { return one.id != StrategyId::poll; });
  }
  if (side != WaitSide::device) found.insert(found.end(), kHostStrategies.begin(), kHostStrategies.end());
  return found;
}

/// How the waits of that choice are in force, as far as the session says.
Mode mode_of(const SessionStatus& status, WaitSide side) {
  return side == WaitSide::host ? status.host_mode : status.mode;
}

void toggle_options(App& app, const Ui& ui, const SessionStatus& status) {
  ImGui::SetNextItemWidth(-1);
  faint(ui, "where");
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##where", where_words(app.toggle_side, app.toggle_site).c_str())) {
    for (const auto& [side, key] : {std::pair(WaitSide::both, "all"), std::pair(WaitSide::host, "side.host"),
                                    std::pair(WaitSide::device, "side.device")}) {
      const bool chosen = app.toggle_site.empty() && app.toggle_side == side;
      if (ImGui::Selectable(where_words(side, {}).c_str(), chosen)) app.choose_toggled(side);
      note_item(ui, fmt::format("toggle.where.{}", key));
    }
    ImGui::Separator();
    for (const std::string& site : status.sites) {
      if (ImGui::Selectable(site.c_str(), app.toggle_site == site)) app.choose_toggled(WaitSide::both, site);
      note_item(ui, "toggle.where." + site);
    }
    ImGui::EndCombo();
  } else {
    note_item(ui, "toggle.where");
  }
  faint(ui, "strategy of park");
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##strategy", std::string(strategy_name(app.toggle_strategy)).c_str())) {
    for (const StrategyName& strategy : strategies_of(app.toggle_side)) {
      if (ImGui::Selectable(std::string(strategy.name).c_str(), app.toggle_strategy == strategy.id))
        app.toggle_strategy = strategy.id;
      note_item(ui, "toggle.strategy." + std::string(strategy.name));
    }
    ImGui::EndCombo();
  } else {
    note_item(ui, "toggle.strategy");
  }
}

void last_toggle(App& app, const Ui& ui) {
  if (app.session().toggles.empty()) return;
  const ToggleOutcome& last = app.session().toggles.back();
  const std::string what = fmt::format("{}: {}", where_words(last.request.side, last.request.site),
                                       analyzer::way_name(last.request.mode, last.request.strategy));
  if (last.error) {
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().bad));
    paragraph(ui, what + ": " + last.error->message);
    ImGui::PopStyleColor();
  } else if (last.reply) {
    faint(ui, fmt::format("{}: in effect {} after the request", what,
                          analyzer::format_duration(last.reply->effective - last.reply->requested)));
  } else {
    faint(ui, what + ": requested");
  }
}

void controls(App& app, const Ui& ui) {
  const SessionView& session = app.session();
  if (!app.session_info()) {
    draw_nothing(app, ui, "No running program", no_program(app.model()));
    faint(ui, "or, for a program that runs already:");
    ImGui::PushFont(ui.mono);
    paragraph(ui, "wic-prof gui --session NAME");
    ImGui::PopFont();
    return;
  }
  heading(ui, fmt::format("Session {}", session.name));
  if (!session.status) {
    faint(ui, session.ended ? "the session no longer replies" : "waiting for the session");
    return;
  }
  const SessionStatus& status = *session.status;
  fact_table(ui, "status",
             {{"program", fmt::format("{}, pid {}", status.app, status.app_pid)},
              {"waits by", analyzer::way_name(status.mode, status.strategy)},
              {"host threads wait by", analyzer::way_name(status.host_mode, status.host_strategy)},
              {"events", analyzer::format_count(status.events)},
              {"lost", analyzer::format_count(status.lost)}});
  if (session.ended) {
    faint(ui, "the program has ended; its trace is complete");
    return;
  }
  if (!status.stopped.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().bad));
    paragraph(ui, "recording stopped: " + status.stopped);
    ImGui::PopStyleColor();
  }
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  if (!status.runtime_attached) {
    faint(ui, "the program has no wic runtime yet, so the toggle has no effect");
    return;
  }
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(18), ui.px(9)));
  if (segment_button(ui, "toggle.poll", "poll", mode_of(status, app.toggle_side) == Mode::poll,
                     colour_of(ui, State::polling)))
    app.toggle(Mode::poll, StrategyId::poll);
  ImGui::SameLine(0, ui.px(2));
  if (segment_button(ui, "toggle.park", "park", mode_of(status, app.toggle_side) == Mode::park,
                     colour_of(ui, State::parked)))
    app.toggle(Mode::park, app.toggle_strategy);
  ImGui::SameLine(0, ui.px(2));
  if (segment_button(ui, "toggle.ab", "both", status.ab_running, colour_of(ui, State::computing))) app.compare_modes();
  if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip("compares poll with park: phases of both in random order, for a minute at most");
  }
  if (app.can_undo()) {
    ImGui::SameLine(0, ui.px(10));
    if (ImGui::Button("Undo")) app.undo_toggle();
    note_item(ui, "toggle.undo");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("restores how the program waited before the last toggle");
  }
  ImGui::PopStyleVar();
  toggle_options(app, ui, status);
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  if (session.ab_error) {
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().bad));
    paragraph(ui, "compare both: " + session.ab_error->message);
    ImGui::PopStyleColor();
  } else if (!status.ab.empty()) {
    faint(ui, "compare both: " + status.ab);
  }
  last_toggle(app, ui);
}

}  // namespace

class LivePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  TimelineState timeline_;
};

template <>
std::unique_ptr<Panel> make_panel<LivePanel>() {
  return std::make_unique<LivePanel>();
}

void LivePanel::draw(App& app, const Ui& ui) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float right = std::min(ui.px(330), size.x * 0.4f), gap = ui.px(10);
  if (app.model() != nullptr) {
    draw_timeline(app, ui, {at.x, at.y, size.x - right - gap, size.y}, timeline_);
  } else {
    ImGui::BeginChild("waiting", ImVec2(size.x - right - gap, size.y));
    draw_not_ready(app, ui, false);
    ImGui::EndChild();
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x + size.x - right, at.y));
  begin_card(ui, "controls", right, std::min(ui.px(370), size.y * 0.5f));
  controls(app, ui);
  end_card();
  ImGui::SetCursorScreenPos(ImVec2(at.x + size.x - right, at.y + std::min(ui.px(370), size.y * 0.5f) + gap));
  begin_card(ui, "change", right, 0);
  const bool several =
      app.facts() != nullptr && app.facts()->before_after.before && app.facts()->before_after.before->phases > 1;
  heading(ui, several ? "Before and after, over all changes" : "Before and after the last change");
  if (app.facts() != nullptr && app.facts()->before_after.before) {
    paragraph(ui, change_sentence(app.facts()->before_after));
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    draw_before_after(ui, app.facts()->before_after);
  } else {
    faint(ui, app.session_info() ? "Shown after the first toggle: click poll or park above."
                                 : "The program never changed how it waits in this trace.");
  }
  end_card();
}

}  // namespace wicprof::gui
