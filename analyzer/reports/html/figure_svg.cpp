// Drawings of figures: bars, or lines with a legend. What is polled and what is parked has the colours of the timeline; sites
// differ by their dashes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "analyzer/reports/figure_report.h"
#include "analyzer/reports/format.h"

namespace wicprof::analyzer {
namespace {

constexpr double kWidth = 540, kLeft = 52, kRight = 14, kTop = 12, kPlot = 170, kBottom = 26;
constexpr double kBarHeight = 15, kBarStep = 21, kBarLabel = 190, kBarValue = 64;
constexpr std::size_t kLabelWidth = 30;
constexpr std::size_t kMostBars = 24, kMostLines = 8, kDashes = 4;
/// Bars of values that differ by more than this are drawn by their logarithms.
constexpr double kLogarithmicFrom = 200;

std::optional<std::size_t> column_named(const Figure& figure, std::string_view name) {
  const auto at = std::find(figure.columns.begin(), figure.columns.end(), name);
  if (at == figure.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - figure.columns.begin());
}

using Row = std::vector<FigureCell>;

std::optional<double> number_in(const Row& row, std::optional<std::size_t> column) {
  if (!column || !row[*column].is_number || !std::isfinite(row[*column].number)) return std::nullopt;
  return row[*column].number;
}

/// The texts that name a row; without the trace's where there is only one.
class Names {
 public:
  explicit Names(const Figure& figure) : figure_(figure), mode_(column_named(figure, "mode")), site_(column_named(figure, "site")) {
    std::set<std::string> traces;
    const auto trace = column_named(figure, "trace");
    for (const Row& row : figure.rows) {
      if (trace) traces.insert(row[*trace].text);
    }
    if (trace && traces.size() == 1 && figure.series > 0) left_out_ = trace;
  }

  std::string label(const Row& row) const {
    std::string text;
    for (std::size_t i = 0; i <= figure_.series; ++i) {
      if (row[i].is_text && i != left_out_) text += (text.empty() ? "" : ", ") + one_line(row[i].text);
    }
    return text;
  }
  std::string_view css(const Row& row) const {
    if (mode_ && row[*mode_].text == "poll") return "poll";
    return mode_ && row[*mode_].text == "park" ? "park" : "kernel";
  }
  std::string site(const Row& row) const { return site_ ? row[*site_].text : label(row); }

 private:
  const Figure& figure_;
  std::optional<std::size_t> mode_, site_, left_out_;
};

std::string value_text(const Figure& figure, double value) {
  if (figure.shares) return format_percent(value);
  return std::abs(value) >= 1000 ? format_number(value) : fmt::format("{:.3g}", value);
}

std::string open_svg(const Figure& figure, double height) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Figure {}\">\n", kWidth, height, figure.number);
}

struct Bar {
  std::string label;
  std::string_view css;
  double value = 0;
  std::optional<double> low, high;  ///< its interval
};

std::vector<Bar> bars_of(const Figure& figure) {
  const Names names(figure);
  const auto low = column_named(figure, "low"), high = column_named(figure, "high");
  const auto deviation = column_named(figure, "deviation");
  std::vector<Bar> list;
  for (const Row& row : figure.rows) {
    const auto value = number_in(row, figure.y);
    if (!value || list.size() == kMostBars) continue;
    Bar bar{names.label(row), names.css(row), *value, number_in(row, low), number_in(row, high)};
    if (const auto by = number_in(row, deviation)) {
      bar.low = *value - *by;
      bar.high = *value + *by;
    }
    list.push_back(std::move(bar));
  }
  return list;
}

