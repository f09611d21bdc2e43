// The window's state, and what the user can do with it. Panels read and change it; nothing here draws.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/reclaimer.h"
#include "gui/source/session_link.h"
#include "gui/source/trace_source.h"
#include "gui/view/annotations.h"
#include "gui/view/area.h"
#include "gui/view/layout.h"
#include "gui/view/search.h"
#include "gui/view/site_table.h"
#include "gui/view/viewport.h"

namespace wicprof::gui {

enum class View { timeline, sites, findings, stalls, figures, compare, live };
inline constexpr std::array kViewNames{"timeline", "sites", "findings", "stalls", "figures", "compare", "live"};
inline constexpr std::array kViewTitles{"Timeline", "Wait sites", "Findings", "Stalls", "Figures", "Compare", "Live"};
std::optional<View> view_from_name(std::string_view name);

struct Rect {
  float x = 0, y = 0, width = 0, height = 0;
};

/// What the compare view shows of both sides: each begins at the same iteration, and they are equally wide.
struct ComparedWindow {
  double iteration = 0;  ///< 2.5: the middle of the third
  TimeNs offset = 0;     ///< from its begin on, of a side without iterations
  TimeNs width = 0;      ///< 0: not chosen yet
};

struct AppOptions {
  std::vector<std::string> files;      ///< one, or two to compare; none with a session alone
  std::optional<SessionInfo> session;  ///< to change how its program waits
  std::optional<View> view;            ///< what shows first
  float scale = 0;                     ///< 0 = as the display asks for
  std::optional<bool> dark;            ///< nothing = as it was last time
  std::vector<std::string> analyst;    ///< the program that analyses large traces (source/analyst.h)
};

/// The user's thread only, all of it.
class App {
 public:
  explicit App(AppOptions options);
  ~App();

  /// Takes over what the reading threads have made since. Once a frame, before drawing.
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

  // What actions do. Each is one key, one button or one entry of the palette.
  void show(View view);
  void select(EventRef ref, bool reveal);
  /// Also what a large trace's model does not have yet: it is selected when it has come.
  void go_to(const SearchHit& hit);
  void clear_selection();
  void focus_selection();
  void walk(bool back);
  void step(int direction);
  void search_for(const std::string& text);
  void next_hit(int direction);
  void add_mark();
  void remove_mark(std::size_t index);
  void pin_selected_track();
  void set_pinned(const std::string& track, bool pinned);
  void set_area(TimeNs begin, TimeNs end, std::vector<std::size_t> tracks);
  void open_site(SiteId site);
  void sort_sites(SiteColumn column);
  void choose_segments(std::size_t before, std::size_t after);
  void toggle(Mode mode, StrategyId strategy, const std::string& site);
  void set_dark(bool dark);

  // State that panels show and change.
  View view = View::timeline;
  Viewport window;
  std::set<std::string> opened, closed_groups;
  Annotations annotations;
  std::optional<EventRef> selected, hovered;
  std::optional<std::string> selected_track;
  bool all_edges = false;
  std::optional<Area> area;
  std::vector<std::size_t> area_tracks;
  bool searching = false, help = false, palette = false, palette_opened = false, quit = false;
  std::string search_text, palette_text;
  SearchHits hits;
  std::size_t hit = 0;
  SiteColumn sort_by = SiteColumn::total;
  bool sort_descending = true;
  std::vector<SiteLine> sites;          ///< as shown
  std::optional<SiteDetail> detail;     ///< of the view of wait sites, once it is shown
  std::vector<Difference> differences;  ///< of the compare view
  BeforeAfter pair;                     ///< of the compare view: the segments chosen there
  std::size_t segment_before = 0, segment_after = 1;
  ComparedWindow compared;
  std::string toggle_site;  ///< of the live panel; empty = the whole program
  StrategyId toggle_strategy = StrategyId::automatic;
  std::string notice;  ///< what to tell the user, until the next action
  float scroll = 0;
  std::optional<float> scroll_wanted;
  Layout layout;
  double build_ms = 0;    ///< the last frame, without rasterising
  std::size_t drawn = 0;  ///< rectangles of the last timeline

  /// Where things that can be clicked are, by name; filled anew with each frame.
  std::map<std::string, Rect> items;

 private:
  void take_over(const Snapshot& before);
  void keep_selection(const Snapshot& before, const Snapshot& now);
  void take_hits(SearchHits found);
  void refresh_tables();
  void refresh_detail();
  void choose_last_change();
  void compare_segments();
  void save();

  AppOptions options_;
  Reclaimer reclaimer_;
  std::unique_ptr<TraceSource> sources_[2];
  std::unique_ptr<SessionLink> link_;
  std::shared_ptr<const Snapshot> snapshots_[2];
  SessionView session_;
  bool first_model_ = true;
  std::optional<EventRow> coming_;        // to be selected once the model has it
  std::optional<EventRow> out_of_sight_;  // selected, but of another stretch of a large trace than the model's
  bool pair_chosen_ = false;
  bool detail_due_ = false;  // there are newer facts than the detail's
  std::shared_ptr<const Facts> tables_of_[2];
};

}  // namespace wicprof::gui
