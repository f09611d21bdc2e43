#include "rewriter/images/fat_binary.h"

#include <algorithm>

#include "rewriter/images/bytes.h"

namespace wicprof::rewriter {

namespace {

constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint64_t kSmallestContainerHeader = 16;
constexpr std::uint64_t kSmallestEntryHeader = 64;

constexpr std::uint16_t kPtx = 1, kCubin = 2, kLinkTimeCode = 8;
constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;

// Containers begin at multiples of 8 bytes.
constexpr std::uint64_t kAlignment = 8;

ImageKind kind_of(std::uint16_t number) {
  if (number == kPtx) return ImageKind::ptx;
  if (number == kCubin) return ImageKind::cubin;
  return number == kLinkTimeCode ? ImageKind::link_time_code : ImageKind::other;
}

Result<FatEntry> read_entry(std::string_view rest, std::uint64_t& bytes) {
  const Error cut_off = bad_input("an entry of the fat binary is cut off");
  const auto header_size = value_at<std::uint32_t>(rest, 4);
  const auto payload_size = value_at<std::uint64_t>(rest, 8);
  if (!header_size || !payload_size || *header_size < kSmallestEntryHeader) return cut_off;
  const auto header = part_at(rest, 0, *header_size);
  const auto payload = header ? part_at(rest, *header_size, *payload_size) : std::nullopt;
  if (!payload) return cut_off;
  FatEntry entry;
  entry.kind = kind_of(*value_at<std::uint16_t>(*header, 0));
  entry.architecture = static_cast<int>(std::min(*value_at<std::uint32_t>(*header, 28), 9999u));
  entry.flags = *value_at<std::uint64_t>(*header, 40);
  if ((entry.flags & kZstdFlag) != 0) entry.compression = Compression::zstd;
  if ((entry.flags & kLz4Flag) != 0) entry.compression = Compression::lz4;
  const std::uint32_t stored = *value_at<std::uint32_t>(*header, 16);
  if (stored == 0) entry.compression = Compression::none;
  if (stored > payload->size()) return cut_off;
  entry.payload = stored != 0 ? payload->substr(0, stored) : *payload;
  entry.size = stored != 0 ? *value_at<std::uint64_t>(*header, 56) : payload->size();
  if (const std::uint32_t block = *value_at<std::uint32_t>(*header, 20); block != 0) {
    const auto offset = value_at<std::uint32_t>(*header, block),
               length = value_at<std::uint32_t>(*header, block + 4ull);
    if (offset && length) entry.options = part_at(*header, *offset, *length).value_or("");
    entry.options = entry.options.substr(0, entry.options.find('\0'));
  }
  bytes = *header_size + *payload_size;
  return entry;
}

}  // namespace

bool begins_as_fat_binary(std::string_view bytes) { return value_at<std::uint32_t>(bytes, 0) == kContainerMagic; }

std::uint64_t container_bytes(std::string_view bytes) {
  const auto header = value_at<std::uint16_t>(bytes, 6);
  const auto payload = value_at<std::uint64_t>(bytes, 8);
  if (!begins_as_fat_binary(bytes) || !payload || *header < kSmallestContainerHeader) return 0;
  return *header + *payload < *payload ? 0 : *header + *payload;
}

Result<std::vector<FatEntry>> read_fat_binary(std::string_view bytes) {
  std::vector<FatEntry> entries;
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = bytes.substr(at);
    if (!begins_as_fat_binary(rest)) {
      const std::uint64_t padding = std::min<std::uint64_t>(kAlignment - at % kAlignment, rest.size());
      if (rest.substr(0, padding).find_first_not_of('\0') != std::string_view::npos) {
        return bad_input("no fat binary at byte " + std::to_string(at) + " of the device code");
      }
      at += padding;
      continue;
    }
    const std::uint64_t whole = container_bytes(rest);
    const auto container = whole != 0 ? part_at(rest, 0, whole) : std::nullopt;
    if (!container) return bad_input("the fat binary at byte " + std::to_string(at) + " of the device code is cut off");
    std::string_view left = container->substr(*value_at<std::uint16_t>(rest, 6));
    while (!left.empty()) {
      std::uint64_t used = 0;
      Result<FatEntry> entry = read_entry(left, used);
      if (!entry) return entry.error();
      entries.push_back(*std::move(entry));
      left.remove_prefix(used);
    }
    at += whole;
  }
  return entries;
}

}  // namespace wicprof::rewriter
