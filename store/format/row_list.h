// The rows of a table that may have very many, kept by columns. A column of a block of rows has as few bytes per value
// as the values need, so that a wait takes some 25 bytes in place of a hundred, and a pass over one column reads
// little.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/format/column.h"
#include "store/format/name.h"
#include "store/format/optional_time.h"

namespace wicprof::store {

namespace row_list {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <>
struct IsOptional<OptionalTime> : std::true_type {};

template <class T>
[[gnu::always_inline]] inline std::uint64_t to_bits(const T& value) {
  if constexpr (std::is_same_v<T, Name>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}
template <class T>
[[gnu::always_inline]] inline T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, Name>) {
    return std::bit_cast<Name>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

/// Where a block has the values of a column: `base` plus an unsigned number of `width` bytes, which 0 is for NULL.
struct Place {
  const std::byte* data;
  std::uint64_t base, mask;
  std::uint64_t width;

  [[gnu::always_inline]] std::uint64_t number(std::size_t row) const {
    std::uint64_t number;
    std::memcpy(&number, data + row * width, sizeof number);  // eight bytes follow the last value
    return number & mask;
  }
  template <class T>
  [[gnu::always_inline]] void get(std::size_t row, T& to) const {
    if constexpr (IsOptional<T>::value) {
      const std::uint64_t stored = number(row);
      if (stored != 0) {
        to = from_bits<std::remove_cvref_t<decltype(*to)>>(base + stored);
      } else {
        to.reset();
      }
    } else {
      to = from_bits<T>(base + number(row));
    }
  }
};

/// Of a column with eight bytes per value: unsigned numbers then have the order of the signed values.
template <class T>
inline constexpr std::uint64_t kWideBase = (std::uint64_t{1} << 63) - (IsOptional<T>::value ? 1 : 0);

/// The largest 64-bit number becomes NULL where the column may be NULL; times are far from it.
template <class T>
[[gnu::always_inline]] inline std::uint64_t wide_number(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? to_bits(*value) - kWideBase<T> : 0;
  } else {
    return to_bits(value) - kWideBase<T>;
  }
}

/// Calls visit(member) for the members of the rows: the number, the process, those of the columns, and those that
/// Table::complete() sets.
template <class Table, class Visit>
[[gnu::always_inline]] inline void for_each_member(auto& row, Visit&& visit) {
  visit(row.id);
  if constexpr (requires { row.process; }) visit(row.process);
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    const auto each = [&]<std::size_t At>() __attribute__((always_inline)) {
      constexpr auto target = column_at<At>(Table::kColumns).target;  // a constant: else unused members are made, too
      if constexpr (!std::is_same_v<decltype(target), const NotRead>) visit(column::member_of(target, row));
    };
    (each.template operator()<I>(), ...);
  }
  (std::make_index_sequence<Table::kColumns.kSize>());
  if constexpr (requires { Table::kCompleted; }) visit(row.*Table::kCompleted);
}

template <class Table>
consteval std::size_t member_count() {
  std::size_t count = 1;
  if constexpr (requires(typename Table::Row row) { row.process; }) ++count;
  Table::kColumns.for_each([&](const auto& column) {
    if constexpr (std::remove_cvref_t<decltype(column)>::kIsRead) ++count;
  });
  if constexpr (requires { Table::kCompleted; }) ++count;
  return count;
}

}  // namespace row_list

inline constexpr std::size_t kBlockRows = 4096;

/// A list of rows as values: reading gives constant copies, of which the compiler makes only the members that are used.
/// Copies of the list share what is full. One thread at a time changes a list.
template <class Row, class Table>
class RowList {
 public:
  using value_type = Row;

  class iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using reference = const Row;
    struct pointer {
      Row row;
      const Row* operator->() const { return &row; }
    };

