#include "store/format/name.h"

#include <functional>
#include <mutex>
#include <unordered_set>

namespace wicprof::store {

namespace {

struct HashOfText {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

const std::string* Name::kept(std::string_view text) {
  static std::mutex mutex;
  // Never destroyed: names may be read until the process ends.
  static auto& texts = *new std::unordered_set<std::string, HashOfText, std::equal_to<>>;
  const std::lock_guard lock(mutex);
  const auto found = texts.find(text);
  return found != texts.end() ? &*found : &*texts.emplace(text).first;
}

const std::string& Name::nothing() {
  static const std::string empty;
  return empty;
}

}  // namespace wicprof::store
