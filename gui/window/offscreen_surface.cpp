// Memory in place of a window: an EGL context without a surface, and a framebuffer object.
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "gui/window/egl.h"
#include "gui/window/surface.h"

namespace wicprof::gui {

namespace {

constexpr std::size_t kMostDevices = 16;

class OffscreenSurface final : public Surface {
 public:
  explicit OffscreenSurface(const egl::Library& egl) : egl_(egl) {}
  ~OffscreenSurface() override {
    if (frame_ != 0) {
      glDeleteFramebuffers(1, &frame_);
      glDeleteRenderbuffers(1, &colour_);
    }
    leave();
  }

  Result<> open(const SurfaceSize& size) {
    if (!make_context()) return unavailable(refusal_);
    scale_ = size.scale > 0 ? size.scale : 1;
    glGenFramebuffers(1, &frame_);
    glGenRenderbuffers(1, &colour_);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_);
    resize(size.pixels(scale_));
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      return unavailable("the OpenGL driver refuses a picture of this size");
#if IMGUI_VERSION_NUM < 18700
    // A script's keys: without a keyboard, each key has ImGui's own number.
    for (int key = 0; key < ImGuiKey_COUNT; ++key) ImGui::GetIO().KeyMap[key] = key;
#endif
    return ok();
  }

  float scale() const override { return scale_; }
  bool closed() const override { return false; }
  void take_input(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
  std::vector<std::string> keys() override { return {}; }
  void begin_frame() override {
    const auto now = std::chrono::steady_clock::now();
    const float passed = std::chrono::duration<float>(now - last_frame_).count();
    last_frame_ = now;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(static_cast<float>(size_.width), static_cast<float>(size_.height));
    io.DeltaTime = passed > 0 ? passed : 1e-3f;  // ImGui takes no 0
  }
  PixelSize pixels() const override { return size_; }
  void show() override { glFinish(); }
  void resize(PixelSize size) override {
    size_ = size;
    glBindRenderbuffer(GL_RENDERBUFFER, colour_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, size.width, size.height);
  }

 private:
  /// Tries Mesa's platform without surfaces first, which also draws by software, then each GPU by its driver.
  bool make_context() {
    if (make_context(egl_.get_platform_display(egl::kPlatformSurfaceless, nullptr, nullptr))) return true;
    std::array<egl::Device, kMostDevices> devices{};
    std::int32_t count = 0;
    if (egl_.query_devices == nullptr || egl_.query_devices(devices.size(), devices.data(), &count) == 0) return false;
    for (std::int32_t i = 0; i < count; ++i) {
      if (make_context(egl_.get_platform_display(egl::kPlatformDevice, devices[static_cast<std::size_t>(i)], nullptr)))
        return true;
    }
    return false;
  }

  bool make_context(egl::Display display) {
    static constexpr std::int32_t kConfig[] = {egl::kSurfaceType, 0, egl::kRenderableType, egl::kOpenGlBit, egl::kEnd};
    static constexpr std::int32_t kVersion[] = {egl::kMajorVersion, 3, egl::kMinorVersion, 0, egl::kEnd};
    std::int32_t major = 0, minor = 0, count = 0;
    egl::Config config = nullptr;
    if (display == nullptr || egl_.initialize(display, &major, &minor) == 0) return refuse("no driver");
    display_ = display;
    if (egl_.bind_api(egl::kOpenGl) == 0 || egl_.choose_config(display, kConfig, &config, 1, &count) == 0 || count == 0)
      return refuse("no OpenGL driver");
    context_ = egl_.create_context(display, config, nullptr, kVersion);
    if (context_ == nullptr) return refuse("no OpenGL 3");
    if (egl_.make_current(display, nullptr, nullptr, context_) == 0) return refuse("no drawing without a surface");
    return true;
  }

  /// Keeps the first reason: that of the platform that most machines have.
  bool refuse(const char* what) {
    char code[16];
    std::snprintf(code, sizeof code, "0x%04x", static_cast<unsigned>(egl_.get_error()));
    if (refusal_.empty()) refusal_ = std::string("EGL has ") + what + ": error " + code;
    leave();
    return false;
  }

  void leave() {
    if (context_ != nullptr) {
      egl_.make_current(display_, nullptr, nullptr, nullptr);
      egl_.destroy_context(display_, context_);
    }
    if (display_ != nullptr) egl_.terminate(display_);
    context_ = nullptr;
    display_ = nullptr;
  }

  egl::Library egl_;
  egl::Display display_ = nullptr;
  egl::Context context_ = nullptr;
  std::string refusal_;
  GLuint frame_ = 0, colour_ = 0;
  PixelSize size_;
  float scale_ = 1;
  std::chrono::steady_clock::time_point last_frame_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<std::unique_ptr<Surface>> open_offscreen_surface(const SurfaceSize& size) {
  const Result<egl::Library> egl = egl::load();
  if (!egl) return egl.error();
  auto surface = std::make_unique<OffscreenSurface>(*egl);
  if (const Result<> opened = surface->open(size); !opened) return opened.error();
  return Result<std::unique_ptr<Surface>>(std::move(surface));
}

}  // namespace wicprof::gui
