#include "gui/drive.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gui/actions.h"
#include "gui/gui.h"
#include "gui/state_json.h"

namespace wicprof::gui {

namespace {

constexpr TimeNs kTimeout = 20 * kSecond;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Everything after the first word, including spaces.
std::string rest_of(const std::string& line) {
  const std::size_t space = line.find(' ');
  return space == std::string::npos ? std::string() : line.substr(space + 1);
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? std::optional(value) : std::nullopt;
}

/// 0 where there is no such word, or no number.
double number_at(const std::vector<std::string>& words, std::size_t i) {
  return i < words.size() ? number(words[i]).value_or(0) : 0.0;
}

}  // namespace

Result<Script> Script::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return bad_input("cannot read the script " + path + "; name a file that you may read");
  Script script;
  script.path_ = path;
  for (std::string line; std::getline(file, line);) script.lines_.push_back(line);
  return Result<Script>(std::move(script));
}

Error Script::failed(const std::string& why) const {
  const std::string& line = next_ < lines_.size() ? lines_[next_] : lines_.back();
  return bad_input(path_ + ":" + std::to_string(next_ + 1) + ": '" + line + "': " + why);
}

Result<bool> Script::holds(const App& app, const std::vector<std::string>& words, std::size_t& used) const {
  used = 2;
  const std::string& what = words[1];
  if (what == "loaded") return app.model() != nullptr;
  if (what == "facts") return app.facts() != nullptr && (!app.has_second() || app.second().facts != nullptr);
  if (what == "idle") return idle_frames_ > 3;
  if (what == "error") return app.progress().error.has_value();
  if (what == "complete") return app.model() != nullptr && !app.snapshot().recording && app.progress().doing.empty();
  if (what == "before_after") return app.facts() != nullptr && app.facts()->before_after.speedup.has_value();
  if (what == "attached") return app.session().status && app.session().status->runtime_attached;
  if (what == "toggled") {
    const auto& toggles = app.session().toggles;
    return !toggles.empty() && (toggles.back().reply || toggles.back().error);
  }
  if ((what == "waits" || what == "interventions" || what == "segments" || what == "events") && words.size() > 2) {
    used = 3;
    const std::optional<double> count = number(words[2]);
    if (count && what == "events")
      return app.session().status && static_cast<double>(app.session().status->events) >= *count;
    const analyzer::TraceModel* model = app.model();
    const std::size_t segments = app.facts() == nullptr ? 0 : app.facts()->before_after.segments.size();
    const std::size_t reached = model == nullptr     ? 0
                                : what == "waits"    ? model->waits.size()
                                : what == "segments" ? segments
                                                     : model->interventions.size();
    if (count) return static_cast<double>(reached) >= *count;
  }
  return failed("unknown condition");
}

Result<> Script::step(App& app, Window& window) {
  ++idle_frames_;
  mouse_.wheel = 0;
  if (!pending_.empty()) {
    mouse_ = pending_.front();
    pending_.erase(pending_.begin());
    return ok();
  }
  if (!typing_.empty()) {  // one character per frame, as from a keyboard
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(typing_.front()));
    typing_.erase(typing_.begin());
    return ok();
  }
  while (next_ < lines_.size() && (lines_[next_].empty() || lines_[next_].front() == '#')) ++next_;
  if (next_ >= lines_.size()) {
    app.quit = true;
    return ok();
  }
  const std::string line = lines_[next_];
  const std::vector<std::string> words = words_of(line);
  if (words[0] == "wait" && words.size() > 1) {
    if (!waiting_since_) {
      waiting_since_ = now_ns();
      idle_frames_ = 0;
    }
    std::size_t used = 0;
    const Result<bool> held = holds(app, words, used);
    if (!held) return held.error();
    const double seconds =
        words.size() > used ? number(words[used]).value_or(20) : static_cast<double>(kTimeout) / kSecond;
    if (!*held) {
      if (now_ns() - *waiting_since_ < static_cast<TimeNs>(seconds * kSecond)) return ok();
      const LoadProgress progress = app.progress();
      return failed("the condition did not hold in time" +
                    (progress.error ? "; " + progress.error->message : std::string()));
    }
    waiting_since_.reset();
    ++next_;
    return ok();
  }
  if (const Result<> begun = begin(app, window, line); !begun) return begun.error();
  ++next_;
  return ok();
}

