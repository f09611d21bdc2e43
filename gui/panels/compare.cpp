// Two segments of one trace, or two traces, side by side: aligned on where their iterations begin, with one zoom for both,
// and what differs as a list.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/reports/format.h"
#include "analyzer/reports/svg_axis.h"
#include "gui/panels/list.h"

namespace wicprof::gui {

namespace {

/// One side: a trace, and the time of it that begins an iteration.
struct Side {
  std::string title;
  const Timeline* timeline = nullptr;
  TimeNs begin = 0, end = 0;
  std::vector<TimeNs> iterations;  ///< where they begin
  State state = State::polling;
};

std::vector<TimeNs> begins_of(const analyzer::Segment& segment) {
  std::vector<TimeNs> list;
  for (const analyzer::Iteration& iteration : segment.iterations) list.push_back(iteration.begin);
  return list;
}

Side side_of_segment(const App& app, std::size_t index) {
  const Facts& facts = *app.facts();
  const SegmentLine& line = facts.before_after.segments[index];
  Side side{line.way, app.timeline(), line.begin, line.end, begins_of(facts.comparison.segments[index]),
            line.mode == Mode::park ? State::parked : State::polling};
  if (!side.iterations.empty()) side.begin = side.iterations.front();
  return side;
}

Side side_of_trace(const Snapshot& snapshot, State state) {
  Side side{snapshot.model->name, snapshot.timeline.get(), snapshot.timeline->begin, snapshot.timeline->end, {}, state};
  if (snapshot.facts && snapshot.facts->analysis.iterations) {
    for (const analyzer::Iteration& iteration : snapshot.facts->analysis.iterations->list) side.iterations.push_back(iteration.begin);
    if (!side.iterations.empty()) side.begin = side.iterations.front();
  }
  return side;
}

// The part of the sides that shows: both from the same offset on, and equally wide.
struct Linked {
  TimeNs offset = 0, width = 0;  // 0 = all
};

void draw_side(const Ui& ui, const Side& side, Linked linked, Rect where) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  draw_text(list, ui.bold, {where.x, where.y, where.width, ui.px(22)}, ink(theme.text), side.title);
  const TimeNs from = side.begin + linked.offset, to = from + linked.width;
  const float top = where.y + ui.px(26);
  float y = top;
  const float left = where.x + ui.px(74), width = where.width - ui.px(74);
  const auto columns = static_cast<std::uint32_t>(std::max(width / std::max(1.0f, ui.scale), 1.0f));
  const auto strips = std::count_if(side.timeline->tracks.begin(), side.timeline->tracks.end(), [](const Track& t) { return t.has_strip(); });
  const float room = where.y + where.height - top - ui.px(20), gap = ui.px(4);
  const float tall = std::clamp(std::floor(room / static_cast<float>(std::max<std::ptrdiff_t>(strips, 1))) - gap, ui.px(12), ui.px(72));
  for (const Track& track : side.timeline->tracks) {
    if (!track.has_strip()) continue;
    if (y + tall > top + room) break;
    draw_text(list, ui.small, {where.x, y, ui.px(68), tall}, ink(theme.faint), track.name);
    list->AddRectFilled(ImVec2(left, y), ImVec2(left + width, y + tall), ink(theme.lane));
    const auto drawn = track.density.draw(from, to, columns);
    const float most = static_cast<float>(std::max(1u, track.density.most())), step = width / static_cast<float>(columns);
    for (std::uint32_t i = 0; i < columns; ++i) {
      float base = y + tall;
      for (const State state : {State::polling, State::parked, State::computing}) {
        const float h = std::min(1.0f, drawn[i].count[index_of(state)] / most) * tall;
        if (h >= 0.5f)
          list->AddRectFilled(ImVec2(left + static_cast<float>(i) * step, base - h),
                              ImVec2(left + static_cast<float>(i) * step + step + 0.5f, base), state_ink(ui, state));
        base -= h;
      }
    }
    y += tall + gap;
  }
  for (const TimeNs begin : side.iterations) {
    if (begin < from || begin > to) continue;
    const float x = left + width * static_cast<float>(static_cast<double>(begin - from) / static_cast<double>(to - from));
    list->AddLine(ImVec2(x, top), ImVec2(x, y), ink(theme.text, 0.5f), 1);
  }
  const TimeNs step = analyzer::tick_step(to - from, 5);
  for (TimeNs time = (linked.offset + step - 1) / step * step; time <= linked.offset + linked.width; time += step) {
    const float x = left + width * static_cast<float>(static_cast<double>(time - linked.offset) / static_cast<double>(linked.width));
    if (x + ui.px(50) > where.x + where.width) break;
    draw_text(list, ui.small, {x, y, ui.px(80), ui.px(16)}, ink(theme.faint), analyzer::tick_label(time, step, linked.offset + linked.width));
  }
}

void sides(App& app, const Ui& ui, const Side& before, const Side& after) {
  static Linked linked;
  static TimeNs known = 0;
  const TimeNs longest = std::max({before.end - before.begin, after.end - after.begin, TimeNs{1}});
  if (known != longest) {  // another pair: a few iterations of it
    known = longest;
    TimeNs some = longest;
    for (const Side* side : {&before, &after}) {
      if (side->iterations.size() > 8) some = std::min(some, side->iterations[8] - side->begin);
    }
    linked = {0, std::max(some, TimeNs{1000})};
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  ImGui::InvisibleButton("sides", ImVec2(std::max(size.x, 1.0f), std::max(size.y, 1.0f)));
  note_item(app, "compare.sides");
  ImGuiIO& io = ImGui::GetIO();
  const auto zoom = [&](double factor) {
    linked.width = std::clamp(static_cast<TimeNs>(static_cast<double>(linked.width) / factor), TimeNs{1000}, longest);
  };
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) zoom(io.MouseWheel > 0 ? 1.3 : 1 / 1.3);
  if (ImGui::IsItemActive() && io.MouseDelta.x != 0)
    linked.offset -= static_cast<TimeNs>(static_cast<double>(io.MouseDelta.x) / (static_cast<double>(size.x) / 2) * static_cast<double>(linked.width));
  linked.offset = std::clamp(linked.offset, TimeNs{0}, std::max(TimeNs{0}, longest - linked.width));
  const float half = (size.x - ui.px(24)) / 2;
  draw_side(ui, before, linked, {at.x, at.y, half, size.y});
  draw_side(ui, after, linked, {at.x + half + ui.px(24), at.y, half, size.y});
}

/// Returns the chosen one.
std::size_t segment_choice(App& app, const Ui& ui, const char* name, std::size_t which) {
  const auto& segments = app.facts()->before_after.segments;
  const auto label = [&](std::size_t i) {
    return fmt::format("{}. {}, {}", i + 1, segments[i].way, analyzer::count_of(segments[i].iterations, "iteration"));
  };
  ImGui::SetNextItemWidth(ui.px(230));
  if (!ImGui::BeginCombo(name, label(which).c_str())) {
    note_item(app, fmt::format("compare.{}", name));
    return which;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (ImGui::Selectable(label(i).c_str(), i == which)) which = i;
    note_item(app, fmt::format("compare.{}.{}", name, i));
  }
  ImGui::EndCombo();
  return which;
}

void difference_table(App& app, const Ui& ui) {
  if (!ImGui::BeginTable("differences", 4, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY)) return;
  for (const char* title : {"", "before", "after", "change"}) ImGui::TableSetupColumn(title);
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const char* title : {"", "before", "after", "change"}) {
    ImGui::TableNextColumn();
    faint(ui, title);
  }
  for (const Difference& d : app.differences) {
    ImGui::TableNextRow(0, ui.px(26));
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(d.what.c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(d.before.c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(d.after.c_str());
    ImGui::TableNextColumn();
    const Theme& theme = ui.theme();
    const std::string change = d.ratio ? fmt::format("{:.3g} x{}", *d.ratio, d.better ? ", less" : d.worse ? ", more" : "") : "-";
    ImGui::PushStyleColor(ImGuiCol_Text, ink(d.better ? theme.good : d.worse ? theme.bad : theme.faint));
    ImGui::TextUnformatted(change.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::EndTable();
}

}  // namespace

void draw_compare_panel(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const auto& segments = app.facts()->before_after.segments;
  if (app.has_second() && (!app.second().model || !app.second().facts)) {
    const LoadProgress progress = app.progress(1);
    begin_card(ui, "second", size.x, 0);
    if (progress.error) {
      heading(ui, "Cannot show the second trace");
      paragraph(ui, progress.error->message);
    } else {
      faint(ui, fmt::format("{} {}", progress.doing, app.path(1)));
    }
    end_card();
    return;
  }
  if (!app.has_second() && segments.size() < 2) {
    begin_card(ui, "nothing", size.x, 0);
    heading(ui, "Nothing to compare");
    faint(ui, "This trace has no change of how the program waits. Open two traces, or record with a schedule:");
    ImGui::PushFont(ui.mono);
    paragraph(ui, "wic-prof gui before.wicprof after.wicprof\nwic-prof run --schedule poll:2s,park:2s -- APP");
    ImGui::PopFont();
    end_card();
    return;
  }
  begin_card(ui, "verdict", size.x, ui.px(172));
  if (app.has_second()) {
    heading(ui, fmt::format("{} against {}", app.snapshot().model->name, app.second().model->name));
    if (app.snapshot().large || app.second().large) {
      faint(ui, "These traces are too large for the window to compare them; their pictures and what differs between their sites are "
                "below. For the verdict:");
      ImGui::PushFont(ui.mono);
      paragraph(ui, fmt::format("wic-prof compare {} {}", app.path(), app.path(1)));
      ImGui::PopFont();
    } else {
      static std::shared_ptr<const Facts> of[2];
      static analyzer::Comparison comparison;
      if (of[0] != app.snapshot().facts || of[1] != app.second().facts) {
        comparison = analyzer::compare(*app.model(), *app.second().model);
        of[0] = app.snapshot().facts;
        of[1] = app.second().facts;
      }
      BeforeAfter values;
      values.verdict = comparison.verdict;
      values.speedup = comparison.speedup;
      values.reason = comparison.reason;
      draw_before_after(app, ui, values);
    }
  } else {
    const std::size_t chosen_before = segment_choice(app, ui, "before", app.segment_before);
    ImGui::SameLine(0, ui.px(20));
    const std::size_t chosen_after = segment_choice(app, ui, "after", app.segment_after);
    if (chosen_before != app.segment_before || chosen_after != app.segment_after) app.choose_segments(chosen_before, chosen_after);
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    draw_before_after(app, ui, app.pair);
  }
  end_card();
  const float lower = std::min(size.y * 0.34f, ui.px(50) + static_cast<float>(app.differences.size()) * ui.px(28));
  begin_card(ui, "sides", size.x, size.y - ui.px(172) - lower - ui.px(20));
  const Side before = app.has_second() ? side_of_trace(app.snapshot(), State::polling) : side_of_segment(app, app.segment_before);
  const Side after = app.has_second() ? side_of_trace(app.second(), State::parked) : side_of_segment(app, app.segment_after);
  sides(app, ui, before, after);
  end_card();
  begin_card(ui, "differences", size.x, 0);
  difference_table(app, ui);
  end_card();
}

}  // namespace wicprof::gui
