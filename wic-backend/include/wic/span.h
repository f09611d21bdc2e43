// std::span for programs in C++17.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace wic {

/// Elements that somebody else owns. Converts from arrays, containers and std::span, and to std::span.
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <class Range, class Element = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<Range>, Span> &&
                                     std::is_convertible_v<Element (*)[], T (*)[]>>>
  constexpr Span(Range&& range) : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace wic
