#include "collector/rewrite/own_modules.h"

// The bytes of FILE, then a zero, from NAME on.
#define WICPROF_BYTES_OF(name, file)                                                                            \
  __asm__(".pushsection .rodata\n.balign 16\n.global " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" file \
          "\"\n.byte 0\n.popsection\n");                                                                        \
  extern "C" __attribute__((visibility("hidden"))) const char name[]

WICPROF_BYTES_OF(wicprof_asked_ptx, WICPROF_OWN_PTX "/asked.ptx");
WICPROF_BYTES_OF(wicprof_answer_ptx, WICPROF_OWN_PTX "/answer.ptx");
WICPROF_BYTES_OF(wicprof_clock_ptx, WICPROF_OWN_PTX "/clock.ptx");
#ifdef WICPROF_OWN_MACHINE_CODE
WICPROF_BYTES_OF(wicprof_asked_code, WICPROF_OWN_MACHINE_CODE "/asked.fatbin");
WICPROF_BYTES_OF(wicprof_answer_code, WICPROF_OWN_MACHINE_CODE "/answer.fatbin");
WICPROF_BYTES_OF(wicprof_clock_code, WICPROF_OWN_MACHINE_CODE "/clock.fatbin");
#else
namespace {
constexpr const char* wicprof_asked_code = nullptr;
constexpr const char* wicprof_answer_code = nullptr;
constexpr const char* wicprof_clock_code = nullptr;
}  // namespace
#endif

namespace wicprof::collector {

OwnModule asked_module() { return {wicprof_asked_code, wicprof_asked_ptx}; }
OwnModule answer_module() { return {wicprof_answer_code, wicprof_answer_ptx}; }
OwnModule clock_module() { return {wicprof_clock_code, wicprof_clock_ptx}; }

CUresult load_own(const RewriteDriver& driver, const OwnModule& module, CUlibrary& library) {
  const auto load_one = [&](const void* image) {
    return driver.library_load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  // A driver may be older than the compiler that made the machine code.
  if (module.machine_code != nullptr && load_one(module.machine_code) == CUDA_SUCCESS) return CUDA_SUCCESS;
  return load_one(module.ptx);
}

}  // namespace wicprof::collector
