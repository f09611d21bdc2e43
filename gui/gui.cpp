#include "gui/gui.h"

#include <chrono>

#include "gui/actions.h"
#include "gui/drive.h"
#include "gui/panels/list.h"
#include "gui/shell.h"
#include "gui/window/window.h"

namespace wicprof::gui {

namespace {

// Seconds between frames without input: while a trace loads or records, while nothing changes, and under a script with
// nothing to load. Not calibrated.
constexpr double kBusy = 0.03, kIdle = 0.25, kScripted = 0.002;
constexpr TimeNs kScreenshotTimeout = 60 * kSecond;
constexpr int kSettlingFrames = 3;  // ImGui lays a table out in its first frame

bool ready(const App& app) {
  const auto settled = [](const Snapshot& snapshot) { return snapshot.model != nullptr && snapshot.facts != nullptr; };
  return settled(app.snapshot()) && (!app.has_second() || settled(app.second()));
}

}  // namespace

Result<> check_display() { return Window::check(); }

std::optional<ViewName> view_from_name(std::string_view name) {
  for (const PanelKind& panel : kPanels) {
    if (panel.name == name) return panel.name;
  }
  return std::nullopt;
}

Result<> run_gui(const GuiPlan& plan) {
  std::optional<Script> script;
  if (!plan.script.empty()) {
    Result<Script> read = Script::read(plan.script);
    if (!read) return read.error();
    script.emplace(*std::move(read));
  }
  std::string title = "wic-prof";
  if (!plan.app.files.empty()) title += " - " + plan.app.files[0];
  const DrawOn on = !plan.screenshot.empty() ? DrawOn::memory : script ? DrawOn::either : DrawOn::desktop;
  Result<Window> window = Window::open(plan.width, plan.height, plan.app.scale, title, on);
  if (!window) return window.error();
  App app(plan.app);
  Shell shell;
  const TimeNs started = now_ns();
  int settling = 0;
  while (!window->closed() && !app.quit) {
    const bool unattended = script || !plan.screenshot.empty();
    const bool loading = app.snapshot().recording || !app.progress().doing.empty();
    window->take_input(loading ? kBusy : unattended ? kScripted : kIdle);
    for (const std::string& key : window->keys()) press(app, key);
    app.update();
    if (script) {
      if (const Result<> done = script->step(app, *window); !done) return done.error();
      if (app.quit) break;
    }
    const FakeMouse mouse = script ? script->mouse() : plan.screenshot.empty() ? FakeMouse{} : FakeMouse::away();
    window->begin_frame(app.annotations.dark, mouse);
    const auto begun = std::chrono::steady_clock::now();
    shell.draw(app, window->ui());
    app.build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    window->end_frame(!unattended);
    if (plan.screenshot.empty()) continue;
    for (const std::size_t which : {0u, 1u}) {
      const LoadProgress progress = app.progress(which);
      if (progress.error) return *progress.error;
    }
    if (ready(app) && ++settling > kSettlingFrames) return window->save_png(plan.screenshot);
    if (now_ns() - started > kScreenshotTimeout)
      return unavailable("the trace did not load within 60 s; close other programs, or use a shorter trace");
  }
  return ok();
}

}  // namespace wicprof::gui
