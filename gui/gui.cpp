#include "gui/gui.h"

#include <chrono>

#include "gui/actions.h"
#include "gui/drive.h"
#include "gui/window/shell.h"
#include "gui/window/window.h"

namespace wicprof::gui {

namespace {

// Without input: often enough for what comes in while it loads or records, and seldom for a picture that stays.
constexpr double kBusy = 0.03, kIdle = 0.25;
constexpr TimeNs kScreenshotPatience = 60 * kSecond;
constexpr int kSettlingFrames = 3;  // ImGui knows the size of a table only after its first frame

bool ready(const App& app) {
  const auto settled = [](const Snapshot& snapshot) { return snapshot.model != nullptr && snapshot.facts != nullptr; };
  return settled(app.snapshot()) && (!app.has_second() || settled(app.second()));
}

}  // namespace

Result<> check_display() { return Window::check(); }

Result<> run_gui(const GuiPlan& plan) {
  std::optional<Script> script;
  if (!plan.script.empty()) {
    Result<Script> read = Script::read(plan.script);
    if (!read) return read.error();
    script.emplace(*std::move(read));
  }
  std::string title = "wic-prof";
  if (!plan.app.files.empty()) title += " - " + plan.app.files[0];
  Result<Window> window = Window::open(plan.width, plan.height, plan.app.scale, title);
  if (!window) return window.error();
  App app(plan.app);
  const TimeNs started = now_ns();
  int settling = 0;
  while (!window->closed() && !app.quit) {
    const bool busy = script || !plan.screenshot.empty();
    const bool coming = app.snapshot().recording || !app.progress().doing.empty();
    window->take_input(busy ? 0.002 : coming ? kBusy : kIdle);
    for (const std::string& key : window->keys()) press(app, key);
    app.update();
    if (script) {
      if (const Result<> done = script->step(app, *window); !done) return done.error();
      if (app.quit) break;
    }
    const FakeMouse mouse = script ? script->mouse() : plan.screenshot.empty() ? FakeMouse{} : FakeMouse::away();
    window->begin_frame(app.annotations.dark, mouse);
    const auto begun = std::chrono::steady_clock::now();
    draw_shell(app, window->ui());
    app.build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    window->end_frame();
    if (plan.screenshot.empty()) continue;
    for (const std::size_t which : {0u, 1u}) {
      const LoadProgress progress = app.progress(which);
      if (progress.error) return *progress.error;
    }
    if (ready(app) && ++settling > kSettlingFrames) return window->save_png(plan.screenshot);
    if (now_ns() - started > kScreenshotPatience)
      return unavailable(
          "the trace was not ready to be shown within 60 s; close what else is running, or show a shorter one");
  }
  return ok();
}

}  // namespace wicprof::gui
