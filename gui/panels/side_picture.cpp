#include "gui/panels/side_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/words/format.h"
#include "reports/html/svg_axis.h"

namespace wicprof::gui {

namespace {

/// Duration relative to the iteration of the same index on the other side; nothing if there is none.
std::optional<double> ratio_to_partner(const PictureSide& side, const PictureSide& other, std::size_t index) {
  if (index >= other.iterations->size() || (*other.iterations)[index].duration() <= 0) return std::nullopt;
  return static_cast<double>((*side.iterations)[index].duration()) /
         static_cast<double>((*other.iterations)[index].duration());
}

class Picture {
 public:
  Picture(const Ui& ui, const PictureSide& side, const PictureSide* other, TimeNs from, TimeNs width, Rect where)
      : ui_(ui), side_(side), other_(other), span_(width), list_(ImGui::GetWindowDrawList()), where_(where) {
    from_ = from;
    to_ = from_ + width;
    left_ = where.x + ui.px(82);
    width_ = where.width - ui.px(82);
  }

  void draw() {
    const Theme& theme = ui_.theme();
    draw_text(list_, ui_.bold, {where_.x, where_.y, where_.width, ui_.px(22)}, ink(theme.text), side_.title);
    float y = where_.y + ui_.px(26);
    const float top = y;
    if (!side_.iterations->empty()) {
      iterations(y);
      y += ui_.px(26);
    }
    const float bottom = strips(y);
    for (const analyzer::Iteration& iteration : *side_.iterations) {
      if (iteration.begin < from_ || iteration.begin > to_) continue;
      list_->AddLine(ImVec2(x(iteration.begin), top), ImVec2(x(iteration.begin), bottom), ink(theme.text, 0.5f), 1);
    }
    const TimeNs step = reports::tick_step(span_, 5);
    for (TimeNs time = 0; time <= span_; time += step) {
      const float at = x(from_ + time);
      if (at + ui_.px(44) > left_ + width_) break;
      draw_text(list_, ui_.small, {at, bottom + ui_.px(2), ui_.px(80), ui_.px(16)}, ink(theme.faint),
                (time > 0 ? "+" : "") + reports::tick_label(time, step, span_));
    }
  }

 private:
  float x(TimeNs time) const {
    return left_ + width_ * static_cast<float>(static_cast<double>(time - from_) / static_cast<double>(to_ - from_));
  }

  void iterations(float y) {
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
      const std::optional<double> ratio = other_ != nullptr ? ratio_to_partner(side_, *other_, index) : std::nullopt;
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
                                  ui_.px(14), ui_.px(160));
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
    auto drawn = track.density.draw(from_, to_, columns);
    for (DensityColumn& column : drawn) column = by_mode(column);
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
  const PictureSide& side_;
  const PictureSide* other_;
  const TimeNs span_;
  ImDrawList* list_;
  Rect where_;
  TimeNs from_ = 0, to_ = 1;
  float left_ = 0, width_ = 0;
};

}  // namespace

void draw_side(const Ui& ui, const PictureSide& side, const PictureSide* other, TimeNs from, TimeNs width, Rect where) {
  Picture(ui, side, other, from, width, where).draw();
}

}  // namespace wicprof::gui
