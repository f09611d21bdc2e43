#include "reports/html/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/drawing_style.h"
#include "reports/html/svg_axis.h"

namespace wicprof::reports::html {
namespace {

constexpr double kTop = 30, kPlot = 190, kBottom = 26;
constexpr double kBetweenPanels = 28;
constexpr double kPixelsPerBucket = 4;
constexpr double kCharacter = 6.2;  // average width of the chart's text
constexpr std::string_view kUnit = "iteration ";

/// What one of the two drawings of the chart has space for.
struct Space {
  double width, left, right;
  double per_label;  ///< of the axis along x
};
constexpr Space kWide{1080, 64, 12, 90}, kNarrow{340, 46, 8, 56};

/// A segment, and the place of its first iteration among those of its panel.
struct Placed {
  const Segment* segment = nullptr;
  std::size_t first = 0;
  std::size_t end() const { return first + segment->iterations.size(); }
};

/// Segments of one trace share a panel, whose axis counts their iterations: so few short iterations in a long run are
/// drawn as wide as many.
struct Panel {
  std::string trace;
  std::vector<Placed> segments;
  Axis x;
};

std::vector<Panel> panels_of(const std::vector<Segment>& segments, const Space& space) {
  std::vector<Panel> panels;
  for (const Segment& segment : segments) {
    if (panels.empty() || panels.back().trace != segment.trace ||
        panels.back().segments.back().segment->end_ns > segment.begin_ns) {
      panels.push_back({segment.trace, {}, {}});
    }
    auto& placed = panels.back().segments;
    placed.push_back({&segment, placed.empty() ? 0 : placed.back().end()});
  }
  const double gaps = kBetweenPanels * static_cast<double>(panels.size() - 1);
  const double width = (space.width - space.left - space.right - gaps) / static_cast<double>(panels.size());
  double left = space.left;
  for (Panel& panel : panels) {
    const auto count = static_cast<TimeNs>(std::max<std::size_t>(panel.segments.back().end(), 1));
    panel.x = {0, count, left, left + width};
    left += width + kBetweenPanels;
  }
  return panels;
}

struct Bucket {
  double x = 0;
  TimeNs low = 0, middle = 0, high = 0;
};

std::vector<Bucket> buckets_of(const Placed& placed, const Axis& x) {
  const std::vector<Iteration>& all = placed.segment->iterations;
  const double per_iteration = (x.last - x.first) / static_cast<double>(x.to - x.from);
  const auto each = static_cast<std::size_t>(std::max(1.0, kPixelsPerBucket / per_iteration));
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < all.size(); i += each) {
    const std::size_t end = std::min(i + each, all.size());
    std::vector<TimeNs> times;
    for (std::size_t k = i; k < end; ++k) times.push_back(all[k].duration());
    const double middle = static_cast<double>(placed.first) + static_cast<double>(i + end) / 2;
    buckets.push_back(
        {x.first + middle * per_iteration, percentile(times, 10), percentile(times, 50), percentile(times, 90)});
  }
  return buckets;
}

/// The top of the y axis: nearly all iterations are shorter. A few slow ones are cut off, so that they do not flatten
/// the rest.
TimeNs ceiling_of(const std::vector<Segment>& segments) {
  TimeNs top = 1;
  for (const Segment& segment : segments) {
    std::vector<TimeNs> times;
    for (const Iteration& iteration : segment.iterations) times.push_back(iteration.duration());
    if (!times.empty()) top = std::max(top, std::max(percentile(times, 95), 5 * percentile(times, 50) / 4));
  }
  return top + top / 10;
}

std::string draw_segment(const Placed& placed, const Axis& x, const Axis& y) {
  const std::vector<Bucket> buckets = buckets_of(placed, x);
  if (buckets.empty()) return {};
  const std::string_view css = placed.segment->mode == Mode::poll ? "poll" : "park";
  const auto height = [&](TimeNs time) { return std::clamp(y.at(time), kTop, kTop + kPlot); };
  std::string spread = "M";
  std::string middle = "M";
  for (const Bucket& b : buckets) {
    spread += fmt::format("{:.1f} {:.1f} ", b.x, height(b.high));
    middle += fmt::format("{:.1f} {:.1f} ", b.x, height(b.middle));
  }
  for (auto b = buckets.rbegin(); b != buckets.rend(); ++b)
    spread += fmt::format("{:.1f} {:.1f} ", b->x, height(b->low));
  std::string out = fmt::format("<path class=\"spread {}\" d=\"{}Z\"/>\n<path class=\"mid {}\" d=\"{}\"/>\n", css,
                                spread, css, middle);
  if (buckets.size() == 1)
    out += fmt::format("<circle class=\"{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", css, buckets[0].x,
                       height(buckets[0].middle));
  return out;
}

std::string label_segment(const Placed& placed, const Axis& x) {
  const Segment& segment = *placed.segment;
  const double begin = x.at(static_cast<TimeNs>(placed.first));
  const double width = x.at(static_cast<TimeNs>(placed.end())) - begin;
  const std::string p50 = segment.iteration_ns_p50 ? ", p50 " + format_duration(*segment.iteration_ns_p50) : "";
  for (const std::string& text : {way_name(segment.mode, segment.strategy) + p50,
                                  std::string(mode_name(segment.mode)) + p50, std::string(mode_name(segment.mode))}) {
    if (static_cast<double>(text.size()) * kCharacter > width) continue;
    return fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", begin + 4, kTop - 8,
                       escape_html(text));
  }
  return {};
}

