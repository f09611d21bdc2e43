#include "gui/source/facts.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "analyzer/figures/list.h"

namespace wicprof::gui {

namespace {

// Per segment: bounds the size of the facts. Not calibrated; a chart has far fewer columns.
constexpr std::size_t kMostIterations = 20'000;

void keep_evenly(std::vector<analyzer::Iteration>& list) {
  if (list.size() <= kMostIterations) return;
  for (std::size_t i = 0; i < kMostIterations; ++i) list[i] = list[i * list.size() / kMostIterations];
  list.resize(kMostIterations);
  list.shrink_to_fit();
}

}  // namespace

std::optional<SiteDetail> Facts::detail_of(SiteId site) const {
  if (model) return site_detail(*model, analysis, site);
  const auto found =
      std::find_if(details.begin(), details.end(), [site](const SiteDetail& d) { return d.site == site; });
  return found == details.end() ? std::nullopt : std::optional(*found);
}

Facts make_facts(std::shared_ptr<const analyzer::TraceModel> model, TimeNs known_from) {
  Facts facts;
  analyzer::DrawnAnalysis made = analyzer::analyze_to_draw(*model);
  facts.analysis = std::move(made.analysis);
  facts.comparison = analyzer::compare(*model);
  facts.before_after = before_after(*model, facts.comparison, known_from);
  const analyzer::FigureInput input{std::move(made.drawn)};
  for (const analyzer::FigureInfo& info : analyzer::figures())
    facts.figures.push_back(analyzer::make_figure(info.number, input));
  facts.model = std::move(model);
  return facts;
}

Facts make_portable_facts(std::shared_ptr<const analyzer::TraceModel> model) {
  Facts facts = make_facts(std::move(model));
  for (const analyzer::SiteStats& site : facts.analysis.sites) {
    if (auto detail = facts.detail_of(site.site)) facts.details.push_back(*std::move(detail));
  }
  for (analyzer::Segment& segment : facts.comparison.segments) keep_evenly(segment.iterations);
  if (facts.analysis.iterations) keep_evenly(facts.analysis.iterations->list);
  facts.analysis.path.segments.clear();
  facts.model.reset();
  return facts;
}

Result<> write_facts(const std::string& path) {
  [[maybe_unused]] const int other = nice(10);  // the waiting window has priority
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error();
  const std::size_t slash = path.rfind('/');
  Result<analyzer::TraceModel> model =
      analyzer::load(*reader, slash == std::string::npos ? path : path.substr(slash + 1));
  if (!model) return model.error();
  const std::string bytes =
      pack_facts(make_portable_facts(std::make_shared<const analyzer::TraceModel>(*std::move(model))));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
    if (put <= 0) return unavailable("cannot write the results of " + path);
    at += static_cast<std::size_t>(put);
  }
  return ok();
}

}  // namespace wicprof::gui
