// A window of the desktop with OpenGL and ImGui in it. Of the main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/window/ui.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// What a script does in place of the mouse.
struct FakeMouse {
  bool active = false;
  float x = 0, y = 0, wheel = 0;
  bool down = false, ctrl = false;
  /// Points at nothing: wherever the display's pointer is, it hovers over nothing.
  static FakeMouse away() { return {true, -1000, -1000, 0, false, false}; }
};

class Window {
 public:
  /// `scale` 0: as the display asks for. Sizes are at 100 %.
  static Result<Window> open(int width, int height, float scale, const std::string& title);
  Window(Window&&) noexcept;
  Window& operator=(Window&&) = delete;
  ~Window();

  /// Whether open() would find a display.
  static Result<> check();

  bool closed() const;
  /// Handles what has come in, waiting at most `seconds` for something; 0 = not at all.
  void take_input(double seconds);
  /// Keys since the last call, by name (actions.h); none while text is typed into a field, but for "escape".
  std::vector<std::string> keys();
  void begin_frame(bool dark, const FakeMouse& mouse);
  const Ui& ui() const;
  /// Everything up to the picture on the screen.
  void end_frame();
  /// The last picture as a PNG, whole or not at all.
  Result<> save_png(const std::string& path);
  void resize(int width, int height);

 private:
  struct State;
  explicit Window(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
