// Two segments of one trace, or two traces, side by side: same first iteration and same zoom, differing iterations
// coloured, and a list of differences.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/iteration_strip.h"
#include "gui/panels/parts.h"
#include "gui/panels/side_picture.h"
#include "protocol/shell_words.h"

namespace wicprof::gui {

namespace {

using Side = PictureSide;

const std::vector<analyzer::Iteration> kNoIterations;

/// Skips the time before the first iteration, when the program still starts or still waits in the previous mode.
void begin_at_first_iteration(Side& side) {
  if (side.iterations->empty()) return;
  side.begin = side.iterations->front().begin;
  side.end = std::max(side.end, side.iterations->back().end);
}

Side side_of_segment(const App& app, std::size_t index) {
  const Facts& facts = *app.facts();
  const SegmentLine& line = facts.before_after.segments[index];
  Side side{line.way, app.timeline(), line.begin, line.end, &facts.comparison.segments[index].iterations};
  begin_at_first_iteration(side);
  return side;
}

/// `compared`: the trace in its comparison with the other; nullptr where there is none.
Side side_of_trace(const Snapshot& snapshot, const analyzer::Segment* compared) {
  Side side{snapshot.model->name, snapshot.timeline.get(), snapshot.timeline->begin, snapshot.timeline->end,
            &kNoIterations};
  if (compared != nullptr)
    side.iterations = &compared->iterations;
  else if (snapshot.facts->analysis.iterations)
    side.iterations = &snapshot.facts->analysis.iterations->list;
  begin_at_first_iteration(side);
  return side;
}

/// The first iteration with all SMs that are active in the first kFew iterations: some SMs start later.
std::size_t first_whole_iteration(const Side& side) {
  constexpr std::size_t kFew = 8;  // not calibrated
  const auto& list = *side.iterations;
  if (list.empty()) return 0;
  const auto active_tracks = [&](TimeNs until) {
    return std::count_if(side.timeline->tracks.begin(), side.timeline->tracks.end(), [&](const Track& track) {
      return std::any_of(kWarpStates.begin(), kWarpStates.end(),
                         [&](State state) { return track.density.time_in(state, side.timeline->begin, until) > 0; });
    });
  };
  const std::size_t last = std::min(kFew, list.size() - 1);
  std::size_t first = 0;
  while (first < last && active_tracks(list[first].begin) < active_tracks(list[last].begin)) ++first;
  return first;
}

TimeNs first_time(const Side& side, const ComparedWindow& window) {
  if (side.iterations->empty()) return side.begin + window.offset;
  const std::vector<analyzer::Iteration>& list = *side.iterations;
  const auto whole = std::min(static_cast<std::size_t>(std::max(window.iteration, 0.0)), list.size() - 1);
  const double part = std::clamp(window.iteration - static_cast<double>(whole), 0.0, 1.0);
  return list[whole].begin + static_cast<TimeNs>(part * static_cast<double>(list[whole].duration()));
}

/// A time as a fractional iteration index.
double iteration_at(const Side& side, TimeNs time) {
  const auto& list = *side.iterations;
  const auto next = std::partition_point(list.begin(), list.end(), [&](const auto& one) { return one.begin <= time; });
  if (next == list.begin()) return 0;
  const analyzer::Iteration& in = *std::prev(next);
  const double part = static_cast<double>(time - in.begin) / static_cast<double>(std::max<TimeNs>(in.duration(), 1));
  return static_cast<double>(std::prev(next) - list.begin()) + std::clamp(part, 0.0, 1.0);
}

void sides(App& app, const Ui& ui, const Side& before, const Side& after, bool of_many) {
  ComparedWindow& window = app.compared;
  const TimeNs longest = std::max({before.end - before.begin, after.end - after.begin, TimeNs{1'000}});
  if (window.width == 0) {  // a new pair of segments: shows the first kSome iterations
    const std::size_t first = std::max(first_whole_iteration(before), first_whole_iteration(after));
    constexpr std::size_t kSome = 6;
    TimeNs some = longest;
    for (const Side* side : {&before, &after}) {
      if (side->iterations->size() > first + kSome)
        some = std::min(some, (*side->iterations)[first + kSome].begin - (*side->iterations)[first].begin);
    }
    window = {static_cast<double>(first), 0, std::max(some, TimeNs{1'000})};
  }
  legend(ui, ui.drawn_last);
  ImGui::SameLine(0, ui.px(24));
  ImGui::PushFont(ui.small);
  const std::string from =
      before.iterations->empty() || after.iterations->empty()
          ? std::string("The sides are not aligned: the trace has no iterations.")
          : fmt::format("Each side begins at its iteration {}.", static_cast<int>(window.iteration) + 1);
  faint(ui, (of_many ? "The last phase of each side. " : "") + from + " Drag to move; use the wheel to zoom.");
  ImGui::PopFont();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  ImGui::InvisibleButton("sides", ImVec2(std::max(size.x, 1.0f), std::max(size.y, 1.0f)));
  note_item(ui, "compare.sides");
  const ImGuiIO& io = ImGui::GetIO();
  const float half = (size.x - ui.px(24)) / 2;
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const double factor = io.MouseWheel > 0 ? 1.3 : 1 / 1.3;
    window.width = std::clamp(static_cast<TimeNs>(static_cast<double>(window.width) / factor), TimeNs{1'000}, longest);
  }
  if (ImGui::IsItemActive() && io.MouseDelta.x != 0) {
    // Moves the dragged side by time; the other side follows to the same iteration.
    const bool right = io.MousePos.x > at.x + half && !after.iterations->empty();
    const Side& held = right || before.iterations->empty() ? after : before;
    const auto by = static_cast<TimeNs>(static_cast<double>(io.MouseDelta.x) / static_cast<double>(half) *
                                        static_cast<double>(window.width));
    const double most =
        static_cast<double>(std::max({before.iterations->size(), after.iterations->size(), std::size_t{1}}) - 1);
    window.offset = std::clamp(window.offset - by, TimeNs{0}, std::max(TimeNs{0}, longest - window.width));
    if (!held.iterations->empty())
      window.iteration = std::clamp(iteration_at(held, first_time(held, window) - by), 0.0, most);
  }
  draw_side(ui, before, nullptr, first_time(before, window), window.width, {at.x, at.y, half, size.y});
  draw_side(ui, after, &before, first_time(after, window), window.width, {at.x + half + ui.px(24), at.y, half, size.y});
}

/// Returns the chosen index; the number of segments for all phases of the side `all`, if it has several.
std::size_t segment_choice(const App& app, const Ui& ui, const char* name, std::size_t which, const SegmentLine& all) {
  const auto& segments = app.facts()->before_after.segments;
  const auto label = [&](std::size_t i) {
    const std::string first =
        i == segments.size() ? fmt::format("all {} phases of", all.phases) : fmt::format("{}.", i + 1);
    const SegmentLine& line = i == segments.size() ? all : segments[i];
    return fmt::format("{} {}, {}", first, line.way, analyzer::count_of(line.iterations, "iteration"));
  };
  ImGui::SetNextItemWidth(ui.px(all.phases > 1 ? 330 : 230));
  if (!ImGui::BeginCombo(name, label(which).c_str())) {
    note_item(ui, fmt::format("compare.{}", name));
    return which;
  }
  if (all.phases > 1) {
    if (ImGui::Selectable(label(segments.size()).c_str(), which == segments.size())) which = segments.size();
    note_item(ui, fmt::format("compare.{}.all", name));
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (ImGui::Selectable(label(i).c_str(), i == which)) which = i;
    note_item(ui, fmt::format("compare.{}.{}", name, i));
  }
  ImGui::EndCombo();
  return which;
}

void difference_table(App& app, const Ui& ui) {
  if (!ImGui::BeginTable("differences", 4, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY)) return;
  constexpr std::pair<const char*, float> kColumns[] = {
      {"", 2.4f}, {"before", 0.8f}, {"after", 0.8f}, {"change", 1.2f}};
  for (const auto& [title, width] : kColumns) ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthStretch, width);
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const auto& [title, width] : kColumns) {
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
    ImGui::PushStyleColor(ImGuiCol_Text, ink(d.better ? theme.good : d.worse ? theme.bad : theme.faint));
    ImGui::TextUnformatted(d.change.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::EndTable();
}

/// The iteration times of both sides, with the iteration as the axis.
void iterations(App& app, const Ui& ui, const Side& before, const Side& after) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const auto mode_of = [&](std::size_t side) {
    if (!app.has_second())
      return app.facts()->before_after.segments[side == 0 ? app.segment_before : app.segment_after].mode;
    const Snapshot& snapshot = side == 0 ? app.snapshot() : app.second();
    return snapshot.model->meta_value(store::MetaKey::mode) == mode_name(Mode::park) ? Mode::park : Mode::poll;
  };
  if (before.iterations->empty() && after.iterations->empty()) {
    paragraph(ui, no_iterations(app.path()).reason);
    return;
  }
  const auto columns = static_cast<std::size_t>(std::max(1.0f, (size.x - ui.px(64)) / 2 / std::max(1.0f, ui.px(2))));
  const IterationStrip strip = iteration_strip(
      {{mode_of(0), before.title, before.iterations}, {mode_of(1), after.title, after.iterations}}, columns);
  draw_iteration_strip(ui, strip, {at.x, at.y, size.x, size.y}, std::nullopt);
}

/// The comparison of two traces, repeated only when the facts of one of them change.
struct ComparedTraces {
  std::shared_ptr<const Facts> facts[2];
  analyzer::Comparison comparison;

  const BeforeAfter& of(App& app) {
    if (facts[0] != app.snapshot().facts || facts[1] != app.second().facts) {
      comparison = analyzer::compare(*app.model(), *app.second().model);
      app.traces = before_after(*app.model(), *app.second().model, comparison);
      if (!app.differences.empty())  // the verdict's iterations
        app.differences.front() =
            differences(*app.traces.before, *app.traces.after, comparison.options.tolerance).front();
      facts[0] = app.snapshot().facts;
      facts[1] = app.second().facts;
    }
    return app.traces;
  }

  /// nullptr where the traces are too large to be compared here, or have nothing in common to time.
  const analyzer::Segment* segment(std::size_t side) const {
    return comparison.segments.size() == 2 ? &comparison.segments[side] : nullptr;
  }
};

/// The iterations of all phases of both sides, gathered only when the facts change.
struct AllIterations {
  std::vector<analyzer::Iteration> before, after;
  std::shared_ptr<const Facts> of;

  void take(const App& app) {
    if (of == app.snapshot().facts) return;
    of = app.snapshot().facts;
    before.clear();
    after.clear();
    for (const analyzer::Segment& segment : of->comparison.segments) {
      if (!segment.after) continue;
      std::vector<analyzer::Iteration>& side = *segment.after ? after : before;
      side.insert(side.end(), segment.iterations.begin(), segment.iterations.end());
    }
  }
};

}  // namespace

class ComparePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  ComparedTraces compared_traces_;
  AllIterations all_iterations_;
};

template <>
std::unique_ptr<Panel> make_panel<ComparePanel>() {
  return std::make_unique<ComparePanel>();
}

namespace {

/// Draws why there is nothing to compare, if that is so.
bool draw_no_sides(App& app, const Ui& ui, float width) {
  if (app.has_second() && (!app.second().model || !app.second().facts)) {
    const LoadProgress progress = app.progress(1);
    begin_card(ui, "second", width, 0);
    if (progress.error) {
      heading(ui, "Cannot show the second trace");
      paragraph(ui, progress.error->message);
    } else {
      faint(ui, fmt::format("{} {}", progress.doing, app.path(1)));
    }
    end_card();
    return true;
  }
  if (app.has_second() || app.facts()->before_after.segments.size() >= 2) return false;
  begin_card(ui, "nothing", width, 0);
  draw_nothing(app, ui, "Nothing to compare",
               no_toggle(*app.model(), app.facts()->analysis, app.facts()->before_after, app.path()));
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  faint(ui, "Or open two traces:");
  ImGui::PushFont(ui.mono);
  paragraph(ui, "wic-prof gui BEFORE AFTER");
  ImGui::PopFont();
  end_card();
  return true;
}

/// What the user may choose of one trace, and its verdict.
void draw_phases(App& app, const Ui& ui) {
  const BeforeAfter& all = app.facts()->before_after;
  const std::size_t count = all.segments.size();
  const bool whole = app.compares_all_phases();
  const std::size_t before = whole ? count : app.segment_before, after = whole ? count : app.segment_after;
  const std::size_t chosen_before = segment_choice(app, ui, "before", before, *all.before);
  ImGui::SameLine(0, ui.px(20));
  const std::size_t chosen_after = segment_choice(app, ui, "after", after, *all.after);
  if ((chosen_before == count && before != chosen_before) || (chosen_after == count && after != chosen_after)) {
    app.choose_all_phases();
  } else if (chosen_before != before || chosen_after != after) {
    app.choose_segments(chosen_before == count ? app.segment_before : chosen_before,
                        chosen_after == count ? app.segment_after : chosen_after);
  }
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  draw_before_after(ui, app.pair);
}

void draw_traces(App& app, const Ui& ui, ComparedTraces& compared) {
  heading(ui, fmt::format("{} against {}", app.snapshot().model->name, app.second().model->name));
  if (!app.snapshot().large && !app.second().large) return draw_before_after(ui, compared.of(app));
  faint(ui,
        "These traces are too large for a verdict in the window; below are their pictures and the differences "
        "between their sites. For the verdict, run:");
  ImGui::PushFont(ui.mono);
  paragraph(ui, fmt::format("wic-prof compare {} {}", shell_word(app.path()), shell_word(app.path(1))));
  ImGui::PopFont();
}

}  // namespace

void ComparePanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (draw_no_sides(app, ui, size.x)) return;
  begin_card(ui, "verdict", size.x, ui.px(186));
  if (app.has_second()) {
    draw_traces(app, ui, compared_traces_);
  } else {
    draw_phases(app, ui);
  }
  end_card();
  const bool two = app.has_second();
  const Side before =
      two ? side_of_trace(app.snapshot(), compared_traces_.segment(0)) : side_of_segment(app, app.segment_before);
  const Side after =
      two ? side_of_trace(app.second(), compared_traces_.segment(1)) : side_of_segment(app, app.segment_after);
  const bool whole = !two && app.compares_all_phases();
  const float lower = std::clamp(ui.px(50) + static_cast<float>(app.differences.size()) * ui.px(28), ui.px(170),
                                 std::max(size.y * 0.34f, ui.px(170)));
  begin_card(ui, "sides", size.x, size.y - ui.px(186) - lower - ui.px(20));
  sides(app, ui, before, after, whole);
  end_card();
  const float gap = ui.px(10), left = (size.x - gap) / 2;
  begin_card(ui, "iterations", left, 0);
  if (whole) {
    all_iterations_.take(app);
    Side all_before = before, all_after = after;
    all_before.iterations = &all_iterations_.before;
    all_after.iterations = &all_iterations_.after;
    iterations(app, ui, all_before, all_after);
  } else {
    iterations(app, ui, before, after);
  }
  end_card();
  ImGui::SameLine(0, gap);
  begin_card(ui, "differences", 0, 0);
  difference_table(app, ui);
  end_card();
}

}  // namespace wicprof::gui
