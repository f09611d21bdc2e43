#include "gui/panels/timeline_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/view/mark_labels.h"
#include "reports/html/svg_axis.h"

namespace wicprof::gui {

namespace {

constexpr float kLabels = 210, kOverview = 30, kRuler = 26;  // pixels at 100 %
constexpr std::size_t kMaxArrows = 300;                      // more could not be followed; not calibrated
constexpr std::size_t kMaxSelected = 10'000;                 // bounds the work per frame; not calibrated
constexpr float kFaintest = 0.35f;                           // opacity of a nearly empty column; not calibrated
constexpr std::size_t kMaxFlags = 64;                        // with more, marks lose dashes and labels

class Canvas {
 public:
  Canvas(App& app, const Ui& ui, Rect where, TimelineState& state)
      : app_(app),
        ui_(ui),
        timeline_(*app.timeline()),
        model_(*app.model()),
        list_(ImGui::GetWindowDrawList()),
        state_(state),
        all_(where) {
    labels_ = ui.px(kLabels);
    left_ = where.x + labels_;
    width_ = std::max(where.width - labels_ - ui.px(10), 50.0f);
    tracks_top_ = where.y + ui.px(kOverview) + ui.px(kRuler);
    tracks_height_ = where.y + where.height - tracks_top_;
    TimelineState::Cache& cache = state_.cache;
    const auto columns = static_cast<std::uint32_t>(width_ / std::max(1.0f, ui.scale));
    if (cache.version != app.snapshot().version || cache.begin != app.window.begin() || cache.end != app.window.end() ||
        cache.columns != columns) {
      cache = {};
      cache.version = app.snapshot().version;
      cache.begin = app.window.begin();
      cache.end = app.window.end();
      cache.columns = columns;
    }
  }

  void draw() {
    const TrackSizes base;
    TrackSizes sizes{ui_.px(base.heading), ui_.px(base.strip), ui_.px(base.row), ui_.px(base.opened_row),
                     ui_.px(base.gap)};
    app_.layout = lay_out(timeline_, app_.opened, app_.annotations.pinned, app_.closed_groups, sizes);
    // Taller strips show more detail, so spare height goes to them.
    const auto strips = std::count_if(app_.layout.list.begin(), app_.layout.list.end(), [&](const PlacedTrack& place) {
      return place.heading.empty() && timeline_.tracks[place.track].has_strip();
    });
    if (strips > 0 && app_.layout.height < tracks_height_) {
      sizes.strip +=
          std::min(ui_.px(80), std::floor((tracks_height_ - app_.layout.height) / static_cast<float>(strips)));
      app_.layout = lay_out(timeline_, app_.opened, app_.annotations.pinned, app_.closed_groups, sizes);
    }
    strip_ = sizes.strip;
    const float scrolled_height = app_.layout.height - app_.layout.pinned_height;
    const float scroll_height = tracks_height_ - app_.layout.pinned_height;
    if (app_.scroll_wanted) {
      const float wanted = *app_.scroll_wanted;
      if (wanted < app_.scroll || wanted > app_.scroll + scroll_height - ui_.px(60))
        app_.scroll = wanted - scroll_height / 3;
      app_.scroll_wanted.reset();
    }
    app_.scroll = std::clamp(app_.scroll, 0.0f, std::max(0.0f, scrolled_height - scroll_height + ui_.px(12)));
    app_.drawn = 0;
    ImGui::SetCursorScreenPos(ImVec2(all_.x, all_.y));
    ImGui::InvisibleButton(
        "canvas", ImVec2(std::max(all_.width, 1.0f), std::max(all_.height, 1.0f)),
        ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle | ImGuiButtonFlags_MouseButtonRight);
    hovered_ = ImGui::IsItemHovered();
    active_ = ImGui::IsItemActive();
    note_rect(ui_, "timeline", {left_, tracks_top_, width_, tracks_height_});
    note_rect(ui_, "timeline.overview", {left_, all_.y, width_, ui_.px(kOverview)});
    place_flags();
    overview();
    ruler();
    app_.hovered.reset();
    tracks(false, tracks_top_ + app_.layout.pinned_height, scroll_height);
    tracks(true, tracks_top_, app_.layout.pinned_height);
    scroll_bar(scrolled_height, scroll_height);
    arrows(scroll_height);
    marks();
    area();
    mouse(scroll_height, scrolled_height);
    tooltip();
  }

