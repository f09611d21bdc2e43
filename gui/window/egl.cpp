#include "gui/window/egl.h"

#include <dlfcn.h>

#include <cstdlib>

namespace wicprof::gui::egl {

Result<Library> load() {
  // Mesa warns on stderr about each GPU that it cannot use before it draws by software.
  setenv("EGL_LOG_LEVEL", "fatal", 0);
  void* handle = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return unavailable(dlerror());
  Library egl{};
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr) missing = name;
  };
  find("eglGetProcAddress", egl.get_address);
  find("eglInitialize", egl.initialize);
  find("eglBindAPI", egl.bind_api);
  find("eglChooseConfig", egl.choose_config);
  find("eglCreateContext", egl.create_context);
  find("eglMakeCurrent", egl.make_current);
  find("eglDestroyContext", egl.destroy_context);
  find("eglTerminate", egl.terminate);
  find("eglGetError", egl.get_error);
  if (missing != nullptr) return unavailable(std::string("libEGL.so.1 has no ") + missing);
  const auto extension = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(egl.get_address(name));
  };
  extension("eglGetPlatformDisplayEXT", egl.get_platform_display);
  extension("eglQueryDevicesEXT", egl.query_devices);
  if (egl.get_platform_display == nullptr) return unavailable("libEGL.so.1 has no eglGetPlatformDisplayEXT");
  return egl;
}

}  // namespace wicprof::gui::egl
