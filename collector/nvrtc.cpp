// Preloaded into a program whose code `wic-prof run --rewrite` patches: keeps the PTX of what the program compiles with
// NVRTC for a real architecture, since the program itself takes the machine code only. The library stands between a
// program that is linked with NVRTC and NVRTC; a program that looks the functions up itself does not come here.
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

// As nvrtc.h declares them.
using Program = void*;
using GetSize = int (*)(Program, std::size_t*);
using GetText = int (*)(Program, char*);
constexpr int kSuccess = 0, kInternalError = 11;

struct Kept {
  std::mutex mutex;
  std::map<std::string, std::string> ptx_of;  // by machine code
};
Kept& kept() {
  static Kept* const all = new Kept;  // the program may compile until its end
  return *all;
}

void keep(Program program, const char* code) {
  const auto size_of_ptx = reinterpret_cast<GetSize>(dlsym(RTLD_NEXT, "nvrtcGetPTXSize"));
  const auto get_ptx = reinterpret_cast<GetText>(dlsym(RTLD_NEXT, "nvrtcGetPTX"));
  const auto size_of_code = reinterpret_cast<GetSize>(dlsym(RTLD_NEXT, "nvrtcGetCUBINSize"));
  if (size_of_ptx == nullptr || get_ptx == nullptr || size_of_code == nullptr) return;
  std::size_t ptx_bytes = 0, code_bytes = 0;
  if (size_of_ptx(program, &ptx_bytes) != kSuccess || ptx_bytes < 2) return;
  if (size_of_code(program, &code_bytes) != kSuccess || code_bytes == 0) return;
  std::string text(ptx_bytes, '\0');
  if (get_ptx(program, text.data()) != kSuccess) return;
  text.resize(std::strlen(text.c_str()));
  const std::lock_guard lock(kept().mutex);
  kept().ptx_of[std::string(code, code_bytes)] = std::move(text);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int nvrtcGetCUBIN(Program program, char* code) {
  const auto real = reinterpret_cast<GetText>(dlsym(RTLD_NEXT, "nvrtcGetCUBIN"));
  if (real == nullptr) return kInternalError;
  const int result = real(program, code);
  if (result == kSuccess) keep(program, code);
  return result;
}

/// For the collector: the PTX of machine code; nullptr: it is not known. The text stays.
extern "C" __attribute__((visibility("default"))) const char* wicprof_nvrtc_ptx(const void* code, std::size_t bytes) {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().ptx_of.find(std::string(static_cast<const char*>(code), bytes));
  return found == kept().ptx_of.end() ? nullptr : found->second.c_str();
}
