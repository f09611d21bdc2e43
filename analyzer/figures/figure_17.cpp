#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "analyzer/compare/run_series.h"
#include "analyzer/figures/list.h"

namespace wicprof::analyzer {
namespace {

/// The value of an option in a command: of `--rival NAME` or `--rival=NAME`; empty without it.
std::string option_of(const TraceModel& model, const std::string& option) {
  std::istringstream words(model.meta_value(store::MetaKey::command));
  std::string value;
  for (std::string word; words >> word;) {
    if (word == option) words >> value;
    if (word.starts_with(option + "=")) value = word.substr(option.size() + 1);
  }
  return value;
}

/// Sites have the same names whatever the way of waiting: samples have "naive" in those that are polled with atomics.
RunSeries series_with_plain_names(const TraceModel& model) {
  static constexpr std::string_view kNaive = ".naive";
  RunSeries series = series_of(model);
  for (RunUnits& units : series.units) {
    std::string& name = units.iterations.site_name;
    if (const std::size_t at = name.find(kNaive); at != std::string::npos) name.erase(at, kNaive.size());
  }
  return series;
}

/// A trace as one of the figure's bars.
struct Contender {
  const FigureTrace* trace = nullptr;
  std::string waiting;  ///< naive, poll or park
  std::string rival;    ///< empty: the program's own way of moving messages

  std::string name() const { return rival.empty() ? waiting : waiting + " with " + rival; }
  /// The figure's baseline is Algorithm 1; without it, tuned polling. Smaller is preferred; 2: no baseline.
  int rank() const { return !rival.empty() ? 2 : waiting == "naive" ? 0 : waiting == "poll" ? 1 : 2; }
};

Contender contender_of(const FigureTrace& trace) {
  Contender contender{&trace, "poll", option_of(trace.model, "--rival")};
  const bool parks = trace.modes.at(0, trace.model.begin) == Mode::park;
  const bool naive = option_of(trace.model, "--wait") == "naive" || option_of(trace.model, "-w") == "naive";
  if (parks) contender.waiting = "park";
  if (!parks && naive) contender.waiting = "naive";
  return contender;
}

/// Appends the rows of one application.
void add_rows(Figure& figure, const std::string& application, const std::vector<Contender>& contenders) {
  const auto baseline = std::min_element(contenders.begin(), contenders.end(),
                                         [](const auto& a, const auto& b) { return a.rank() < b.rank(); });
  if (baseline->rank() == 2) {
    figure.notes.push_back(application + ": left out, without a trace of --wait naive or of tuned polling");
    return;
  }
  if (contenders.size() == 1) return;
  const RunSeries baseline_series = series_with_plain_names(baseline->trace->model);
  for (const Contender& contender : contenders) {
    if (&contender == &*baseline) continue;
    const Comparison comparison = compare_runs({baseline_series}, {series_with_plain_names(contender.trace->model)},
                                               baseline->trace->model.name, contender.trace->model.name);
    const std::optional<Speedup>& speedup = comparison.speedup;
    if (!speedup) figure.notes.push_back(contender.trace->model.name + ": " + comparison.reason);
    const std::optional<SiteWaits> whole =
        contender.trace->waits.whole(contender.waiting == "park" ? Mode::park : Mode::poll);
    figure.rows.push_back(
        {application, contender.name(), speedup ? FigureCell(speedup->value) : FigureCell{},
         speedup ? FigureCell(speedup->low) : FigureCell{}, speedup ? FigureCell(speedup->high) : FigureCell{},
         whole ? cell(whole->consumer_share) : FigureCell{}, baseline->name(), contender.trace->model.name});
  }
}

}  // namespace

template <>
Figure figure<17>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "speedup = median iteration of the application's baseline / of this contender, as compare estimates it; low and "
      "high: its interval. The baseline is --wait naive, or without it tuned polling. A contender is a way of waiting, "
      "and a way of moving messages where the program ran with --rival. consumer_share as in figure 2";
  figure.columns = {"application", "contender", "speedup", "low", "high", "consumer_share", "baseline", "trace"};
  figure.series = 1;
  figure.y = 2;
  std::map<std::string, std::vector<Contender>> applications;
  for (const auto& trace : input) {
    if (trace->modes.both()) {
      figure.notes.push_back(trace->model.name + ": left out, since it polls and parks; record one mode per trace");
      continue;
    }
    applications[trace->model.meta_value(store::MetaKey::app)].push_back(contender_of(*trace));
  }
  for (const auto& [application, contenders] : applications) add_rows(figure, application, contenders);
  if (figure.rows.empty()) {
    figure.missing =
        "the figure compares traces of one application: name a trace of --wait naive or of tuned polling, and others "
        "of "
        "--rival NAME or --mode park";
  }
  return figure;
}

}  // namespace wicprof::analyzer
