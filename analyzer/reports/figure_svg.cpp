// Drawings of figures: bars, or lines of a legend with at most eight series.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/colours.h"
#include "analyzer/reports/figure_report.h"
#include "analyzer/reports/format.h"

namespace wicprof::analyzer {
namespace {

constexpr double kWidth = 1080, kLeft = 64, kRight = 16, kTop = 14, kPlot = 170, kBottom = 30;
constexpr double kBarHeight = 16, kBarStep = 22, kBarLabel = 380;
constexpr std::size_t kMostBars = 24, kMostLines = kSeriesColours.size();

std::string label_of(const Figure& figure, const std::vector<FigureCell>& row) {
  std::string label;
  for (std::size_t i = 0; i <= figure.series; ++i) {
    if (row[i].is_text) label += (label.empty() ? "" : ", ") + one_line(row[i].text);
  }
  return label;
}

std::optional<double> number_in(const std::vector<FigureCell>& row, std::size_t column) {
  if (!row[column].is_number || !std::isfinite(row[column].number)) return std::nullopt;
  return row[column].number;
}

std::string value_text(const Figure& figure, double value) {
  return figure.shares ? format_percent(value) : fmt::format("{:.3g}", value);
}

std::string bars(const Figure& figure) {
  struct Bar {
    std::string label;
    double value;
  };
  std::vector<Bar> list;
  for (const auto& row : figure.rows) {
    const auto value = number_in(row, figure.y);
    if (value && list.size() < kMostBars) list.push_back({label_of(figure, row), *value});
  }
  if (list.empty()) return {};
  double least = 0, most = figure.shares ? 1 : 0;
  for (const Bar& bar : list) {
    least = std::min(least, bar.value);
    most = std::max(most, bar.value);
  }
  if (most <= least) most = least + 1;
  const double room = kWidth - kBarLabel - 90;
  const auto x = [&](double value) { return kBarLabel + room * (value - least) / (most - least); };
  const double height = kBarStep * static_cast<double>(list.size()) + 6;
  std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth,
                                height, figure.number);
  double y = 3;
  for (const Bar& bar : list) {
    const double from = std::min(x(0), x(bar.value)), upto = std::max(x(0), x(bar.value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kBarLabel - 8, y + 12,
                       escape_html(shorten(bar.label, 58)));
    out += fmt::format("<rect class=\"park\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>", from, y,
                       std::max(0.5, upto - from), kBarHeight);
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", upto + 6, y + 12,
                       escape_html(value_text(figure, bar.value)));
    y += kBarStep;
  }
  return out + "</svg>\n";
}

struct Line {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

std::vector<Line> lines_of(const Figure& figure) {
  std::vector<Line> list;
  for (const auto& row : figure.rows) {
    const auto x = number_in(row, figure.x), y = number_in(row, figure.y);
    if (!x || !y) continue;
    const std::string label = label_of(figure, row);
    auto line = std::find_if(list.begin(), list.end(), [&](const Line& l) { return l.label == label; });
    if (line == list.end()) {
      if (list.size() == kMostLines) continue;
      list.push_back({label, {}});
      line = std::prev(list.end());
    }
    line->points.emplace_back(*x, *y);
  }
  return list;
}

std::string lines(const Figure& figure) {
  const std::vector<Line> list = lines_of(figure);
  if (list.empty()) return {};
  double x_least = list[0].points[0].first, x_most = x_least, y_most = figure.shares ? 1 : 0;
  for (const Line& line : list) {
    for (const auto& [x, y] : line.points) {
      x_least = std::min(x_least, x);
      x_most = std::max(x_most, x);
      y_most = std::max(y_most, y);
    }
  }
  // Numbers of threads go up by factors.
  const bool logarithmic = !figure.shares && x_least > 0;
  const auto scale = [&](double x) { return logarithmic ? std::log(x) : x; };
  const double span = std::max(scale(x_most) - scale(x_least), 1e-12);
  const auto at_x = [&](double x) { return kLeft + (kWidth - kLeft - kRight) * (scale(x) - scale(x_least)) / span; };
  const auto at_y = [&](double y) { return kTop + kPlot * (1 - y / (y_most > 0 ? y_most : 1)); };
  std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth,
                                kTop + kPlot + kBottom, figure.number);
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = y_most * tick / 4;
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, at_y(value), at_y(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, at_y(value) + 4,
                       escape_html(value_text(figure, value)));
  }
  for (const double x : {x_least, x_most}) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x(x), kTop + kPlot + 18,
                       x == x_most ? "end" : "start", escape_html(value_text(figure, x)));
  }
  std::string legend = "<div class=\"legend\">";
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::string path = "M";
    for (const auto& [x, y] : list[i].points) path += fmt::format("{:.1f} {:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", path, css_colour(kSeriesColours[i]));
    if (list[i].points.size() == 1) {
      out += fmt::format("<circle fill=\"{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", css_colour(kSeriesColours[i]),
                         at_x(list[i].points[0].first), at_y(list[i].points[0].second));
    }
    legend += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", css_colour(kSeriesColours[i]),
                          escape_html(shorten(list[i].label, 80)));
  }
  return out + "</svg>\n" + legend + "</div>\n";
}

}  // namespace

std::string figure_svg(const Figure& figure) {
  if (figure.rows.empty()) return {};
  return figure.plot == Figure::Plot::bars ? bars(figure) : lines(figure);
}

}  // namespace wicprof::analyzer
