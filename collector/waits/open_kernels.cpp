#include "collector/waits/open_kernels.h"

#include <unistd.h>

namespace wicprof::collector {

void OpenKernels::attach(OpenWork* work) {
  const std::lock_guard lock(mutex_);
  work_ = work;
  if (work_ != nullptr) work_->watches_launches.store(1, std::memory_order_relaxed);
}

void OpenKernels::detach() {
  const std::lock_guard lock(mutex_);
  for (auto& [correlation, open] : by_correlation_) open.entry->give_back();
  by_correlation_.clear();
  any_.store(false, std::memory_order_relaxed);
  work_ = nullptr;
}

void OpenKernels::launched(const OpenKernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (work_ == nullptr) return;
  if (by_correlation_.size() >= kMaxOpenKernels / 2) {  // leaves room for other processes
    work_->kernels_left_out.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  OpenEntry<OpenKernel>* const entry =
      claim_entry(work_->kernels, static_cast<std::uint32_t>(getpid()), work_->kernels_left_out, process_is_gone);
  if (entry == nullptr) return;
  entry->write(kernel);
  any_.store(true, std::memory_order_relaxed);
  Open& open = by_correlation_[kernel.correlation];
  if (open.entry != nullptr) open.entry->give_back();
  open = {entry, kernel.stream, kernel.context, kernel.launched};
}

void OpenKernels::end(std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  const auto found = by_correlation_.find(correlation);
  if (found == by_correlation_.end()) return;
  found->second.entry->give_back();
  by_correlation_.erase(found);
}

void OpenKernels::waited(std::uint64_t stream, std::uint64_t context, bool all, TimeNs before) {
  if (!any()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(by_correlation_, [&](auto& each) {
    const Open& open = each.second;
    const bool same = all ? context == 0 || open.context == context : open.stream == stream && open.context == context;
    if (!same || open.launched >= before) return false;
    open.entry->give_back();
    return true;
  });
}

}  // namespace wicprof::collector
