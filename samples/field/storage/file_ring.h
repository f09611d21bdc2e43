// Reads pages of a file by io_uring, through the kernel's interface alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "wic/types.h"

namespace sample::storage {

/// A file without a name, and the rings of reads from it. One thread.
class FileRing {
 public:
  /// Makes the file in `folder`, of `words` words; word i is word_of(i). At most `entries` reads are in flight. Errors:
  /// the folder cannot hold the file; the system has no io_uring, or does not allow it.
  static wic::Result<std::unique_ptr<FileRing>> make(const std::string& folder, std::uint64_t words,
                                                     const std::function<std::uint32_t(std::uint64_t)>& word_of,
                                                     std::uint32_t entries);
  virtual ~FileRing() = default;

  /// Queues a read of `bytes` from byte `offset` on. `tag` comes back with its end.
  virtual void read(void* to, std::uint32_t bytes, std::uint64_t offset, std::uint32_t tag) = 0;
  /// Starts what is queued. Error: the system refuses.
  virtual wic::Result<> start() = 0;
  /// Whether a read has ended, and which. Error: it has failed, or was too short.
  virtual wic::Result<bool> ended(std::uint32_t& tag) = 0;
};

}  // namespace sample::storage
