// Who waited for whom: one matrix for each meaning of a party, the figures of its rows, and the lengths of waits.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/aggregates/distribution.h"
#include "analyzer/aggregates/party_words.h"
#include "analyzer/words/format.h"
#include "reports/html/drawing_style.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"

namespace wicprof::reports::html {
namespace {

using analyzer::FigureColumn;
using analyzer::kFigureColumns;
using analyzer::kWaitWays;
using analyzer::PartyCell;
using analyzer::PartyMatrix;
using analyzer::WaitDistribution;
using analyzer::WaitFigures;
using analyzer::WaitFilter;
using analyzer::WaitWay;
using analyzer::WayFigures;

/// Sites with a histogram of their own; more would make the page long. Not calibrated.
constexpr std::size_t kMaxHistograms = 8;
constexpr double kBars = 150, kLeft = 44, kBelowBars = 22, kAboveBars = 8;

/// What a drawing has space for: on a desktop, or on a phone.
struct HistogramSpace {
  std::string_view css;
  double width;
  std::size_t labels;  ///< along x
};
constexpr HistogramSpace kWideHistogram{"wide", 540, 5}, kNarrowHistogram{"narrow", 340, 3};

struct Choice {
  std::string label, body;
};

/// Radio buttons that choose one of the contents. `id` is unique on the page.
std::string pick(std::string_view id, const std::vector<Choice>& choices) {
  if (choices.size() == 1) return choices.front().body;
  std::string out = "<div class=\"pick\">\n";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    out += fmt::format("<input type=\"radio\" name=\"{0}\" id=\"{0}-{1}\"{2} /><label for=\"{0}-{1}\">{3}</label>\n",
                       id, i, i == 0 ? " checked" : "", choices[i].label);
  }
  for (const Choice& choice : choices) out += "<div class=\"picked\">\n" + choice.body + "</div>\n";
  return out + "</div>\n";
}

std::string cell_html(const TraceModel& model, const PartyMatrix& matrix, const PartyCell& cell, TimeNs most) {
  const WaitFigures& figures = cell.figures;
  // The value stays where buttons are hidden: on paper, and without a timeline.
  std::string out = fmt::format("<span title=\"{}\">{}</span> ", text_of(cell_sentence(matrix, cell)),
                                format_duration(figures.waiting_ns));
  out += meter(most > 0 ? static_cast<double>(figures.waiting_ns) / static_cast<double>(most) : 0, "faint") + " ";
  if (figures.wake_p50_ns)
    out += fmt::format("<span class=\"faint small\">wake {}</span><br>", format_duration(*figures.wake_p50_ns));
  if (figures.worst) {
    out += fmt::format(
        "<button hidden type=\"button\" class=\"jump small\" data-site=\"{}\" data-from=\"{}\" data-to=\"{}\" "
        "title=\"the longest wait on the timeline\">longest {}</button>",
        figures.worst->site, figures.worst->begin - model.begin, figures.worst->end - model.begin,
        format_duration(figures.max_ns));
  }
  return out;
}

std::string matrix_table(const TraceModel& model, const PartyMatrix& matrix) {
  TimeNs most = 0;
  for (const PartyCell& cell : matrix.cells) most = std::max(most, cell.figures.waiting_ns);
  std::vector<std::string> header{"who waits, and for whom"};
  for (const analyzer::WaitParty& releaser : matrix.releasers) header.push_back(text_of(party_label(releaser)));
  MarkupTable table(header);
  for (std::size_t row = 0; row < matrix.waiters.size(); ++row) {
    std::vector<Markup> cells{{text_of(party_label(matrix.waiters[row]))}};
    for (std::size_t column = 0; column < matrix.releasers.size(); ++column) {
      const PartyCell* cell = matrix.cell(row, column);
      if (cell == nullptr) {
        cells.emplace_back();
      } else {
        cells.push_back({cell_html(model, matrix, *cell, most), static_cast<double>(cell->figures.waiting_ns)});
      }
    }
    table.add(cells);
  }
  return "<div class=\"matrix\">\n" + table.str() + "</div>\n";
}

MarkupTable figures_table(std::string first) {
  std::vector<std::string> header{std::move(first)};
  for (const FigureColumn& column : kFigureColumns) header.push_back(fmt::format(">{}", column.title));
  return MarkupTable(header);
}

void add_figures(MarkupTable& table, std::string name, const WaitFigures& figures) {
  const auto texts = figure_cells(figures);
  const double values[] = {static_cast<double>(figures.waits),
                           static_cast<double>(figures.waiting_ns),
                           static_cast<double>(figures.p50_ns),
                           static_cast<double>(figures.p99_ns),
                           static_cast<double>(figures.max_ns),
                           static_cast<double>(figures.wake_p50_ns.value_or(-1)),
                           static_cast<double>(figures.wake_p99_ns.value_or(-1)),
                           figures.polls_per_wait().value_or(-1)};
  std::vector<Markup> cells{{std::move(name)}};
  for (std::size_t i = 0; i < texts.size(); ++i)
    cells.push_back(texts[i] == "-" ? Markup{"-"} : Markup{text_of(texts[i]), values[i]});
  table.add(cells);
}

std::string one_matrix(const TraceModel& model, const PartyMatrix& matrix) {
  MarkupTable table = figures_table("who waited");
  for (const analyzer::WaitParty& waiter : matrix.waiters)
    add_figures(table, text_of(party_label(waiter)), waiter.figures);
  return fmt::format("<p>{}</p>\n", text_of(party_sentence(matrix))) + matrix_table(model, matrix) + table.str();
}

/// `way`: only these waits; nothing: all, stacked.
std::string histogram_svg(const analyzer::WaitHistogram& histogram, std::optional<WaitWay> way,
                          const HistogramSpace& space) {
  const double most = static_cast<double>(std::max<std::uint64_t>(1, histogram.most_of(way)));
  const double step = (space.width - kLeft) / static_cast<double>(std::max<std::size_t>(1, histogram.bins.size()));
  std::string out =
      fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"lengths of waits\">\n",
                  space.css, space.width, kAboveBars + kBars + kBelowBars);
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = kAboveBars + kBars * (1 - part);
    out +=
        fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft, space.width, y, y);
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y + 4,
                       format_count(static_cast<std::uint64_t>(part * most)));
  }
  const std::size_t labels_apart = std::max<std::size_t>(1, histogram.bins.size() / space.labels);
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const auto& bin = histogram.bins[i];
    const double x = kLeft + step * static_cast<double>(i);
    double base = kAboveBars + kBars;
    for (const WaitWay one : kWaitWays) {
      if ((way && *way != one) || bin.of(one) == 0) continue;
      const double height = std::max(1.0, kBars * static_cast<double>(bin.of(one)) / most);
      base -= height;
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{} to {}: "
          "{}</title></rect>",
          way_key(one), x + 0.5, base, std::max(0.5, step - 1), height, format_duration(bin.begin),
          format_duration(bin.end), analyzer::count_of(bin.of(one), "wait"));
    }
    if (i % labels_apart == 0 && x < space.width - 54) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", x, kAboveBars + kBars + 15,
                         format_duration(bin.begin));
    }
  }
  return out + "</svg>\n";
}

