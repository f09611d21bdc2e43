#include "analyzer/machine_code/kernel_polling.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

std::optional<KernelPolling> polling_of_kernel(const std::vector<PollingLoop>& loops, DeviceId device,
                                               std::string_view kernel) {
  std::optional<KernelPolling> found;
  for (const PollingLoop& loop : loops) {  // most samples first
    if (loop.device != device || !is_polling(loop.kind) || !is_of_kernel(loop, kernel) || loop.samples == 0) continue;
    if (!found) found.emplace().place = place_of(loop);
    const double behind = loop.function_share * static_cast<double>(loop.behind) / static_cast<double>(loop.samples);
    found->share += loop.function_share + behind;
    found->behind += behind;
  }
  if (found) found->share = std::min(found->share, 1.0);
  return found;
}

double PollingShares::of(const store::KernelRow& kernel) {
  if (loops_.empty()) return 0;
  const auto [found, fresh] = known_.try_emplace({kernel.device, std::string_view(kernel.name)}, 0.0);
  if (fresh) {
    if (const auto polling = polling_of_kernel(loops_, kernel.device, kernel.name)) found->second = polling->share;
  }
  return found->second;
}

std::string polling_text(const KernelPolling& polling) {
  std::string text = fmt::format("{} of its samples, at {}", format_percent(polling.share), polling.place);
  if (polling.behind > 0)
    text += fmt::format(" ({} in the loop, {} at the barrier behind it)",
                        format_percent(polling.share - polling.behind), format_percent(polling.behind));
  return text;
}

}  // namespace wicprof::analyzer
