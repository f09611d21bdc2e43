// The timeline as a still picture, for paper and for browsers without scripts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/words/format.h"
#include "reports/html/charts.h"
#include "reports/html/drawing_style.h"
#include "reports/html/svg_axis.h"

namespace wicprof::reports::html {
namespace {

constexpr double kRight = 12, kAboveLanes = 22, kBelowLanes = 24;
constexpr int kLaneHeight = 20;
constexpr int kLaneGap = 4;

/// What a drawing has space for: on paper and a desktop, or on a phone.
struct LaneSpace {
  std::string_view css;
  double width, left;
  std::size_t columns;     ///< of about two pixels
  std::size_t characters;  ///< of a name beside a lane
  int labels;              ///< of the time axis
};
constexpr LaneSpace kWideLanes{"wide", 1080, 190, 440, 30, 9}, kNarrowLanes{"narrow", 340, 112, 110, 17, 3};

/// A lane's columns: per column and state the time in that state, summed over waiters.
class Columns {
 public:
  Columns(const Lane& lane, Interval window, std::size_t columns) : window_(window), columns_(columns) {
    for (const Stretch& stretch : lane.stretches) {
      add(stretch, sums_[stretch.state], lane.counted ? stretch.count : 1);
      if (stretch.polling > 0) add(stretch, polling_, stretch.polling);
    }
    scale_ = 1.0 / (lane.waiters * width());
  }

  /// The filled outline of `state`, stacked on the states in `below`. Empty if `state` never occurs.
  std::string outline(State state, const std::vector<State>& below, const Axis& x, double top) const {
    const auto own = sums_.find(state);
    return own == sums_.end() ? std::string() : outline(own->second, below, x, top);
  }
  /// Of the part of the computing that polls, by samples.
  std::string polling_outline(const std::vector<State>& below, const Axis& x, double top) const {
    return outline(polling_, below, x, top);
  }

 private:
  std::string outline(const std::vector<double>& own, const std::vector<State>& below, const Axis& x,
                      double top) const {
    if (own.empty()) return {};
    std::string path;
    int drawn_base = -1, drawn_height = -1;
    double start = 0;
    const auto flush = [&](double end) {
      if (drawn_height <= 0) return;
      path += fmt::format("M{:.1f} {:.0f}H{:.1f}v-{}H{:.1f}Z", start, top + kLaneHeight - drawn_base, end, drawn_height,
                          start);
    };
    for (std::size_t i = 0; i <= columns_; ++i) {
      int base = 0, height = 0;
      if (i < columns_) {
        double sum_below = 0;
        for (const State other : below) sum_below += value(other, i);
        base = pixels(sum_below);
        height = pixels(sum_below + own[i]) - base;
      }
      const double at = x.first + (x.last - x.first) * static_cast<double>(i) / static_cast<double>(columns_);
      if (i < columns_ && base == drawn_base && height == drawn_height) continue;
      flush(at);
      start = at;
      drawn_base = base;
      drawn_height = height;
    }
    return path;
  }

  double width() const { return static_cast<double>(window_.end - window_.begin) / static_cast<double>(columns_); }
  double value(State state, std::size_t column) const {
    const auto found = sums_.find(state);
    return found == sums_.end() || found->second.empty() ? 0 : found->second[column];
  }
  int pixels(double sum) const { return static_cast<int>(std::min(1.0, sum * scale_) * kLaneHeight + 0.5); }

  void add(const Stretch& stretch, std::vector<double>& sums, double weight) {
    const double begin = static_cast<double>(std::max(stretch.when.begin, window_.begin) - window_.begin) / width();
    const double end = static_cast<double>(std::min(stretch.when.end, window_.end) - window_.begin) / width();
    if (end <= begin) return;
    if (sums.empty()) sums.assign(columns_, 0);
    for (auto column = static_cast<std::size_t>(begin); column < columns_ && static_cast<double>(column) < end;
         ++column) {
      const double from = std::max(begin, static_cast<double>(column));
      const double to = std::min(end, static_cast<double>(column) + 1);
      sums[column] += (to - from) * width() * weight;
    }
  }

