// The CPU rank's threads: they do one piece of work after another, together.
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sample::krylov {

class HostTeam {
 public:
  /// Work for items `begin` to `end`, of those that are shared out.
  using Work = std::function<void(std::uint32_t begin, std::uint32_t end)>;

  /// The caller of share() is one of the members; the others get threads of their own.
  explicit HostTeam(std::uint32_t members) : members_(members), gate_(members) {
    for (std::uint32_t i = 1; i < members; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  HostTeam(const HostTeam&) = delete;
  ~HostTeam() {
    work_ = nullptr;
    gate_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Gives each member its range of `count` items; returns once all are done.
  void share(std::uint32_t count, const Work& work) {
    count_ = count;
    work_ = &work;
    gate_.arrive_and_wait();
    do_part(0);
    gate_.arrive_and_wait();
  }

 private:
  void do_part(std::uint32_t member) const {
    const auto at = [&](std::uint32_t m) { return static_cast<std::uint32_t>(std::uint64_t{count_} * m / members_); };
    (*work_)(at(member), at(member + 1));
  }

  void serve(std::uint32_t member) {
    for (;;) {
      gate_.arrive_and_wait();
      if (work_ == nullptr) return;
      do_part(member);
      gate_.arrive_and_wait();
    }
  }

  const std::uint32_t members_;
  std::barrier<> gate_;
  const Work* work_ = nullptr;
  std::uint32_t count_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace sample::krylov
