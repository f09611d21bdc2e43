// A text that very many rows share, such as a kernel's name, stored once.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace wicprof::store {

/// Has the size of a pointer and otherwise behaves as a constant std::string. Texts live until the process ends: they
/// are few. Any thread may create and read names.
class Name {
 public:
  Name() = default;
  Name(std::string_view text) : text_(text.empty() ? nullptr : kept(text)) {}
  Name(const std::string& text) : Name(std::string_view(text)) {}
  Name(const char* text) : Name(std::string_view(text)) {}

  const std::string& text() const { return text_ != nullptr ? *text_ : nothing(); }
  operator const std::string&() const { return text(); }
  operator std::string_view() const { return text(); }
  bool empty() const { return text_ == nullptr; }

  friend bool operator==(const Name&, const Name&) = default;
  template <std::convertible_to<std::string_view> Text>
  requires(!std::same_as<Text, Name>) friend bool operator==(const Name& name, const Text& text) {
    return std::string_view(name) == std::string_view(text);
  }

 private:
  static const std::string* kept(std::string_view text);
  static const std::string& nothing();

  const std::string* text_ = nullptr;  // nullptr = empty: equal texts have equal pointers
};

}  // namespace wicprof::store