  Interval window_;
  std::size_t columns_;
  std::map<State, std::vector<double>> sums_;  // of a state that is not seen in the window: empty
  std::vector<double> polling_;                // the same
  double scale_ = 1;
};

std::string draw_lane(const Lane& lane, Interval window, const Axis& x, double top, const LaneSpace& space,
                      const std::string& pattern) {
  std::string out = fmt::format("<rect class=\"lane\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{}\"/>",
                                x.first, top, x.last - x.first, kLaneHeight);
  const std::string group =
      shorten(lane.group, space.characters - std::min(space.characters / 2, lane.name.size() + 2));
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", x.first - 8, top + 14,
                     escape_html(shorten(group + ", " + lane.name, space.characters)));
  const Columns columns(lane, window, space.columns);
  std::vector<State> below;
  for (std::size_t i = 0; i < kStates; ++i) {
    const auto state = static_cast<State>(i);
    const std::string path = columns.outline(state, below, x, top);
    if (!path.empty()) out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", look_of(state).token, path);
    const std::string polling = state == State::computing ? columns.polling_outline(below, x, top) : std::string();
    if (!polling.empty()) out += fmt::format("<path fill=\"url(#{})\" d=\"{}\"/>\n", pattern, polling);
    below.push_back(state);
  }
  return out;
}

std::string draw_marks(const TraceModel& model, Interval window, const Axis& x, double bottom, const LaneSpace& space) {
  std::string out;
  double labelled_to = 0;
  const auto seen = [&](const store::InterventionRow& row) {
    return row.effective >= window.begin && row.effective <= window.end;
  };
  const auto count = std::count_if(model.interventions.begin(), model.interventions.end(), seen);
  if (static_cast<std::size_t>(count) > kMostMarks) bottom = kAboveLanes;
  for (const store::InterventionRow& row : model.interventions) {
    if (!seen(row)) continue;
    const double at = x.at(row.effective);
    out += fmt::format("<line class=\"cut\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>", at, at,
                       kAboveLanes - 6, bottom);
    if (at < labelled_to || at > space.width - 40) continue;  // no space for a label
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", at + 4, kAboveLanes - 8,
                       mode_name(row.new_mode));
    labelled_to = at + 40;
  }
  return out;
}

bool polls(const Lane& lane) { return lane.on_paper && lane.looks.has_sampled_polling(); }

std::string draw(const TraceModel& model, const Lanes& lanes, Interval window, const LaneSpace& space) {
  const auto drawn = static_cast<double>(
      std::count_if(lanes.list.begin(), lanes.list.end(), [](const Lane& lane) { return lane.on_paper; }));
  if (drawn == 0) return {};
  const Axis x{window.begin, window.end, space.left, space.width - kRight};
  const double bottom = kAboveLanes + drawn * (kLaneHeight + kLaneGap);
  std::string out =
      fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Waits over time\">\n",
                  space.css, space.width, bottom + kBelowLanes);
  const std::string pattern = fmt::format("polling-{}-{}-{}", space.css, window.begin, window.end);
  if (std::any_of(lanes.list.begin(), lanes.list.end(), polls)) out += hatched_pattern(pattern);
  double top = kAboveLanes;
  for (const Lane& lane : lanes.list) {
    if (!lane.on_paper) continue;
    out += draw_lane(lane, window, x, top, space, pattern);
    top += kLaneHeight + kLaneGap;
  }
  return out + draw_marks(model, window, x, bottom, space) +
         time_labels(x, model.begin, space.labels, bottom + 14, space.width - 30) + "</svg>\n";
}

}  // namespace

std::string still_timeline(const TraceModel& model, const Lanes& lanes, Interval window) {
  if (window.end <= window.begin) return {};
  return draw(model, lanes, window, kWideLanes) + draw(model, lanes, window, kNarrowLanes);
}

}  // namespace wicprof::reports::html
