#include "analyzer/waits/wait_state_table.h"

namespace wicprof::analyzer {

WaitStateTable::WaitStateTable(const TraceModel& model) : model_(model) {
  for (const store::SiteRow& site : model.sites) states_.add_site(site.id, site.pollers);
  if (model.kernels.empty()) return;
  for (const store::WaitRow& wait : model.waits) states_.add_wait(wait);
  others_.reserve(model.waits.size());
  auto kernel = model.kernels.begin();
  for (const store::WaitRow& wait : model.waits) {
    for (; kernel != model.kernels.end() && kernel->start <= wait.arrived; ++kernel)
      states_.begin_kernel(store::shape_of(*kernel));
    others_.push_back(static_cast<std::uint8_t>(states_.others(wait)));
  }
}

}  // namespace wicprof::analyzer
