#include "gui/app/app.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/view/edge_walk.h"
#include "gui/view/event_facts.h"
#include "gui/view/first_view.h"
#include "gui/view/toggle_history.h"

namespace wicprof::gui {

App::App(AppOptions options) : options_(std::move(options)) {
  for (auto& snapshot : snapshots_) snapshot = std::make_shared<const Snapshot>();
  if (options_.one_job) sources_[0] = std::make_unique<TraceSource>(options_.files);
  for (std::size_t i = 0; !options_.one_job && i < std::min<std::size_t>(options_.files.size(), 2); ++i)
    sources_[i] = std::make_unique<TraceSource>(options_.files[i], options_.session.has_value(), options_.analyst);
  if (options_.session) link_ = std::make_unique<SessionLink>(*options_.session);
  view = options_.view.value_or(options_.session             ? kLiveView
                                : options_.one_job           ? kRanksView
                                : options_.files.size() == 2 ? kCompareView
                                                             : kTimelineView);
  window.follow(options_.session.has_value());
  if (!options_.files.empty()) {
    Result<Annotations> kept = load_annotations(annotations_path(options_.files[0]));
    if (kept) {
      annotations = *std::move(kept);
    } else {
      notice = kept.error().message;
    }
  }
  if (options_.dark) annotations.dark = *options_.dark;
}

App::~App() = default;

const std::string& App::path(std::size_t which) const {
  static const std::string none;
  return sources_[which] ? sources_[which]->path() : none;
}

LoadProgress App::progress(std::size_t which) const {
  return sources_[which] ? sources_[which]->progress() : LoadProgress{"", 1, std::nullopt};
}

void App::update() {
  if (link_) session_ = link_->view();
  for (std::size_t i = 0; i < 2; ++i) {
    if (!sources_[i]) continue;
    std::shared_ptr<const Snapshot> now = sources_[i]->snapshot();
    if (now->version == snapshots_[i]->version) continue;
    std::shared_ptr<const Snapshot> before = std::exchange(snapshots_[i], std::move(now));
    if (i == 0) take_over(*before);
    reclaimer_.take(std::move(before));
  }
  if (snapshot().large) sources_[0]->show(window.begin(), window.end());
  refresh_tables();
  refresh_detail();
  refresh_parties();
}

void App::take_over(const Snapshot& before) {
  const Timeline* shown = timeline();
  if (shown == nullptr) return;
  if (!first_waits && (!model()->waits.empty() || !model()->host_waits.empty())) first_waits = now_ns() - started_;
  if (before.model != snapshot().model) {
    keep_selection(before, snapshot());
    window.set_extent(shown->begin, shown->end);
    if (first_model_) window.show_all();
    if (first_model_ && !window.follows() && !snapshot().recording) {
      const Stretch first = first_view(*shown);
      window.show(first.begin, first.end);
    }
    if (window.follows() && snapshot().recording && window.shows_all() && window.width() > 4 * kSecond)
      window.show(window.last() - 4 * kSecond, window.last());
    if (window.follows() && !snapshot().recording) window.follow(false);
    first_model_ = false;
  }
  if (snapshot().found && snapshot().found != before.found) take_hits(*snapshot().found);
}

// Indices are valid for one model only; row ids stay valid, so those carry the selection over.
void App::keep_selection(const Snapshot& before, const Snapshot& now) {
  const std::optional<EventRow> was =
      selected && before.model ? std::optional(row_of(*before.model, *selected)) : unloaded_selection_;
  selected = was ? find_row(*now.model, *was) : std::nullopt;
  unloaded_selection_ = selected ? std::nullopt : was;
  if (pending_selection_) {
    if (const auto found = find_row(*now.model, *pending_selection_)) select(*found, false);
  }
  hovered.reset();
  if (now.large) return;  // areas and hits of a large trace cover the whole trace, not only the loaded rows
  area.reset();
  area_tracks.clear();
  if (!hits.text.empty()) {
    const std::size_t at = hit;
    hits = search(*now.model, hits.text);
    hit = hits.hits.empty() ? 0 : std::min(at, hits.hits.size() - 1);
  }
}

void App::refresh_tables() {
  if (tables_of_[0] == snapshot().facts && tables_of_[1] == second().facts) return;
  const bool first = tables_of_[0] != snapshot().facts;
  reclaimer_.take(std::exchange(tables_of_[0], snapshot().facts));
  reclaimer_.take(std::exchange(tables_of_[1], second().facts));
  if (!facts()) return;
  const analyzer::Analysis& analysis = facts()->analysis;
  if (first) {
    sites = site_table(analysis, sort_by, sort_descending);
    detail_outdated_ = parties_outdated_ = true;
    pair_toggle();
    // Keeps a pair that the user chose while more segments arrive.
    if (!pair_chosen_) choose_last_change();
  }
  differences.clear();
  if (has_second()) {
    if (second().facts)
      differences = gui::differences(analysis, second().facts->analysis, facts()->comparison.options.tolerance);
  } else {
    compare_segments();
  }
}

// Only while the sites view shows: with many waits this takes longer than one frame.
void App::refresh_detail() {
  if (!detail_outdated_ || view != kSitesView) return;
  open_site(detail ? detail->site : sites.empty() ? 0 : sites.front().site);
}

// Only while its view shows, like the detail of a site.
void App::refresh_parties() {
  if (!parties_outdated_ || view != kPartiesView || facts() == nullptr) return;
  const analyzer::TraceModel* rows = facts()->model.get();  // nullptr for a large trace
  if (rows != nullptr && parties.filters()) {
    static const std::vector<analyzer::WakeEdge> kUnknown;
    parties_shown = find_parties(*rows, rows == model() ? timeline()->edges : kUnknown, parties);
  } else {
    parties_shown = known_parties(facts()->analysis, parties.by);
    if (rows != nullptr) parties_shown->lengths = analyzer::wait_distribution(*rows, {});
  }
  parties_outdated_ = false;
}

void App::choose_parties(PartiesChoice choice) {
  parties = std::move(choice);
  parties_outdated_ = true;
  refresh_parties();
}

void App::show_wait(const analyzer::WorstWait& wait) {
  show(kTimelineView);
  go_to({{wait.host ? EventKind::host_wait : EventKind::wait, wait.row}, wait.begin, wait.end});
  window.follow(false);
  window.focus(wait.begin, wait.end);
}

// Follows the last change until the user chooses another one.
void App::pair_toggle() {
  toggle_pair = facts()->before_after;
  const std::size_t count = toggle_pair.segments.size();
  if (count < 2) return;
  if (!toggle_chosen_ || toggle_event + 2 > count) toggle_event = count - 2;
  choose_pair(toggle_pair, facts()->comparison, toggle_event, toggle_event + 1);
}

void App::choose_toggle(std::size_t event) {
  if (facts() == nullptr) return;
  toggle_event = event;
  toggle_chosen_ = true;
  pair_toggle();
}

void App::jump_to_toggle() {
  if (facts() == nullptr || !toggle_pair.after || !toggle_pair.before) {
    notice = "the program has not changed how it waits";
    return;
  }
  const SegmentLine &before = *toggle_pair.before, &after = *toggle_pair.after;
  // As wide as a few iterations of the slower side, so that single waits can be seen; not calibrated.
  constexpr TimeNs kIterations = 4;
  TimeNs half = std::min(before.end - before.begin, after.end - after.begin) / 2;
  if (before.iteration_p50 && after.iteration_p50)
    half = std::min(half, kIterations * std::max(*before.iteration_p50, *after.iteration_p50));
  half = std::max<TimeNs>(half, 1'000);
  show(kTimelineView);
  window.follow(false);
  window.show(after.begin - half, after.begin + half);
}

void App::choose_last_change() {
  const auto& segments = facts()->before_after.segments;
  if (segments.size() < 2) return;
  const BeforeAfter& all = facts()->before_after;
  if (all.before && all.before->phases > 1) {
    // The last phase of each side: in random order, the last two may be of one side.
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (const std::optional<bool> is_after = facts()->comparison.segments[i].after)
        (*is_after ? segment_after : segment_before) = i;
    }
    return;
  }
  const auto enough = [&](std::size_t i) {
    return segments[i].iterations >= static_cast<std::size_t>(facts()->comparison.options.min_iterations);
  };
  std::size_t after = segments.size() - 1;
  while (after > 0 && !(enough(after) && enough(after - 1))) --after;
  if (after == 0) after = segments.size() - 1;
  segment_before = after - 1;
  segment_after = after;
}

void App::choose_segments(std::size_t before, std::size_t after) {
  segment_before = before;
  segment_after = after;
  pair_chosen_ = true;
  compared = {};
  compare_segments();
}

void App::choose_all_phases() {
  pair_chosen_ = false;
  compared = {};
  choose_last_change();
  compare_segments();
}

void App::compare_segments() {
  pair = facts()->before_after;
  const std::size_t count = pair.segments.size();
  if (count < 2) return;
  segment_before = std::min(segment_before, count - 1);
  segment_after = std::min(segment_after, count - 1);
  if (pair_chosen_ || !compares_all_phases()) choose_pair(pair, facts()->comparison, segment_before, segment_after);
  differences = gui::differences(*pair.before, *pair.after, facts()->comparison.options.tolerance);
}

void App::show(ViewName wanted) {
  view = wanted;
  notice.clear();
  refresh_detail();
  refresh_parties();
}

void App::select(EventRef ref, bool reveal) {
  if (model() == nullptr || !is_in(*model(), ref)) return;
  selected = ref;
  pending_selection_.reset();
  unloaded_selection_.reset();
  area.reset();
  notice.clear();
  const auto place = timeline()->place_of(ref);
  if (place) selected_track = timeline()->tracks[place->track].key;
  if (!reveal) return;
  const auto [begin, end] = time_of(*model(), ref);
  if (begin < window.begin() || end > window.end()) {
    window.follow(false);
    if (end - begin >= window.width()) {
      window.focus(begin, end);
    } else {
      window.reveal(begin);
    }
  }
  if (!place) return;
  closed_groups.erase(timeline()->tracks[place->track].group);
  for (const PlacedTrack& placed : layout.list) {
    if (placed.heading.empty() && placed.track == place->track && !placed.pinned)
      scroll_wanted = placed.rows_top - layout.pinned_height +
                      (placed.opened || !timeline()->tracks[placed.track].has_strip()
                           ? static_cast<float>(place->row) * placed.row_height
                           : 0);
  }
}

void App::go_to(const SearchHit& wanted) {
  if (model() == nullptr) return;
  if (const auto found = find_row(*model(), wanted.row)) return select(*found, true);
  selected.reset();
  unloaded_selection_.reset();
  area.reset();
  notice.clear();
  pending_selection_ = wanted.row;
  window.follow(false);
  // Zooms in, never out, until single rows are read.
  const TimeNs around = std::max(8 * (wanted.end - wanted.begin), timeline()->end / 4096 - timeline()->begin / 4096);
  if (window.width() > around || wanted.begin < window.begin() || wanted.end > window.end()) {
    const TimeNs width = std::min(window.width(), around), middle = wanted.begin + (wanted.end - wanted.begin) / 2;
    window.show(middle - width / 2, middle - width / 2 + width);
  }
}

std::vector<Fact> App::selected_facts() const {
  static const std::vector<analyzer::PollingLoop> kUnknown;
  if (!selected) return {};
  return facts_of(*model(), *timeline(), facts() != nullptr ? facts()->analysis.polling_loops : kUnknown, *selected);
}

void App::clear_selection() {
  pending_selection_.reset();
  unloaded_selection_.reset();
  selected.reset();
  selected_track.reset();
  area.reset();
  hits = {};
  notice.clear();
}

void App::focus_selection() {
  window.follow(false);
  if (area) {
    window.show(area->begin, area->end);
  } else if (selected && model() != nullptr) {
    const auto [begin, end] = time_of(*model(), *selected);
    window.focus(begin, end);
  } else {
    notice = "select something first: click it, or press / to search";
  }
}

void App::walk(bool back) {
  if (!selected || timeline() == nullptr) {
    notice = "select a wait or a signal first";
    return;
  }
  if (timeline()->edges.empty()) {
    notice = progress().doing.empty() ? "the trace has no wake edges: no known signal ended a wait"
                                      : "wake edges are still being matched";
    return;
  }
  const std::optional<EventRef> next =
      back ? step_back(*model(), *timeline(), *selected) : step_on(*model(), *timeline(), *selected);
  if (next) {
    select(*next, true);
  } else {
    notice = back ? "no known event released this one" : "no known event was released by this one";
  }
}

void App::step(int direction) {
  if (!selected || timeline() == nullptr) {
    notice = "select something first";
    return;
  }
  if (const std::optional<EventRef> next = neighbour(*timeline(), *selected, direction)) {
    select(*next, true);
  } else {
    notice = direction > 0 ? "this is the last one in its row" : "this is the first one in its row";
  }
}

void App::search_for(const std::string& text) {
  if (model() == nullptr) return;
  if (const Result<SearchQuery> query = read_query(text); !query) {
    notice = query.error().message;
    return;
  }
  if (snapshot().large && !text.empty()) {
    notice = "searching for '" + text + "'";
    sources_[0]->search(text);
    return;
  }
  take_hits(search(*model(), text));
}

void App::take_hits(SearchHits found) {
  const std::string text = found.text;
  hits = std::move(found);
  hit = 0;
  if (hits.hits.empty()) {
    notice = text.empty() ? "" : "no event matches '" + text + "'";
    return;
  }
  // Starts at the first hit from the left edge of the window, among those of exactly this name if there are any.
  const auto last = hits.exact > 0 ? hits.hits.begin() + static_cast<std::ptrdiff_t>(hits.exact) : hits.hits.end();
  const auto first =
      std::find_if(hits.hits.begin(), last, [&](const SearchHit& one) { return one.begin >= window.begin(); });
  if (first != last && !window.shows_all()) hit = static_cast<std::size_t>(first - hits.hits.begin());
  go_to(hits.hits[hit]);
}

void App::next_hit(int direction) {
  if (hits.hits.empty()) return;
  const std::size_t count = hits.hits.size();
  hit = (hit + (direction > 0 ? 1 : count - 1)) % count;
  go_to(hits.hits[hit]);
}

void App::add_mark() {
  if (timeline() == nullptr) return;
  const TimeNs at = selected ? time_of(*model(), *selected).first : window.begin() + window.width() / 2;
  const TimeNs since = at - timeline()->begin;
  auto& marks = annotations.marks;
  const auto same = std::find_if(marks.begin(), marks.end(), [&](const Bookmark& m) { return m.at == since; });
  if (same != marks.end()) {
    marks.erase(same);
  } else {
    marks.push_back({since, fmt::format("mark {}", marks.size() + 1)});
    std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  }
  save();
}

void App::pin_selected_track() {
  if (!selected_track) {
    notice = "select a track first: click its name or one of its events";
    return;
  }
  set_pinned(*selected_track, annotations.pinned.count(*selected_track) == 0);
}

void App::set_pinned(const std::string& track, bool pinned) {
  if (pinned) {
    annotations.pinned.insert(track);
  } else {
    annotations.pinned.erase(track);
  }
  save();
}

void App::set_area(TimeNs begin, TimeNs end, std::vector<std::size_t> tracks) {
  if (timeline() == nullptr) return;
  selected.reset();
  area = sum_up(*model(), *timeline(), std::min(begin, end), std::max(begin, end), tracks);
  area_tracks = std::move(tracks);
}

void App::open_site(SiteId site) {
  if (facts() == nullptr) return;
  detail = facts()->detail_of(site);
  detail_outdated_ = false;
}

void App::sort_sites(SiteColumn column) {
  sort_descending = column == sort_by ? !sort_descending : look_of(column).numeric;
  sort_by = column;
  if (facts() != nullptr) sites = site_table(facts()->analysis, sort_by, sort_descending);
}

void App::choose_toggled(WaitSide side, const std::string& site) {
  toggle_side = side;
  toggle_site = site;
  if (side == WaitSide::host && !is_host_strategy(toggle_strategy)) toggle_strategy = StrategyId::hybrid;
  if (side == WaitSide::device && is_host_strategy(toggle_strategy)) toggle_strategy = StrategyId::automatic;
}

void App::toggle(Mode mode, StrategyId strategy) {
  if (!can_toggle()) {
    notice = "no running program to toggle: open one with wic-prof gui --session NAME or wic-prof run --gui";
    return;
  }
  const WaitSide side = toggle_site.empty() ? toggle_side : WaitSide::both;  // a site belongs to one
  done_.push_back(link_->toggle({mode, mode == Mode::poll ? StrategyId::poll : strategy, toggle_site, side}));
  notice.clear();
}

void App::undo_toggle() {
  if (!can_undo()) {
    notice = "nothing to undo: this window has not toggled the program";
    return;
  }
  const ToggleOutcome last = link_->view().toggles.at(done_.back());
  if (!last.reply && !last.error) {
    notice = "the last toggle is not in effect yet; undo it once it is";
    return;
  }
  done_.pop_back();
  notice.clear();
  if (last.error) return;  // it changed nothing
  const std::vector<ToggleRequest> requests = undo_of(*last.reply);
  if (requests.empty()) notice = "cannot undo: the session belongs to an older wic-prof";
  for (const ToggleRequest& request : requests) link_->toggle(request);
}

void App::compare_modes() {
  if (!can_toggle()) {
    notice = "no running program to compare: open one with wic-prof gui --session NAME or wic-prof run --gui";
    return;
  }
  const std::optional<SessionStatus> status = link_->view().status;
  const WaitSide by_waits = status ? status->ab_side : WaitSide::device;
  link_->compare_modes({.strategy = toggle_strategy, .side = toggle_side == WaitSide::both ? by_waits : toggle_side});
  notice.clear();
}

void App::set_dark(bool dark) {
  annotations.dark = dark;
  save();
}

void App::save() {
  if (path().empty()) return;
  if (const Result<> saved = save_annotations(annotations_path(path()), annotations); !saved)
    notice = saved.error().message;
}

}  // namespace wicprof::gui
