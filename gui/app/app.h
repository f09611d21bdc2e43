// The window's state and the user's actions on it. Panels read and change the state; nothing here draws.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/app/reclaimer.h"
#include "gui/source/session_link.h"
#include "gui/source/trace_source.h"
#include "gui/view/annotations.h"
#include "gui/view/area.h"
#include "gui/view/layout.h"
#include "gui/view/nothing.h"
#include "gui/view/parties_view.h"
#include "gui/view/search.h"
#include "gui/view/site_table.h"
#include "gui/view/viewport.h"

namespace wicprof::gui {

/// A view by its name, which panels/list.h defines: "timeline". Points to static storage.
using ViewName = std::string_view;
/// The views that actions and links open.
inline constexpr ViewName kTimelineView = "timeline", kSitesView = "sites", kCompareView = "compare",
                          kLiveView = "live", kPartiesView = "parties", kToggleView = "toggle", kRanksView = "ranks";

/// The part of both sides that the view A/B shows: both start at the same iteration and have the same width.
struct ComparedWindow {
  double iteration = 0;  ///< from 0; 2.5 is the middle of the third iteration
  TimeNs offset = 0;     ///< from the side's begin; for sides without iterations
  TimeNs width = 0;      ///< 0: not chosen yet
};

struct AppOptions {
  std::vector<std::string> files;      ///< one trace, or two to compare; none when only a session is named
  bool one_job = false;                ///< the files are traces of one job, to be read together
  std::optional<SessionInfo> session;  ///< the running program to toggle
  std::optional<ViewName> view;        ///< the first view; by default the one that fits files and session
  float scale = 0;                     ///< 1 = 100 %; 0 = the display's own
  std::optional<bool> dark;            ///< by default as last time
  std::vector<std::string> analyst;    ///< the command that analyses large traces (source/analyst.h)
};

/// All members: the user interface's thread only.
class App {
 public:
  explicit App(AppOptions options);
  ~App();

  /// Takes over what the reading threads have published. Call once per frame, before drawing.
  void update();

  const Snapshot& snapshot() const { return *snapshots_[0]; }
  const Snapshot& second() const { return *snapshots_[1]; }
  bool has_second() const { return sources_[1] != nullptr; }
  const analyzer::TraceModel* model() const { return snapshots_[0]->model.get(); }
  const Timeline* timeline() const { return snapshots_[0]->timeline.get(); }
  const Facts* facts() const { return snapshots_[0]->facts.get(); }
  LoadProgress progress(std::size_t which = 0) const;
  bool can_toggle() const { return link_ != nullptr && !session_.ended; }
  const std::optional<SessionInfo>& session_info() const { return options_.session; }
  const SessionView& session() const { return session_; }
  const std::string& path(std::size_t which = 0) const;

  // Actions: keys, buttons and the command palette call these.
  void show(ViewName view);
  void select(EventRef ref, bool reveal);
  /// Also accepts rows that the model of a large trace lacks: selects them once the model has them.
  void go_to(const SearchHit& hit);
  /// Everything that is known about the selected event; searches all edges.
  std::vector<Fact> selected_facts() const;
  void clear_selection();
  void focus_selection();
  void walk(bool back);
  void step(int direction);
  void search_for(const std::string& text);
  void next_hit(int direction);
  void add_mark();
  void pin_selected_track();
  void set_pinned(const std::string& track, bool pinned);
  void set_area(TimeNs begin, TimeNs end, std::vector<std::size_t> tracks);
  void open_site(SiteId site);
  void sort_sites(SiteColumn column);
  void choose_segments(std::size_t before, std::size_t after);
  /// As before choose_segments(): all phases of both sides if each side has several, else the last change.
  void choose_all_phases();
  bool compares_all_phases() const { return pair.before && pair.before->phases > 1; }
  /// What the live view has chosen: the whole program, one side of it, or a site.
  void toggle(Mode mode, StrategyId strategy);
  /// Chooses that. A strategy of the other side gives way to the side's own default.
  void choose_toggled(WaitSide side, const std::string& site = {});
  /// Restores what held before the last toggle of this window.
  void undo_toggle();
  bool can_undo() const { return can_toggle() && !done_.empty(); }
  void compare_modes();  ///< as wic-prof run --ab does
  /// Shows a wait on the timeline.
  void show_wait(const analyzer::WorstWait& wait);
  /// Which waits the view of parties counts.
  void choose_parties(PartiesChoice choice);
  /// Shows the change between the segments `event` and `event` + 1 in the view Change, until another one is chosen.
  void choose_toggle(std::size_t event);
  /// Shows the chosen change on the timeline: half of the window before the change, half after.
  void jump_to_toggle();
  void set_dark(bool dark);