 private:
  float x_of(TimeNs time) const { return left_ + static_cast<float>(app_.window.part_of(time)) * width_; }
  TimeNs time_of_x(float x) const { return app_.window.time_at((x - left_) / width_); }
  float clip_x(TimeNs time) const { return std::clamp(x_of(time), left_ - 2, left_ + width_ + 2); }
  void rect(float x, float y, float w, float h, ImU32 colour) {
    list_->AddRectFilled(ImVec2(x, y), ImVec2(x + w, y + h), colour);
    ++app_.drawn;
  }

  void overview() {
    const Theme& theme = ui_.theme();
    const float y = all_.y + ui_.px(2), h = ui_.px(kOverview) - ui_.px(8);
    rect(left_, y, width_, h, ink(theme.lane));
    constexpr std::uint32_t kColumns = Timeline::kOverviewColumns;
    const float step = width_ / kColumns;
    for (std::uint32_t i = 0; i < kColumns; ++i) {
      float base = y + h;
      for (std::size_t s = 0; s < kStates; ++s) {
        const auto state = static_cast<State>(s);
        const float count = timeline_.overview[i].count[s];
        if (count <= 0) continue;
        // Keeps a few warps among many SMs visible, within the height.
        const float part = std::min(std::max(std::min(1.0f, count) * h, ui_.px(2)), base - y);
        rect(left_ + static_cast<float>(i) * step, base - part, step + 0.5f, part, state_ink(ui_, state, 0.85f));
        base -= part;
      }
    }
    const double span = static_cast<double>(timeline_.end - timeline_.begin);
    const float from =
        left_ + static_cast<float>(static_cast<double>(app_.window.begin() - timeline_.begin) / span) * width_;
    const float to =
        left_ + static_cast<float>(static_cast<double>(app_.window.end() - timeline_.begin) / span) * width_;
    list_->AddRectFilled(ImVec2(left_, y), ImVec2(from, y + h), ink(theme.page, 0.6f));
    list_->AddRectFilled(ImVec2(to, y), ImVec2(left_ + width_, y + h), ink(theme.page, 0.6f));
    list_->AddRect(ImVec2(from, y), ImVec2(std::max(to, from + ui_.px(3)), y + h), ink(theme.text, 0.55f), 0, 0,
                   ui_.px(1));
    draw_text(list_, ui_.small, {all_.x + ui_.px(12), y, labels_ - ui_.px(24), h}, ink(theme.faint),
              app_.window.shows_all() ? "whole trace" : analyzer::format_duration(app_.window.width()));
  }

  void ruler() {
    const Theme& theme = ui_.theme();
    const float y = all_.y + ui_.px(kOverview), h = ui_.px(kRuler);
    const TimeNs step = reports::tick_step(app_.window.width(), std::max(2, static_cast<int>(width_ / ui_.px(130))));
    const TimeNs zero = timeline_.begin;
    for (TimeNs time = (app_.window.begin() - zero) / step * step; time <= app_.window.end() - zero; time += step) {
      if (time + zero < app_.window.begin()) continue;
      const float x = x_of(time + zero);
      list_->AddLine(ImVec2(x, y + h - ui_.px(6)), ImVec2(x, tracks_top_ + tracks_height_), ink(theme.line, 0.7f), 1);
      const float available = left_ + width_ - x;
      if (available < ui_.px(40) || under_flag(x)) continue;
      draw_text(list_, ui_.small, {x + ui_.px(4), y, available, h - ui_.px(4)}, ink(theme.faint),
                reports::tick_label(time, step, app_.window.end() - zero));
    }
    list_->AddLine(ImVec2(all_.x, y + h - 1), ImVec2(all_.x + all_.width, y + h - 1), ink(theme.line), 1);
  }

  /// Whether a mark's label would cover a tick's label at `x`.
  bool under_flag(float x) const {
    return std::any_of(flags_.begin(), flags_.end(), [&](const Flag& flag) {
      return flag.label && x + ui_.px(60) > *flag.label && x < *flag.label + flag.width;
    });
  }

