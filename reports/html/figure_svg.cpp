// Bars, or lines with a legend. Series of waits that poll or park have the colours of the timeline.
#include "reports/html/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/figures/plot.h"
#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

constexpr double kWidth = 540, kLeft = 52, kRight = 14, kTop = 12, kPlot = 170, kBottom = 26;
constexpr double kBarHeight = 15, kBarStep = 21, kBarLabel = 190, kBarValue = 64;
constexpr std::size_t kLabelWidth = 30;

std::string colour_of(const FigurePlot& plot, std::size_t place) {
  const FigureSeries& series = plot.series[place];
  if (series.state) return fmt::format("var(--{})", look_of(*series.state).token);
  return plot.bars ? "var(--faint)" : css_colour(kSeriesColours[place % kSeriesColours.size()]);
}

/// Labels of an axis have no decimals.
std::string axis_text(const FigurePlot& plot, double value) {
  return plot.shares ? fmt::format("{:.0f} %", value * 100) : plot.value_text(value);
}

std::string open_svg(const Figure& figure, double height) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth, height,
                     figure.number);
}

std::string bars(const Figure& figure, const FigurePlot& plot) {
  const auto x = [&](double value) { return kBarLabel + (kWidth - kBarLabel - kBarValue) * plot.y_part(value); };
  std::string out = open_svg(figure, kBarStep * static_cast<double>(plot.series.size()) + 6);
  double y = 3;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& bar = plot.series[i];
    const double value = bar.points[0].second;
    const double from = std::min(x(0), x(value)), upto = std::max(x(0), x(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}<title>{}</title></text>", kBarLabel - 8,
                       y + 12, escape_html(shorten(bar.label, kLabelWidth)), escape_html(bar.label));
    out +=
        fmt::format("<rect style=\"fill:{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"2\"/>",
                    colour_of(plot, i), from, y, std::max(0.5, upto - from), kBarHeight);
    double text_at = upto;
    if (bar.low && bar.high) {
      text_at = std::max(upto, x(*bar.high));
      out += fmt::format("<path class=\"whisker\" d=\"M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}v6M{:.1f} {:.1f}v6\"/>",
                         x(*bar.low), y + kBarHeight / 2, x(*bar.high), x(*bar.low), y + kBarHeight / 2 - 3,
                         x(*bar.high), y + kBarHeight / 2 - 3);
    }
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", text_at + 6, y + 12,
                       escape_html(plot.value_text(value)));
    y += kBarStep;
  }
  return out + "</svg>\n" + (plot.logarithmic ? "<p class=\"faint small\">Lengths are logarithmic.</p>\n" : "");
}

/// Positions of labels along x: quarters, or the values themselves on a logarithmic axis.
std::vector<double> ticks_of(const FigurePlot& plot) {
  std::vector<double> ticks;
  if (plot.logarithmic) {
    std::set<double> values;
    for (const FigureSeries& line : plot.series) {
      for (const auto& [x, y] : line.points) values.insert(x);
    }
    ticks.assign(values.begin(), values.end());
    if (ticks.size() > 8) ticks = {plot.x_least, plot.x_most};
    return ticks;
  }
  for (int i = 0; i <= 4; ++i) ticks.push_back(plot.x_least + (plot.x_most - plot.x_least) * i / 4);
  return ticks;
}

std::string lines(const Figure& figure, const FigurePlot& plot) {
  const auto at_x = [&](double x) { return kLeft + (kWidth - kLeft - kRight) * plot.x_part(x); };
  const auto at_y = [&](double y) { return kTop + kPlot * (1 - plot.y_part(y)); };
  std::string out = open_svg(figure, kTop + kPlot + kBottom);
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = plot.y_least + (plot.y_most - plot.y_least) * tick / 4;
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, at_y(value), at_y(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, at_y(value) + 4,
                       escape_html(axis_text(plot, value)));
  }
  for (const double x : ticks_of(plot)) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x(x), kTop + kPlot + 18,
                       x == plot.x_most    ? "end"
                       : x == plot.x_least ? "start"
                                           : "middle",
                       escape_html(axis_text(plot, x)));
  }
  std::string legend = "<div class=\"legend\">";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& line = plot.series[i];
    const std::string colour = colour_of(plot, i);
    std::string path = "M";
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f} {:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<path class=\"mid dash-{}\" style=\"stroke:{}\" d=\"{}\"><title>{}</title></path>\n", line.dash,
                       colour, path, escape_html(line.label));
    if (line.points.size() == 1) {
      out += fmt::format("<circle style=\"fill:{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", colour,
                         at_x(line.points[0].first), at_y(line.points[0].second));
    }
    legend += fmt::format(
        "<span><svg class=\"key\" viewBox=\"0 0 26 8\" aria-hidden=\"true\"><path class=\"mid dash-{}\" "
        "style=\"stroke:{}\" "
        "d=\"M0 4H26\"/></svg>{}</span>",
        line.dash, colour, escape_html(shorten(line.label, 60)));
  }
  return out + "</svg>\n" + legend + "</div>\n";
}

}  // namespace

std::string figure_svg(const Figure& figure) {
  const FigurePlot plot = plot_of(figure);
  if (plot.series.empty()) return {};
  const std::string rest =
      plot.left_out > 0 ? fmt::format("<p class=\"faint small\">And {} more.</p>\n", plot.left_out) : "";
  return (plot.bars ? bars(figure, plot) : lines(figure, plot)) + rest;
}

}  // namespace wicprof::reports
