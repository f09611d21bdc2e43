// The library's entry points. The CUDA driver calls the first within cuInit() (CUDA_INJECTION64_PATH); the NVTX headers
// call the second at the program's first NVTX call (NVTX_INJECTION64_PATH); `wic-prof doctor` calls the third, and
// `wic-prof rewrite --prewarm` the fourth.
#include <cstdio>

#include "collector/door_check.h"
#include "collector/injection.h"
#include "collector/prewarm.h"

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection(void) {
  wicprof::collector::start_once();
  return wicprof::collector::answer_to_driver();
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  return wicprof::collector::connect_nvtx(get_export_table) ? 1 : 0;
}

/// DoorState as a number; `reason`: a text of at most `bytes` bytes with its NUL.
__attribute__((visibility("default"))) int wicprof_try_door(char* reason, std::size_t bytes) {
  try {
    const wicprof::collector::DoorAnswer answer = wicprof::collector::try_door();
    std::snprintf(reason, bytes, "%s", answer.reason.c_str());
    return static_cast<int>(answer.state);
  } catch (...) {
    std::snprintf(reason, bytes, "there is not enough memory");
    return static_cast<int>(wicprof::collector::DoorState::unknown);
  }
}

/// The images of `file` with patched code in the cache; -1: nothing was compiled. `notes`: the problem, or a line per
/// image that stays as it is; a text of at most `bytes` bytes with its NUL.
__attribute__((visibility("default"))) int wicprof_prewarm(const char* file, std::size_t file_bytes, char* notes,
                                                           std::size_t bytes) {
  try {
    const wicprof::collector::Prewarmed answer = wicprof::collector::prewarm({file, file_bytes});
    std::snprintf(notes, bytes, "%s", answer.problem.empty() ? answer.notes.c_str() : answer.problem.c_str());
    return answer.problem.empty() ? answer.patched : -1;
  } catch (...) {
    std::snprintf(notes, bytes, "there is not enough memory");
    return -1;
  }
}

}  // extern "C"