std::string draw_y_axis(const Axis& y, const Space& space) {
  std::string out;
  const TimeNs step = tick_step(y.to, 4);
  for (TimeNs time = 0; time <= y.to; time += step) {
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", space.left,
                       space.width - space.right, y.at(time), y.at(time));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", space.left - 6,
                       y.at(time) + 4, tick_label(time, step, y.to));
  }
  return out;
}

/// "iteration 0", "5", "10": counted from the panel's first iteration.
std::string label_iterations(const Axis& x, const Space& space) {
  std::string out;
  const TimeNs step = tick_step(x.to, static_cast<int>((x.last - x.first) / space.per_label) + 1);
  for (TimeNs at = 0; at <= x.to; at += step) {
    const double place = x.at(at);
    const std::string text =
        (at == 0 ? std::string(kUnit) : std::string()) + format_count(static_cast<std::uint64_t>(at));
    const double width = static_cast<double>(text.size()) * kCharacter;
    const char* anchor = at == 0 ? "start" : place + width / 2 > x.last ? "end" : "middle";
    // The first label is longer than the others.
    if (at != 0 && place - width < x.first + static_cast<double>(kUnit.size() + 3) * kCharacter) continue;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", place, kTop + kPlot + 18, anchor,
                       text);
  }
  return out + "\n";
}

std::string draw_panel(const Panel& panel, const Axis& y, const Space& space) {
  std::string out;
  for (const Placed& placed : panel.segments) {
    out += draw_segment(placed, panel.x, y);
    out += label_segment(placed, panel.x);
    if (placed.first == 0 || panel.segments.size() > kMostMarks) continue;
    const double cut = panel.x.at(static_cast<TimeNs>(placed.first));
    out += fmt::format("<line class=\"cut\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", cut, cut,
                       kTop - 20, kTop + kPlot);
  }
  return out + label_iterations(panel.x, space);
}

std::string draw(const std::vector<Segment>& segments, const Space& space, std::string_view css) {
  const Axis y{0, ceiling_of(segments), kTop + kPlot, kTop};
  std::string out = fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Time of each iteration\">\n", css,
      space.width, kTop + kPlot + kBottom);
  out += draw_y_axis(y, space);
  for (const Panel& panel : panels_of(segments, space)) out += draw_panel(panel, y, space);
  return out + "</svg>\n";
}

}  // namespace

std::string iteration_chart(const std::vector<Segment>& segments) {
  const bool any =
      std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return !s.iterations.empty(); });
  if (!any) return {};
  return draw(segments, kWide, "wide") + draw(segments, kNarrow, "narrow") +
         fmt::format("<div class=\"legend\">{}<span>line: median; band: 10 to 90 %{}</span></div>\n",
                     legend_entries({State::polling, State::parked}),
                     segments.size() > kMostMarks ? "" : "; dashed: a change of mode");
}

}  // namespace wicprof::reports::html
