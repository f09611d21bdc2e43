#include "gui/window/window.h"

#include <GL/gl.h>
#include <backends/imgui_impl_opengl3.h>

#include <utility>

#include "gui/window/fonts.h"
#include "gui/window/png.h"
#include "gui/window/surface.h"
#include "gui/window/theme.h"

namespace wicprof::gui {

namespace {

Error nothing_to_draw_on(const Error& offscreen, const Error& desktop) {
  return unavailable("cannot draw without a display (" + offscreen.message +
                     "); install libegl1, libegl-mesa0 and libgl1-mesa-dri, which draw by software, or provide a "
                     "display: " +
                     desktop.message);
}

Result<std::unique_ptr<Surface>> open_surface(const SurfaceSize& size, const std::string& title, DrawOn on) {
  if (on == DrawOn::desktop) {
    Result<std::unique_ptr<Surface>> desktop = open_desktop_surface(size, title);
    if (desktop) return desktop;
    return unavailable(desktop.error().message + "; a picture (--screenshot) needs no display");
  }
  const bool memory_first = on == DrawOn::memory;
  Result<std::unique_ptr<Surface>> first =
      memory_first ? open_offscreen_surface(size) : open_desktop_surface(size, title);
  if (first) return first;
  Result<std::unique_ptr<Surface>> second =
      memory_first ? open_desktop_surface(size, title) : open_offscreen_surface(size);
  if (second) return second;
  return memory_first ? nothing_to_draw_on(first.error(), second.error())
                      : nothing_to_draw_on(second.error(), first.error());
}

}  // namespace

struct Window::State {
  Ui ui;
  bool styled_dark = false;
  ImGuiContext* context = nullptr;
  std::unique_ptr<Surface> surface;
  bool drawing = false;

  ~State() {
    if (drawing) ImGui_ImplOpenGL3_Shutdown();
    surface.reset();
    if (context != nullptr) ImGui::DestroyContext(context);
  }

  void draw() const {
    const PixelSize size = surface->pixels();
    const ImVec4 page = ink4(ui.theme().page);
    glViewport(0, 0, size.width, size.height);
    glClearColor(page.x, page.y, page.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  }
};

Window::Window(std::unique_ptr<State> state) : state_(std::move(state)) {}
Window::Window(Window&&) noexcept = default;
Window::~Window() = default;

Result<> Window::check() { return check_desktop(); }

Result<Window> Window::open(int width, int height, float scale, const std::string& title, DrawOn on) {
  auto state = std::make_unique<State>();
  IMGUI_CHECKVERSION();
  state->context = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  Result<std::unique_ptr<Surface>> surface = open_surface({width, height, scale}, title, on);
  if (!surface) return surface.error();
  state->surface = *std::move(surface);
  state->ui.scale = state->surface->scale();
  state->drawing = ImGui_ImplOpenGL3_Init("#version 130");
  if (!state->drawing) return unavailable("no OpenGL library that draws the window; install libgl1");
  load_fonts(state->ui);
  apply_style(state->ui);
  return Result<Window>(Window(std::move(state)));
}

bool Window::closed() const { return state_->surface->closed(); }

void Window::take_input(double seconds) { state_->surface->take_input(seconds); }

std::vector<std::string> Window::keys() { return state_->surface->keys(); }

void Window::begin_frame(bool dark, const FakeMouse& mouse) {
  if (dark != state_->styled_dark) {
    state_->ui.dark = state_->styled_dark = dark;
    apply_style(state_->ui);
  }
  ImGui_ImplOpenGL3_NewFrame();
  state_->surface->begin_frame();
  if (mouse.active) {
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
    io.AddMousePosEvent(mouse.x, mouse.y);
    io.AddMouseButtonEvent(0, mouse.down);
    if (mouse.wheel != 0) io.AddMouseWheelEvent(0, mouse.wheel);
#if IMGUI_VERSION_NUM >= 18900
    io.AddKeyEvent(ImGuiMod_Ctrl, mouse.ctrl);
#else
    io.AddKeyEvent(ImGuiKey_ModCtrl, mouse.ctrl);
#endif
#else
    io.MousePos = ImVec2(mouse.x, mouse.y);
    io.MouseDown[0] = mouse.down;
    io.MouseWheel = mouse.wheel;
    io.KeyCtrl = mouse.ctrl;
#endif
  }
  ImGui::NewFrame();
}

const Ui& Window::ui() const { return state_->ui; }

void Window::end_frame(bool seen) {
  ImGui::Render();
  if (!seen) return;
  state_->draw();
  state_->surface->show();
}

Result<> Window::save_png(const std::string& path) {
  state_->draw();  // again: after a swap the back buffer is undefined
  const PixelSize size = state_->surface->pixels();
  std::vector<unsigned char> pixels(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  return write_png(path, size.width, size.height, pixels);
}

void Window::resize(int width, int height) { state_->surface->resize({width, height}); }

}  // namespace wicprof::gui
