// 64-bit ELF files, as far as device code needs them: sections by name, and the kernels of a cubin.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace wicprof::rewriter {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;  ///< SHT_...
  std::uint32_t link = 0;  ///< index of another section
  std::string_view bytes;  ///< empty for sections that have none in the file
};

struct Elf {
  bool is_cubin = false;    ///< code for NVIDIA's devices
  std::uint32_t flags = 0;  ///< e_flags; of a cubin, its architecture
  std::vector<ElfSection> sections;
};

bool begins_as_elf(std::string_view bytes);

/// The file's sections. The result refers to `bytes`. Nothing is assumed about the bytes: a section that does not lie
/// inside the file is an error.
Result<Elf> read_elf(std::string_view bytes);

struct ElfFunction {
  std::uint32_t index = 0;  ///< of its symbol
  std::uint64_t address = 0, bytes = 0;
  bool is_kernel = false;   ///< in contrast to a device function
  bool is_defined = false;  ///< in this file
  std::string_view names;   ///< of the symbol table
  std::uint64_t name_at = 0;

  /// Empty: damaged, or without a name.
  std::string_view name() const;
};

/// The functions of the first table of symbols of that type (SHT_SYMTAB, SHT_DYNSYM), until `visit` returns false.
void for_each_function(const Elf& elf, std::uint32_t type, const std::function<bool(const ElfFunction&)>& visit);

/// The symbols of the kernels of a cubin, in the order of its symbol table.
std::vector<std::string> kernels_of(const Elf& cubin);

/// The options that ptxas made a cubin with, as its note has them: "-arch sm_90 -m 64"; empty: it has no such note.
std::string_view options_of(const Elf& cubin);

/// The architecture of a cubin, such as 90; 0: unknown.
int architecture_of(const Elf& cubin);

}  // namespace wicprof::rewriter
