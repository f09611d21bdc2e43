#include "analyzer/measure/numbered_names.h"

#include <boost/container_hash/hash.hpp>
#include <functional>

namespace wicprof::analyzer {

namespace {
// Of each set. Not calibrated.
constexpr std::size_t kMostNames = 65'536;

void remember(std::unordered_set<std::size_t>& set, std::size_t hash) {
  if (set.size() < kMostNames) set.insert(hash);
}
}  // namespace

std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && !text.ends_with('#')) text += '#';
  }
  return text;
}

void NumberedNames::add(std::uint64_t thread, std::string_view name) {
  const std::string numberless = without_numbers(name);
  std::size_t hash = std::hash<std::string_view>()(name);
  boost::hash_combine(hash, thread);
  const bool again = seen_.contains(hash);
  const bool itself = numberless == name && name.find('#') != name.npos;
  if (again || itself) remember(several_, std::hash<std::string>()(numberless));
  if (numberless != name) remember(seen_, hash);
}

bool NumberedNames::are_one(std::string_view numberless) const {
  return numberless.find('#') != numberless.npos && !several_.contains(std::hash<std::string_view>()(numberless));
}

}  // namespace wicprof::analyzer
