#include "gui/window/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "gui/window/fonts.h"
#include "gui/window/png.h"
#include "gui/window/theme.h"

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

}  // namespace

struct Window::State {
  GLFWwindow* window = nullptr;
  Ui ui;
  bool styled_dark = false;
  std::vector<std::string> keys;
  ImGuiContext* context = nullptr;

  ~State() {
    if (context != nullptr) {
      ImGui_ImplOpenGL3_Shutdown();
      ImGui_ImplGlfw_Shutdown();
      ImGui::DestroyContext(context);
    }
    if (window != nullptr) glfwDestroyWindow(window);
    glfwTerminate();
  }
};

Window::Window(std::unique_ptr<State> state) : state_(std::move(state)) {}
Window::Window(Window&&) noexcept = default;
Window::~Window() = default;

Result<> Window::check() {
  if (glfwInit() == 0) return no_display();
  glfwTerminate();
  return ok();
}

Result<Window> Window::open(int width, int height, float scale, const std::string& title) {
  if (glfwInit() == 0) return no_display();
  auto state = std::make_unique<State>();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  if (scale <= 0) {
    float x = 1, y = 1;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) glfwGetMonitorContentScale(monitor, &x, &y);
    scale = std::clamp(x, 1.0f, 4.0f);
  }
  state->ui.scale = scale;
  state->window =
      glfwCreateWindow(static_cast<int>(static_cast<float>(width) * scale),
                       static_cast<int>(static_cast<float>(height) * scale), title.c_str(), nullptr, nullptr);
  if (state->window == nullptr) {
    return unavailable("no OpenGL 3 window on this display (" + glfw_reason() +
                       "); install an OpenGL driver, on Debian libgl1-mesa-dri");
  }
  glfwMakeContextCurrent(state->window);
  glfwSwapInterval(1);
  IMGUI_CHECKVERSION();
  state->context = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  // Installed before ImGui's callbacks, which call them in turn.
  glfwSetWindowUserPointer(state->window, state.get());
  glfwSetCharCallback(state->window, [](GLFWwindow* window, unsigned int c) {
    if (!ImGui::GetIO().WantTextInput && c > ' ')
      static_cast<State*>(glfwGetWindowUserPointer(window))->keys.push_back(utf8_of(c));
  });
  glfwSetKeyCallback(state->window, [](GLFWwindow* window, int key, int, int action, int mods) {
    if (action == GLFW_RELEASE) return;
    const std::string name = name_of(key, mods);
    if (name.empty() || (ImGui::GetIO().WantTextInput && name != "escape")) return;
    static_cast<State*>(glfwGetWindowUserPointer(window))->keys.push_back(name);
  });
  ImGui_ImplGlfw_InitForOpenGL(state->window, true);
  ImGui_ImplOpenGL3_Init("#version 130");
  load_fonts(state->ui);
  apply_style(state->ui);
  return Result<Window>(Window(std::move(state)));
}

bool Window::closed() const { return glfwWindowShouldClose(state_->window) != 0; }

void Window::take_input(double seconds) {
  if (seconds > 0) {
    glfwWaitEventsTimeout(seconds);
  } else {
    glfwPollEvents();
  }
}

std::vector<std::string> Window::keys() { return std::exchange(state_->keys, {}); }

void Window::begin_frame(bool dark, const FakeMouse& mouse) {
  if (dark != state_->styled_dark) {
    state_->ui.dark = state_->styled_dark = dark;
    apply_style(state_->ui);
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
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

void Window::end_frame() {
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->window, &width, &height);
  glViewport(0, 0, width, height);
  const ImVec4 page = ink4(state_->ui.theme().page);
  glClearColor(page.x, page.y, page.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(state_->window);
}

Result<> Window::save_png(const std::string& path) {
  // Draws the frame again: after a swap the back buffer is undefined.
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->window, &width, &height);
  const ImVec4 page = ink4(state_->ui.theme().page);
  glViewport(0, 0, width, height);
  glClearColor(page.x, page.y, page.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  std::vector<unsigned char> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  return write_png(path, width, height, pixels);
}

void Window::resize(int width, int height) { glfwSetWindowSize(state_->window, width, height); }

}  // namespace wicprof::gui
