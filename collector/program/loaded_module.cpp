#include "collector/program/loaded_module.h"

#include <link.h>

#include <cstddef>

namespace wicprof::collector {

namespace {

struct Search {
  std::uintptr_t address = 0;
  LoadedModule module;
};

int look(dl_phdr_info* info, std::size_t, void* to) {
  Search& search = *static_cast<Search*>(to);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || search.address - (info->dlpi_addr + part.p_vaddr) >= part.p_memsz) continue;
    search.module = {info->dlpi_name == nullptr ? "" : info->dlpi_name, info->dlpi_addr, true};
    return 1;
  }
  return 0;
}

}  // namespace

LoadedModule module_at(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(look, &search);
  return search.module;
}

std::uint64_t modules_loaded() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t bytes, void* to) {
        if (bytes >= offsetof(dl_phdr_info, dlpi_subs)) *static_cast<std::uint64_t*>(to) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace wicprof::collector
