// The modules (cubins) that the program has loaded: the number of each in samples, and copies of the sampled modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wicprof::collector {

/// A module's number: a hash of its size and of parts of its bytes. Programs load hundreds of megabytes of modules at
/// start, too much to read completely.
std::uint64_t module_number(const void* cubin, std::size_t bytes);

/// Any thread.
class Modules {
 public:
  /// `folder`: where to save sampled modules, each named by its number in 16 hexadecimal digits and ".cubin"; empty:
  /// modules are not saved.
  explicit Modules(std::string folder) : folder_(std::move(folder)) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// Registers a module that is being loaded and returns its number; 0 for an empty one. The driver owns the bytes.
  std::uint64_t add(const void* cubin, std::size_t bytes);

  /// Call before the module at `cubin` is unloaded: its bytes are not read again. The same module may still be loaded
  /// at another address.
  void forget(const void* cubin);

  using Bytes = std::shared_ptr<const std::vector<char>>;

  /// A copy of a sampled module, made at the first call; empty if the module is unknown, unloaded, changed or too
  /// large, or if memory is short. Never nullptr.
  Bytes copy(std::uint64_t number);

  /// Saves the copies made since the last call. Writes files, so never call it on a thread of the program.
  void save_copies();

  /// The modules that are no longer loaded.
  std::vector<std::uint64_t> unloaded() const;

  /// Removes these modules, except those loaded again or with an unsaved copy.
  void drop(const std::vector<std::uint64_t>& numbers);

 private:
  struct Module {
    std::vector<const void*> addresses;  // one address per load; empty: unloaded
    std::size_t bytes = 0;
    bool copy_tried = false;
    bool saved = false;
    Bytes copy;
  };

  void save(std::uint64_t number, const std::vector<char>& bytes) const;

  std::string folder_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Module> modules_;
};

}  // namespace wicprof::collector
