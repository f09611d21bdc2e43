#include "reports/html/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/svg_axis.h"

namespace wicprof::reports::html {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 64, kRight = 12;
constexpr double kTop = 30, kPlot = 190, kBottom = 26;
constexpr double kBetweenPanels = 28;
constexpr std::size_t kBuckets = 240;  // over all segments: one per four pixels or so

/// Segments of one trace share a panel and a time axis.
struct Panel {
  std::string trace;
  std::vector<const Segment*> segments;
  Axis x;
};

std::vector<Panel> panels_of(const std::vector<Segment>& segments) {
  std::vector<Panel> panels;
  for (const Segment& segment : segments) {
    if (panels.empty() || panels.back().trace != segment.trace ||
        panels.back().segments.back()->end_ns > segment.begin_ns) {
      panels.push_back({segment.trace, {}, {}});
    }
    panels.back().segments.push_back(&segment);
  }
  const double gaps = kBetweenPanels * static_cast<double>(panels.size() - 1);
  const double width = (kWidth - kLeft - kRight - gaps) / static_cast<double>(panels.size());
  double left = kLeft;
  for (Panel& panel : panels) {
    panel.x = {panel.segments.front()->begin_ns, panel.segments.back()->end_ns, left, left + width};
    left += width + kBetweenPanels;
  }
  return panels;
}

struct Bucket {
  double x = 0;
  TimeNs low = 0, middle = 0, high = 0;
};

std::vector<Bucket> buckets_of(const Segment& segment, const Axis& x, std::size_t most) {
  const std::vector<Iteration>& all = segment.iterations;
  const std::size_t each = std::max<std::size_t>(1, (all.size() + most - 1) / std::max<std::size_t>(most, 1));
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < all.size(); i += each) {
    const std::size_t end = std::min(i + each, all.size());
    std::vector<TimeNs> times;
    for (std::size_t k = i; k < end; ++k) times.push_back(all[k].duration());
    const TimeNs middle = all[i].begin + (all[end - 1].end - all[i].begin) / 2;
    buckets.push_back({x.at(middle), percentile(times, 10), percentile(times, 50), percentile(times, 90)});
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

std::string draw_segment(const Segment& segment, const Axis& x, const Axis& y, std::size_t most) {
  const std::vector<Bucket> buckets = buckets_of(segment, x, most);
  if (buckets.empty()) return {};
  const std::string_view css = segment.mode == Mode::poll ? "poll" : "park";
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

std::string label_segment(const Segment& segment, const Axis& x) {
  const double begin = x.at(segment.begin_ns);
  const double width = x.at(segment.end_ns) - begin;
  const std::string p50 = segment.iteration_ns_p50 ? ", p50 " + format_duration(*segment.iteration_ns_p50) : "";
  std::string text = way_name(segment.mode, segment.strategy) + p50;
  constexpr double kCharacter = 6.2;  // average width at this font size
  if (static_cast<double>(text.size()) * kCharacter > width) text = mode_name(segment.mode);
  if (static_cast<double>(text.size()) * kCharacter > width) return {};
  return fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", begin + 4, kTop - 8,
                     escape_html(text));
}

std::string draw_y_axis(const Axis& y) {
  std::string out;
  const TimeNs step = tick_step(y.to, 4);
  for (TimeNs time = 0; time <= y.to; time += step) {
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, y.at(time), y.at(time));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y.at(time) + 4,
                       tick_label(time, step, y.to));
  }
  return out;
}

std::string draw_panel(const Panel& panel, const Axis& y, std::size_t most) {
  std::string out;
  for (const Segment* segment : panel.segments) {
    out += draw_segment(*segment, panel.x, y, most);
    out += label_segment(*segment, panel.x);
    if (segment == panel.segments.front()) continue;
    const double cut = panel.x.at(segment->begin_ns);
    out += fmt::format("<line class=\"cut\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", cut, cut,
                       kTop - 20, kTop + kPlot);
  }
  return out + time_labels(panel.x, panel.x.from, static_cast<int>((panel.x.last - panel.x.first) / 90) + 1,
                           kTop + kPlot + 18, kWidth - 30);
}

}  // namespace

std::string iteration_chart(const std::vector<Segment>& segments) {
  const bool any =
      std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return !s.iterations.empty(); });
  if (!any) return {};
  const std::vector<Panel> panels = panels_of(segments);
  const Axis y{0, ceiling_of(segments), kTop + kPlot, kTop};
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Iteration times over time\">\n", kWidth,
                  kTop + kPlot + kBottom);
  out += draw_y_axis(y);
  for (const Panel& panel : panels) out += draw_panel(panel, y, std::max<std::size_t>(kBuckets / segments.size(), 8));
  return out + "</svg>\n";
}

}  // namespace wicprof::reports::html
