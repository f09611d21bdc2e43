// A text that very many rows share, such as a kernel's name: kept once, however many rows have it.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace wicprof::store {

/// In the room of a pointer; otherwise as a constant std::string. Texts stay for as long as the process does: they are
/// few. May be made and read by any thread.
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

  const std::string* text_ = nullptr;  // nullptr = empty, so that one text has one pointer
};

}  // namespace wicprof::store
