#include "cli/stacks/address_space.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <utility>

namespace wicprof::cli {

void AddressSpace::refresh() {
  pages_.clear();
  mappings_.clear();
  std::ifstream maps(fmt::format("/proc/{}/maps", pid_));
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char rights[8] = {}, device[32] = {};
    int path = 0;
    const int found = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %31s %" SCNu64 " %n",
                                  &mapping.begin, &mapping.end, rights, &mapping.offset, device, &mapping.inode, &path);
    if (found != 6) continue;
    mapping.rights = rights;
    mapping.device = device;
    mapping.path = line.substr(static_cast<std::size_t>(path));
    mappings_.push_back(std::move(mapping));
  }
}

const Mapping* AddressSpace::at(std::uint64_t address) const {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                      [](std::uint64_t of, const Mapping& each) { return of < each.end; });
  return after != mappings_.end() && after->begin <= address ? &*after : nullptr;
}

const char* AddressSpace::page(std::uint64_t begin) {
  const auto [found, added] = pages_.try_emplace(begin);
  if (added) {
    found->second.resize(kPage);
    const iovec here{found->second.data(), kPage}, there{reinterpret_cast<void*>(begin), kPage};
    if (process_vm_readv(pid_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(kPage)) found->second.clear();
  }
  return found->second.empty() ? nullptr : found->second.data();
}

bool AddressSpace::read(std::uint64_t address, void* to, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t at = address + done, begin = at / kPage * kPage;
    const std::size_t piece = std::min<std::size_t>(bytes - done, begin + kPage - at);
    const char* const from = page(begin);
    if (from == nullptr) return false;
    std::memcpy(static_cast<char*>(to) + done, from + (at - begin), piece);
    done += piece;
  }
  return true;
}

std::optional<std::string> AddressSpace::text(std::uint64_t address, std::size_t most) {
  std::string found;
  for (char each = 0; found.size() <= most; found += each) {
    if (!read(address + found.size(), &each, 1)) return std::nullopt;
    if (each == 0) return found;
  }
  return std::nullopt;
}

bool AddressSpace::write(std::uint64_t address, const void* from, std::size_t bytes) {
  pages_.clear();
  const iovec here{const_cast<void*>(from), bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace wicprof::cli
