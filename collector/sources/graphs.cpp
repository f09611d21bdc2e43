// Launches of CUDA graphs as a whole, one event per launch. While CUPTI records them so, it omits the kernels and
// copies in them, so a launch counts as work of its device like a kernel. CUPTI looks at each node at each launch as
// soon as it has a subscriber, and takes about half as long where this kind is enabled; but then it also looks at each
// launch of a kernel (docs/design/collector.md). So it is enabled when the program is about to make its first graph,
// unless somebody wants the nodes.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <string>

#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "collector/waits/open_captures.h"

namespace wicprof::collector {

namespace {

/// No graph comes about but by cuGraphCreate and by captures.
bool makes_graph(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuGraphCreate || std::ranges::find(kCaptureCalls, id) != std::end(kCaptureCalls);
}

class Graphs final : public Source {
 public:
  explicit Graphs(bool wanted) : Source("graphs", {CUPTI_ACTIVITY_KIND_GRAPH_TRACE}), wanted_(wanted) {}

  Result<> prepare(const Cupti& cupti) override {
    api_ = &cupti.api;
    const auto watch = [&](CUpti_CallbackId id) {
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    };
    watch(CUPTI_DRIVER_TRACE_CBID_cuGraphCreate);
    for (const CUpti_CallbackId id : kCaptureCalls) watch(id);
    return ok();
  }
  Result<> enable(const Cupti&) override { return records_ = wanted_, ok(); }
  void disable(const Cupti&) override { records_ = false; }

  bool wants_callbacks() const override { return true; }

  // Before the first graph, once and for all: a program died within CUPTI when this kind was enabled while it had a
  // graph (CUDA 13.0).
  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data,
                EventSink& sink) override {
    if (enabled_.load(std::memory_order_acquire) || domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    if (data.callbackSite != CUPTI_API_ENTER || !makes_graph(id)) return;
    const std::lock_guard lock(mutex_);  // another thread's first graph waits until launches are recorded as a whole
    if (enabled_) return;
    if (api_->activity_enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != CUPTI_SUCCESS)
      sink.loss(LossSource::cupti, 1,
                "CUPTI refuses records of graphs as a whole: their kernels are recorded one by one");
    enabled_.store(true, std::memory_order_release);
  }

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
  const CuptiApi* api_ = nullptr;
  std::mutex mutex_;
  std::atomic<bool> enabled_{false}, records_{false};
};

}  // namespace

std::unique_ptr<Source> make_graphs(bool wanted) { return std::make_unique<Graphs>(wanted); }

}  // namespace wicprof::collector
