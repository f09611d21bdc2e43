#include "gui/view/event_facts.h"

#include "analyzer/machine_code/kernel_polling.h"
#include "analyzer/words/format.h"

namespace wicprof::gui {

std::vector<Fact> facts_of(const analyzer::TraceModel& model, const Timeline& timeline,
                           const std::vector<analyzer::PollingLoop>& loops, EventRef ref) {
  std::vector<Fact> facts = facts_of(model, ref);
  const analyzer::WakeEdge* edge = timeline.edge_of(ref);
  if (ref.kind == EventKind::signal) {
    constexpr std::size_t kMost = 100'000;  // bounds the work per selection
    const std::size_t woken = timeline.edges_of(model, ref, kMost).size();
    facts.push_back({"ended", timeline.edges.empty() ? "still being matched" : analyzer::count_of(woken, "wait")});
  } else if (edge != nullptr) {
    facts.push_back({"wake latency", analyzer::format_duration(analyzer::wake_latency(model, *edge))});
  }
  if (ref.kind == EventKind::kernel) {
    const store::KernelRow& kernel = model.kernels[ref.index];
    if (const auto polling = analyzer::polling_of_kernel(loops, kernel.device, kernel.name))
      facts.push_back({"polls", analyzer::polling_text(*polling)});
  }
  return facts;
}

}  // namespace wicprof::gui
