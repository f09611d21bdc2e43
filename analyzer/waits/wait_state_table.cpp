#include "analyzer/waits/wait_state_table.h"

namespace wicprof::analyzer {

WaitStateTable::WaitStateTable(const TraceModel& model) : model_(model) {
  for (const store::SiteRow& site : model.sites) states_.add_site(site.id, site.pollers);
  if (model.kernels.empty()) return;
  for (const store::WaitRow& wait : model.waits) states_.add_wait(wait);
  others_.reserve(model.waits.size());
  // The start of the next kernel, whose row is made once.
  std::size_t kernel = 0;
  TimeNs next = model.kernels[0].start;
  for (const store::WaitRow& wait : model.waits) {
    while (kernel < model.kernels.size() && next <= wait.arrived) {
      states_.begin_kernel(store::shape_of(model.kernels[kernel++]));
      if (kernel < model.kernels.size()) next = model.kernels[kernel].start;
    }
    others_.push_back(static_cast<std::uint8_t>(states_.others(wait)));
  }
}

}  // namespace wicprof::analyzer
