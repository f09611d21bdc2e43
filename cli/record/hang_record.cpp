#include "cli/record/hang_record.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

namespace wicprof::cli {

namespace {

constexpr TimeNs kBetweenSights = kSecond;

bool is_ready(const std::future<std::string>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

HangRecord::HangRecord(const OpenWork& work, TimeNs longest, Look look)
    : work_(work), look_(std::move(look)), longest_(longest) {}

void HangRecord::follow(TimeNs now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);  // another thread may wait for a look
  if (!lock || now < next_) return;
  next_ = now + std::min(kBetweenSights, longest_);
  see(now);
}

void HangRecord::look(TimeNs now) {
  const std::lock_guard lock(mutex_);
  see(now);
  if (looking_.valid()) document_ = looking_.get();
}

std::string HangRecord::document() {
  const std::lock_guard lock(mutex_);
  if (looking_.valid()) document_ = looking_.get();
  return document_;
}

void HangRecord::see(TimeNs now) {
  if (looking_.valid() && !is_ready(looking_)) return;
  if (looking_.valid()) document_ = looking_.get();
  std::vector<Open> current = long_ones(now);
  const bool others = !std::includes(looked_at_.begin(), looked_at_.end(), current.begin(), current.end());
  if (others) {
    looked_at_ = std::move(current);
    looking_ = std::async(std::launch::async, look_);
  } else if (current.empty() && !looked_at_.empty()) {
    looked_at_.clear();
    document_.clear();
    longest_ *= 2;
  }
}

std::vector<HangRecord::Open> HangRecord::long_ones(TimeNs now) const {
  std::vector<Open> all;
  const auto add = [&](char table, const auto& entries) {
    for (std::size_t i = 0; i < std::size(entries); ++i) {
      const auto open = entries[i].read();
      if (!open || open->begin == 0 || now - open->begin < longest_) continue;
      if constexpr (requires { open->end; }) {
        if (open->end != 0) continue;
      }
      all.push_back({table, i, open->begin});
    }
  };
  add('c', work_.calls);
  add('m', work_.mpi_calls);
  add('w', work_.waits);
  return all;
}

}  // namespace wicprof::cli
