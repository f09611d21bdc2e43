// Numbers keys in order of first appearance: a hash table for millions of lookups of few distinct keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace wicprof::analyzer {

/// Open addressing with linear probing. One thread at a time.
class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  FlatIndex() : cells_(kFirstSize) {}

  /// Allocates space for this many keys.
  void reserve(std::size_t keys) {
    std::size_t size = cells_.size();
    while (2 * size < 3 * keys) size *= 2;
    if (size > cells_.size()) resize(size);
  }

  /// The key's number; a new key gets the next one.
  std::uint32_t number(std::uint64_t key) {
    Cell& cell = cells_[place_of(key)];
    if (cell.number != kNone) return cell.number;
    cell = {key, size_++};
    const std::uint32_t number = cell.number;
    if (3 * std::size_t{size_} > 2 * cells_.size()) resize(2 * cells_.size());
    return number;
  }

  /// The key's number; kNone for an unknown key.
  std::uint32_t find(std::uint64_t key) const { return cells_[place_of(key)].number; }

  std::uint32_t size() const { return size_; }

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };
  static constexpr std::size_t kFirstSize = 64;

  /// Consecutive keys, which usually follow each other, share a cache line: four cells have 64 bytes.
  std::size_t place_of(std::uint64_t key) const {
    std::uint64_t hash = (key >> 2) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    const std::size_t mask = cells_.size() - 1;
    std::size_t place = static_cast<std::size_t>((hash << 2) | (key & 3)) & mask;
    while (cells_[place].number != kNone && cells_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  void resize(std::size_t size) {
    std::vector<Cell> old(size);
    old.swap(cells_);
    for (const Cell& cell : old) {
      if (cell.number != kNone) cells_[place_of(cell.key)] = cell;
    }
  }

  std::vector<Cell> cells_;
  std::uint32_t size_ = 0;
};

}  // namespace wicprof::analyzer