std::string bars(const Figure& figure) {
  const std::vector<Bar> list = bars_of(figure);
  if (list.empty()) return {};
  double least = 0, most = figure.shares ? 1 : 0, smallest = list[0].value;
  for (const Bar& bar : list) {
    least = std::min({least, bar.value, bar.low.value_or(0)});
    most = std::max({most, bar.value, bar.high.value_or(0)});
    smallest = std::min(smallest, bar.value);
  }
  if (most <= least) most = least + 1;
  const bool logarithmic = !figure.shares && smallest > 0 && most / smallest > kLogarithmicFrom;
  const double room = kWidth - kBarLabel - kBarValue;
  const auto x = [&](double value) {
    if (logarithmic) return kBarLabel + room * std::log1p(std::max(value, 0.0)) / std::log1p(most);
    return kBarLabel + room * (value - least) / (most - least);
  };
  std::string out = open_svg(figure, kBarStep * static_cast<double>(list.size()) + 6);
  double y = 3;
  for (const Bar& bar : list) {
    const double from = std::min(x(0), x(bar.value)), upto = std::max(x(0), x(bar.value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}<title>{}</title></text>", kBarLabel - 8, y + 12,
                       escape_html(shorten(bar.label, kLabelWidth)), escape_html(bar.label));
    out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"2\"/>", bar.css, from, y,
                       std::max(0.5, upto - from), kBarHeight);
    double text_at = upto;
    if (bar.low && bar.high) {
      text_at = std::max(upto, x(*bar.high));
      out += fmt::format("<path class=\"whisker\" d=\"M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}v6M{:.1f} {:.1f}v6\"/>", x(*bar.low),
                         y + kBarHeight / 2, x(*bar.high), x(*bar.low), y + kBarHeight / 2 - 3, x(*bar.high), y + kBarHeight / 2 - 3);
    }
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", text_at + 6, y + 12,
                       escape_html(value_text(figure, bar.value)));
    y += kBarStep;
  }
  return out + "</svg>\n" + (logarithmic ? "<p class=\"faint small\">Lengths are logarithmic.</p>\n" : "");
}

struct Line {
  std::string label;
  std::string_view css;
  std::size_t dash = 0;
  std::vector<std::pair<double, double>> points;
};

std::vector<Line> lines_of(const Figure& figure) {
  const Names names(figure);
  std::vector<Line> list;
  std::vector<std::string> sites;
  for (const Row& row : figure.rows) {
    const auto x = number_in(row, figure.x), y = number_in(row, figure.y);
    if (!x || !y) continue;
    const std::string label = names.label(row);
    auto line = std::find_if(list.begin(), list.end(), [&](const Line& l) { return l.label == label; });
    if (line == list.end()) {
      if (list.size() == kMostLines) continue;
      auto site = std::find(sites.begin(), sites.end(), names.site(row));
      if (site == sites.end()) site = sites.insert(sites.end(), names.site(row));
      list.push_back({label, names.css(row), static_cast<std::size_t>(site - sites.begin()) % kDashes, {}});
      line = std::prev(list.end());
    }
    line->points.emplace_back(*x, *y);
  }
  return list;
}

/// Where to write along x: quarters, or the values themselves where these go up by factors.
std::vector<double> ticks_of(const std::vector<Line>& list, bool logarithmic, double least, double most) {
  std::vector<double> ticks;
  if (logarithmic) {
    std::set<double> values;
    for (const Line& line : list) {
      for (const auto& [x, y] : line.points) values.insert(x);
    }
    ticks.assign(values.begin(), values.end());
    if (ticks.size() > 8) ticks = {least, most};
    return ticks;
  }
  for (int i = 0; i <= 4; ++i) ticks.push_back(least + (most - least) * i / 4);
  return ticks;
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
  std::string out = open_svg(figure, kTop + kPlot + kBottom);
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = y_most * tick / 4;
    out += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, at_y(value), at_y(value));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, at_y(value) + 4,
                       escape_html(figure.shares ? fmt::format("{:.0f} %", value * 100) : value_text(figure, value)));
  }
  for (const double x : ticks_of(list, logarithmic, x_least, x_most)) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x(x), kTop + kPlot + 18,
                       x == x_most ? "end" : x == x_least ? "start" : "middle",
                       escape_html(figure.shares ? fmt::format("{:.0f} %", x * 100) : value_text(figure, x)));
  }
  std::string legend = "<div class=\"legend\">";
  for (const Line& line : list) {
    const std::string css = fmt::format("mid {} dash-{}", line.css, line.dash);
    std::string path = "M";
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f} {:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n", css, path, escape_html(line.label));
    if (line.points.size() == 1) {
      out += fmt::format("<circle class=\"{}\" r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", line.css, at_x(line.points[0].first),
                         at_y(line.points[0].second));
    }
    legend += fmt::format("<span><svg class=\"key\" viewBox=\"0 0 26 8\" aria-hidden=\"true\"><path class=\"{}\" d=\"M0 4H26\"/></svg>{}</span>",
                          css, escape_html(shorten(line.label, 60)));
  }
  return out + "</svg>\n" + legend + "</div>\n";
}

}  // namespace

std::string figure_svg(const Figure& figure) {
  if (figure.rows.empty()) return {};
  return figure.plot == Figure::Plot::bars ? bars(figure) : lines(figure);
}

}  // namespace wicprof::analyzer
