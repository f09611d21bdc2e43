#include "collector/program/executable.h"

#include <link.h>
#include <sys/auxv.h>

#include <cstdint>

namespace wicprof::collector {

namespace {

struct Mapped {
  std::uintptr_t begin = 0, end = 0;  // both 0: not known
};

Mapped find_mapped() {
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  const std::size_t count = getauxval(AT_PHNUM);
  if (headers == nullptr) return {};
  std::uintptr_t loaded_at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) loaded_at = reinterpret_cast<std::uintptr_t>(headers) - headers[i].p_vaddr;
  }
  Mapped mapped;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = loaded_at + headers[i].p_vaddr;
    if (mapped.end == 0) mapped.begin = begin;  // in the order of their addresses
    mapped.end = begin + headers[i].p_memsz;
  }
  return mapped;
}

}  // namespace

bool in_executable(const void* address) {
  static const Mapped mapped = find_mapped();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= mapped.begin && at < mapped.end;
}

}  // namespace wicprof::collector
