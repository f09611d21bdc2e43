// A team of host threads that run one piece of work after another together.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sample {

/// A reusable barrier for pieces of work of about ten microseconds, which is as long as waking a sleeping thread takes.
/// Threads therefore look for a while, yielding now and then, before they sleep.
class SpinningGate {
 public:
  explicit SpinningGate(std::uint32_t members) : members_(members) {}

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
  /// Not calibrated.
  static constexpr std::uint32_t kLooks = 20'000, kLooksBetweenYields = 100;
  const std::uint32_t members_;
  std::atomic<std::uint32_t> arrived_{0}, round_{0};
};

/// Gate: a barrier with arrive_and_wait() that is constructed from the number of threads.
template <class Gate = std::barrier<>>
class HostTeam {
 public:
  /// Work for member `member` of `members`.
  using Work = std::function<void(std::uint32_t member, std::uint32_t members)>;

  /// The caller of run() is member 0; the team starts a thread for each other member.
  explicit HostTeam(std::uint32_t members) : members_(members), gate_(members) {
    for (std::uint32_t i = 1; i < members; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  HostTeam(const HostTeam&) = delete;
  ~HostTeam() {
    work_ = nullptr;
    gate_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Returns when every member has done its part.
  void run(const Work& work) {
    work_ = &work;
    gate_.arrive_and_wait();
    work(0, members_);
    gate_.arrive_and_wait();
  }

  /// Calls work(i) for 0 <= i < count; each member gets a contiguous range. Returns when all calls are done.
  template <class Do>
  void in_ranges(std::uint32_t count, const Do& work) {
    run([&](std::uint32_t member, std::uint32_t members) {
      const auto end = static_cast<std::uint32_t>(std::uint64_t{count} * (member + 1) / members);
      for (auto i = static_cast<std::uint32_t>(std::uint64_t{count} * member / members); i < end; ++i) work(i);
    });
  }
  /// Like in_ranges(), but deals the items out in turn: for items whose cost varies by region.
  template <class Do>
  void in_turn(std::uint32_t count, const Do& work) {
    run([&](std::uint32_t member, std::uint32_t members) {
      for (std::uint32_t i = member; i < count; i += members) work(i);
    });
  }

 private:
  void serve(std::uint32_t member) {
    for (;;) {
      gate_.arrive_and_wait();
      if (work_ == nullptr) return;
      (*work_)(member, members_);
      gate_.arrive_and_wait();
    }
  }

  const std::uint32_t members_;
  Gate gate_;
  const Work* work_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace sample