std::string drawings(const analyzer::WaitHistogram& histogram, std::optional<WaitWay> way) {
  return histogram_svg(histogram, way, kWideHistogram) + histogram_svg(histogram, way, kNarrowHistogram);
}

std::string way_name(WaitWay way) { return std::string(analyzer::look_of(analyzer::state_of_way(way)).name); }

std::string lengths(std::string_view id, const WaitDistribution& distribution) {
  MarkupTable table({"", ">waits", ">p50", ">p99", ">longest", ">polls per wait"});
  for (const WayFigures& way : distribution.ways) {
    const auto texts = figure_cells(way.figures);
    table.add(
        {{fmt::format("<span class=\"legend\"><span>{}{}</span></span>", swatch(way_key(way.way)), way_name(way.way))},
         {texts[0]},
         {texts[2]},
         {texts[3]},
         {texts[4]},
         {texts[7]}});
  }
  std::vector<Choice> choices{{"all", drawings(distribution.histogram, std::nullopt)}};
  if (distribution.ways.size() > 1) {
    for (const WayFigures& way : distribution.ways)
      choices.push_back({way_name(way.way), drawings(distribution.histogram, way.way)});
  }
  const std::string rest = distribution.histogram.instant > 0
                               ? remark(fmt::format("{} shorter than 10 ns not drawn.",
                                                    analyzer::count_of(distribution.histogram.instant, "wait")))
                               : "";
  const std::string drawing = distribution.histogram.bins.empty() ? std::string() : pick(id, choices);
  return "<div class=\"lengths\">\n<div>\n" + drawing + rest + "</div>\n<div>\n" + table.str() + "</div>\n</div>\n";
}

}  // namespace

std::string parties_part(const TraceModel& model, const Analysis& analysis) {
  std::vector<Choice> matrices;
  for (const PartyMatrix& matrix : analysis.parties) {
    if (!matrix.waiters.empty())
      matrices.push_back({std::string(party_by_title(matrix.by)), one_matrix(model, matrix)});
  }
  if (matrices.empty()) {
    const analyzer::NothingToShow why = analyzer::why_no_waits(model);
    return section("parties", "Who waited for whom",
                   fmt::format("<p>{} Next:</p>\n", text_of(why.reason)) + command_line(why.command));
  }
  std::string body = pick("parties-by", matrices) +
                     remark(
                         "Rows wait; columns are who ended the waits: by a signal, or by the end of the kernel or "
                         "copy that a call waited for. Each cell is the waiting time, and the median from the "
                         "signal until the waiter resumed.");
  std::string meanings;
  for (const FigureColumn& column : kFigureColumns)
    meanings += fmt::format("<li>{}: {}</li>\n", text_of(column.title), text_of(column.meaning));
  body += "<details><summary>What the columns mean</summary>\n<ul class=\"small\">\n" + meanings + "</ul></details>\n";
  const std::size_t shown = std::min(kMaxHistograms, analysis.sites.size());
  std::vector<WaitFilter> filters(1 + shown);  // all waits, and those of each site
  for (std::size_t i = 0; i < shown; ++i) filters[1 + i].site = analysis.sites[i].site;
  const std::vector<WaitDistribution> distributions = analyzer::wait_distributions(model, filters);
  body += "<h3>How long the waits take</h3>\n" + lengths("lengths", distributions[0]);
  for (std::size_t i = 0; i < shown; ++i) {
    body += fmt::format("<details><summary>{}</summary>\n{}</details>\n", name_of(analysis.sites[i].name),
                        lengths(fmt::format("lengths-{}", analysis.sites[i].site), distributions[1 + i]));
  }
  body += and_more(analysis.sites.size(), shown, "wait site");
  return section("parties", "Who waited for whom", body, analyze_command(model, "--format json"));
}

}  // namespace wicprof::reports::html
