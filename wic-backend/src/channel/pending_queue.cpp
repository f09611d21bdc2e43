#include "src/channel/pending_queue.h"

#include <unordered_set>
#include <utility>

namespace wic {

PendingQueue::Outcome PendingQueue::add(RequestId id, Span<const Tag> tags, std::uint32_t cycle,
                                        const AvailabilityBitmap& arrived) {
  if (requests_.contains(id)) return Outcome::duplicate;
  Request request{cycle, {}};
  std::unordered_set<Tag> seen;
  for (const Tag tag : tags) {
    if (!arrived.available(tag, cycle) && seen.insert(tag).second) request.missing.push_back(tag);
  }
  if (request.missing.empty()) return Outcome::complete;
  for (const Tag tag : request.missing) requests_of_[key(tag, cycle)].push_back(id);
  requests_.emplace(id, std::move(request));
  return Outcome::queued;
}

std::vector<RequestId> PendingQueue::tag_arrived(Tag tag, std::uint32_t cycle) {
  const auto waiting = requests_of_.extract(key(tag, cycle));
  if (waiting.empty()) return {};
  std::vector<RequestId> complete;
  for (const RequestId id : waiting.mapped()) {
    const auto request = requests_.find(id);
    std::erase(request->second.missing, tag);
    if (!request->second.missing.empty()) continue;
    requests_.erase(request);
    complete.push_back(id);
  }
  return complete;
}

bool PendingQueue::cancel(RequestId id) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return false;
  for (const Tag tag : request->second.missing) {
    const auto waiting = requests_of_.find(key(tag, request->second.cycle));
    std::erase(waiting->second, id);
    if (waiting->second.empty()) requests_of_.erase(waiting);
  }
  requests_.erase(request);
  return true;
}

std::vector<Tag> PendingQueue::missing(RequestId id) const {
  const auto request = requests_.find(id);
  return request == requests_.end() ? std::vector<Tag>{} : request->second.missing;
}

}  // namespace wic