  void tracks(bool pinned, float top, float height) {
    if (height <= 0) return;
    list_->PushClipRect(ImVec2(all_.x, top), ImVec2(all_.x + all_.width, top + height), true);
    if (pinned) rect(all_.x, top, all_.width, height, ink(ui_.theme().card));
    for (const PlacedTrack& place : app_.layout.list) {
      if (place.pinned != pinned) continue;
      const float y = y_of(place);
      if (y + place.height < top || y > top + height) continue;
      if (place.heading.empty()) {
        track(place, y, top, height);
      } else {
        group(place, y);
      }
    }
    list_->PopClipRect();
    if (pinned)
      list_->AddLine(ImVec2(all_.x, top + height), ImVec2(all_.x + all_.width, top + height),
                     ink(ui_.theme().faint, 0.6f), ui_.px(1));
  }

  float y_of(const PlacedTrack& place) const { return tracks_top_ + place.top - (place.pinned ? 0 : app_.scroll); }

  void group(const PlacedTrack& place, float y) {
    const Theme& theme = ui_.theme();
    const bool closed = app_.closed_groups.count(place.heading) != 0;
    draw_text(list_, ui_.bold, {all_.x + ui_.px(12), y + ui_.px(4), labels_ + ui_.px(160), place.height - ui_.px(4)},
              ink(theme.text),
              place.pinned ? place.heading
                           : fmt::format("{} {}{}", closed ? "\u25b8" : "\u25be", place.heading,
                                         closed ? fmt::format(" ({})", tracks_in(place.heading)) : std::string()));
    if (!place.pinned) note_rect(ui_, "group." + place.heading, {all_.x, y, labels_, place.height});
  }

  std::ptrdiff_t tracks_in(const std::string& group) const {
    return std::count_if(timeline_.tracks.begin(), timeline_.tracks.end(),
                         [&](const Track& track) { return track.group == group; });
  }

  /// The scale of a strip: how many warps its full height is.
  void scale(const Track& track, float y) {
    const ImU32 colour = ink(ui_.theme().faint, 0.8f);
    const float line = size_of(ui_.small), x = left_ - ui_.px(6);
    for (const float at : {y, y + strip_ - 1}) list_->AddLine(ImVec2(x, at), ImVec2(left_, at), colour, 1);
    const auto number = [&](float at, const std::string& text) {
      draw_text(list_, ui_.small, {left_ - ui_.px(64), at, ui_.px(56), line}, colour, text, Align::right);
    };
    number(y - ui_.px(1), analyzer::count_of(track.density.most(), "warp"));
    if (strip_ > 2 * line + ui_.px(2)) number(y + strip_ - line, "0");
  }

  void track(const PlacedTrack& place, float y, float top, float height) {
    const Theme& theme = ui_.theme();
    const Track& track = timeline_.tracks[place.track];
    const bool chosen = app_.selected_track == track.key;
    const float label_height = track.has_strip() ? strip_ : std::min(place.height, ui_.px(18));
    if (chosen) rect(all_.x, y, ui_.px(4), place.height, ink(theme.accent));
    const std::string fold = track.has_strip() ? (place.opened ? "\u25be " : "\u25b8 ") : "";
    const float beside = track.has_strip() ? ui_.px(94) : ui_.px(34);  // keeps room for the scale
    draw_text(list_, chosen ? ui_.bold : ui_.regular, {all_.x + ui_.px(24), y, labels_ - beside, label_height},
              ink(chosen ? theme.text : theme.faint), fold + track.name);
    if (track.has_strip()) scale(track, y);
    note_rect(ui_, "track." + track.key, {all_.x, y, labels_, label_height});
    list_->PushClipRect(ImVec2(left_, std::max(y, top)),
                        ImVec2(left_ + width_, std::min(y + place.height, top + height)), true);
    if (track.has_strip()) strip(place, track, y);
    for (std::size_t r = 0; r < place.rows; ++r) {
      const float row_y = y + (place.rows_top - place.top) + static_cast<float>(r) * place.row_height;
      if (row_y + place.row_height < top || row_y > top + height) continue;
      row(place, track, r, row_y);
    }
    list_->PopClipRect();
  }

