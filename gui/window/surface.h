// What the window draws on: a desktop window, or memory that no display shows. Main thread only.
//
// Each surface makes an OpenGL 3 context current and feeds ImGui with sizes, time and input. ImGui's context must exist
// before a surface is opened, and outlive the surface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::gui {

struct PixelSize {
  int width = 0, height = 0;
};

/// The size of a surface at a scale: 1 = 100 %; 0 = the scale of the display, and 100 % without a display.
struct SurfaceSize {
  int width = 0, height = 0;  ///< pixels at 100 %
  float scale = 0;

  PixelSize pixels(float actual_scale) const {
    return {static_cast<int>(static_cast<float>(width) * actual_scale),
            static_cast<int>(static_cast<float>(height) * actual_scale)};
  }
};

class Surface {
 public:
  virtual ~Surface() = default;

  virtual float scale() const = 0;
  /// The user asked to close the window.
  virtual bool closed() const = 0;
  /// Handles pending input; waits for input for at most `seconds`.
  virtual void take_input(double seconds) = 0;
  /// Keys since the last call, by name (actions.h). While a text field has the focus, only "escape".
  virtual std::vector<std::string> keys() = 0;
  /// Tells ImGui the size, the time and the input of the next frame.
  virtual void begin_frame() = 0;
  virtual PixelSize pixels() const = 0;
  /// Shows what was drawn.
  virtual void show() = 0;
  virtual void resize(PixelSize size) = 0;

 protected:
  Surface() = default;
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
};

/// A window on the display. Errors: no display, no OpenGL 3.
Result<std::unique_ptr<Surface>> open_desktop_surface(const SurfaceSize& size, const std::string& title);
/// Error: there is no display.
Result<> check_desktop();

/// Memory, through EGL without a display (by software where the machine has no GPU). Error: the machine has no EGL that
/// can do so.
Result<std::unique_ptr<Surface>> open_offscreen_surface(const SurfaceSize& size);

}  // namespace wicprof::gui