  // State that panels show and change.
  ViewName view = kTimelineView;
  Viewport window;
  std::set<std::string> opened, closed_groups{kFoldedGroup};
  Annotations annotations;
  std::optional<EventRef> selected, hovered;
  std::optional<std::string> selected_track;
  bool all_edges = false;
  std::optional<Area> area;
  std::vector<std::size_t> area_tracks;
  bool searching = false, help = false, palette = false, quit = false;
  std::string search_text, palette_text;
  SearchHits hits;
  std::size_t hit = 0;
  SiteColumn sort_by = SiteColumn::total;
  bool sort_descending = true;
  std::vector<SiteLine> sites;          ///< sorted as shown
  std::optional<SiteDetail> detail;     ///< of the sites view; filled when that view is shown
  std::vector<Difference> differences;  ///< of the view A/B
  BeforeAfter pair;                     ///< of the view A/B: all phases of both sides, or the segments chosen there
  std::size_t segment_before = 0, segment_after = 1;  ///< of which the view has pictures
  ComparedWindow compared;
  PartiesChoice parties;
  std::optional<PartiesResult> parties_shown;    ///< filled when that view is shown
  std::optional<analyzer::WaitWay> lengths_way;  ///< the waits that histograms show; nothing: all
  std::size_t toggle_event = 0;                  ///< of the view Change: between this segment and the next one
  double toggle_zoom = 1;                        ///< of the pictures in the view Change
  BeforeAfter toggle_pair;                       ///< of the view Change: the segments around that change
  std::optional<NothingToShow> nothing;          ///< what the last frame says in place of contents
  std::string toggle_site;                       ///< of the live view; empty = the whole program
  WaitSide toggle_side = WaitSide::both;         ///< of the whole program
  StrategyId toggle_strategy = StrategyId::automatic;
  std::string_view asked;  ///< the action whose key was pressed once, and that acts at the next press
  std::string notice;      ///< a message in the status bar, until the next action
  float scroll = 0;
  std::optional<float> scroll_wanted;
  Layout layout;
  BeforeAfter traces;                 ///< of the view A/B: two traces, once that view has compared them
  std::optional<TimeNs> first_waits;  ///< from the window's start until it had the first waits
  double build_ms = 0;                ///< time to build the last frame, without rasterising
  std::size_t drawn = 0;              ///< rectangles in the last timeline

 private:
  void take_over(const Snapshot& before);
  void keep_selection(const Snapshot& before, const Snapshot& now);
  void take_hits(SearchHits found);
  void refresh_tables();
  void refresh_detail();
  void refresh_parties();
  void choose_last_change();
  void pair_toggle();
  void compare_segments();
  void save();

  AppOptions options_;
  const TimeNs started_ = now_ns();
  Reclaimer reclaimer_;
  std::unique_ptr<TraceSource> sources_[2];
  std::unique_ptr<SessionLink> link_;
  std::shared_ptr<const Snapshot> snapshots_[2];
  SessionView session_;
  bool first_model_ = true;
  std::optional<EventRow> pending_selection_;   // to select once a large trace's model has it
  std::optional<EventRow> unloaded_selection_;  // selected, but outside the stretch that a large trace's model holds
  bool pair_chosen_ = false;
  bool toggle_chosen_ = false;
  bool parties_outdated_ = false;
  std::vector<std::size_t> done_;  // toggles of this window, without those undone: places in SessionView::toggles
  bool detail_outdated_ = false;   // newer facts than `detail` exist
  std::shared_ptr<const Facts> tables_of_[2];
};

}  // namespace wicprof::gui