  void strip(const PlacedTrack& place, const Track& track, float y) {
    const float h = strip_;
    rect(left_, y, width_, h, ink(ui_.theme().lane));
    auto [found, fresh] = state_.cache.strips.try_emplace(place.track);
    if (fresh) {
      found->second = track.density.draw(app_.window.begin(), app_.window.end(), state_.cache.columns);
      for (DensityColumn& column : found->second) column = by_mode(column);
    }
    const float most = static_cast<float>(std::max(1u, track.density.most()));
    const float step = width_ / static_cast<float>(state_.cache.columns);
    // Neighbours of the same heights become one rectangle.
    for (const State state : kWarpStates) {
      float start = left_, base = 0, tall = 0;
      for (std::uint32_t i = 0; i <= state_.cache.columns; ++i) {
        float now_base = -1, now_tall = -1;
        if (i < state_.cache.columns) {
          const float* count = found->second[i].count;
          float below = 0;
          for (const State other : kWarpStates) {
            if (other == state) break;
            below += count[index_of(other)];
          }
          now_base = std::round(std::min(1.0f, below / most) * h);
          now_tall = std::round(std::min(1.0f, (below + count[index_of(state)]) / most) * h) - now_base;
          if (i == 0) {
            base = now_base;
            tall = now_tall;
          }
        }
        if (now_base == base && now_tall == tall) continue;
        const float x = left_ + static_cast<float>(i) * step;
        if (tall > 0) rect(start, y + h - base - tall, x - start, tall, state_ink(ui_, state));
        start = x;
        base = now_base;
        tall = now_tall;
      }
    }
  }

  /// How many marks of signals fit beside each other.
  std::uint32_t mark_columns() const {
    return std::max(1u, static_cast<std::uint32_t>(width_ / std::max(1.0f, ui_.px(7))));
  }

  /// The columns of a row; signals that would cover each other are summed in columns as wide as their marks.
  std::vector<DrawnSpan> draw_row(const SpanRow& row) const {
    const TimeNs begin = app_.window.begin(), end = app_.window.end();
    std::vector<DrawnSpan> drawn = row.draw(begin, end, state_.cache.columns);
    if (drawn.empty() || drawn.front().ref.kind != EventKind::signal || !is_density(drawn, mark_columns()))
      return drawn;
    return row.draw(begin, end, std::max(1u, mark_columns() * 2));
  }

  void row(const PlacedTrack& place, const Track& track, std::size_t index, float y) {
    const Theme& theme = ui_.theme();
    const float h = place.row_height - ui_.px(track.has_strip() ? 1 : 2);
    rect(left_, y, width_, h, ink(theme.lane, 0.55f));
    auto [found, fresh] = state_.cache.rows.try_emplace({place.track, index});
    if (fresh) found->second = draw_row(track.rows[index]);
    // Signals from afar: how many, as heights. The fullest column has the full height.
    float most_events = 0;
    const bool marks = !found->second.empty() && found->second.front().ref.kind == EventKind::signal;
    if (marks && is_density(found->second, mark_columns())) {
      for (const DrawnSpan& span : found->second) most_events = std::max(most_events, span.events);
    }
    for (const DrawnSpan& span : found->second) {
      if (most_events > 0) {
        const float x = clip_x(span.begin), tall = std::max(h * span.events / most_events, ui_.px(2));
        rect(x, y + h - tall, std::max(clip_x(span.end) - x, 1.0f), tall, state_ink(ui_, span.state, 0.75f));
        if (app_.selected && span.ref == *app_.selected) rect(x - 1, y, ui_.px(3), h, ink(theme.accent));
        continue;
      }
      const float from = clip_x(span.begin), to = clip_x(span.end);
      const bool chosen = app_.selected && *app_.selected == span.ref && span.count == 1;
      if (span.ref.kind == EventKind::signal || (span.begin == span.end && span.ref.kind == EventKind::nvtx)) {
        const float size = ui_.px(chosen ? 5 : 3), middle = y + h / 2;
        list_->AddTriangleFilled(ImVec2(from - size, middle - size), ImVec2(from + size, middle - size),
                                 ImVec2(from, middle + size), chosen ? ink(theme.accent) : state_ink(ui_, span.state));
        ++app_.drawn;
        continue;
      }
      const float w = std::max(to - from, 1.0f);
      // Spans that share a column are drawn as opaque as they fill it.
      const float alpha = span.count == 1 ? 1.0f : kFaintest + (1 - kFaintest) * span.fill;
      rect(from, y, w, h, state_ink(ui_, span.state, alpha));
      if (span.count == 1 && w > 3)
        list_->AddRectFilled(ImVec2(from + w - 1, y), ImVec2(from + w, y + h), ink(theme.page, 0.5f));
      if (chosen)
        list_->AddRect(ImVec2(from - 1, y - 1), ImVec2(from + w + 1, y + h + 1), ink(theme.text), 0, 0, ui_.px(2));
      if (span.count == 1 && w > ui_.px(34) && h >= ui_.px(12)) {
        const float inside = std::max(from, left_) + ui_.px(5);
        const ImU32 colour = ink(text_on(colour_of(ui_, span.state)));
        draw_text(list_, ui_.small, {inside, y, to - inside - ui_.px(4), h}, colour, title_of(model_, span.ref));
      }
    }
  }

