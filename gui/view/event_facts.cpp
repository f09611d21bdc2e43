#include "gui/view/event_facts.h"

#include <fmt/format.h>

#include <algorithm>

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
    if (edge != nullptr) facts.back().of = waiter_of(*edge);
  } else if (edge != nullptr) {
    const auto ended = std::find_if(facts.begin(), facts.end(), [](const Fact& fact) { return fact.name == "ended"; });
    const store::SignalRow& signal = model.signals[edge->signal];
    if (ended != facts.end()) {
      ended->value = fmt::format("by the signal of {} at {:.6f} s", sender_of(model, signal),
                                 static_cast<double>(signal.at - model.begin) / kSecond);
      ended->of = EventRef{EventKind::signal, static_cast<std::uint32_t>(edge->signal)};
    }
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
