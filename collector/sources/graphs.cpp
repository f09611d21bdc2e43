// Launches of CUDA graphs as a whole, one event per launch. While CUPTI records them so, it omits the kernels and
// copies in them, so a launch counts as work of its device like a kernel. CUPTI looks at each node at each launch as
// soon as it has a subscriber, and takes about half as long where this kind is enabled (docs/design/collector.md): so
// it is, unless somebody wants the nodes.
#include <atomic>
#include <string>

#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Graphs final : public Source {
 public:
  explicit Graphs(bool wanted) : Source("graphs", {CUPTI_ACTIVITY_KIND_GRAPH_TRACE}), wanted_(wanted) {}

  // Before the first context, once and for all: a program with graphs died within CUPTI when this kind was enabled
  // while it ran (CUDA 13.0).
  Result<> enable(const Cupti& cupti) override {
    if (!enabled_ && has_context_) return ok();  // their kernels are recorded one by one, as with `nodes`
    if (!enabled_) {
      if (Result<> enabled = Source::enable(cupti); !enabled) return enabled;
    }
    enabled_ = true;
    records_ = wanted_;
    return ok();
  }
  void disable(const Cupti&) override { records_ = false; }
  Result<> context_created(const Cupti&) override { return has_context_ = true, ok(); }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const GraphRecord&>(any));
    if (!event) return false;
    if (!records_) return true;
    batch.write(*event);
    batch.write(as_work(*event, batch.text("CUDA graph " + std::to_string(event->graph))));
    return true;
  }

 private:
  const bool wanted_;
  std::atomic<bool> has_context_{false}, enabled_{false}, records_{false};
};

}  // namespace

std::unique_ptr<Source> make_graphs(bool wanted) { return std::make_unique<Graphs>(wanted); }

}  // namespace wicprof::collector