  void scroll_bar(float content, float scroll_height) {
    if (content <= scroll_height || scroll_height <= 0) return;
    const float x = left_ + width_ + ui_.px(3), y = tracks_top_ + app_.layout.pinned_height;
    const float size = std::max(scroll_height * scroll_height / content, ui_.px(24));
    const float at = y + (scroll_height - size) * app_.scroll / std::max(1.0f, content - scroll_height + ui_.px(12));
    list_->AddRectFilled(ImVec2(x, at), ImVec2(x + ui_.px(5), at + size), ink(ui_.theme().faint, 0.5f), ui_.px(2));
  }

  std::optional<float> y_of_event(EventRef ref, float scroll_height) const {
    const auto place = timeline_.place_of(ref);
    if (!place) return std::nullopt;
    for (const PlacedTrack& placed : app_.layout.list) {
      if (!placed.heading.empty() || placed.track != place->track) continue;
      const float top = y_of(placed);
      const bool strip_only = timeline_.tracks[placed.track].has_strip() && !placed.opened;
      const float y = strip_only ? top + strip_ / 2
                                 : top + (placed.rows_top - placed.top) +
                                       (static_cast<float>(place->row) + 0.5f) * placed.row_height;
      const float first = tracks_top_ + (placed.pinned ? 0 : app_.layout.pinned_height);
      return std::clamp(y, first, first + (placed.pinned ? app_.layout.pinned_height : scroll_height));
    }
    return std::nullopt;
  }

  void arrow(const EdgeArrow& edge, float scroll_height, bool strong) {
    const auto from_y = y_of_event(edge.from, scroll_height), to_y = y_of_event(edge.to, scroll_height);
    if (!from_y || !to_y) return;
    const ImVec2 from(clip_x(edge.from_ns), *from_y), to(clip_x(edge.to_ns), *to_y);
    const ImU32 colour = ink(ui_.theme().text, strong ? 0.95f : 0.35f);
    const float bend = std::max(ui_.px(18), std::abs(to.x - from.x) / 2);
    // A bundle is thicker: by a pixel for each factor of four.
    const float bundle = std::min(3.0f, std::log2(static_cast<float>(std::max(1u, edge.count))) / 2);
    const float thick = ui_.px((strong ? 2.0f : 1.0f) + bundle);
    const float head = ui_.px(strong ? 6 : 4), way = to.y >= from.y ? -1.0f : 1.0f;
    list_->AddBezierCubic(from, ImVec2(from.x, from.y - way * bend * 0.5f),
                          ImVec2(to.x, to.y + way * (bend * 0.5f + head)), ImVec2(to.x, to.y + way * head), colour,
                          thick);
    list_->AddTriangleFilled(to, ImVec2(to.x - head * 0.7f, to.y + way * head),
                             ImVec2(to.x + head * 0.7f, to.y + way * head), colour);
    ++app_.drawn;
  }