    iterator() = default;
    iterator(const RowList* list, std::size_t index) : list_(list), index_(index) {}
    [[gnu::always_inline]] const Row operator*() const { return (*list_)[index_]; }
    [[gnu::always_inline]] pointer operator->() const { return {(*list_)[index_]}; }
    [[gnu::always_inline]] const Row operator[](difference_type n) const { return *(*this + n); }
    iterator& operator++() { return *this += 1; }
    iterator operator++(int) { return std::exchange(*this, *this + 1); }
    iterator& operator--() { return *this += -1; }
    iterator operator--(int) { return std::exchange(*this, *this + -1); }
    iterator& operator+=(difference_type n) {
      index_ += static_cast<std::size_t>(n);
      return *this;
    }
    iterator& operator-=(difference_type n) { return *this += -n; }
    friend iterator operator+(iterator from, difference_type n) { return from += n; }
    friend iterator operator+(difference_type n, iterator from) { return from += n; }
    friend iterator operator-(iterator from, difference_type n) { return from += -n; }
    friend difference_type operator-(const iterator& a, const iterator& b) {
      return static_cast<difference_type>(a.index_ - b.index_);
    }
    bool operator==(const iterator& other) const { return index_ == other.index_; }
    auto operator<=>(const iterator& other) const { return index_ <=> other.index_; }

