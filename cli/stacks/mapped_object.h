// A program or library as it lies in the memory of a process: where its symbols and its tables for unwinding are. Read
// from memory and not from its file, which an update may have replaced, and which another root may hide. The sections
// of a file (rewriter/images/elf.h) are not in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/stacks/address_space.h"

namespace wicprof::cli {

/// A function, from its first byte to behind its last.
struct CodeRange {
  std::uint64_t begin = 0, end = 0;
  bool holds(std::uint64_t address) const { return begin <= address && address < end; }
};

class MappedObject {
 public:
  /// The object of which a mapping is a part; nullopt: it is no 64-bit ELF object, or its header is not mapped.
  static std::optional<MappedObject> of(AddressSpace& memory, const Mapping& part);

  /// All exported functions of that name: a name may have several versions. Empty: none.
  std::vector<CodeRange> functions(AddressSpace& memory, std::string_view name) const;
  /// nullopt: none.
  std::optional<std::uint64_t> function(AddressSpace& memory, std::string_view name) const;

  /// An exported variable; nullopt: none.
  std::optional<std::uint64_t> variable(AddressSpace& memory, std::string_view name) const;

  std::uint64_t begin() const { return begin_; }
  /// What the loader added to the addresses that its file has.
  std::uint64_t bias() const { return bias_; }
  /// Of .eh_frame_hdr; 0: none.
  std::uint64_t unwind_index() const { return unwind_index_; }

 private:
  struct Symbols {
    std::uint64_t table = 0, names = 0, hash = 0;  // hash: DT_GNU_HASH
  };
  Symbols symbols(AddressSpace& memory) const;
  /// `type`: STT_FUNC, STT_OBJECT
  std::vector<CodeRange> exported(AddressSpace& memory, std::string_view name, unsigned type) const;

  std::uint64_t begin_ = 0;  // of its ELF header
  std::uint64_t bias_ = 0;
  std::uint64_t unwind_index_ = 0, dynamic_ = 0;
};

}  // namespace wicprof::cli
