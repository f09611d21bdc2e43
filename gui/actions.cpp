#include "gui/actions.h"

#include <utility>
#include <vector>

#include "gui/panels/list.h"

namespace wicprof::gui {

namespace {

void zoom(App& app, double factor) { app.window.zoom(factor, app.window.follows() ? 1.0 : 0.5); }
void pan(App& app, double part) {
  app.window.follow(false);
  app.window.pan(part);
}

void escape(App& app) {
  if (app.help || app.palette || app.searching) {
    app.help = app.palette = app.searching = false;
    return;
  }
  app.clear_selection();
}

void fold(App& app) {
  if (!app.selected_track) {
    app.notice = "select a track first: click its name";
    return;
  }
  if (app.opened.erase(*app.selected_track) == 0) app.opened.insert(*app.selected_track);
}

/// Panel number `index` opens with the key of its number.
Action panel_action(std::size_t index) {
  static constexpr std::string_view kDigits = "123456789";
  const PanelKind& panel = kPanels[index];
  return {panel.title, index < kDigits.size() ? kDigits.substr(index, 1) : "", "Views",
          [name = panel.name](App& app) { app.show(name); }};
}

/// To add an action, add its line here. The actions of the panels follow from their list.
std::vector<Action> all_actions() {
  std::vector<Action> list{
      {"Zoom in", "w up", "Move", [](App& app) { zoom(app, 1.5); }},
      {"Zoom out", "s down", "Move", [](App& app) { zoom(app, 1 / 1.5); }},
      {"Move left", "a left", "Move", [](App& app) { pan(app, -0.15); }},
      {"Move right", "d right", "Move", [](App& app) { pan(app, 0.15); }},
      {"Zoom to the selection", "f", "Move", [](App& app) { app.focus_selection(); }},
      {"Show everything", "0 home", "Move",
       [](App& app) {
         app.window.follow(false);
         app.window.show_all();
       }},
      {"Follow the end", "g end", "Move", [](App& app) { app.window.follow(!app.window.follows()); }},
      {"Back along the wake edge", "[", "Select", [](App& app) { app.walk(true); }},
      {"Forward along the wake edge", "]", "Select", [](App& app) { app.walk(false); }},
      {"Next in the row", ".", "Select", [](App& app) { app.step(1); }},
      {"Previous in the row", ",", "Select", [](App& app) { app.step(-1); }},
      {"All wake edges, or the selection's", "e", "Select", [](App& app) { app.all_edges = !app.all_edges; }},
      {"Search", "/", "Select", [](App& app) { app.searching = true; }},
      {"Next hit", "n f3", "Select", [](App& app) { app.next_hit(1); }},
      {"Previous hit", "N", "Select", [](App& app) { app.next_hit(-1); }},
      {"Clear the selection", "escape", "Select", escape},
      {"Add or remove a mark", "m", "Arrange", [](App& app) { app.add_mark(); }},
      {"Pin or unpin the track", "p", "Arrange", [](App& app) { app.pin_selected_track(); }},
      {"Open or close the track", "o", "Arrange", fold},
      {"Light or dark theme", "l", "Arrange", [](App& app) { app.set_dark(!app.annotations.dark); }},
      {"Toggle: poll", "P", "Running program", [](App& app) { app.toggle(Mode::poll, StrategyId::poll); },
       "press P again to have the running program poll; U twice undoes that"},
      {"Toggle: park", "K", "Running program", [](App& app) { app.toggle(Mode::park, app.toggle_strategy); },
       "press K again to park the waits of the running program; U twice undoes that"},
      {"Toggle: undo the last one", "U", "Running program", [](App& app) { app.undo_toggle(); },
       "press U again to undo the last toggle of this window"},
      {"Compare poll with park", "B", "Running program", [](App& app) { app.compare_modes(); },
       "press B again to let the program alternate between poll and park for a minute"},
      {"Keys", "?", "Help", [](App& app) { app.help = !app.help; }},
      {"Command palette", "ctrl+p :", "Help",
       [](App& app) {
         app.palette = true;
         app.palette_text.clear();
       }},
      {"Quit", "ctrl+q", "Help", [](App& app) { app.quit = true; }},
  };
  for (std::size_t i = 0; i < std::size(kPanels); ++i) list.push_back(panel_action(i));
  return list;
}

bool has_key(std::string_view keys, std::string_view key) {
  while (!keys.empty()) {
    const std::size_t end = keys.find(' ');
    if (keys.substr(0, end) == key) return true;
    if (end == std::string_view::npos) break;
    keys.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

std::span<const Action> actions() {
  static const std::vector<Action> kActions = all_actions();
  return kActions;
}

bool press(App& app, std::string_view key) {
  const std::string_view asked = std::exchange(app.asked, {});
  for (const Action& action : actions()) {
    if (!has_key(action.keys, key)) continue;
    if (!action.question.empty() && app.can_toggle() && asked != action.name) {
      app.asked = action.name;
      app.notice = action.question;
      return true;
    }
    action.run(app);
    return true;
  }
  return false;
}

}  // namespace wicprof::gui
