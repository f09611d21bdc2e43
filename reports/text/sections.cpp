#include "reports/text/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyzer/rules/remedy.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kPairs = 8;

}  // namespace

std::string loss_text(const Analysis& analysis, const Screen& screen) {
  if (analysis.loss.empty()) return {};
  std::string title = loss_title(analysis);
  const std::size_t end = std::min(title.find(':'), title.size());
  std::transform(title.begin(), title.begin() + static_cast<std::ptrdiff_t>(end), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = "! " + title + "\n";
  for (const Loss& loss : analysis.loss) text += paragraph(screen, loss.text, 4);
  return text + "\n";
}

std::string sites_text(const TraceModel& model, const Analysis& analysis, std::size_t most_sites,
                       const Screen& screen) {
  if (analysis.sites.empty()) return "Wait sites\n" + paragraph(screen, why_no_sites(model, analysis));
  return table_text(sites_table(analysis, most_sites), screen) +
         paragraph(screen,
                   "share: the part of the iterations' time that a waiter spends waiting here; polls: how often it "
                   "looks at the word, per wait");
}

std::string counted_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  const std::string text = table_text(counted_waits_table(analysis, most_sites), screen);
  return text.empty() ? text : text + paragraph(screen, counted_legend(analysis));
}

std::string energy_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::string text = table_text(energy_table(analysis, most), screen);
  if (text.empty()) return text;
  return text + table_text(site_energy_table(analysis, most), screen) + paragraph(screen, energy_legend(analysis));
}

std::string wakes_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  std::string text = table_text(wakes_table(analysis, most_sites), screen);
  if (!text.empty())
    text += paragraph(screen, "from the signal, or from the arrival if that came later, until the waiter went on");
  std::string open;
  for (std::size_t i = 0; i < std::min(most_sites, analysis.sites.size()); ++i) {
    const SiteId site = analysis.sites[i].site;
    const std::string by = released_text(analysis, site), why = open_text(analysis, site);
    if (by.empty() && why.empty()) continue;
    const std::string line = (by.empty() ? "" : "released " + by + (why.empty() ? "" : "; ")) + why;
    open += paragraph(screen, one_line(analysis.sites[i].name) + ": " + line, 2, 2);
  }
  return open.empty() ? text : text + (text.empty() ? "" : "\n") + "Writers of the words of patched loops\n" + open;
}

std::string choices_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  std::string text;
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (!site.choice) continue;
    const std::string line = fmt::format("{}: {}", one_line(site.name), choice_text(site));
    text += paragraph(screen, line, 2, 2);
  }
  return text.empty() ? text : "Choices of auto\n" + text;
}

std::string graphs_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<GraphStats>& graphs = analysis.graphs;
  std::string text;
  const std::size_t shown = std::min(most, graphs.size());
  for (std::size_t i = 0; i < shown; ++i) text += paragraph(screen, graph_text(graphs[i]), 2, 2);
  return text + and_more(graphs.size(), shown, "graph");
}

std::string filling_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::string text = table_text(filling_table(analysis, most), screen);
  return text.empty() ? text
                      : text + paragraph(screen,
                                         "for the launch shape that took the most time; the limit of the occupancy is "
                                         "in brackets; waves of blocks, and how full the last wave is");
}

std::string lateness_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  if (analysis.lateness.by_site.empty()) return {};
  return fmt::format("Why steps were late: {} of host threads\n", count_of(analysis.lateness.steps, "step")) +
         table_text(lateness_table(model, analysis, most), screen) + host_gain_text(model, analysis, screen);
}

std::string host_gain_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  if (!analysis.host_park_gain) return {};
  const Gain& gain = *analysis.host_park_gain;
  const std::string text = fmt::format("without spinning host threads, the run is predicted to be {} (interval: {})",
                                       comparative_text(1 / gain.value), change_interval_text(predicted_change(gain)));
  const std::string command = host_park_command(model);
  if (!command.starts_with("wic-prof ")) return paragraph(screen, text);
  return paragraph(screen, text + "; to measure it:") + command_lines(screen, command);
}

std::string classification_text(const Classification& c, const Screen& screen) {
  const auto sure = [](std::string_view name, double confidence) {
    return confidence > 0 ? fmt::format("{} (confidence {:.2f})", name, confidence) : std::string(name);
  };
  std::string text =
      paragraph(screen,
                fmt::format("Communication: {}; pattern: {}", sure(model_name(c.model), c.model_confidence),
                            sure(pattern_name(c.pattern), c.pattern_confidence)),
                0, 2);
  for (const std::string& line : c.evidence) text += paragraph(screen, "- " + one_line(line), 2, 2);
  if (c.period.count > 0 && c.period.ns > 0) {
    text += paragraph(screen, fmt::format("An iteration is {}: {} of them, {} each (median)", c.period.what,
                                          format_count(c.period.count), format_duration(c.period.ns)));
  }
  if (c.pairs.size() > 1) text += table_text(pairs_table(c, kPairs), screen, 2);
  return text;
}

}  // namespace wicprof::reports
