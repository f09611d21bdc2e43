#include "gui/drive.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gui/actions.h"
#include "gui/gui.h"
#include "gui/state_json.h"

namespace wicprof::gui {

namespace {

constexpr TimeNs kPatience = 20 * kSecond;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// What follows the first word, blanks and all.
std::string rest_of(const std::string& line) {
  const std::size_t space = line.find(' ');
  return space == std::string::npos ? std::string() : line.substr(space + 1);
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<Script> Script::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return bad_input("there is no script " + path);
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
    const std::size_t there = model == nullptr     ? 0
                              : what == "waits"    ? model->waits.size()
                              : what == "segments" ? segments
                                                   : model->interventions.size();
    if (count) return static_cast<double>(there) >= *count;
  }
  return failed("there is no such condition");
}

Result<> Script::step(App& app, Window& window) {
  ++idle_frames_;
  mouse_.wheel = 0;
  if (!pending_.empty()) {
    mouse_ = pending_.front();
    pending_.erase(pending_.begin());
    return ok();
  }
  if (!typing_.empty()) {  // a character a frame, as it would come from a keyboard
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
    const Result<bool> so = holds(app, words, used);
    if (!so) return so.error();
    const double seconds =
        words.size() > used ? number(words[used]).value_or(20) : static_cast<double>(kPatience) / kSecond;
    if (!*so) {
      if (now_ns() - *waiting_since_ < static_cast<TimeNs>(seconds * kSecond)) return ok();
      const LoadProgress progress = app.progress();
      return failed("that did not come about in time" +
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
  const auto value = [&](std::size_t i) { return i < words.size() ? number(words[i]).value_or(0) : 0.0; };
  if (verb == "view" && words.size() == 2) {
    const std::optional<ViewName> view = view_from_name(words[1]);
    if (!view) return failed("there is no such view");
    app.show(*view);
    return ok();
  }
  if (verb == "key" && words.size() == 2) return press(app, words[1]) ? ok() : Result<>(failed("no such key"));
  if (verb == "type") {
    typing_ = rest_of(line);
    return ok();
  }
  if (verb == "enter") {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, false);
#else
    // The back end's own number for the key; it is let go again with the next frame's input.
    const int key = ImGui::GetIO().KeyMap[ImGuiKey_Enter];
    ImGui::GetIO().KeysDown[key] = !ImGui::GetIO().KeysDown[key];
    if (ImGui::GetIO().KeysDown[key]) lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, "enter");
#endif
    return ok();
  }
  if (verb == "dump" && words.size() == 2) return write_state(app, window.ui().items, words[1]);
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
  // What the mouse does. An item's name may have blanks in it: what follows it are figures.
  std::size_t figures = verb == "click" ? 0 : verb == "press_at" ? 2 : verb == "wheel" ? 3 : verb == "drag" ? 4 : 99;
  if (words.size() < 2 + figures) return failed("there is no such step, or something is missing in it");
  std::string name = rest_of(line);
  for (std::size_t i = 0; i < figures; ++i) name.erase(name.find_last_of(' '));
  const ItemRects& items = window.ui().items;
  const auto item = items.find(name);
  if (item == items.end()) return failed("there is no '" + name + "' to be seen now");
  const Rect rect = item->second;
  const auto figure = [&](std::size_t i) { return static_cast<float>(value(words.size() - figures + i)); };
  const auto at = [&](float x, float y, bool down) {
    FakeMouse mouse;
    mouse.active = true;
    mouse.x = rect.x + rect.width * x;
    mouse.y = rect.y + rect.height * y;
    mouse.down = down;
    return mouse;
  };
  if (verb == "wheel") {
    FakeMouse turn = at(figure(0), figure(1), false);
    pending_ = {turn, turn};
    turn.ctrl = true;
    turn.wheel = figure(2);
    pending_.push_back(turn);
    pending_.push_back(at(figure(0), figure(1), false));
    return ok();
  }
  if (verb == "drag") {
    pending_ = {at(figure(0), figure(1), false), at(figure(0), figure(1), true)};
    for (const float part : {0.3f, 0.6f, 1.0f})
      pending_.push_back(
          at(figure(0) + part * (figure(2) - figure(0)), figure(1) + part * (figure(3) - figure(1)), true));
    pending_.push_back(at(figure(2), figure(3), false));
    pending_.push_back(pending_.back());
    return ok();
  }
  const float x = verb == "click" ? 0.5f : figure(0), y = verb == "click" ? 0.5f : figure(1);
  pending_ = {at(x, y, false), at(x, y, false), at(x, y, true), at(x, y, true), at(x, y, false), at(x, y, false)};
  return ok();
}

}  // namespace wicprof::gui
