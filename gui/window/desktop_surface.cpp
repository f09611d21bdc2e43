// A desktop window, by GLFW.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <map>
#include <utility>

#include "gui/window/surface.h"

namespace wicprof::gui {

namespace {

std::string glfw_reason() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text != nullptr ? text : "no reason given";
}

Error no_display() {
  return unavailable("no display to open a window on (" + glfw_reason() +
                     "); log in to a desktop, use ssh -X, or run under xvfb-run");
}

std::string utf8_of(unsigned int c) {
  std::string text;
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | (c >> 6));
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
  return text;
}

// Names of keys without a character, and of Ctrl with a letter; "" for others.
std::string name_of(int key, int mods) {
  static const std::map<int, std::string> kNames{
      {GLFW_KEY_LEFT, "left"}, {GLFW_KEY_RIGHT, "right"}, {GLFW_KEY_UP, "up"},         {GLFW_KEY_DOWN, "down"},
      {GLFW_KEY_HOME, "home"}, {GLFW_KEY_END, "end"},     {GLFW_KEY_ESCAPE, "escape"}, {GLFW_KEY_F3, "f3"}};
  if (const auto found = kNames.find(key); found != kNames.end()) return found->second;
  if ((mods & GLFW_MOD_CONTROL) != 0 && key >= GLFW_KEY_A && key <= GLFW_KEY_Z)
    return std::string("ctrl+") + static_cast<char>('a' + (key - GLFW_KEY_A));
  return {};
}

class DesktopSurface final : public Surface {
 public:
  DesktopSurface() = default;
  ~DesktopSurface() override {
    if (connected_) ImGui_ImplGlfw_Shutdown();
    if (window_ != nullptr) glfwDestroyWindow(window_);
    glfwTerminate();
  }

  Result<> open(const SurfaceSize& size, const std::string& title) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    scale_ = size.scale;
    if (scale_ <= 0) {
      float x = 1, y = 1;
      if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) glfwGetMonitorContentScale(monitor, &x, &y);
      scale_ = std::clamp(x, 1.0f, 4.0f);
    }
    const PixelSize pixels = size.pixels(scale_);
    window_ = glfwCreateWindow(pixels.width, pixels.height, title.c_str(), nullptr, nullptr);
    if (window_ == nullptr) {
      return unavailable("no OpenGL 3 window on this display (" + glfw_reason() +
                         "); install an OpenGL driver, on Debian libgl1-mesa-dri");
    }
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    // Installed before ImGui's callbacks, which call them in turn.
    glfwSetWindowUserPointer(window_, this);
    glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned int c) {
      if (!ImGui::GetIO().WantTextInput && c > ' ')
        static_cast<DesktopSurface*>(glfwGetWindowUserPointer(window))->keys_.push_back(utf8_of(c));
    });
    glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int, int action, int mods) {
      if (action == GLFW_RELEASE) return;
      const std::string name = name_of(key, mods);
      if (name.empty() || (ImGui::GetIO().WantTextInput && name != "escape")) return;
      static_cast<DesktopSurface*>(glfwGetWindowUserPointer(window))->keys_.push_back(name);
    });
    connected_ = ImGui_ImplGlfw_InitForOpenGL(window_, true);
    return ok();
  }

  float scale() const override { return scale_; }
  bool closed() const override { return glfwWindowShouldClose(window_) != 0; }
  void take_input(double seconds) override {
    if (seconds > 0) {
      glfwWaitEventsTimeout(seconds);
    } else {
      glfwPollEvents();
    }
  }
  std::vector<std::string> keys() override { return std::exchange(keys_, {}); }
  void begin_frame() override { ImGui_ImplGlfw_NewFrame(); }
  PixelSize pixels() const override {
    PixelSize size;
    glfwGetFramebufferSize(window_, &size.width, &size.height);
    return size;
  }
  void show() override { glfwSwapBuffers(window_); }
  void resize(PixelSize size) override { glfwSetWindowSize(window_, size.width, size.height); }

 private:
  GLFWwindow* window_ = nullptr;
  bool connected_ = false;
  float scale_ = 1;
  std::vector<std::string> keys_;
};

}  // namespace

Result<> check_desktop() {
  if (glfwInit() == 0) return no_display();
  glfwTerminate();
  return ok();
}

Result<std::unique_ptr<Surface>> open_desktop_surface(const SurfaceSize& size, const std::string& title) {
  if (glfwInit() == 0) return no_display();
  auto surface = std::make_unique<DesktopSurface>();
  if (const Result<> opened = surface->open(size, title); !opened) return opened.error();
  return Result<std::unique_ptr<Surface>>(std::move(surface));
}

}  // namespace wicprof::gui
