// Fat binaries, cubins and programs made by hand, for tests of what reads them.
#pragma once

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "rewriter/images/decompress.h"

namespace wicprof::rewriter::made {

inline constexpr std::string_view kPtx =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry waits(.param .u64 f)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [f];\n$L:\nld.volatile.global.u32 %r1, [%d1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra "
    "$L;\nret;\n}\n";

template <class Value>
void put(std::string& bytes, std::size_t at, Value value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline std::string compressed(std::string_view image, Compression compression) {
  if (compression == Compression::none) return std::string(image);
  if (compression == Compression::lz4) {
    std::string bytes(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(image.size()))), '\0');
    bytes.resize(static_cast<std::size_t>(LZ4_compress_default(
        image.data(), bytes.data(), static_cast<int>(image.size()), static_cast<int>(bytes.size()))));
    return bytes;
  }
  std::string bytes(ZSTD_compressBound(image.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), image.data(), image.size(), 3));
  return bytes;
}

/// `kind`: 1 for PTX, 2 for a cubin. As nvcc writes it, with a header of 72 bytes and the options behind it.
inline std::string entry(std::uint16_t kind, std::string image, Compression compression,
                         std::uint32_t architecture = 90, std::string_view options = {}) {
  if (kind == 1) image += '\0';
  const std::string stored = compressed(image, compression);
  std::string header(72, '\0');
  std::uint32_t header_bytes = 72;
  if (!options.empty()) {
    put<std::uint32_t>(header, 20, 64);
    put<std::uint32_t>(header, 64, 72);
    put<std::uint32_t>(header, 68, static_cast<std::uint32_t>(options.size()));
    header += options;
    header.resize((header.size() + 7) / 8 * 8);
    header_bytes = static_cast<std::uint32_t>(header.size());
  }
  const std::uint64_t padded = (stored.size() + 7) / 8 * 8;
  put<std::uint16_t>(header, 0, kind);
  put<std::uint16_t>(header, 2, 0x0101);
  put<std::uint32_t>(header, 4, header_bytes);
  put<std::uint64_t>(header, 8, padded);
  put<std::uint32_t>(header, 28, architecture);
  std::uint64_t flags = 0x11;
  if (compression != Compression::none) {
    flags |= compression == Compression::lz4 ? 0x2000 : 0x8000;
    put<std::uint32_t>(header, 16, static_cast<std::uint32_t>(stored.size()));
    put<std::uint64_t>(header, 56, image.size());
  }
  put<std::uint64_t>(header, 40, flags);
  return header + stored + std::string(padded - stored.size(), '\0');
}

inline std::string container(const std::string& entries) {
  std::string bytes(16, '\0');
  put<std::uint32_t>(bytes, 0, 0xBA55ED50);
  put<std::uint16_t>(bytes, 4, 1);
  put<std::uint16_t>(bytes, 6, 16);
  put<std::uint64_t>(bytes, 8, entries.size());
  return bytes + entries;
}

struct Section {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::string bytes;
  std::uint32_t link = 0;
};

inline std::string elf(std::uint16_t machine, std::uint32_t flags, std::vector<Section> sections) {
  sections.insert(sections.begin(), Section{"", SHT_NULL, "", 0});
  std::string names;
  std::vector<std::uint32_t> name_at;
  sections.push_back({".shstrtab", SHT_STRTAB, "", 0});
  for (const Section& each : sections) {
    name_at.push_back(static_cast<std::uint32_t>(names.size()));
    names += each.name + '\0';
  }
  sections.back().bytes = names;
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> table;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    Elf64_Shdr header{};
    header.sh_name = name_at[i];
    header.sh_type = sections[i].type;
    header.sh_link = sections[i].link;
    header.sh_offset = bytes.size();
    header.sh_size = sections[i].bytes.size();
    table.push_back(header);
    bytes += sections[i].bytes;
  }
  bytes.resize((bytes.size() + 7) / 8 * 8);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_flags = flags;
  header.e_shoff = bytes.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<std::uint16_t>(table.size());
  header.e_shstrndx = static_cast<std::uint16_t>(table.size() - 1);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const Elf64_Shdr& each : table) bytes.append(reinterpret_cast<const char*>(&each), sizeof each);
  return bytes;
}

/// The note of ptxas: an ELF note with a version, zero, the places of four texts, and the texts.
inline std::string tool_note(const std::string& options) {
  const std::string texts = std::string(1, '\0') + "ptxas" + '\0' + "tools" + '\0' + "build" + '\0';
  std::string note(12 + 12 + 24, '\0');
  put<std::uint32_t>(note, 0, 12);
  put<std::uint32_t>(note, 4, static_cast<std::uint32_t>(24 + texts.size() + options.size() + 1));
  put<std::uint32_t>(note, 8, 2000);
  note.replace(12, 11, "NVIDIA Corp");
  put<std::uint32_t>(note, 24, 2);
  put<std::uint32_t>(note, 32, 1);
  put<std::uint32_t>(note, 44, static_cast<std::uint32_t>(texts.size()));
  return note + texts + options + '\0';
}

/// A cubin with these kernels and one device function.
inline std::string cubin(const std::vector<std::string>& kernels, std::uint32_t architecture = 90,
                         const std::string& options = {}) {
  std::string names(1, '\0'), symbols(sizeof(Elf64_Sym), '\0');
  const auto add = [&](const std::string& name, unsigned char other) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_other = other;
    names += name + '\0';
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
  };
  add("device_function", 0);
  for (const std::string& kernel : kernels) add(kernel, 0x10);
  std::vector<Section> sections{{".strtab", SHT_STRTAB, names}, {".symtab", SHT_SYMTAB, symbols, 1}};
  if (!options.empty()) sections.push_back({".note.nv.tkinfo", SHT_NOTE, tool_note(options)});
  return elf(190, architecture << 8, sections);
}

/// A program for the host, with the code in .nv_fatbin and that to be linked in __nv_relfatbin.
inline std::string program(const std::string& code, const std::string& relocatable = {}) {
  std::vector<Section> sections{{".text", SHT_PROGBITS, "\xc3"}, {".nv_fatbin", SHT_PROGBITS, code}};
  if (!relocatable.empty()) sections.push_back({"__nv_relfatbin", SHT_PROGBITS, relocatable});
  return elf(EM_X86_64, 0, sections);
}

}  // namespace wicprof::rewriter::made
