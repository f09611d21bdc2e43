// The modules (cubins) that the program has loaded: which number each has in samples, and a copy of those that were
// sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wicprof::collector {

/// A module's number: of its size and of parts of its bytes. A program's modules can hold hundreds of megabytes, all of
/// them loaded as it starts, so not all of them are read.
std::uint64_t module_number(const void* cubin, std::size_t bytes);

/// Any thread.
class Modules {
 public:
  /// `folder`: where sampled modules are saved, each as its number in 16 hexadecimal digits and ".cubin"; empty:
  /// nowhere.
  explicit Modules(std::string folder) : folder_(std::move(folder)) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// A module that is being loaded; returns its number. Its bytes stay the driver's.
  std::uint64_t add(const void* cubin, std::size_t bytes);

  /// The module is about to go: its bytes are not read again. It may be loaded elsewhere still.
  void forget(const void* cubin);

  using Bytes = std::shared_ptr<const std::vector<char>>;

  /// A copy of a sampled module, made at the first call; empty for one that is not known, is gone, is no longer what it
  /// was, or has no room. Never nullptr.
  Bytes copy(std::uint64_t number);

  /// Saves the copies made since the last call. Writes files: not on a thread of the program.
  void save_copies();

  /// The modules that are loaded nowhere any more.
  std::vector<std::uint64_t> gone() const;

  /// Forgets these, unless they were loaded again or have a copy that is not saved yet.
  void drop(const std::vector<std::uint64_t>& numbers);

 private:
  struct Module {
    std::vector<const void*> places;  // one for each time that it is loaded; empty: gone
    std::size_t bytes = 0;
    bool tried = false;
    bool saved = false;
    Bytes copy;
  };

  void save(std::uint64_t number, const std::vector<char>& bytes) const;

  std::string folder_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Module> modules_;
};

}  // namespace wicprof::collector