   private:
    const RowList* list_ = nullptr;
    std::size_t index_ = 0;
  };
  using const_iterator = iterator;

  /// What a pointer to a row would be; the list must not change.
  class Pointer {
   public:
    Pointer() = default;
    Pointer(std::nullptr_t) {}
    Pointer(const RowList& list, std::size_t index) : list_(&list), index_(index) {}
    explicit operator bool() const { return list_ != nullptr; }
    bool operator==(const Pointer&) const = default;
    [[gnu::always_inline]] const Row operator*() const { return (*list_)[index_]; }
    [[gnu::always_inline]] typename iterator::pointer operator->() const { return {(*list_)[index_]}; }

    std::size_t index() const { return index_; }

   private:
    const RowList* list_ = nullptr;
    std::size_t index_ = 0;
  };
  Pointer pointer_to(std::size_t index) const { return {*this, index}; }

  RowList() = default;
  RowList(std::initializer_list<Row> rows) : RowList(std::vector<Row>(rows)) {}
  RowList(const std::vector<Row>& rows) {
    for (const Row& row : rows) push_back(row);
    close();
  }
  RowList(RowList&& other) noexcept { *this = std::move(other); }
  RowList& operator=(RowList&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }
  RowList(const RowList& other) { *this = other; }
  RowList& operator=(const RowList& other) {
    blocks_ = other.blocks_;
    size_ = other.size_;
    room_ = other.room_;
    close();
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size_}; }
  const Row front() const { return (*this)[0]; }
  const Row back() const { return (*this)[size_ - 1]; }
  const Row at(std::size_t index) const { return (*this)[index]; }

  [[gnu::always_inline]] const Row operator[](std::size_t index) const {
    const row_list::Place* place = blocks_[index / kRows]->places.data();
    Row row{};
    row_list::for_each_member<Table>(
        row, [&](auto& member) __attribute__((always_inline)) { (place++)->get(index % kRows, member); });
    return row;
  }

  void push_back(const Row& row) {
    if (size_ % kRows == 0) {
      blocks_.push_back(nullptr);
      widen(0);
    } else if (room_ == size_ % kRows || room_ == 0) {
      widen(size_ % kRows);
    }
    write(*blocks_.back(), size_++ % kRows, row);
    if (size_ % kRows == 0) close();
  }
  /// Gives back the room for more rows. For a list that grows no more.
  void close() {
    if (std::exchange(room_, 0) != 0) blocks_.back() = narrowed(*blocks_.back(), (size_ - 1) % kRows + 1);
  }
  void clear() { *this = RowList(); }
  /// The rows of another list from its block `first` on follow, without a copy. This list ends with a full block.
  void append_blocks(RowList other, std::size_t first) {
    other.close();
    blocks_.insert(blocks_.end(), other.blocks_.begin() + static_cast<std::ptrdiff_t>(first), other.blocks_.end());
    size_ += other.size_ - first * kRows;
  }
  /// That the values take.
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& block : blocks_) {
      for (const row_list::Place& place : block->places) bytes += place.width * std::min(size_, kRows);
    }
    return bytes;
  }

  void set(std::size_t index, const Row& row) {
    if (room_ != 0 && index / kRows + 1 == blocks_.size()) return write(*blocks_.back(), index % kRows, row);
    const std::size_t first = index / kRows * kRows, count = std::min(size_ - first, kRows);
    auto block = widened(*blocks_[index / kRows], count, count);
    write(*block, index % kRows, row);
    blocks_[index / kRows] = narrowed(*block, count);
  }

  /// A row to change, which it does when it is destroyed. Slow, for few rows.
  class Edited : public Row {
   public:
    Edited(RowList& list, std::size_t index) : Row(std::as_const(list)[index]), list_(list), index_(index) {}
    Edited(const Edited&) = delete;
    ~Edited() { list_.set(index_, *this); }
    Row* operator->() { return this; }

   private:
    RowList& list_;
    const std::size_t index_;
  };
  Edited edit(std::size_t index) { return {*this, index}; }
  Edited edit_back() { return edit(size_ - 1); }
  /// The list does not change while a row has not been destroyed.
  Edited emplace_back(const Row& row = {}) {
    push_back(row);
    return edit_back();
  }
  template <class Change>
  void edit_all(Change&& change) {
    RowList changed;
    for (Row row : *this) {
      change(row);
      changed.push_back(row);
    }
    *this = std::move(changed);
  }

  /// Removes the rows for which `wanted(row)` is true, and returns their number.
  template <class Wanted>
  std::size_t erase_if(Wanted&& wanted) {
    const std::size_t before = size_;
    std::size_t first = 0;
    while (first < size_ && !wanted((*this)[first])) ++first;
    if (first == size_) return 0;
    RowList kept;
    for (std::size_t i = 0; i < size_; ++i) {
      const Row row = (*this)[i];
      if (i < first || (i > first && !wanted(row))) kept.push_back(row);
    }
    kept.close();
    *this = std::move(kept);
    return before - size_;
  }

  /// Stable. Most lists are in order already.
  template <class Key>
  void sort(Key key) {
    bool in_order = true;
    for (std::size_t i = 1; i < size_ && in_order; ++i) in_order = !(key((*this)[i]) < key((*this)[i - 1]));
    if (in_order) return;
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    order.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i) order.emplace_back(key((*this)[i]), static_cast<std::uint32_t>(i));
    std::sort(order.begin(), order.end());
    RowList sorted;
    for (const auto& [time, from] : order) sorted.push_back((*this)[from]);
    sorted.close();
    *this = std::move(sorted);
  }

 private:
  static constexpr std::size_t kRows = kBlockRows, kFirstRoom = 16;

  struct Block;
  using Numbers = std::uint64_t;

  /// A block with room for `room` rows, and eight bytes per value.
  static std::shared_ptr<Block> wide(std::size_t room) {
    auto block = std::make_shared<Block>();
    block->data = std::make_unique_for_overwrite<std::byte[]>((block->places.size() * room + 1) * sizeof(Numbers));
    std::size_t column = 0;
    Row row{};
    row_list::for_each_member<Table>(row, [&](auto& member) {
      block->places[column] = {block->data.get() + column * room * sizeof(Numbers),
                               row_list::kWideBase<std::remove_cvref_t<decltype(member)>>, ~std::uint64_t{0},
                               sizeof(Numbers)};
      ++column;
    });
    return block;
  }
  static void write(Block& block, std::size_t index, const Row& row) {
    const row_list::Place* place = block.places.data();
    row_list::for_each_member<Table>(row, [&](const auto& member) {
      const std::uint64_t number = row_list::wide_number(member);
      std::memcpy(block.data.get() + ((place++)->data - block.data.get()) + index * sizeof number, &number,
                  sizeof number);
    });
  }
  static std::shared_ptr<Block> widened(const Block& from, std::size_t count, std::size_t room) {
    auto block = wide(room);
    for (std::size_t column = 0; column < block->places.size(); ++column) {
      const row_list::Place &old = from.places[column], &place = block->places[column];
      // NULL, which is 0 where a column may be NULL, stays 0.
      const bool nullable = kNullable()[column];
      auto* to = block->data.get() + (place.data - block->data.get());
      for (std::size_t i = 0; i < count; ++i, to += sizeof(Numbers)) {
        std::uint64_t number = old.number(i);
        if (!nullable || number != 0) number += old.base - place.base;
        std::memcpy(to, &number, sizeof number);
      }
    }
    return block;
  }
  /// The rows of a wide block in as few bytes as they need.
  static std::shared_ptr<Block> narrowed(const Block& from, std::size_t count) {
    auto block = std::make_shared<Block>();
    std::array<std::uint64_t, std::tuple_size_v<decltype(from.places)>> least{};
    std::size_t bytes = sizeof(Numbers);
    for (std::size_t column = 0; column < least.size(); ++column) {
      const bool nullable = kNullable()[column];
      const auto* numbers = reinterpret_cast<const Numbers*>(from.places[column].data);
      std::uint64_t low = ~std::uint64_t{0}, high = 0;
      for (std::size_t i = 0; i < count; ++i) {
        low = std::min(low, numbers[i] - (nullable ? 1 : 0));  // NULL becomes the greatest number
        high = std::max(high, numbers[i]);
      }
      if (nullable && low == ~std::uint64_t{0}) low = 0;  // all are NULL
      least[column] = low;
      row_list::Place& place = block->places[column];
      const auto width = static_cast<std::uint64_t>(std::bit_width(high - std::min(low, high)) + 7) / 8;
      place = {nullptr, from.places[column].base + low,
               width == sizeof(Numbers) ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1, width};
      bytes += width * count;
    }
    block->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::byte* to = block->data.get();
    for (std::size_t column = 0; column < least.size(); ++column) {
      const bool nullable = kNullable()[column];
      block->places[column].data = to;
      const std::uint64_t width = block->places[column].width;
      if (width == 0) continue;  // all rows have one value
      const auto* numbers = reinterpret_cast<const Numbers*>(from.places[column].data);
      for (std::size_t i = 0; i < count; ++i, to += width) {
        std::uint64_t number = numbers[i];
        if (!nullable || number != 0) number -= least[column];
        std::memcpy(to, &number, sizeof number);  // the next value overwrites what is above the width
      }
    }
    return block;
  }
  void widen(std::size_t count) {
    const std::size_t room = count == 0 && blocks_.size() > 1 ? kRows : std::clamp(2 * count, kFirstRoom, kRows);
    blocks_.back() = blocks_.back() ? widened(*blocks_.back(), count, room) : wide(room);
    room_ = room;
  }
  static const auto& kNullable() {
    static const auto all = [] {
      std::array<bool, row_list::member_count<Table>()> nullable{};
      std::size_t column = 0;
      Row row{};
      row_list::for_each_member<Table>(row, [&](auto& member) {
        nullable[column++] = row_list::IsOptional<std::remove_cvref_t<decltype(member)>>::value;
      });
      return nullable;
    }();
    return all;
  }

  std::vector<std::shared_ptr<Block>> blocks_;  // all but the last are full
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // of the last block, if it is wide and not shared; 0: it is narrow
};

template <class Row, class Table>
struct RowList<Row, Table>::Block {
  std::array<row_list::Place, row_list::member_count<Table>()> places;  // by column
  std::unique_ptr<std::byte[]> data;
};

}  // namespace wicprof::store
