#include "analyzer/figures/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

constexpr std::size_t kMaxBars = 24, kMaxLines = kSeriesColours.size();
/// Bars whose values differ by a larger factor have logarithmic lengths, or the short ones would not be visible. Not
/// calibrated.
constexpr double kLogarithmicFrom = 200;

/// Omits the trace's name if all rows are of one trace and another column distinguishes them.
std::string label_of(const Figure& figure, const std::vector<FigureCell>& row, bool one_trace) {
  std::string label;
  for (std::size_t i = one_trace && figure.series > 0 ? 1 : 0; i <= figure.series; ++i) {
    if (row[i].is_text) label += (label.empty() ? "" : ", ") + one_line(row[i].text);
  }
  return label;
}

std::optional<std::size_t> column_of(const Figure& figure, std::string_view name) {
  const auto found = std::find(figure.columns.begin(), figure.columns.end(), name);
  if (found == figure.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - figure.columns.begin());
}

std::optional<double> number_in(const std::vector<FigureCell>& row, std::optional<std::size_t> column) {
  if (!column || !row[*column].is_number || !std::isfinite(row[*column].number)) return std::nullopt;
  return row[*column].number;
}

std::string title_of(std::string column) {
  std::replace(column.begin(), column.end(), '_', ' ');
  return column;
}

void add_ranges(const Figure& figure, FigurePlot& plot) {
  plot.x_least = plot.x_most = plot.series[0].points[0].first;
  plot.y_most = figure.shares ? 1 : 0;
  for (const FigureSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      plot.x_least = std::min(plot.x_least, x);
      plot.x_most = std::max(plot.x_most, x);
      plot.y_least = std::min({plot.y_least, y, series.low.value_or(y)});
      plot.y_most = std::max({plot.y_most, y, series.high.value_or(y)});
    }
  }
  if (plot.y_most <= plot.y_least) plot.y_most = plot.y_least + 1;
  if (figure.shares) return;
  if (!plot.bars) {
    plot.logarithmic = plot.x_least > 0;
    return;
  }
  const auto [least, most] =
      std::minmax_element(plot.series.begin(), plot.series.end(),
                          [](const auto& a, const auto& b) { return a.points[0].second < b.points[0].second; });
  const double smallest = least->points[0].second;
  plot.logarithmic = smallest > 0 && plot.y_least >= 0 && most->points[0].second / smallest > kLogarithmicFrom;
}

}  // namespace

double FigurePlot::x_part(double x) const {
  const auto scale = [&](double value) { return logarithmic && !bars ? std::log(value) : value; };
  return (scale(x) - scale(x_least)) / std::max(scale(x_most) - scale(x_least), 1e-12);
}

double FigurePlot::y_part(double y) const {
  if (logarithmic && bars) return std::log1p(std::max(y, 0.0)) / std::log1p(y_most);
  return (y - y_least) / std::max(y_most - y_least, 1e-12);
}

std::string FigurePlot::value_text(double value) const {
  if (shares) return format_percent(value);
  return std::abs(value) < 1000 ? fmt::format("{:.3g}", value) : format_number(value);
}

FigurePlot plot_of(const Figure& figure) {
  FigurePlot plot;
  plot.bars = figure.plot == Figure::Plot::bars;
  plot.shares = figure.shares;
  const auto mode = column_of(figure, "mode"), low = column_of(figure, "low"), high = column_of(figure, "high");
  const auto deviation = column_of(figure, "deviation");
  const bool one_trace = std::all_of(figure.rows.begin(), figure.rows.end(), [&](const auto& row) {
    return figure.columns[0] == "trace" && row[0].text == figure.rows[0][0].text;
  });
  for (const std::vector<FigureCell>& row : figure.rows) {
    const auto x = plot.bars ? std::optional(0.0) : number_in(row, figure.x), y = number_in(row, figure.y);
    if (!x || !y) continue;
    const std::string label = label_of(figure, row, one_trace);
    auto series = plot.bars ? plot.series.end()
                            : std::find_if(plot.series.begin(), plot.series.end(),
                                           [&](const auto& s) { return s.label == label; });
    if (series == plot.series.end()) {
      if (plot.series.size() == (plot.bars ? kMaxBars : kMaxLines)) {
        ++plot.left_out;
        continue;
      }
      FigureSeries fresh{label, std::nullopt, {}, std::nullopt, std::nullopt, 0};
      if (mode && row[*mode].is_text) {
        if (const auto known = mode_from_name(row[*mode].text))
          fresh.state = *known == Mode::park ? State::parked : State::polling;
      }
      if (plot.bars) {
        fresh.low = number_in(row, low);
        fresh.high = number_in(row, high);
        if (const auto by = number_in(row, deviation)) {
          fresh.low = *y - *by;
          fresh.high = *y + *by;
        }
      }
      if (fresh.state) {
        const auto same = std::count_if(plot.series.begin(), plot.series.end(),
                                        [&](const auto& s) { return s.state == fresh.state; });
        fresh.dash = static_cast<std::size_t>(same) % kDashes;
      }
      plot.series.push_back(std::move(fresh));
      series = std::prev(plot.series.end());
    }
    series->points.emplace_back(*x, *y);
  }
  if (plot.series.empty()) return plot;
  plot.x_title = plot.bars ? "" : title_of(figure.columns[figure.x]);
  plot.y_title = title_of(figure.columns[figure.y]);
  add_ranges(figure, plot);
  return plot;
}

}  // namespace wicprof::analyzer
