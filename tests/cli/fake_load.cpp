#include "tests/cli/fake_load.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tests/collector/fake_cupti.h"

const void* image_after_callback(const void* code) {
  const char* const path = std::getenv("WICPROF_CUPTI_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return code;
  const auto controls = reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(library, "fake_cupti_controls"))();
  cuLibraryLoadData_params params{};
  params.code = code;
  controls->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, 1, &params);
  return params.code;
}