Result<> Script::begin(App& app, Window& window, const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  const std::string& verb = words[0];
  const auto value = [&](std::size_t i) { return number_at(words, i); };
  if (verb == "view" && words.size() == 2) {
    const std::optional<ViewName> view = view_from_name(words[1]);
    if (!view) return failed("unknown view");
    app.show(*view);
    return ok();
  }
  if (verb == "key" && words.size() == 2)
    return press(app, words[1]) ? ok() : Result<>(failed("no action has this key"));
  if (verb == "type") {
    typing_ = rest_of(line);
    return ok();
  }
  if (verb == "enter") {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, false);
#else
    // Old ImGui: sets the backend's key state; a second "enter" line releases the key in the next frame.
    const int key = ImGui::GetIO().KeyMap[ImGuiKey_Enter];
    ImGui::GetIO().KeysDown[key] = !ImGui::GetIO().KeysDown[key];
    if (ImGui::GetIO().KeysDown[key]) lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, "enter");
#endif
    return ok();
  }
  if (verb == "dump" && words.size() == 2) return write_state(app, window.ui(), words[1]);
  if (verb == "shot" && words.size() == 2) return window.save_png(words[1]);
  if (verb == "frames" && words.size() == 2) {
    pending_.assign(static_cast<std::size_t>(value(1)), mouse_);
    return ok();
  }
  if (verb == "resize" && words.size() == 3) {
    window.resize(static_cast<int>(value(1)), static_cast<int>(value(2)));
    pending_.assign(3, mouse_);
    return ok();
  }
  if (verb == "quit") {
    app.quit = true;
    return ok();
  }
  return begin_mouse(window, line, words);
}

/// An item's name may contain spaces; the numbers follow it.
Result<> Script::begin_mouse(Window& window, const std::string& line, const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  const std::size_t numbers = verb == "click"      ? 0
                              : verb == "press_at" ? 2
                              : verb == "wheel"    ? 3
                              : verb == "drag"     ? 4
                                                   : 99;
  if (words.size() < 2 + numbers) return failed("unknown step, or missing arguments");
  std::string name = rest_of(line);
  for (std::size_t i = 0; i < numbers; ++i) name.erase(name.find_last_of(' '));
  const ItemRects& items = window.ui().items;
  const auto item = items.find(name);
  if (item == items.end()) return failed("no item '" + name + "' is visible");
  const Rect rect = item->second;
  const auto argument = [&](std::size_t i) { return static_cast<float>(number_at(words, words.size() - numbers + i)); };
  const auto at = [&](float x, float y, bool down) {
    FakeMouse mouse;
    mouse.active = true;
    mouse.x = rect.x + rect.width * x;
    mouse.y = rect.y + rect.height * y;
    mouse.down = down;
    return mouse;
  };
  if (verb == "wheel") {
    FakeMouse turn = at(argument(0), argument(1), false);
    pending_ = {turn, turn};
    turn.ctrl = true;
    turn.wheel = argument(2);
    pending_.push_back(turn);
    pending_.push_back(at(argument(0), argument(1), false));
    return ok();
  }
  if (verb == "drag") {
    pending_ = {at(argument(0), argument(1), false), at(argument(0), argument(1), true)};
    for (const float part : {0.3f, 0.6f, 1.0f})
      pending_.push_back(
          at(argument(0) + part * (argument(2) - argument(0)), argument(1) + part * (argument(3) - argument(1)), true));
    pending_.push_back(at(argument(2), argument(3), false));
    pending_.push_back(pending_.back());
    return ok();
  }
  const float x = verb == "click" ? 0.5f : argument(0), y = verb == "click" ? 0.5f : argument(1);
  pending_ = {at(x, y, false), at(x, y, false), at(x, y, true), at(x, y, true), at(x, y, false), at(x, y, false)};
  return ok();
}

}  // namespace wicprof::gui
