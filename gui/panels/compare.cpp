// Two segments of one trace, or two traces, side by side: same first iteration and same zoom, differing iterations
// coloured, and a list of differences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/panels/parts.h"
#include "reports/html/svg_axis.h"

namespace wicprof::gui {

namespace {

/// One side: a trace and the compared stretch.
struct Side {
  std::string title;
  const Timeline* timeline = nullptr;
  TimeNs begin = 0, end = 0;
  const std::vector<analyzer::Iteration>* iterations = nullptr;  ///< within the stretch; may be empty
};

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

Side side_of_trace(const Snapshot& snapshot) {
  Side side{snapshot.model->name, snapshot.timeline.get(), snapshot.timeline->begin, snapshot.timeline->end,
            &kNoIterations};
  if (snapshot.facts->analysis.iterations) side.iterations = &snapshot.facts->analysis.iterations->list;
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

/// Duration relative to the iteration of the same index on the other side; nothing if there is none.
std::optional<double> ratio_to_partner(const Side& side, const Side& other, std::size_t index) {
  if (index >= other.iterations->size() || (*other.iterations)[index].duration() <= 0) return std::nullopt;
  return static_cast<double>((*side.iterations)[index].duration()) /
         static_cast<double>((*other.iterations)[index].duration());
}

class Picture {
 public:
  Picture(const Ui& ui, const Side& side, const Side& other, const ComparedWindow& window, Rect where)
      : ui_(ui), side_(side), other_(other), window_(window), list_(ImGui::GetWindowDrawList()), where_(where) {
    from_ = first_time(side, window);
    to_ = from_ + window.width;
    left_ = where.x + ui.px(82);
    width_ = where.width - ui.px(82);
  }

  /// `colour`: whether to colour iterations by their comparison with the other side.
  void draw(bool colour) {
    const Theme& theme = ui_.theme();
    draw_text(list_, ui_.bold, {where_.x, where_.y, where_.width, ui_.px(22)}, ink(theme.text), side_.title);
    float y = where_.y + ui_.px(26);
    const float top = y;
    if (!side_.iterations->empty()) {
      iterations(y, colour);
      y += ui_.px(26);
    }
    const float bottom = strips(y);
    for (const analyzer::Iteration& iteration : *side_.iterations) {
      if (iteration.begin < from_ || iteration.begin > to_) continue;
      list_->AddLine(ImVec2(x(iteration.begin), top), ImVec2(x(iteration.begin), bottom), ink(theme.text, 0.5f), 1);
    }
    const TimeNs step = reports::tick_step(window_.width, 5);
    for (TimeNs time = 0; time <= window_.width; time += step) {
      const float at = x(from_ + time);
      if (at + ui_.px(44) > left_ + width_) break;
      draw_text(list_, ui_.small, {at, bottom + ui_.px(2), ui_.px(80), ui_.px(16)}, ink(theme.faint),
                (time > 0 ? "+" : "") + reports::tick_label(time, step, window_.width));
    }
  }

 private:
  float x(TimeNs time) const {
    return left_ + width_ * static_cast<float>(static_cast<double>(time - from_) / static_cast<double>(to_ - from_));
  }

  void iterations(float y, bool colour) {
    const Theme& theme = ui_.theme();
    const float tall = ui_.px(20);
    draw_text(list_, ui_.small, {where_.x, y, ui_.px(76), tall}, ink(theme.faint), "iterations");
    const auto& list = *side_.iterations;
    const auto first =
        std::partition_point(list.begin(), list.end(), [&](const auto& one) { return one.end <= from_; });
    float drawn_to = left_ - 1;
    for (auto one = first; one != list.end() && one->begin < to_; ++one) {
      const float a = std::max(x(one->begin), left_), b = std::min(x(one->end), left_ + width_);
      if (b < drawn_to + 1) continue;  // draws one iteration per pixel
      const auto index = static_cast<std::size_t>(one - list.begin());
      const std::optional<double> ratio = colour ? ratio_to_partner(side_, other_, index) : std::nullopt;
      const bool less = ratio && *ratio < 1 - kTolerance, more = ratio && *ratio > 1 + kTolerance;
      list_->AddRectFilled(ImVec2(a, y), ImVec2(b, y + tall),
                           ink(less   ? theme.good_soft
                               : more ? theme.bad_soft
                                      : theme.lane));
      list_->AddRectFilled(ImVec2(a, y + tall - ui_.px(3)), ImVec2(b, y + tall),
                           ink(less   ? theme.good
                               : more ? theme.bad
                                      : theme.faint));
      drawn_to = b;
      const std::string text = fmt::format("{}: {}", one->number, analyzer::format_duration(one->duration()));
      const float available = b - a - ui_.px(8);
      if (text_width(ui_.small, text) <= available)
        draw_text(list_, ui_.small, {a + ui_.px(5), y, available, tall - ui_.px(3)},
                  ink(less   ? theme.good
                      : more ? theme.bad
                             : theme.text),
                  text);
      if (ImGui::IsMouseHoveringRect(ImVec2(a, y), ImVec2(b, y + tall)))
        ImGui::SetTooltip("iteration %s%s", text.c_str(),
                          ratio ? fmt::format(", {:.3g} times the duration on the other side", *ratio).c_str() : "");
    }
  }

  /// Returns the bottom edge.
  float strips(float y) {
    const Theme& theme = ui_.theme();
    const auto columns = static_cast<std::uint32_t>(std::max(width_ / std::max(1.0f, ui_.scale), 1.0f));
    const auto count = std::count_if(side_.timeline->tracks.begin(), side_.timeline->tracks.end(),
                                     [](const Track& t) { return t.has_strip(); });
    const float gap = ui_.px(4), available = where_.y + where_.height - y - ui_.px(20);
    const float tall = std::clamp(std::floor(available / static_cast<float>(std::max<std::ptrdiff_t>(count, 1))) - gap,
                                  ui_.px(14), ui_.px(104));
    std::ptrdiff_t shown = 0;
    for (const Track& track : side_.timeline->tracks) {
      if (!track.has_strip()) continue;
      const bool more = count - shown > 1 && y + 2 * (tall + gap) > where_.y + where_.height - ui_.px(20);
      if (more) {
        draw_text(list_, ui_.small, {where_.x, y, where_.width, tall}, ink(theme.faint),
                  fmt::format("and {} more", count - shown));
        return y + tall;
      }
      ++shown;
      draw_text(list_, ui_.small, {where_.x, y, ui_.px(76), tall}, ink(theme.faint), track.name);
      strip(track, y, tall, columns);
      y += tall + gap;
    }
    return y;
  }

  void strip(const Track& track, float y, float tall, std::uint32_t columns) {
    list_->AddRectFilled(ImVec2(left_, y), ImVec2(left_ + width_, y + tall), ink(ui_.theme().lane));
    const auto drawn = track.density.draw(from_, to_, columns);
    const float most = static_cast<float>(std::max(1u, track.density.most())),
                step = width_ / static_cast<float>(columns);
    for (std::uint32_t i = 0; i < columns; ++i) {
      float base = y + tall;
      for (const State state : kWarpStates) {
        const float h = std::min(1.0f, drawn[i].count[index_of(state)] / most) * tall;
        if (h >= 0.5f)
          list_->AddRectFilled(ImVec2(left_ + static_cast<float>(i) * step, base - h),
                               ImVec2(left_ + static_cast<float>(i) * step + step + 0.5f, base), state_ink(ui_, state));
        base -= h;
      }
    }
  }

  static constexpr double kTolerance = 0.02;  // as for verdicts
  const Ui& ui_;
  const Side& side_;
  const Side& other_;
  const ComparedWindow& window_;
  ImDrawList* list_;
  Rect where_;
  TimeNs from_ = 0, to_ = 1;
  float left_ = 0, width_ = 0;
};

/// A time as a fractional iteration index.
double iteration_at(const Side& side, TimeNs time) {
  const auto& list = *side.iterations;
  const auto next = std::partition_point(list.begin(), list.end(), [&](const auto& one) { return one.begin <= time; });
  if (next == list.begin()) return 0;
  const analyzer::Iteration& in = *std::prev(next);
  const double part = static_cast<double>(time - in.begin) / static_cast<double>(std::max<TimeNs>(in.duration(), 1));
  return static_cast<double>(std::prev(next) - list.begin()) + std::clamp(part, 0.0, 1.0);
}

void sides(App& app, const Ui& ui, const Side& before, const Side& after) {
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
  legend(ui, {State::polling, State::parked, State::at_barrier, State::computing});
  ImGui::SameLine(0, ui.px(24));
  ImGui::PushFont(ui.small);
  const std::string from =
      before.iterations->empty() || after.iterations->empty()
          ? std::string("The sides are not aligned: the trace has no iterations.")
          : fmt::format("Each side begins at its iteration {}.", static_cast<int>(window.iteration) + 1);
  faint(ui, from + " Drag to move; use the wheel to zoom.");
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
  Picture(ui, before, after, window, {at.x, at.y, half, size.y}).draw(false);
  Picture(ui, after, before, window, {at.x + half + ui.px(24), at.y, half, size.y}).draw(true);
}

/// Returns the chosen index.
std::size_t segment_choice(App& app, const Ui& ui, const char* name, std::size_t which) {
  const auto& segments = app.facts()->before_after.segments;
  const auto label = [&](std::size_t i) {
    return fmt::format("{}. {}, {}", i + 1, segments[i].way, analyzer::count_of(segments[i].iterations, "iteration"));
  };
  ImGui::SetNextItemWidth(ui.px(230));
  if (!ImGui::BeginCombo(name, label(which).c_str())) {
    note_item(ui, fmt::format("compare.{}", name));
    return which;
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
    const std::string change = d.ratio ? fmt::format("{:.3g} x{}", *d.ratio,
                                                     d.better  ? ", less"
                                                     : d.worse ? ", more"
                                                               : "")
                                       : "-";
    ImGui::PushStyleColor(ImGuiCol_Text, ink(d.better ? theme.good : d.worse ? theme.bad : theme.faint));
    ImGui::TextUnformatted(change.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::EndTable();
}

/// The comparison of two traces, repeated only when the facts of one of them change.
struct ComparedTraces {
  std::shared_ptr<const Facts> facts[2];
  analyzer::Comparison comparison;

  const analyzer::Comparison& of(const App& app) {
    if (facts[0] != app.snapshot().facts || facts[1] != app.second().facts) {
      comparison = analyzer::compare(*app.model(), *app.second().model);
      facts[0] = app.snapshot().facts;
      facts[1] = app.second().facts;
    }
    return comparison;
  }
};

}  // namespace

class ComparePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  ComparedTraces compared_traces_;
};

template <>
std::unique_ptr<Panel> make_panel<ComparePanel>() {
  return std::make_unique<ComparePanel>();
}

void ComparePanel::draw(App& app, const Ui& ui) {
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
    faint(ui, "The way the program waits never changes in this trace. Open two traces, or record both modes:");
    ImGui::PushFont(ui.mono);
    paragraph(ui, "wic-prof gui before.wicprof after.wicprof\nwic-prof run --ab -- APP");
    ImGui::PopFont();
    end_card();
    return;
  }
  begin_card(ui, "verdict", size.x, ui.px(186));
  if (app.has_second()) {
    heading(ui, fmt::format("{} against {}", app.snapshot().model->name, app.second().model->name));
    if (app.snapshot().large || app.second().large) {
      faint(ui,
            "These traces are too large for a verdict in the window; below are their pictures and the differences "
            "between their sites. For the verdict, run:");
      ImGui::PushFont(ui.mono);
      paragraph(ui, fmt::format("wic-prof compare {} {}", app.path(), app.path(1)));
      ImGui::PopFont();
    } else {
      const analyzer::Comparison& comparison = compared_traces_.of(app);
      BeforeAfter values;
      values.verdict = comparison.verdict;
      values.speedup = comparison.speedup;
      values.why = comparison.why;
      values.reason = comparison.reason;
      values.settle = comparison.settle;
      draw_before_after(ui, values);
    }
  } else {
    const std::size_t chosen_before = segment_choice(app, ui, "before", app.segment_before);
    ImGui::SameLine(0, ui.px(20));
    const std::size_t chosen_after = segment_choice(app, ui, "after", app.segment_after);
    if (chosen_before != app.segment_before || chosen_after != app.segment_after)
      app.choose_segments(chosen_before, chosen_after);
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    draw_before_after(ui, app.pair);
  }
  end_card();
  const float lower = std::min(size.y * 0.34f, ui.px(50) + static_cast<float>(app.differences.size()) * ui.px(28));
  begin_card(ui, "sides", size.x, size.y - ui.px(186) - lower - ui.px(20));
  const Side before = app.has_second() ? side_of_trace(app.snapshot()) : side_of_segment(app, app.segment_before);
  const Side after = app.has_second() ? side_of_trace(app.second()) : side_of_segment(app, app.segment_after);
  sides(app, ui, before, after);
  end_card();
  begin_card(ui, "differences", size.x, 0);
  difference_table(app, ui);
  end_card();
}

}  // namespace wicprof::gui
