#include "gui/view/sampled_polling.h"

#include <algorithm>

namespace wicprof::gui {

void add_polling(Timeline& timeline, const analyzer::TraceModel& model,
                 const std::vector<analyzer::PollingLoop>& loops) {
  if (loops.empty()) return;
  analyzer::PollingShares shares_of(loops);
  for (Track& track : timeline.tracks) {
    for (SpanRow& row : track.rows) {
      std::vector<double> shares;
      for (const Span& span : row.spans()) {
        const bool is_kernel = span.ref.kind == EventKind::kernel;
        shares.push_back(is_kernel ? shares_of.of(model.kernels[span.ref.index]) : 0);
      }
      if (std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0; })) row.set_polling(shares);
    }
  }
  timeline.fill_overview();
}

}  // namespace wicprof::gui
