#include "rewriter/images/device_code.h"

#include <algorithm>
#include <utility>

#include "rewriter/images/elf.h"

namespace wicprof::rewriter {

namespace {

FatEntry whole_file(std::string_view file, ImageKind kind) {
  FatEntry entry;
  entry.kind = kind;
  entry.payload = file;
  entry.size = file.size();
  return entry;
}

}  // namespace

Result<DeviceCode> read_device_code(std::string_view file) {
  DeviceCode code;
  if (begins_as_fat_binary(file)) {
    Result<std::vector<FatEntry>> entries = read_fat_binary(file);
    if (!entries) return entries.error();
    code.entries = *std::move(entries);
    return code;
  }
  if (file.starts_with("!<arch>")) {
    return bad_input("the file is an archive; take its members out with 'ar x', and name one of them");
  }
  if (!begins_as_elf(file)) {
    code.is_text = true;
    code.entries.push_back(whole_file(file, ImageKind::ptx));
    return code;
  }
  const Result<Elf> elf = read_elf(file);
  if (!elf) return elf.error();
  if (elf->is_cubin) {
    code.entries.push_back(whole_file(file, ImageKind::cubin));
    code.entries.back().architecture = architecture_of(*elf);
    return code;
  }
  bool has_section = false;
  for (const ElfSection& section : elf->sections) {
    // Modules that are linked with each other (-rdc) have their PTX in the second section.
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    has_section = true;
    Result<std::vector<FatEntry>> entries = read_fat_binary(section.bytes);
    if (!entries) return entries.error();
    for (FatEntry& entry : *entries) {
      entry.relocatable = section.name == "__nv_relfatbin";
      code.entries.push_back(entry);
    }
  }
  if (!has_section) return bad_input("the file has no device code (no section .nv_fatbin)");
  return code;
}

Result<std::vector<std::string_view>> containers_of(std::string_view file) {
  std::string_view left;
  Result<Elf> elf = bad_input("no ELF file");
  if (begins_as_fat_binary(file)) {
    left = file;
  } else if (begins_as_elf(file)) {
    elf = read_elf(file);
    if (!elf) return elf.error();
    for (const ElfSection& section : elf->sections) {
      if (section.name == ".nv_fatbin") left = section.bytes;
    }
  }
  std::vector<std::string_view> containers;
  while (!left.empty()) {
    const std::uint64_t whole = container_bytes(left);
    if (whole == 0 || whole > left.size()) {
      left.remove_prefix(std::min<std::size_t>(left.size(), 8));  // containers begin at multiples of 8
      continue;
    }
    containers.push_back(left.substr(0, whole));
    left.remove_prefix(whole);
  }
  return containers;
}

Result<std::string> ptx_of(const FatEntry& entry) {
  Result<std::string> text = decompressed(entry.payload, entry.compression, entry.size);
  if (text) text->resize(std::min(text->size(), text->find('\0')));
  return text;
}

Result<CubinContents> contents_of_cubin(const FatEntry& entry) {
  const Result<std::string> bytes = decompressed(entry.payload, entry.compression, entry.size);
  if (!bytes) return bytes.error();
  const Result<Elf> cubin = read_elf(*bytes);
  if (!cubin) return cubin.error();
  return CubinContents{kernels_of(*cubin), std::string(options_of(*cubin))};
}

}  // namespace wicprof::rewriter
