// The modules (cubins) that the program has loaded: which number each has in samples, and a copy of those that were sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wicprof::collector {

/// A module's number: of its size and of parts of its bytes. A program's modules can hold hundreds of megabytes, all of them
/// loaded as it starts, so not all of them are read.
std::uint64_t module_number(const void* cubin, std::size_t bytes);

/// Any thread.
class Modules {
 public:
  /// `folder`: where sampled modules are saved, each as its number in 16 hexadecimal digits and ".cubin"; empty: nowhere.
  explicit Modules(std::string folder) : folder_(std::move(folder)) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// A module that is being loaded; returns its number. Its bytes stay the driver's.
  std::uint64_t add(const void* cubin, std::size_t bytes);

  /// The module is about to go: its bytes are not read again.
  void forget(const void* cubin);

  /// A copy of a sampled module, made and saved at the first call and good for the process's life; empty for one that is not known,
  /// is gone, or is no longer what it was. One thread at a time uses it.
  const std::vector<char>& copy(std::uint64_t number);

 private:
  struct Module {
    const void* cubin = nullptr;  // nullptr: gone
    std::size_t bytes = 0;
    bool tried = false;
    std::vector<char> copy;
  };

  void save(std::uint64_t number, const std::vector<char>& bytes) const;

  std::string folder_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Module> modules_;  // places in it never move
};

}  // namespace wicprof::collector
