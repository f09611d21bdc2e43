#include "gui/view/sampled_polling.h"

#include <algorithm>
#include <map>
#include <utility>

namespace wicprof::gui {

void add_polling(Timeline& timeline, const analyzer::TraceModel& model,
                 const std::vector<analyzer::PollingLoop>& loops) {
  if (loops.empty()) return;
  std::map<std::pair<DeviceId, std::string_view>, double> known;
  const auto share_of = [&](EventRef ref) {
    if (ref.kind != EventKind::kernel) return 0.0;
    const store::KernelRow& kernel = model.kernels[ref.index];
    const auto [found, fresh] = known.try_emplace({kernel.device, std::string_view(kernel.name)}, 0.0);
    if (fresh) {
      if (const auto polling = analyzer::polling_of_kernel(loops, kernel.device, kernel.name))
        found->second = polling->share;
    }
    return found->second;
  };
  for (Track& track : timeline.tracks) {
    for (SpanRow& row : track.rows) {
      std::vector<double> shares;
      for (const Span& span : row.spans()) shares.push_back(share_of(span.ref));
      if (std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0; })) row.set_polling(shares);
    }
  }
}

}  // namespace wicprof::gui
