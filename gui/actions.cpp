#include "gui/actions.h"

#include <array>

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
    app.notice = "select a track first: click on its name";
    return;
  }
  if (app.opened.erase(*app.selected_track) == 0) app.opened.insert(*app.selected_track);
}

constexpr std::array kActions{
    Action{"Zoom in", "w up", "Moving", [](App& app) { zoom(app, 1.5); }},
    Action{"Zoom out", "s down", "Moving", [](App& app) { zoom(app, 1 / 1.5); }},
    Action{"Move left", "a left", "Moving", [](App& app) { pan(app, -0.15); }},
    Action{"Move right", "d right", "Moving", [](App& app) { pan(app, 0.15); }},
    Action{"Focus on the selection", "f", "Moving", [](App& app) { app.focus_selection(); }},
    Action{"Show everything", "0 home", "Moving",
           [](App& app) {
             app.window.follow(false);
             app.window.show_all();
           }},
    Action{"Follow the end", "g end", "Moving", [](App& app) { app.window.follow(!app.window.follows()); }},
    Action{"Back along a wake edge", "[", "Selecting", [](App& app) { app.walk(true); }},
    Action{"On along a wake edge", "]", "Selecting", [](App& app) { app.walk(false); }},
    Action{"Next in its row", ".", "Selecting", [](App& app) { app.step(1); }},
    Action{"Previous in its row", ",", "Selecting", [](App& app) { app.step(-1); }},
    Action{"Show all wake edges, or only the selection's", "e", "Selecting",
           [](App& app) { app.all_edges = !app.all_edges; }},
    Action{"Search", "/", "Selecting", [](App& app) { app.searching = true; }},
    Action{"Next hit", "n f3", "Selecting", [](App& app) { app.next_hit(1); }},
    Action{"Previous hit", "N", "Selecting", [](App& app) { app.next_hit(-1); }},
    Action{"Clear the selection", "escape", "Selecting", escape},
    Action{"Set or remove a mark", "m", "Arranging", [](App& app) { app.add_mark(); }},
    Action{"Pin the track, or let it go", "p", "Arranging", [](App& app) { app.pin_selected_track(); }},
    Action{"Open or close the track", "o", "Arranging", fold},
    Action{"Light or dark", "l", "Arranging", [](App& app) { app.set_dark(!app.annotations.dark); }},
    Action{"Timeline", "1", "Views", [](App& app) { app.show(View::timeline); }},
    Action{"Wait sites", "2", "Views", [](App& app) { app.show(View::sites); }},
    Action{"Findings", "3", "Views", [](App& app) { app.show(View::findings); }},
    Action{"Stalls", "4", "Views", [](App& app) { app.show(View::stalls); }},
    Action{"Figures", "5", "Views", [](App& app) { app.show(View::figures); }},
    Action{"Compare", "6", "Views", [](App& app) { app.show(View::compare); }},
    Action{"Live", "7", "Views", [](App& app) { app.show(View::live); }},
    Action{"Toggle: poll", "P", "The running program",
           [](App& app) { app.toggle(Mode::poll, StrategyId::poll, app.toggle_site); }},
    Action{"Toggle: park", "K", "The running program",
           [](App& app) { app.toggle(Mode::park, app.toggle_strategy, app.toggle_site); }},
    Action{"Keys", "?", "Help", [](App& app) { app.help = !app.help; }},
    Action{"Command palette", "ctrl+p :", "Help",
           [](App& app) {
             app.palette = true;
             app.palette_text.clear();
           }},
    Action{"Quit", "ctrl+q", "Help", [](App& app) { app.quit = true; }},
};

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

std::span<const Action> actions() { return kActions; }

bool press(App& app, std::string_view key) {
  for (const Action& action : kActions) {
    if (!has_key(action.keys, key)) continue;
    action.run(app);
    return true;
  }
  return false;
}

}  // namespace wicprof::gui