  void arrows(float scroll_height) {
    list_->PushClipRect(ImVec2(left_, tracks_top_), ImVec2(left_ + width_, tracks_top_ + tracks_height_), true);
    if (app_.all_edges) {
      if (!state_.cache.has_arrows) {
        state_.cache.arrows =
            timeline_.arrows(model_, app_.window.begin(), app_.window.end(), state_.cache.columns, kMaxArrows);
        state_.cache.has_arrows = true;
      }
      for (const EdgeArrow& edge : state_.cache.arrows) arrow(edge, scroll_height, false);
    }
    if (app_.selected) {
      if (state_.selected_edges_of != app_.selected || state_.selected_version != app_.snapshot().version) {
        state_.selected_edges = timeline_.edges_of(model_, *app_.selected, kMaxSelected);
        state_.selected_edges_of = app_.selected;
        state_.selected_version = app_.snapshot().version;
      }
      for (const EdgeArrow& edge : timeline_.bundled(state_.selected_edges, app_.window.begin(), app_.window.end(),
                                                     state_.cache.columns, kMaxArrows))
        arrow(edge, scroll_height, true);
    }
    list_->PopClipRect();
  }

  /// A line across all tracks: a change of how the program waits, or a user's mark.
  struct Flag {
    float x = 0, width = 0;  ///< position of the line, width of the label
    std::string_view text;
    Colour colour = 0;
    bool dashed = false;
    std::optional<float> label{};  ///< left end of the label; nothing: no label
  };

  void place_flags() {
    const auto add = [&](TimeNs at, std::string_view text, Colour colour, bool dashed) {
      if (at < app_.window.begin() || at > app_.window.end()) return;
      flags_.push_back({x_of(at), 0, text, colour, dashed});
    };
    for (const InterventionMark& mark : timeline_.interventions)
      add(mark.at, mark.label, colour_of(ui_, state_of_mode(mark.mode)), true);
    for (const Bookmark& mark : app_.annotations.marks)
      add(timeline_.begin + mark.at, mark.text, ui_.theme().good, false);
    std::stable_sort(flags_.begin(), flags_.end(), [](const Flag& a, const Flag& b) { return a.x < b.x; });
    // Keeps one flag per pixel.
    flags_.erase(std::unique(flags_.begin(), flags_.end(), [](const Flag& a, const Flag& b) { return b.x - a.x < 1; }),
                 flags_.end());
    if (flags_.size() > kMaxFlags) return;
    std::vector<MarkLabel> labels;
    for (Flag& flag : flags_) {
      flag.width = text_width(ui_.small, flag.text) + ui_.px(10);
      labels.push_back({flag.x, flag.width});
    }
    const auto places = place_labels(labels, left_, left_ + width_ + ui_.px(8));
    for (std::size_t i = 0; i < flags_.size(); ++i) flags_[i].label = places[i];
  }

  void marks() {
    const float top = all_.y + ui_.px(kOverview), bottom = tracks_top_ + tracks_height_;
    for (const Flag& flag : flags_) {
      const bool dashed = flag.dashed && flags_.size() <= kMaxFlags;
      for (float y = top; y < bottom; y += dashed ? ui_.px(7) : bottom - top)
        list_->AddLine(ImVec2(flag.x, y), ImVec2(flag.x, dashed ? std::min(y + ui_.px(4), bottom) : bottom),
                       ink(flag.colour), ui_.px(dashed ? 1.5f : 1));
    }
    const float h = size_of(ui_.small) + ui_.px(4);
    for (const Flag& flag : flags_) {
      if (!flag.label) continue;
      list_->AddRectFilled(ImVec2(*flag.label, top), ImVec2(*flag.label + flag.width, top + h), ink(flag.colour),
                           ui_.px(2));
      draw_text(list_, ui_.small, {*flag.label + ui_.px(5), top, flag.width, h}, ink(text_on(flag.colour)), flag.text);
    }
  }

