// A window with OpenGL and ImGui, on a display or in memory (surface.h). Main thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/window/ui.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// Mouse input from a script.
struct FakeMouse {
  bool active = false;
  float x = 0, y = 0, wheel = 0;
  bool down = false, ctrl = false;
  /// Outside the window, so that nothing is hovered, wherever the display's pointer is.
  static FakeMouse away() { return {true, -1000, -1000, 0, false, false}; }
};

/// `desktop`: a user looks at the window. `memory`: for a picture, with or without a display. `either`: a display if
/// there is one, otherwise memory, for a script.
enum class DrawOn { desktop, memory, either };

class Window {
 public:
  /// `width`, `height` in pixels at 100 %. `scale`: 1 = 100 %; 0 = the display's own, 100 % in memory. Errors: no
  /// display; no OpenGL 3; in memory: neither EGL nor a display.
  static Result<Window> open(int width, int height, float scale, const std::string& title, DrawOn on);
  Window(Window&&) noexcept;
  Window& operator=(Window&&) = delete;
  ~Window();

  /// Error: a user would find no display.
  static Result<> check();

  bool closed() const;
  /// Handles pending input; waits for input for at most `seconds`.
  void take_input(double seconds);
  /// Keys since the last call, by name (actions.h). While a text field has the focus, only "escape".
  std::vector<std::string> keys();
  void begin_frame(bool dark, const FakeMouse& mouse);
  const Ui& ui() const;
  /// Ends the frame, and shows it if somebody looks: drawing by software is most of the time of a script.
  void end_frame(bool seen);
  /// Writes the last frame as a PNG, completely or not at all.
  Result<> save_png(const std::string& path);
  void resize(int width, int height);

 private:
  struct State;
  explicit Window(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
