// Requests whose data has not all arrived (PFQ), with the missing tags of each; an arriving tag finds its requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "src/channel/availability_bitmap.h"
#include "wic/span.h"

namespace wic {

using RequestId = std::uint64_t;

/// One thread at a time.
class PendingQueue {
 public:
  enum class Outcome {
    queued,     ///< a tag is missing: tag_arrived() will return the request once
    complete,   ///< no tag is missing; the request is not kept
    duplicate,  ///< a request with that id is pending; the new one is dropped
  };

  /// Adds a request for all of `tags` of one cycle. Repeated tags count once. An id is free again once its request is
  /// complete or cancelled.
  Outcome add(RequestId id, Span<const Tag> tags, std::uint32_t cycle, const AvailabilityBitmap& arrived);

  /// Removes and returns the requests that missed only this tag, in the order of their addition. The time depends only
  /// on the requests that miss this tag.
  std::vector<RequestId> tag_arrived(Tag tag, std::uint32_t cycle);

  /// Removes a request. False if no request with that id is pending.
  bool cancel(RequestId id);

  /// Pending requests.
  std::size_t size() const { return requests_.size(); }
  /// The missing tags of a request, in the order of the request; empty if no request with that id is pending.
  std::vector<Tag> missing(RequestId id) const;

 private:
  struct Request {
    std::uint32_t cycle;
    std::vector<Tag> missing;
  };
  static std::uint64_t key(Tag tag, std::uint32_t cycle) { return std::uint64_t{cycle} << 32 | tag; }

  std::unordered_map<RequestId, Request> requests_;
  std::unordered_map<std::uint64_t, std::vector<RequestId>>
      requests_of_;  // by key, in the order of addition; none is empty
};

}  // namespace wic
