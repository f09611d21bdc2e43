#include "collector/rewrite/image_bytes.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "rewriter/images/fat_binary.h"

namespace wicprof::collector {

namespace {

// Before a fat binary that nvcc puts into a program.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;  // 1: one fat binary; 2: several that are linked already
  const void* data;
  const void* more;
};
constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::size_t kContainerHeader = 16;

/// A cubin has its table of sections at its end, or its table of segments.
std::size_t elf_bytes(const char* code) {
  Elf64_Ehdr header;
  std::memcpy(&header, code, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  const std::uint64_t sections = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  const std::uint64_t segments = header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
  return std::max(sections, segments);
}

/// PTX begins with a comment, a directive or white space.
bool is_text(const char* code) { return std::strchr("/.\n\r\t ", *code) != nullptr && *code != '\0'; }

}  // namespace

std::string_view image_at(const void* code) {
  if (code == nullptr) return {};
  std::uint32_t magic;
  std::memcpy(&magic, code, sizeof magic);
  if (magic == kWrapperMagic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, code, sizeof wrapper);
    if (wrapper.version != 1 || wrapper.data == nullptr) return {};
    code = wrapper.data;
  }
  const auto* const bytes = static_cast<const char*>(code);
  // A text may be shorter than the headers, so each form is told by its first bytes.
  if (is_text(bytes)) return bytes;
  const std::string_view beginning(bytes, sizeof magic);
  if (rewriter::begins_as_fat_binary(beginning)) {
    return {bytes, rewriter::container_bytes(std::string_view(bytes, kContainerHeader))};
  }
  return beginning == ELFMAG ? std::string_view(bytes, elf_bytes(bytes)) : std::string_view();
}

}  // namespace wicprof::collector
