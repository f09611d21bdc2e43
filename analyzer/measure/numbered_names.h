// Names of ranges that differ in numbers only: "step 1", "step 2". One step of the program, or different parts of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

namespace wicprof::analyzer {

/// The name with each number in it as #: "step 17" is "step #".
std::string without_numbers(std::string_view name);

/// Tells by the ranges themselves. Bounded: of more than some ten thousand names it does not notice that they come
/// again. One thread at a time.
class NumberedNames {
 public:
  /// A range of that name. `thread`: any number for the thread that it is from.
  void add(std::uint64_t thread, std::string_view name);
  /// Whether the ranges that have numbers and are `numberless` without_numbers() are one. They are not if one of their
  /// names came twice on a thread, since "layer 1" and "layer 2" of a step that comes again are different ranges, or if
  /// a range has that name itself.
  bool are_one(std::string_view numberless) const;

 private:
  // Hashes, since names may be long.
  std::unordered_set<std::size_t> seen_;     // of the thread and the name
  std::unordered_set<std::size_t> several_;  // of what is not one
};

}  // namespace wicprof::analyzer
