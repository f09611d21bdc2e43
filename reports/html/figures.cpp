// The WIC paper's figures for this program, and why others cannot be drawn.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/figures/list.h"
#include "analyzer/measure/tasks.h"
#include "reports/html/elements.h"
#include "reports/html/figure_svg.h"
#include "reports/html/sections.h"

namespace wicprof::reports::html {

std::string figures_part(const TraceModel& model, std::shared_ptr<const FigureTrace> trace) {
  const FigureInput input{std::move(trace)};
  const std::span<const FigureInfo> all = figures();
  std::vector<Figure> made(all.size());
  Tasks tasks;
  for (std::size_t i = 0; i < all.size(); ++i) tasks.add([&, i] { made[i] = make_figure(all[i].number, input); });
  tasks.run();
  std::string drawn, missing;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FigureInfo& info = all[i];
    const Figure& figure = made[i];
    if (!figure.missing.empty()) {
      missing += fmt::format("<li>Figure {}: {}. Could not look: {}.</li>\n", info.number, text_of(figure.title),
                             text_of(figure.missing));
      continue;
    }
    drawn += fmt::format("<figure id=\"figure-{}\">\n<h3>Figure {}: {}</h3>\n", info.number, info.number,
                         text_of(figure.title));
    drawn += figure_svg(figure) +
             fmt::format("<figcaption class=\"faint small\">{}.</figcaption>\n", text_of(figure.formula));
    for (const std::string& note : figure.notes) drawn += remark("Note: " + note + ".");
    drawn += command_line(analyze_command(model, fmt::format("--figure {}", info.number))) + "</figure>\n";
  }
  if (!drawn.empty()) drawn = "<div class=\"figures\">\n" + drawn + "</div>\n";
  if (!missing.empty()) missing = "<h3>Not drawn</h3>\n<ul class=\"small faint\">\n" + missing + "</ul>\n";
  return section("figures", "The WIC paper's figures for this program", drawn + missing);
}

}  // namespace wicprof::reports::html
