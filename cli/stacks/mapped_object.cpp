#include "cli/stacks/mapped_object.h"

#include <elf.h>

#include <cstring>

namespace wicprof::cli {

namespace {

/// The mapping with the ELF header of the object of which `part` is a part.
const Mapping* header_of(const AddressSpace& memory, const Mapping& part) {
  const Mapping* header = nullptr;
  for (const Mapping& each : memory.mappings()) {
    if (each.begin > part.begin) break;
    if (each.offset == 0 && each.same_file(part) && each.path == part.path) header = &each;
  }
  return header;
}

/// As the loader's: https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt
std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
  return hash;
}

}  // namespace

std::optional<MappedObject> MappedObject::of(AddressSpace& memory, const Mapping& part) {
  const Mapping* const header = header_of(memory, part);
  if (header == nullptr) return std::nullopt;
  const auto elf = memory.value<Elf64_Ehdr>(header->begin);
  if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  MappedObject object;
  object.begin_ = header->begin;
  std::uint64_t dynamic = 0, index = 0;
  bool loaded = false;
  for (unsigned i = 0; i < elf->e_phnum; ++i) {
    const auto segment = memory.value<Elf64_Phdr>(header->begin + elf->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == PT_LOAD && !loaded) {
      loaded = true;
      object.bias_ = header->begin - (segment->p_vaddr - segment->p_offset);
    }
    if (segment->p_type == PT_DYNAMIC) dynamic = segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) index = segment->p_vaddr;
  }
  if (dynamic != 0) object.dynamic_ = object.bias_ + dynamic;
  if (index != 0) object.unwind_index_ = object.bias_ + index;
  return object;
}

MappedObject::Symbols MappedObject::symbols(AddressSpace& memory) const {
  Symbols found;
  constexpr unsigned kMost = 512;  // entries of a dynamic section, which has some 40
  for (unsigned i = 0; dynamic_ != 0 && i < kMost; ++i) {
    const auto entry = memory.value<Elf64_Dyn>(dynamic_ + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    // The loader of glibc writes addresses into the section where the section can be written.
    const std::uint64_t address = entry->d_un.d_ptr < begin_ ? entry->d_un.d_ptr + bias_ : entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) found.table = address;
    if (entry->d_tag == DT_STRTAB) found.names = address;
    if (entry->d_tag == DT_GNU_HASH) found.hash = address;
  }
  return found;
}

std::vector<CodeRange> MappedObject::exported(AddressSpace& memory, std::string_view name, unsigned type) const {
  std::vector<CodeRange> found;
  const Symbols symbols = this->symbols(memory);
  struct Head {
    std::uint32_t buckets, first, words, shift;
  };
  const auto head = symbols.hash == 0 ? std::nullopt : memory.value<Head>(symbols.hash);
  if (!head || head->buckets == 0) return found;
  const std::uint32_t hash = gnu_hash(name);
  const std::uint64_t buckets = symbols.hash + sizeof(Head) + std::uint64_t{head->words} * 8;
  const std::uint64_t chains = buckets + std::uint64_t{head->buckets} * 4;
  const auto start = memory.value<std::uint32_t>(buckets + std::uint64_t{hash % head->buckets} * 4);
  if (!start || *start < head->first) return found;
  constexpr std::uint32_t kLongest = 4096;  // of a chain, which has some 5 entries
  for (std::uint32_t i = *start; i - *start < kLongest; ++i) {
    const auto of_chain = memory.value<std::uint32_t>(chains + std::uint64_t{i - head->first} * 4);
    if (!of_chain) break;
    if ((*of_chain | 1) == (hash | 1)) {
      const auto symbol = memory.value<Elf64_Sym>(symbols.table + std::uint64_t{i} * sizeof(Elf64_Sym));
      if (symbol && ELF64_ST_TYPE(symbol->st_info) == type && symbol->st_shndx != SHN_UNDEF &&
          memory.text(symbols.names + symbol->st_name, name.size()) == name) {
        found.push_back({bias_ + symbol->st_value, bias_ + symbol->st_value + symbol->st_size});
      }
    }
    if ((*of_chain & 1) != 0) break;
  }
  return found;
}

std::vector<CodeRange> MappedObject::functions(AddressSpace& memory, std::string_view name) const {
  return exported(memory, name, STT_FUNC);
}

std::optional<std::uint64_t> MappedObject::variable(AddressSpace& memory, std::string_view name) const {
  const std::vector<CodeRange> found = exported(memory, name, STT_OBJECT);
  return found.empty() ? std::nullopt : std::optional(found.front().begin);
}

std::optional<std::uint64_t> MappedObject::function(AddressSpace& memory, std::string_view name) const {
  const std::vector<CodeRange> found = functions(memory, name);
  return found.empty() ? std::nullopt : std::optional(found.front().begin);
}

}  // namespace wicprof::cli
