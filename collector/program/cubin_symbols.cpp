#include "collector/program/cubin_symbols.h"

#include <elf.h>

#include "rewriter/images/elf.h"

namespace wicprof::collector {

std::string function_symbol(std::span<const char> cubin, std::uint32_t index) {
  const Result<rewriter::Elf> elf = rewriter::read_elf({cubin.data(), cubin.size()});
  std::string name;
  if (!elf) return name;
  rewriter::for_each_function(*elf, SHT_SYMTAB, [&](const rewriter::ElfFunction& function) {
    if (function.index == index) name = function.name();
    return function.index < index;
  });
  return name;
}

}  // namespace wicprof::collector
