// The part of EGL that drawing without a display takes, loaded at run time: the window itself does without EGL, so that
// neither building nor starting the window needs a package for it. Names, types and numbers: the EGL registry of
// Khronos (EGL 1.5, EGL_MESA_platform_surfaceless, EGL_EXT_platform_device, EGL_EXT_device_enumeration).
#pragma once

#include <cstdint>

#include "protocol/result.h"

namespace wicprof::gui::egl {

using Display = void*;
using Config = void*;
using Context = void*;
using Device = void*;

inline constexpr unsigned kPlatformSurfaceless = 0x31DD, kPlatformDevice = 0x313F;
inline constexpr unsigned kOpenGl = 0x30A2;
inline constexpr std::int32_t kEnd = 0x3038;
inline constexpr std::int32_t kSurfaceType = 0x3033, kRenderableType = 0x3040, kOpenGlBit = 0x0008;
inline constexpr std::int32_t kMajorVersion = 0x3098, kMinorVersion = 0x30FB;

struct Library {
  void* (*get_address)(const char* name);
  Display (*get_platform_display)(unsigned platform, void* native, const std::int32_t* attributes);
  unsigned (*query_devices)(std::int32_t most, Device* devices, std::int32_t* count);  ///< null where EGL lacks it
  unsigned (*initialize)(Display, std::int32_t* major, std::int32_t* minor);
  unsigned (*bind_api)(unsigned api);
  unsigned (*choose_config)(Display, const std::int32_t* attributes, Config*, std::int32_t most, std::int32_t* count);
  Context (*create_context)(Display, Config, Context shared, const std::int32_t* attributes);
  unsigned (*make_current)(Display, void* draw, void* read, Context);
  unsigned (*destroy_context)(Display, Context);
  unsigned (*terminate)(Display);
  std::int32_t (*get_error)();
};

/// Loads libEGL; the library stays loaded. Error: the machine does not have it, or has one from before EGL 1.4.
Result<Library> load();

}  // namespace wicprof::gui::egl
