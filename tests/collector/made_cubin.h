// A module (cubin) with a symbol table and nothing else, for tests.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace wicprof::collector {

/// `functions`: the names of symbols 1, 2, ...; symbol 0 is empty, as in every module. After them comes one symbol that
/// is no function, "data".
inline std::vector<char> made_cubin(const std::vector<std::string>& functions) {
  std::string texts(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (std::size_t i = 0; i <= functions.size(); ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(texts.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_LOCAL, i < functions.size() ? STT_FUNC : STT_OBJECT));
    texts += i < functions.size() ? functions[i] : "data";
    texts += '\0';
    symbols.push_back(symbol);
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shoff = sizeof header;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = texts.size();
  sections[2].sh_type = SHT_SYMTAB;
  sections[2].sh_link = 1;
  sections[2].sh_offset = sections[1].sh_offset + texts.size();
  sections[2].sh_size = symbols.size() * sizeof(Elf64_Sym);
  std::vector<char> bytes;
  const auto append = [&bytes](const void* from, std::size_t count) {
    const char* const begin = static_cast<const char*>(from);
    bytes.insert(bytes.end(), begin, begin + count);
  };
  append(&header, sizeof header);
  append(sections, sizeof sections);
  append(texts.data(), texts.size());
  append(symbols.data(), symbols.size() * sizeof(Elf64_Sym));
  return bytes;
}

}  // namespace wicprof::collector