  void area() {
    TimeNs from = 0, to = 0;
    if (dragging_area()) {
      from = time_of_x(std::min(state_.drag.from.x, ImGui::GetIO().MousePos.x));
      to = time_of_x(std::max(state_.drag.from.x, ImGui::GetIO().MousePos.x));
    } else if (app_.area) {
      from = app_.area->begin;
      to = app_.area->end;
    } else {
      return;
    }
    const float a = clip_x(from), b = clip_x(to);
    list_->AddRectFilled(ImVec2(a, tracks_top_), ImVec2(b, tracks_top_ + tracks_height_),
                         ink(ui_.theme().accent, 0.10f));
    for (const float x : {a, b})
      list_->AddLine(ImVec2(x, tracks_top_ - ui_.px(kRuler)), ImVec2(x, tracks_top_ + tracks_height_),
                     ink(ui_.theme().accent), ui_.px(1));
  }

  bool dragging_area() const {
    return active_ && state_.drag.button == 0 && state_.drag.moved && state_.drag.from.x >= left_ &&
           state_.drag.from.y >= all_.y + ui_.px(kOverview);
  }

  const PlacedTrack* placed_at(float y) const {
    for (const PlacedTrack& place : app_.layout.list) {
      if (place.pinned != (y < tracks_top_ + app_.layout.pinned_height)) continue;
      const float top = y_of(place);
      if (y >= top && y < top + place.height) return &place;
    }
    return nullptr;
  }

  /// The event under the mouse; nothing if several share a column and none is near.
  std::optional<EventRef> event_at(ImVec2 at) const {
    const PlacedTrack* place = placed_at(at.y);
    if (place == nullptr || !place->heading.empty() || at.x < left_) return std::nullopt;
    const float inside = at.y - y_of(*place) - (place->rows_top - place->top);
    if (inside < 0 || place->row_height <= 0) return std::nullopt;
    const auto row = static_cast<std::size_t>(inside / place->row_height);
    if (row >= place->rows) return std::nullopt;
    const TimeNs near = time_of_x(at.x + ui_.px(4)) - time_of_x(at.x);
    const Span* span = timeline_.tracks[place->track].rows[row].at(time_of_x(at.x), near);
    return span == nullptr ? std::nullopt : std::optional(span->ref);
  }

  void mouse(float scroll_height, float content) {
    ImGuiIO& io = ImGui::GetIO();
    const ImVec2 at = io.MousePos;
    if (hovered_ && io.MouseWheel != 0) {
      if (io.KeyCtrl) {
        app_.window.zoom(io.MouseWheel > 0 ? 1.25 : 0.8, std::clamp((at.x - left_) / width_, 0.0f, 1.0f));
      } else if (io.KeyShift) {
        app_.window.follow(false);
        app_.window.pan(-0.1 * io.MouseWheel);
      } else {
        app_.scroll = std::clamp(app_.scroll - io.MouseWheel * ui_.px(60), 0.0f,
                                 std::max(0.0f, content - scroll_height + ui_.px(12)));
      }
    }
    if (hovered_ && io.MouseWheelH != 0) app_.window.pan(0.1 * io.MouseWheelH);
    if (hovered_ && at.y > tracks_top_) app_.hovered = event_at(at);
    for (const int button : {0, 1, 2}) {
      if (hovered_ && ImGui::IsMouseClicked(button)) {
        state_.drag.from = state_.drag.last = at;
        state_.drag.button = button;
        state_.drag.moved = false;
      }
    }
    if (!active_) {
      if (state_.drag.was_active) released(at);
      state_.drag.was_active = false;
      return;
    }
    state_.drag.was_active = true;
    if (std::abs(at.x - state_.drag.from.x) > ui_.px(4) || std::abs(at.y - state_.drag.from.y) > ui_.px(4))
      state_.drag.moved = true;
    const bool in_overview = state_.drag.from.y < all_.y + ui_.px(kOverview);
    if (in_overview) {
      app_.window.follow(false);
      const double part = std::clamp((at.x - left_) / width_, 0.0f, 1.0f);
      const TimeNs middle =
          timeline_.begin + static_cast<TimeNs>(part * static_cast<double>(timeline_.end - timeline_.begin));
      app_.window.show(middle - app_.window.width() / 2, middle - app_.window.width() / 2 + app_.window.width());
    } else if (state_.drag.button != 0 && at.x != state_.drag.last.x) {
      app_.window.follow(false);
      app_.window.pan((state_.drag.last.x - at.x) / width_);
    }
    state_.drag.last = at;
  }

