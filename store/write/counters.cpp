#include "store/write/counters.h"

#include <algorithm>

namespace wicprof::store {

namespace {
// Bounds the trace's size for a program that reports a new reason with each loss. Not calibrated.
constexpr std::size_t kMaxDetails = 1000;

// A program that overwrites its records may claim any loss: sums stop here instead of becoming negative.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 62;
std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) {
  return std::min(std::min(a, kMostCounted) + std::min(b, kMostCounted), kMostCounted);
}

bool counts_lost_events(Stat stat) {
  return stat_info(stat).severity == StatRow::Severity::data_loss && stat != Stat::not_matched &&
         stat != Stat::ring_corrupt;
}
}  // namespace

Counter& Counters::of(Stat stat, const std::string& detail) {
  const auto known = places_.find({stat, detail});
  if (known != places_.end()) return all_[known->second];
  if (all_.size() >= kMaxDetails && detail != "other") return of(stat, "other");
  places_.emplace(std::pair{stat, detail}, all_.size());
  return all_.emplace_back(Counter{stat, detail});
}

void Counters::add(Stat stat, const std::string& detail, std::uint64_t count) {
  if (count == 0) return;
  Counter& counter = of(stat, detail);
  counter.value = static_cast<std::int64_t>(bounded_sum(static_cast<std::uint64_t>(counter.value), count));
  counter.changed = true;
}

void Counters::set(Stat stat, const std::string& detail, std::uint64_t value) {
  Counter& counter = of(stat, detail);
  value = std::min(value, kMostCounted);
  if (counter.value == static_cast<std::int64_t>(value)) return;
  counter.value = static_cast<std::int64_t>(value);
  counter.changed = true;
}

void Counters::set_total(Stat stat, const std::string& detail, std::uint64_t total) {
  std::uint64_t& known = totals_[{stat, detail}];
  known = std::max(known, total);
  const auto found = earlier_.find({stat, detail});
  const std::uint64_t earlier = found == earlier_.end() ? 0 : found->second;
  if (earlier == 0 || known > earlier) set(stat, detail, known - earlier);
}

Counters Counters::next_segment() const {
  Counters next;
  next.totals_ = next.earlier_ = totals_;
  return next;
}

bool Counters::changed() const {
  return std::any_of(all_.begin(), all_.end(), [](const Counter& c) { return c.changed; });
}

void Counters::mark_all_changed() {
  for (Counter& counter : all_) counter.changed = true;
}

void Counters::mark_written() {
  for (Counter& counter : all_) counter.changed = false;
}

std::map<Stat, std::uint64_t> Counters::losses() const {
  std::map<Stat, std::uint64_t> sums;
  for (const StatInfo& info : kStats) {
    if (counts_lost_events(info.stat)) sums[info.stat] = 0;
  }
  for (const Counter& counter : all_) {
    const auto sum = sums.find(counter.stat);
    if (sum != sums.end()) sum->second = bounded_sum(sum->second, static_cast<std::uint64_t>(counter.value));
  }
  return sums;
}

std::uint64_t Counters::lost() const {
  std::uint64_t sum = 0;
  for (const Counter& counter : all_) {
    if (counts_lost_events(counter.stat)) sum = bounded_sum(sum, static_cast<std::uint64_t>(counter.value));
  }
  return sum;
}

}  // namespace wicprof::store
