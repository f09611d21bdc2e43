#include "collector/rewrite/writer_candidates.h"

#include "collector/rewrite/word_writers.h"

namespace wicprof::collector {

using rewriter::KernelStores;
using rewriter::StoreTarget;

void WriterCandidates::loaded(const std::vector<KernelStores>& stores) {
  const std::lock_guard lock(mutex_);
  for (const KernelStores& each : stores) {
    if (each.targets.empty()) continue;
    const auto [at, is_new] = kernels_.try_emplace(each.kernel, Kernel{each});
    // Two kernels of one name may take different parameters: which one a launch means is not known.
    if (!is_new && at->second.stores.targets != each.targets) at->second.stores.targets.clear();
    any_ = true;
  }
}

void WriterCandidates::launched(const char* symbol, void* const* parameters, std::uint32_t correlation) {
  if (!any_ || symbol == nullptr || parameters == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto kernel = kernels_.find(std::string_view(symbol));
  constexpr std::uint64_t kAll = 64, kEvery = 16;
  if (kernel == kernels_.end() || launches_.size() >= kMostLaunches) return;
  const std::uint64_t count = kernel->second.launches++;
  if (count >= kAll && count % kEvery != 0) return;
  Launch launch{&kernel->second.stores, {}, correlation};
  for (const StoreTarget& target : launch.kernel->targets) {
    // By the system, which checks the addresses: code that was not seen may have a kernel of that name, too.
    std::uint64_t place = 0, pointer = 0;
    const auto at =
        reinterpret_cast<std::uint64_t>(parameters) + sizeof(void*) * static_cast<std::uint64_t>(target.parameter);
    const bool known = target.parameter >= 0 && read_own_memory(at, &place, sizeof place) &&
                       read_own_memory(place, &pointer, sizeof pointer);
    launch.pointers.push_back(known ? pointer : 0);
  }
  if (seen_.insert({launch.kernel, launch.pointers}).second) launches_.push_back(std::move(launch));
}

std::vector<WriterCandidates::Candidate> WriterCandidates::new_of(const Word& word) {
  std::vector<Candidate> found;
  const std::lock_guard lock(mutex_);
  std::size_t& looked = looked_[word.address];
  for (; looked < launches_.size(); ++looked) {
    const Launch& launch = launches_[looked];
    bool exact = false, within = false;
    for (std::size_t i = 0; i < launch.pointers.size() && i < launch.kernel->targets.size(); ++i) {
      const StoreTarget& target = launch.kernel->targets[i];
      const std::uint64_t pointer = launch.pointers[i];
      if (pointer == 0) continue;
      if (target.exact) {
        exact |= pointer + static_cast<std::uint64_t>(target.offset) == word.address;
      } else {
        within |= pointer >= word.begin && pointer - word.begin < word.bytes;
      }
    }
    if ((exact || within) && named_.insert({word.address, launch.kernel, exact}).second) {
      found.push_back({launch.kernel->kernel, launch.correlation, exact});
    }
  }
  return found;
}

}  // namespace wicprof::collector