  void released(ImVec2 at) {
    if (state_.drag.button != 0 || state_.drag.from.y < all_.y + ui_.px(kOverview)) return;
    if (state_.drag.moved && state_.drag.from.x >= left_) {
      const float top = std::min(state_.drag.from.y, at.y), bottom = std::max(state_.drag.from.y, at.y);
      std::vector<std::size_t> which;
      const bool on_ruler = state_.drag.from.y < tracks_top_;
      for (const PlacedTrack& place : app_.layout.list) {
        if (!place.heading.empty()) continue;
        const float y = y_of(place);
        if (on_ruler || (y < bottom && y + place.height > top)) which.push_back(place.track);
      }
      app_.set_area(time_of_x(std::clamp(std::min(state_.drag.from.x, at.x), left_, left_ + width_)),
                    time_of_x(std::clamp(std::max(state_.drag.from.x, at.x), left_, left_ + width_)), std::move(which));
      return;
    }
    const PlacedTrack* place = placed_at(at.y);
    if (at.y < tracks_top_ || place == nullptr) {
      app_.clear_selection();
      return;
    }
    if (!place->heading.empty()) {
      if (!place->pinned && at.x < left_ && app_.closed_groups.erase(place->heading) == 0)
        app_.closed_groups.insert(place->heading);
      return;
    }
    const Track& track = timeline_.tracks[place->track];
    app_.selected_track = track.key;
    const bool on_strip = track.has_strip() && at.y < y_of(*place) + strip_;
    if (on_strip && (at.x < left_ || !place->opened)) {
      if (app_.opened.erase(track.key) == 0) {
        app_.opened.insert(track.key);
        if (track.rows.empty()) app_.notice = "zoom in to see single waits";
      }
      return;
    }
    if (const std::optional<EventRef> ref = event_at(at)) {
      app_.select(*ref, false);
      if (ImGui::GetIO().MouseDoubleClicked[0]) app_.focus_selection();
    }
  }

  void tooltip() {
    if (!hovered_ || active_) return;
    const ImVec2 at = ImGui::GetIO().MousePos;
    const PlacedTrack* place = at.y > tracks_top_ ? placed_at(at.y) : nullptr;
    if (app_.hovered) {
      const auto [begin, end] = time_of(model_, *app_.hovered);
      ImGui::BeginTooltip();
      ImGui::PushFont(ui_.bold);
      ImGui::TextUnformatted(title_of(model_, *app_.hovered).c_str());
      ImGui::PopFont();
      faint(ui_, fmt::format("at {:.6f} s{}", static_cast<double>(begin - timeline_.begin) / kSecond,
                             end > begin ? ", takes " + analyzer::format_duration(end - begin) : ""));
      ImGui::EndTooltip();
    } else if (place != nullptr && place->heading.empty() && at.x < left_) {
      ImGui::SetTooltip("%s: %s", timeline_.tracks[place->track].name.c_str(),
                        timeline_.tracks[place->track].note.c_str());
    } else if (place != nullptr && place->heading.empty() && timeline_.tracks[place->track].has_strip()) {
      const TimeNs begin = time_of_x(at.x), end = std::max(time_of_x(at.x + 1), begin + 1);
      ImGui::BeginTooltip();
      for (const State state : kWarpStates) {
        const double mean =
            timeline_.tracks[place->track].density.time_in(state, begin, end) / static_cast<double>(end - begin);
        ImGui::Text("%.3g %s", mean, std::string(look_of(state).name).c_str());
      }
      ImGui::EndTooltip();
    }
  }

  App& app_;
  const Ui& ui_;
  const Timeline& timeline_;
  const analyzer::TraceModel& model_;
  ImDrawList* list_;
  TimelineState& state_;
  Rect all_;
  float labels_ = 0, left_ = 0, strip_ = 0, width_ = 0, tracks_top_ = 0, tracks_height_ = 0;
  bool hovered_ = false, active_ = false;
  std::vector<Flag> flags_;
};

}  // namespace

void draw_timeline(App& app, const Ui& ui, Rect where, TimelineState& state) { Canvas(app, ui, where, state).draw(); }

}  // namespace wicprof::gui
