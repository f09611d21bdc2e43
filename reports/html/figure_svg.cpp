// Bars, or lines with a legend. Series of waits that poll or park have the colours of the timeline.
#include "reports/html/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/figures/plot.h"
#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

constexpr double kRight = 14, kTop = 12, kPlot = 170, kBottom = 26;
constexpr double kBarHeight = 15, kBarStep = 21, kBarValue = 64;

/// What a drawing has space for: for a desktop, or for a phone.
struct Space {
  std::string_view css;
  double width, left;
  double bar_label;              ///< width of the names of bars
  std::size_t label_characters;  ///< of such a name
  int gaps;                      ///< between the labels along x
};
constexpr Space kWide{"wide", 540, 52, 190, 30, 4}, kNarrow{"narrow", 340, 52, 132, 20, 2};

/// The class that drawing_style.cpp gives a colour.
std::string class_of(const FigurePlot& plot, std::size_t place) {
  const FigureSeries& series = plot.series[place];
  if (series.state) return std::string(look_of(*series.state).token);
  return plot.bars ? "faint" : fmt::format("series-{}", place % kSeriesColours.size());
}

/// Labels of an axis have no decimals.
std::string axis_text(const FigurePlot& plot, double value) {
  return plot.shares ? fmt::format("{:.0f} %", value * 100) : plot.value_text(value);
}

std::string open_svg(const Figure& figure, double height, const Space& space) {
  return fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n",
                     space.css, space.width, height, figure.number);
}

std::string bars(const Figure& figure, const FigurePlot& plot, const Space& space) {
  const auto x = [&](double value) {
    return space.bar_label + (space.width - space.bar_label - kBarValue) * plot.y_part(value);
  };
  std::string out = open_svg(figure, kBarStep * static_cast<double>(plot.series.size()) + 6, space);
  double y = 3;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& bar = plot.series[i];
    const double value = bar.points[0].second;
    const double from = std::min(x(0), x(value)), upto = std::max(x(0), x(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}<title>{}</title></text>",
                       space.bar_label - 8, y + 12, escape_html(shorten(bar.label, space.label_characters)),
                       escape_html(bar.label));
    out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"2\"/>",
                       class_of(plot, i), from, y, std::max(0.5, upto - from), kBarHeight);
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
  return out + "</svg>\n";
}

/// Positions of labels along x: equal distances, or the values themselves on a logarithmic axis.
std::vector<double> ticks_of(const FigurePlot& plot, const Space& space) {
  std::vector<double> ticks;
  if (plot.logarithmic) {
    std::set<double> values;
    for (const FigureSeries& line : plot.series) {
      for (const auto& [x, y] : line.points) values.insert(x);
    }
    ticks.assign(values.begin(), values.end());
    if (ticks.size() > 2 * static_cast<std::size_t>(space.gaps)) ticks = {plot.x_least, plot.x_most};
    return ticks;
  }
  for (int i = 0; i <= space.gaps; ++i) ticks.push_back(plot.x_least + (plot.x_most - plot.x_least) * i / space.gaps);
  return ticks;
}

std::string lines(const Figure& figure, const FigurePlot& plot, const Space& space) {
  const auto at_x = [&](double x) { return space.left + (space.width - space.left - kRight) * plot.x_part(x); };
  const auto at_y = [&](double y) { return kTop + kPlot * (1 - plot.y_part(y)); };
  std::string out = open_svg(figure, kTop + kPlot + kBottom, space);
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = plot.y_least + (plot.y_most - plot.y_least) * tick / 4;
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", space.left,
                       space.width - kRight, at_y(value), at_y(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", space.left - 6,
                       at_y(value) + 4, escape_html(axis_text(plot, value)));
  }
  for (const double x : ticks_of(plot, space)) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x(x), kTop + kPlot + 18,
                       x == plot.x_most    ? "end"
                       : x == plot.x_least ? "start"
                                           : "middle",
                       escape_html(axis_text(plot, x)));
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& line = plot.series[i];
    const std::string css = class_of(plot, i);
    std::string path = "M";
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f} {:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<path class=\"mid {} dash-{}\" d=\"{}\"><title>{}</title></path>\n", css, line.dash, path,
                       escape_html(line.label));
    if (line.points.size() == 1) {
      out += fmt::format("<circle class=\"{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", css,
                         at_x(line.points[0].first), at_y(line.points[0].second));
    }
  }
  return out + "</svg>\n";
}

std::string legend_of(const FigurePlot& plot) {
  if (plot.bars) return plot.logarithmic ? "<p class=\"faint small\">Lengths are logarithmic.</p>\n" : "";
  std::string legend = "<div class=\"legend\">";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    legend += fmt::format(
        "<span><svg class=\"key\" viewBox=\"0 0 26 8\" width=\"26\" height=\"8\" aria-hidden=\"true\"><path "
        "class=\"mid "
        "{} dash-{}\" d=\"M0 4H26\"/></svg> {}</span> ",
        class_of(plot, i), plot.series[i].dash, escape_html(shorten(plot.series[i].label, 60)));
  }
  return legend + "</div>\n";
}

}  // namespace

std::string figure_svg(const Figure& figure) {
  const FigurePlot plot = plot_of(figure);
  if (plot.series.empty()) return {};
  const std::string rest =
      plot.left_out > 0 ? fmt::format("<p class=\"faint small\">And {} more.</p>\n", plot.left_out) : "";
  const auto draw = plot.bars ? bars : lines;
  return draw(figure, plot, kWide) + draw(figure, plot, kNarrow) + legend_of(plot) + rest;
}

}  // namespace wicprof::reports
