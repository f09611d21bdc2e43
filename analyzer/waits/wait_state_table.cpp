#include "analyzer/waits/wait_state_table.h"

#include <limits>

namespace wicprof::analyzer {

WaitStateTable::WaitStateTable(const TraceModel& model) : model_(model) {
  for (const store::SiteRow& site : model.sites) states_.add_site(site.id, site.pollers);
  if (model.kernels.empty()) return;
  for (const store::WaitRow& wait : model.waits) states_.add_wait(wait);
  others_.reserve(model.waits.size());
  const auto start_of = [&](std::size_t kernel) {
    return kernel < model.kernels.size() ? model.kernels[kernel].start : std::numeric_limits<TimeNs>::max();
  };
  std::size_t kernel = 0;
  TimeNs next = start_of(0);
  for (const store::WaitRow& wait : model.waits) {
    for (; next <= wait.arrived; next = start_of(kernel))
      states_.begin_kernel(store::shape_of(model.kernels[kernel++]));
    others_.push_back(static_cast<std::uint8_t>(states_.others(wait)));
  }
}

}  // namespace wicprof::analyzer
