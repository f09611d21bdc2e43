// Kernels whose code stores through a pointer that they got as an argument, and that leads to a word which a patched
// loop polls: each may be the writer, and none is known to be.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "rewriter/flow/stores.h"

namespace wicprof::collector {

/// Any thread.
class WriterCandidates {
 public:
  /// Launches with different pointers that are kept at most; those of further ones are not seen. Of a kernel that is
  /// launched often, every sixteenth launch is looked at.
  static constexpr std::size_t kMostLaunches = 4096;

  /// A module with these kernels is loaded.
  void loaded(const std::vector<rewriter::KernelStores>& stores);
  bool any() const { return any_; }
  /// A kernel is about to be launched. `parameters`: per parameter the address of its value, as cuLaunchKernel takes
  /// them; nullptr: not known.
  void launched(const char* symbol, void* const* parameters, std::uint32_t correlation);

  /// A polled word, and the allocation in which it lies.
  struct Word {
    std::uint64_t address = 0;
    std::uint64_t begin = 0, bytes = 0;  ///< bytes 0: not known
  };
  struct Candidate {
    std::string kernel;
    std::uint32_t correlation = 0;  ///< of its first launch with the pointer
    bool exact = false;             ///< it stores to the word's very address
  };
  /// Those of the word that no earlier call has named.
  std::vector<Candidate> new_of(const Word& word);

 private:
  struct Kernel {
    rewriter::KernelStores stores;
    std::uint64_t launches = 0;
  };
  struct Launch {
    const rewriter::KernelStores* kernel = nullptr;
    std::vector<std::uint64_t> pointers;  // per target
    std::uint32_t correlation = 0;
  };
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::set<std::tuple<const void*, std::vector<std::uint64_t>>> seen_;
  std::vector<Launch> launches_;
  std::map<std::uint64_t, std::size_t> looked_;  // per word, how many launches have been compared with it
  std::set<std::tuple<std::uint64_t, const void*, bool>> named_;
};

}  // namespace wicprof::collector
