// The CPU rank's threads: they do one piece of work after another, together.
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sample::h3d {

class HostTeam {
 public:
  /// Work for member `member` of `members`.
  using Work = std::function<void(std::uint32_t member, std::uint32_t members)>;

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

  /// Returns once every member has done its part.
  void run(const Work& work) {
    work_ = &work;
    gate_.arrive_and_wait();
    work(0, members_);
    gate_.arrive_and_wait();
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
  std::barrier<> gate_;
  const Work* work_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace sample::h3d
