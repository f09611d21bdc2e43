#include "collector/program/cubin_symbols.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace wicprof::collector {

namespace {

// The bytes may be damaged, so every access is checked, and nothing is assumed to be aligned.
template <class Part>
std::optional<Part> part_at(std::span<const char> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Part)) return std::nullopt;
  Part part;
  std::memcpy(&part, bytes.data() + offset, sizeof part);
  return part;
}

std::optional<Elf64_Shdr> section(std::span<const char> cubin, const Elf64_Ehdr& header, std::uint32_t index) {
  if (index >= header.e_shnum || header.e_shoff > cubin.size()) return std::nullopt;
  return part_at<Elf64_Shdr>(cubin, header.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
}

std::string text_at(std::span<const char> cubin, const Elf64_Shdr& texts, std::uint32_t offset) {
  if (texts.sh_offset > cubin.size() || texts.sh_size > cubin.size() - texts.sh_offset || offset >= texts.sh_size) {
    return {};
  }
  const char* const begin = cubin.data() + texts.sh_offset + offset;
  const std::size_t longest = texts.sh_size - offset;
  const std::size_t length = strnlen(begin, longest);
  return length < longest ? std::string(begin, length) : std::string();
}

}  // namespace

std::string function_symbol(std::span<const char> cubin, std::uint32_t index) {
  const auto header = part_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr)) {
    return {};
  }
  for (std::uint32_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(cubin, *header, i);
    if (!symbols || symbols->sh_type != SHT_SYMTAB) continue;
    if (symbols->sh_offset > cubin.size() || index >= symbols->sh_size / sizeof(Elf64_Sym)) return {};
    const auto symbol = part_at<Elf64_Sym>(cubin, symbols->sh_offset + std::uint64_t{index} * sizeof(Elf64_Sym));
    const auto texts = section(cubin, *header, symbols->sh_link);
    if (!symbol || !texts || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) return {};
    return text_at(cubin, *texts, symbol->st_name);
  }
  return {};
}

}  // namespace wicprof::collector
