// Preloaded into a program whose code `wic-prof run --rewrite` patches: keeps the PTX of what the program compiles with
// NVRTC for a real architecture, since the program itself takes the machine code only. The library stands between NVRTC
// and a program, or a library of it, that is linked with NVRTC; code that looks the functions up itself does not come
// here.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

extern "C" int nvrtcGetCUBIN(void* program, char* code);

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
/// Never destroyed: the program may compile until its end. So may the child of a fork, and needs the lock then.
Kept& kept() {
  static Kept* const all = new Kept;
  [[maybe_unused]] static const int around_forks =
      pthread_atfork([] { all->mutex.lock(); }, [] { all->mutex.unlock(); }, [] { all->mutex.unlock(); });
  return *all;
}

/// The function in a library that is loaded, or in what the library is linked with; nullptr: only ours, or none.
void* function_in(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  return found == reinterpret_cast<void*>(&nvrtcGetCUBIN) ? nullptr : found;
}

/// NVRTC's function, as the code at `caller` would have found it without us: in what the program has for all, else in
/// what the caller's own library is linked with, which a program may have loaded for that library alone (RTLD_LOCAL).
/// Where the caller's last act was the call, its own caller stands there: then in any library.
template <class Function>
Function function_of_nvrtc(const char* name, const void* caller) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info of_caller{};
  if (found == nullptr && dladdr(caller, &of_caller) != 0) found = function_in(of_caller.dli_fname, name);
  if (found != nullptr) return reinterpret_cast<Function>(found);
  std::vector<std::string> libraries;
  const auto add = [](dl_phdr_info* object, std::size_t, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(object->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
  for (const std::string& library : libraries) {
    if (found == nullptr && !library.empty()) found = function_in(library.c_str(), name);
  }
  return reinterpret_cast<Function>(found);
}

void keep(Program program, const char* code, const void* caller) {
  const auto size_of_ptx = function_of_nvrtc<GetSize>("nvrtcGetPTXSize", caller);
  const auto get_ptx = function_of_nvrtc<GetText>("nvrtcGetPTX", caller);
  const auto size_of_code = function_of_nvrtc<GetSize>("nvrtcGetCUBINSize", caller);
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
  const void* const caller = __builtin_return_address(0);
  const auto real = function_of_nvrtc<GetText>("nvrtcGetCUBIN", caller);
  if (real == nullptr) return kInternalError;
  const int result = real(program, code);
  if (result == kSuccess) keep(program, code, caller);
  return result;
}

/// For the collector: the PTX of machine code; nullptr: it is not known. The text stays.
extern "C" __attribute__((visibility("default"))) const char* wicprof_nvrtc_ptx(const void* code, std::size_t bytes) {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().ptx_of.find(std::string(static_cast<const char*>(code), bytes));
  return found == kept().ptx_of.end() ? nullptr : found->second.c_str();
}
