#include "collector/rewrite/wait_records.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace wicprof::collector {

using rewriter::kRecords;
using rewriter::Record;

namespace {

constexpr std::uint16_t kWarp = 32;
constexpr std::size_t kWords = sizeof(Record) / sizeof(std::uint64_t);

/// A copy of what a device may be writing.
Record copy_of(const Record& shared) {
  Record copy;
  std::uint64_t words[kWords];
  auto* const from = reinterpret_cast<std::uint64_t*>(const_cast<Record*>(&shared));
  for (std::size_t i = 0; i < kWords; ++i) words[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
  std::memcpy(&copy, words, sizeof copy);
  return copy;
}

}  // namespace

WordTag word_tag_of(std::uint64_t address) {
  if (address == 0) return 0;
  const auto tag = static_cast<WordTag>(((address >> 2) * 0x9e3779b97f4a7c15u) >> 48);
  return tag == 0 ? WordTag{1} : tag;
}

bool is_complete(const Record& record) {
  std::uint64_t words[kWords];
  std::memcpy(words, &record, sizeof record);
  std::uint64_t joined = 0;
  for (const std::uint64_t word : words) joined ^= word;
  return record.number_plus_one != 0 && joined == 0;
}

void WaitRecords::read(EventBatch& batch) {
  // Twice round the ring at most: the loops go on writing.
  for (std::uint32_t looked = 0; looked < 2 * kRecords; ++looked) {
    const Record record = copy_of(ring_[next_ % kRecords]);
    if (!is_complete(record) || record.number_plus_one < next_ + 1) break;
    const std::uint64_t number = record.number_plus_one - 1;
    if (number % kRecords != next_ % kRecords) break;  // not one of ours
    if (number > next_) {  // the loops have gone round the ring; the oldest record may be in the place behind
      const std::uint64_t oldest = number - kRecords + 1;
      lost_ += oldest - next_;
      next_ = oldest;
      continue;
    }
    next_ = number + 1;
    take(record, batch);
  }
  if (lost_ == reported_lost_) return;
  batch.loss(LossSource::device_ring, lost_ - reported_lost_, "patched loops", device_);
  reported_lost_ = lost_;
}

void WaitRecords::take(const Record& record, EventBatch& batch) {
  const Thread thread{record.grid, record.block, record.thread};
  if ((record.site & Record::kEnd) == 0) {
    if ((record.site & 0xffff) >= sites_.size()) return;
    if (open_.size() >= kMostOpen) {
      const auto oldest = std::min_element(
          open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
      open_.erase(oldest);
    }
    open_[thread] = {record.number_plus_one - 1, now_ns(), record};
    if ((record.site & Record::kKnowsValue) == 0 || record.address == 0 || words_.size() >= kMostWords) return;
    const Word word{site_of(record), record.address};
    if (words_.insert(word).second) new_words_.push_back(word);
    return;
  }
  const auto found = open_.find(thread);
  if (found == open_.end()) return;  // its begin was overwritten, and is counted
  const Record begin = found->second.begin;
  open_.erase(found);
  auto event = make_event<WaitEvent>();
  const Site& site = sites_[begin.site & 0xffff];
  event.site = site.id;
  event.device = device_;
  event.block = begin.block;
  event.warp = begin.thread / kWarp;
  event.sm = begin.sm;
  event.polls =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(record.rounds, std::numeric_limits<std::uint32_t>::max()));
  event.arrived_ns = begin.device_ns;
  event.resumed_ns = std::max(record.device_ns, begin.device_ns);
  if ((begin.site & Record::kKnowsValue) != 0) {
    event.value = static_cast<std::uint32_t>(record.value);
    event.word_tag = word_tag_of(begin.address);
  }
  event.strategy = static_cast<std::uint8_t>((record.site & Record::kPaused) != 0 ? site.parked : StrategyId::poll);
  event.status = WaitStatus::satisfied;
  event.each_thread = 1;
  event.waited = 1;
  batch.write(event);
}

}  // namespace wicprof::collector
