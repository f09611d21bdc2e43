// Drawings of figures: bars, or lines with a legend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/figures/plot.h"
#include "analyzer/reports/figure_report.h"
#include "analyzer/reports/format.h"

namespace wicprof::analyzer {
namespace {

constexpr double kWidth = 1080, kLeft = 64, kRight = 16, kTop = 14, kPlot = 170, kBottom = 30;
constexpr double kBarHeight = 16, kBarStep = 22, kBarLabel = 380;
/// Lines of one state are told apart by their dashes.
constexpr const char* kDashes[] = {"none", "7 4", "2 3", "9 3 2 3"};

std::string fill_of(const FigureSeries& series, std::size_t place) {
  return series.state ? fmt::format("var(--{})", look_of(*series.state).token) : css_colour(kSeriesColours[place % kSeriesColours.size()]);
}

std::string bars(const Figure& figure, const FigurePlot& plot) {
  const double room = kWidth - kBarLabel - 90;
  const auto x = [&](double value) { return kBarLabel + room * plot.y_part(value); };
  const double height = kBarStep * static_cast<double>(plot.series.size()) + 6;
  std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth,
                                height, figure.number);
  double y = 3;
  for (const FigureSeries& bar : plot.series) {
    const double value = bar.points[0].second;
    const double from = std::min(x(0), x(value)), upto = std::max(x(0), x(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kBarLabel - 8, y + 12,
                       escape_html(shorten(bar.label, 58)));
    out += fmt::format("<rect style=\"fill:{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>",
                       bar.state ? fill_of(bar, 0) : "var(--faint)", from, y, std::max(0.5, upto - from), kBarHeight);
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", upto + 6, y + 12,
                       escape_html(plot.value_text(value)));
    y += kBarStep;
  }
  return out + "</svg>\n";
}

std::string lines(const Figure& figure, const FigurePlot& plot) {
  const auto at_x = [&](double x) { return kLeft + (kWidth - kLeft - kRight) * plot.x_part(x); };
  const auto at_y = [&](double y) { return kTop + kPlot * (1 - plot.y_part(y)); };
  std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth,
                                kTop + kPlot + kBottom, figure.number);
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = plot.y_least + (plot.y_most - plot.y_least) * tick / 4;
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, at_y(value), at_y(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, at_y(value) + 4,
                       escape_html(plot.value_text(value)));
  }
  for (const double x : {plot.x_least, plot.x_most}) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x(x), kTop + kPlot + 18,
                       x == plot.x_most ? "end" : "start", escape_html(plot.value_text(x)));
  }
  std::string legend = "<div class=\"legend\">";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& line = plot.series[i];
    const std::string colour = fill_of(line, i);
    const auto before = std::count_if(plot.series.begin(), plot.series.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const FigureSeries& other) { return line.state && other.state == line.state; });
    const char* dashes = kDashes[static_cast<std::size_t>(before) % std::size(kDashes)];
    std::string path = "M";
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f} {:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<path d=\"{}\" style=\"fill:none;stroke:{};stroke-dasharray:{}\" stroke-width=\"1.6\"/>\n", path, colour, dashes);
    if (line.points.size() == 1) {
      out += fmt::format("<circle style=\"fill:{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", colour, at_x(line.points[0].first),
                         at_y(line.points[0].second));
    }
    legend += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", colour, escape_html(shorten(line.label, 80)));
  }
  return out + "</svg>\n" + legend + "</div>\n";
}

}  // namespace

std::string figure_svg(const Figure& figure) {
  const FigurePlot plot = plot_of(figure);
  if (plot.series.empty()) return {};
  return plot.bars ? bars(figure, plot) : lines(figure, plot);
}

}  // namespace wicprof::analyzer
