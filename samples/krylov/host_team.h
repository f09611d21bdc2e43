// The CPU rank's threads: they do one piece of work after another, together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sample::krylov {

/// Where a team's threads come together. A piece of work takes some ten microseconds, as waking a sleeping thread does,
/// so they look for a while before they sleep, and give way to others meanwhile.
class Gate {
 public:
  explicit Gate(std::uint32_t members) : members_(members) {}

  void arrive_and_wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_acq_rel);
      round_.notify_all();
      return;
    }
    for (std::uint32_t look = 1; look <= kLooks; ++look) {
      if (round_.load(std::memory_order_acquire) != round) return;
      if (look % kLooksBetweenYields == 0) std::this_thread::yield();
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t kLooks = 20'000, kLooksBetweenYields = 100;
  const std::uint32_t members_;
  std::atomic<std::uint32_t> arrived_{0}, round_{0};
};

class HostTeam {
 public:
  /// Work for one of the members.
  using Work = std::function<void(std::uint32_t member)>;

  /// The caller of run() is member 0; the others get threads of their own.
  explicit HostTeam(std::uint32_t members) : members_(members), gate_(members) {
    for (std::uint32_t i = 1; i < members; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  HostTeam(const HostTeam&) = delete;
  ~HostTeam() {
    work_ = nullptr;
    gate_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Every member's part of `count` items in a row. Returns once all are done.
  template <class Do>
  void in_ranges(std::uint32_t count, const Do& work) {
    const auto at = [&](std::uint32_t m) { return static_cast<std::uint32_t>(std::uint64_t{count} * m / members_); };
    run([&](std::uint32_t member) {
      const std::uint32_t end = at(member + 1);
      for (std::uint32_t i = at(member); i < end; ++i) work(i);
    });
  }
  /// The same, dealt out in turn: for items of which neighbours take longer than others.
  template <class Do>
  void in_turn(std::uint32_t count, const Do& work) {
    run([&](std::uint32_t member) {
      for (std::uint32_t i = member; i < count; i += members_) work(i);
    });
  }

 private:
  void run(const Work& work) {
    work_ = &work;
    gate_.arrive_and_wait();
    work(0);
    gate_.arrive_and_wait();
  }

  void serve(std::uint32_t member) {
    for (;;) {
      gate_.arrive_and_wait();
      if (work_ == nullptr) return;
      (*work_)(member);
      gate_.arrive_and_wait();
    }
  }

  const std::uint32_t members_;
  Gate gate_;
  const Work* work_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace sample::krylov
