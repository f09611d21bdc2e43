#include "gui/state_json.h"

#include <nlohmann/json.hpp>

#include "analyzer/figures/plot.h"
#include "analyzer/words/format.h"
#include "gui/actions.h"
#include "gui/view/toggle_words.h"
#include "protocol/own_file.h"

namespace wicprof::gui {

namespace {

using Json = nlohmann::ordered_json;

Json event_json(const App& app, EventRef ref) {
  const auto [begin, end] = time_of(*app.model(), ref);
  return {{"kind", kind_name(ref.kind)},
          {"row", row_of(*app.model(), ref).row},
          {"title", title_of(*app.model(), ref)},
          {"begin_ns", begin - app.timeline()->begin},
          {"end_ns", end - app.timeline()->begin}};
}

Json selected_json(const App& app) {
  Json json = event_json(app, *app.selected);
  for (const Fact& fact : app.selected_facts()) json["facts"][fact.name] = fact.value;
  return json;
}

Json timeline_json(const App& app) {
  const Timeline& timeline = *app.timeline();
  Json tracks = Json::array();
  for (const Track& track : timeline.tracks) {
    std::size_t events = 0;
    for (const SpanRow& row : track.rows) events += row.events();
    tracks.push_back({{"key", track.key},
                      {"group", track.group},
                      {"name", track.name},
                      {"rows", track.rows.size()},
                      {"events", events},
                      {"strip", track.has_strip()},
                      {"most", track.has_readings() ? Json(track.readings.most()) : Json(nullptr)},
                      {"folded", track.folded},
                      {"opened", app.opened.count(track.key) != 0},
                      {"pinned", app.annotations.pinned.count(track.key) != 0}});
  }
  Json interventions = Json::array();
  for (const InterventionMark& mark : timeline.interventions)
    interventions.push_back({{"at_ns", mark.at - timeline.begin}, {"label", mark.label}});
  return {{"span_ns", timeline.end - timeline.begin},
          {"begin_ns", app.window.begin() - timeline.begin},
          {"end_ns", app.window.end() - timeline.begin},
          {"follows", app.window.follows()},
          {"all_edges", app.all_edges},
          {"edges", timeline.edges.size()},
          {"drawn", app.drawn},
          {"tracks", tracks},
          {"interventions", interventions}};
}

Json area_json(const Area& area, TimeNs zero) {
  Json sums = Json::array();
  for (const AreaSum& sum : area.sums)
    sums.push_back({{"state", look_of(sum.state).name}, {"time_ns", sum.time_ns}, {"mean", sum.mean_at_once}});
  Json sites = Json::array();
  for (const AreaSite& site : area.sites)
    sites.push_back({{"name", site.name},
                     {"way", look_of(site.way).name},
                     {"waits", site.waits},
                     {"waiting_ns", site.waiting_ns},
                     {"wake_p50_ns", site.wake_p50_ns ? Json(*site.wake_p50_ns) : Json(nullptr)}});
  return {{"begin_ns", area.begin - zero},
          {"end_ns", area.end - zero},
          {"tracks", area.tracks},
          {"events", area.events},
          {"sums", sums},
          {"sites", sites}};
}

Json segment_json(const SegmentLine& line) {
  return {{"way", line.way},
          {"iterations", line.iterations},
          {"iteration_ns_p50", line.iteration_p50 ? Json(*line.iteration_p50) : Json(nullptr)},
          {"wait_share", line.wait_share},
          {"host_cpus", line.host_cpus ? Json(*line.host_cpus) : Json(nullptr)},
          {"polls_a_wait", line.polls_per_wait ? Json(*line.polls_per_wait) : Json(nullptr)}};
}

Json before_after_json(const BeforeAfter& values) {
  Json segments = Json::array();
  for (const SegmentLine& line : values.segments) segments.push_back(segment_json(line));
  return {{"segments", segments},
          {"before", values.before ? segment_json(*values.before) : Json(nullptr)},
          {"after", values.after ? segment_json(*values.after) : Json(nullptr)},
          {"verdict", analyzer::verdict_name(values.verdict)},
          {"why", values.why},
          {"measured_at", values.measured_at},
          {"sentence", change_sentence(values)},
          {"speedup",
           values.speedup
               ? Json{{"value", values.speedup->value}, {"low", values.speedup->low}, {"high", values.speedup->high}}
               : Json(nullptr)}};
}

Json sites_json(const App& app) {
  Json lines = Json::array();
  for (const SiteLine& line : app.sites) {
    Json cells;
    for (std::size_t i = 0; i < kSiteColumns; ++i) cells[look_of(static_cast<SiteColumn>(i)).key] = line.cells[i];
    lines.push_back(cells);
  }
  Json json{{"sort", look_of(app.sort_by).key}, {"descending", app.sort_descending}, {"lines", lines}};
  if (app.detail) {
    Json percentiles = Json::object();
    for (const auto& [name, value] : app.detail->percentiles) percentiles[name] = value;
    Json bins = Json::array();
    for (const analyzer::WaitHistogram::Bin& bin : app.detail->waits.histogram.bins)
      bins.push_back({{"begin_ns", bin.begin}, {"polling", bin.polling}, {"parked", bin.parked}, {"host", bin.host}});
    json["detail"] = {{"site", app.detail->name}, {"percentiles", percentiles}, {"histogram", bins}};
  }
  return json;
}

Json figures_json(const std::vector<analyzer::Figure>& figures) {
  Json list = Json::array();
  for (const analyzer::Figure& figure : figures) {
    Json series = Json::array();
    for (const analyzer::FigureSeries& one : analyzer::plot_of(figure).series) {
      Json points = Json::array();
      for (const auto& [x, y] : one.points) points.push_back({x, y});
      series.push_back({{"label", one.label},
                        {"state", one.state ? Json(look_of(*one.state).name) : Json(nullptr)},
                        {"points", points}});
    }
    list.push_back({{"number", figure.number}, {"missing", figure.missing}, {"series", series}});
  }
  return list;
}

Json figures_of_waits_json(const analyzer::WaitFigures& figures) {
  return {{"waits", figures.waits},
          {"waiting_ns", figures.waiting_ns},
          {"wake_p50_ns", figures.wake_p50_ns ? Json(*figures.wake_p50_ns) : Json(nullptr)},
          {"longest", figures.worst ? Json(figures.worst->row) : Json(nullptr)}};
}

Json parties_json(const App& app) {
  const PartiesResult& shown = *app.parties_shown;
  Json waiters = Json::array(), releasers = Json::array(), cells = Json::array(), lengths = Json::array();
  for (const analyzer::WaitParty& party : shown.matrix.waiters) waiters.push_back(party_label(party));
  for (const analyzer::WaitParty& party : shown.matrix.releasers) releasers.push_back(party_label(party));
  for (const analyzer::PartyCell& cell : shown.matrix.cells) {
    Json one = figures_of_waits_json(cell.figures);
    one["waiter"] = cell.waiter;
    one["releaser"] = cell.releaser;
    cells.push_back(one);
  }
  if (shown.lengths) {
    for (const analyzer::WayFigures& way : shown.lengths->ways)
      lengths.push_back({{"way", way_key(way.way)}, {"waits", way.figures.waits}});
  }
  return {{"by", party_by_key(shown.matrix.by)},
          {"sentence", party_sentence(shown.matrix)},
          {"waiters", waiters},
          {"releasers", releasers},
          {"cells", cells},
          {"lengths", lengths},
          {"lengths_way", app.lengths_way ? Json(way_key(*app.lengths_way)) : Json(nullptr)}};
}

Json findings_json(const analyzer::Analysis& analysis) {
  Json findings = Json::array();
  for (const analyzer::Finding& finding : analysis.findings)
    findings.push_back(
        {{"rule", finding.rule}, {"site", finding.site_name}, {"severity", analyzer::severity_name(finding.severity)}});
  return findings;
}

Json session_json(const App& app) {
  const SessionView& session = app.session();
  Json toggles = Json::array();
  for (const ToggleOutcome& outcome : session.toggles) {
    toggles.push_back({{"mode", mode_name(outcome.request.mode)},
                       {"strategy", strategy_name(outcome.request.strategy)},
                       {"site", outcome.request.site},
                       {"side", side_name(outcome.request.side)},
                       {"in_effect", outcome.reply.has_value()},
                       {"error", outcome.error ? Json(outcome.error->message) : Json(nullptr)}});
  }
  return {{"name", session.name},
          {"ended", session.ended},
          {"mode", session.status ? Json(mode_name(session.status->mode)) : Json(nullptr)},
          {"host_mode", session.status ? Json(mode_name(session.status->host_mode)) : Json(nullptr)},
          {"sites", session.status ? Json(session.status->sites) : Json::array()},
          {"ab", session.status ? Json(session.status->ab) : Json(nullptr)},
          {"toggles", toggles},
          {"can_undo", app.can_undo()}};
}

Json names_of(const Looks& looks) {
  Json names = Json::array();
  looks.for_each([&](const StateLook& look, bool) { names.push_back(look.name); });
  return names;
}

Json state(const App& app, const Ui& ui) {
  const LoadProgress progress = app.progress();
  Json json{
      {"view", app.view},
      {"file", app.path()},
      {"loading", progress.doing},
      {"error", progress.error ? Json(progress.error->message) : Json(nullptr)},
      {"recording", app.snapshot().recording},
      {"large", app.snapshot().large},
      {"cut", app.snapshot().cut},
      {"dark", app.annotations.dark},
      {"notice", app.notice},
      {"help", app.help},
      {"palette", app.palette},
      {"searching", app.searching},
      {"drawn", names_of(ui.drawn)},
      {"legend", names_of(ui.named)},
      {"nothing",
       app.nothing ? Json{{"reason", app.nothing->reason}, {"command", app.nothing->command}} : Json(nullptr)},
      {"first_waits_ms", app.first_waits ? Json(static_cast<double>(*app.first_waits) / kMillisecond) : Json(nullptr)},
      {"build_ms", app.build_ms}};
  if (app.session_info()) json["session"] = session_json(app);
  if (app.model() != nullptr) {
    json["timeline"] = timeline_json(app);
    json["status"] = {{"loss", app.snapshot().status.loss},
                      {"losses", app.snapshot().status.losses},
                      {"overhead", app.snapshot().status.overhead},
                      {"contents", app.snapshot().status.contents}};
    json["selected"] = app.selected ? selected_json(app) : Json(nullptr);
    json["area"] = app.area ? area_json(*app.area, app.timeline()->begin) : Json(nullptr);
    json["search"] = {{"text", app.hits.text}, {"hits", app.hits.total}, {"at", app.hit}};
    Json marks = Json::array();
    for (const Bookmark& mark : app.annotations.marks) marks.push_back({{"at_ns", mark.at}, {"text", mark.text}});
    json["marks"] = marks;
  }
  if (const Facts* facts = app.facts()) {
    json["sites"] = sites_json(app);
    json["findings"] = findings_json(facts->analysis);
    json["classification"] = {{"model", analyzer::model_name(facts->analysis.classification.model)},
                              {"pattern", analyzer::pattern_name(facts->analysis.classification.pattern)}};
    json["stalls"] = {{"functions", facts->analysis.stalls.functions.size()},
                      {"loops", facts->analysis.polling_loops.size()}};
    json["kernels"] = {{"pairs", facts->analysis.dependent_kernels.pairs.size()},
                       {"launches", facts->analysis.dependent_kernels.launches},
                       {"crowded", facts->analysis.crowded_kernels.size()}};
    json["before_after"] = before_after_json(facts->before_after);
    json["pair"] = before_after_json(app.pair);
    json["toggle"] = before_after_json(app.toggle_pair);
    json["toggle"]["event"] = app.toggle_event;
    json["toggle"]["zoom"] = app.toggle_zoom;
    json["traces"] = app.has_second() ? before_after_json(app.traces) : Json(nullptr);
    json["parties"] = app.parties_shown ? parties_json(app) : Json(nullptr);
    Json differences = Json::array();
    for (const Difference& d : app.differences)
      differences.push_back({{"what", d.what},
                             {"before", d.before},
                             {"after", d.after},
                             {"change", d.change},
                             {"better", d.better},
                             {"worse", d.worse}});
    json["differences"] = differences;
    json["compared"] = {{"iteration", app.compared.iteration},
                        {"width_ns", app.compared.width},
                        {"segments", {app.segment_before, app.segment_after}}};
    json["figures"] = figures_json(facts->figures);
  }
  Json keys = Json::array();
  for (const Action& action : actions())
    if (!action.keys.empty()) keys.push_back({{"name", action.name}, {"keys", action.keys}, {"group", action.group}});
  json["keys"] = keys;
  Json items;
  for (const auto& [name, rect] : ui.items) items[name] = {rect.x, rect.y, rect.width, rect.height};
  json["items"] = items;
  return json;
}

}  // namespace

Result<> write_state(const App& app, const Ui& ui, const std::string& path) {
  if (replace_with(path, state(app, ui).dump(1, ' ', false, Json::error_handler_t::replace) + "\n") != 0)
    return bad_input("cannot write " + path + "; choose a writable folder");
  return ok();
}

}  // namespace wicprof::gui
