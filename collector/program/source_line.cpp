#include "collector/program/source_line.h"

#ifdef WICPROF_HAS_BACKTRACE

#include <backtrace.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "collector/program/loaded_module.h"
#include "collector/program/mapped_file.h"
#include "rewriter/images/elf.h"

namespace {

/// The module that libbacktrace sees while this thread asks it; nullptr: all of them, for whoever else asks.
thread_local const wicprof::collector::LoadedModule* only_module = nullptr;

struct Visit {
  int (*visit)(dl_phdr_info*, size_t, void*);
  void* data;
};

int visit_only(dl_phdr_info* info, size_t bytes, void* to) {
  const auto& visit = *static_cast<const Visit*>(to);
  const bool wanted = info->dlpi_addr == only_module->begin && std::string_view(info->dlpi_name) == only_module->path;
  return wanted ? visit.visit(info, bytes, visit.data) : 0;
}

}  // namespace

// libbacktrace would read the debug information of all modules of the program, which can be gigabytes. The linker calls
// the first of these in place of dl_iterate_phdr() within our library (--wrap).
extern "C" {
int __real_dl_iterate_phdr(int (*visit)(dl_phdr_info*, size_t, void*), void* data);
int __wrap_dl_iterate_phdr(int (*visit)(dl_phdr_info*, size_t, void*), void* data);

int __wrap_dl_iterate_phdr(int (*visit)(dl_phdr_info*, size_t, void*), void* data) {
  if (only_module == nullptr) return __real_dl_iterate_phdr(visit, data);
  Visit only{visit, data};
  return __real_dl_iterate_phdr(visit_only, &only);
}
}

namespace wicprof::collector {

namespace {

/// Bytes of the sections .debug_* in a file.
std::uint64_t debug_bytes(const char* path) {
  const MappedFile file(path);
  const Result<rewriter::Elf> elf = rewriter::read_elf(file.bytes());
  std::uint64_t bytes = 0;
  if (!elf) return bytes;
  for (const rewriter::ElfSection& section : elf->sections) {
    if (section.name.starts_with(".debug_")) bytes += section.bytes.size();
  }
  return bytes;
}

void ignore_error(void*, const char*, int) {}

int keep_last(void* to, std::uintptr_t, const char* file, int line, const char*) {
  if (file == nullptr || line <= 0) return 0;
  const char* slash = std::strrchr(file, '/');
  *static_cast<std::string*>(to) = std::string(slash == nullptr ? file : slash + 1) + ":" + std::to_string(line);
  return 0;  // the innermost inlined function comes first, the function itself last
}

}  // namespace

std::string source_line(const void* address) {
  using Module = std::pair<std::string, std::uintptr_t>;  // its file and where it is loaded
  static auto* const states = new std::map<Module, backtrace_state*>;
  const LoadedModule module = module_at(address);
  if (!module.found) return {};
  const auto [found, first] = states->try_emplace(Module(module.path, module.begin), nullptr);
  if (first) {
    if (debug_bytes(module.is_program() ? "/proc/self/exe" : module.path.c_str()) > kMostDebugBytes) return {};
    found->second = backtrace_create_state(nullptr, 0, ignore_error, nullptr);
  }
  if (found->second == nullptr) return {};
  std::string line;
  only_module = &module;
  backtrace_pcinfo(found->second, reinterpret_cast<std::uintptr_t>(address), keep_last, ignore_error, &line);
  only_module = nullptr;
  return line;
}

}  // namespace wicprof::collector

#else

namespace wicprof::collector {

std::string source_line(const void*) { return {}; }

}  // namespace wicprof::collector

#endif
