// Memory for messages in pages of 16 KiB, allocated in contiguous runs (PCM). Channels may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "wic/device.h"

namespace wic {

inline constexpr std::size_t kPageBytes = 16 * 1024;

class MessagePages {
 public:
  struct Run {
    std::uint32_t first = 0, pages = 0;
  };

  /// `where`: Memory::device on the consuming device, or pinned_host where the CPU is an end. Errors: no memory, 0
  /// pages or more than 2^30.
  static Result<std::shared_ptr<MessagePages>> make(Device& device, std::uint32_t pages, Memory where);
  MessagePages(const MessagePages&) = delete;
  ~MessagePages();

  /// The lowest free run of that length, or nothing. Any thread.
  std::optional<Run> take(std::uint32_t pages);
  void give_back(Run run);

  std::byte* data() const;  ///< page 0
  Memory where() const;
  const Device& device() const;
  std::uint32_t free_pages() const;

 private:
  struct State;
  explicit MessagePages(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wic
