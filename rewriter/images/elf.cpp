#include "rewriter/images/elf.h"

#include <elf.h>

#include <algorithm>

#include "rewriter/images/bytes.h"

namespace wicprof::rewriter {

namespace {

constexpr std::uint16_t kCudaMachine = 190;  // EM_CUDA
// st_other of the symbol of a kernel, in contrast to that of a device function (STO_CUDA_ENTRY).
constexpr unsigned char kKernelSymbol = 0x10;
// The shared memory of a cubin that is linked later (-rdc) has a type of its own, and no bytes in the file, as
// SHT_NOBITS has none.
constexpr std::uint32_t kSharedNoBits = SHT_LOPROC + 0xa;
constexpr std::string_view kToolNote = ".note.nv.tkinfo";

}  // namespace

bool begins_as_elf(std::string_view bytes) { return bytes.starts_with(std::string_view(ELFMAG, SELFMAG)); }

Result<Elf> read_elf(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!begins_as_elf(bytes) || !header) return bad_input("the ELF file is cut off");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return bad_input("the ELF file is not a 64-bit little-endian one");
  }
  Elf elf;
  elf.is_cubin = header->e_machine == kCudaMachine;
  elf.flags = header->e_flags;
  if (header->e_shoff == 0) return elf;
  const auto first = value_at<Elf64_Shdr>(bytes, header->e_shoff);
  if (!first || header->e_shentsize != sizeof(Elf64_Shdr))
    return bad_input("the ELF file's table of sections is cut off");
  // Large files keep both numbers in the first section.
  const std::uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  const std::uint64_t names_index = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link;
  if (count > (bytes.size() - header->e_shoff) / sizeof(Elf64_Shdr)) {
    return bad_input("the ELF file's table of sections is cut off");
  }
  const auto section = [&](std::uint64_t index) {
    return *value_at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  std::string_view names;
  if (names_index < count) {
    const Elf64_Shdr table = section(names_index);
    names = part_at(bytes, table.sh_offset, table.sh_size).value_or("");
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr each = section(i);
    ElfSection& added = elf.sections.emplace_back();
    added.name = text_at(names, each.sh_name).value_or("");
    added.type = each.sh_type;
    added.link = each.sh_link;
    if (each.sh_type == SHT_NOBITS || each.sh_type == SHT_NULL || (elf.is_cubin && each.sh_type == kSharedNoBits)) {
      continue;
    }
    const auto content = part_at(bytes, each.sh_offset, each.sh_size);
    if (!content) return bad_input("section " + std::to_string(i) + " of the ELF file is cut off");
    added.bytes = *content;
  }
  return elf;
}

std::string_view ElfFunction::name() const { return text_at(names, name_at).value_or(""); }

void for_each_function(const Elf& elf, std::uint32_t type, const std::function<bool(const ElfFunction&)>& visit) {
  const auto table = std::find_if(elf.sections.begin(), elf.sections.end(),
                                  [&](const ElfSection& section) { return section.type == type; });
  if (table == elf.sections.end() || table->link >= elf.sections.size()) return;
  ElfFunction function;
  function.names = elf.sections[table->link].bytes;
  for (; const auto symbol = value_at<Elf64_Sym>(table->bytes, function.index * sizeof(Elf64_Sym)); ++function.index) {
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    function.address = symbol->st_value;
    function.bytes = symbol->st_size;
    function.is_kernel = (symbol->st_other & kKernelSymbol) != 0;
    function.is_defined = symbol->st_shndx != SHN_UNDEF;
    function.name_at = symbol->st_name;
    if (!visit(function)) return;
  }
}

std::vector<std::string> kernels_of(const Elf& cubin) {
  std::vector<std::string> kernels;
  for_each_function(cubin, SHT_SYMTAB, [&](const ElfFunction& function) {
    if (function.is_kernel && !function.name().empty()) kernels.emplace_back(function.name());
    return true;
  });
  return kernels;
}

std::string_view options_of(const Elf& cubin) {
  for (const ElfSection& section : cubin.sections) {
    if (section.name != kToolNote) continue;
    // An ELF note, whose description is a version, zero, the places of four texts, and the texts: the tool, what it is,
    // its build, its options. nvcc 12.9 and 13.0 write version 2.
    const auto name = value_at<std::uint32_t>(section.bytes, 0), length = value_at<std::uint32_t>(section.bytes, 4);
    if (!name || !length) return {};
    const auto description = part_at(section.bytes, 12 + (std::uint64_t{*name} + 3) / 4 * 4, *length);
    if (!description || value_at<std::uint32_t>(*description, 0) != 2u) return {};
    constexpr std::uint64_t kHeader = 24, kPlaceOfOptions = 20;
    const auto place = value_at<std::uint32_t>(*description, kPlaceOfOptions);
    return place ? text_at(*description, kHeader + *place).value_or("") : std::string_view();
  }
  return {};
}

int architecture_of(const Elf& cubin) {
  // Toolkits before 13 write the number into the lowest byte; later ones write it into the second byte.
  const int low = static_cast<int>(cubin.flags & 0xff), high = static_cast<int>(cubin.flags >> 8 & 0xff);
  constexpr int kOldest = 30, kNewest = 199;
  for (const int each : {high, low}) {
    if (each >= kOldest && each <= kNewest) return each;
  }
  return 0;
}

}  // namespace wicprof::rewriter
