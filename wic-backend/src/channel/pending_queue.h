// Requests whose data is not there yet (PFQ), each with the tags that it still lacks, found by tag when one arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/channel/availability_bitmap.h"

namespace wic {

using RequestId = std::uint64_t;

/// One thread at a time.
class PendingQueue {
 public:
  enum class Outcome {
    queued,     ///< it lacks a tag: tag_arrived() will name it once
    complete,   ///< it lacks none and is not kept
    duplicate,  ///< a request of that id is waiting already; the new one is dropped
  };

  /// A request for all of `tags` of one cycle. A tag that is named twice counts once. An id is free again once its
  /// request is complete or cancelled.
  Outcome add(RequestId id, std::span<const Tag> tags, std::uint32_t cycle, const AvailabilityBitmap& there);

  /// The requests that lacked only this, in the order in which they were added; they are not kept. Costs what the
  /// requests that lack this tag cost, however many others wait.
  std::vector<RequestId> tag_arrived(Tag tag, std::uint32_t cycle);

  /// Forgets a request. False when none of that id waits.
  bool cancel(RequestId id);

  /// Requests that wait.
  std::size_t size() const { return requests_.size(); }
  /// What a request still lacks, in the order in which it asked; empty when none of that id waits.
  std::vector<Tag> missing(RequestId id) const;

 private:
  struct Request {
    std::uint32_t cycle;
    std::vector<Tag> missing;
  };
  static std::uint64_t key(Tag tag, std::uint32_t cycle) { return std::uint64_t{cycle} << 32 | tag; }

  std::unordered_map<RequestId, Request> requests_;
  std::unordered_map<std::uint64_t, std::vector<RequestId>> lacking_;  // by key, in the order of arrival; none is empty
};

}  // namespace wic
