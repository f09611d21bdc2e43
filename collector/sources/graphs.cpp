// Launches of CUDA graphs as a whole, one event per launch. While CUPTI records them so, it omits the kernels and
// copies in them, so a launch counts as work of its device like a kernel.
#include <mutex>
#include <string>

#include "collector/sources/graph_nodes.h"
#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

class Graphs final : public Source {
 public:
  explicit Graphs(std::shared_ptr<GraphNodes> nodes)
      : Source("graphs", {CUPTI_ACTIVITY_KIND_GRAPH_TRACE}), nodes_(std::move(nodes)), whole_(nodes_ == nullptr) {}

  Result<> enable(const Cupti& cupti) override {
    const std::lock_guard lock(mutex_);
    cupti_.emplace(cupti);
    on_ = true;
    return whole_ ? Source::enable(cupti) : ok();
  }

  void disable(const Cupti& cupti) override {
    const std::lock_guard lock(mutex_);
    on_ = false;
    if (whole_) Source::disable(cupti);
  }

  void tick(EventBatch& batch) override {
    if (nodes_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (!on_ || whole_ == !nodes_->look(now_ns())) return;
    if (whole_) {
      Source::disable(*cupti_);
      whole_ = false;
    } else if (const Result<> enabled = Source::enable(*cupti_); enabled) {
      whole_ = true;
    } else {
      batch.loss(LossSource::cupti, 1,
                 "graphs are recorded kernel by kernel, which slows them: " + enabled.error().message);
      nodes_ = nullptr;
    }
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const GraphRecord&>(any));
    if (!event) return false;
    batch.write(*event);
    batch.write(as_work(*event, batch.text("CUDA graph " + std::to_string(event->graph))));
    if (nodes_seen_ != nullptr) nodes_seen_->whole_seen(event->graph);
    return true;
  }

 private:
  std::mutex mutex_;                   // recording may begin and end during tick()
  std::shared_ptr<GraphNodes> nodes_;  // nullptr: as a whole, or what there is cannot be changed
  const std::shared_ptr<GraphNodes> nodes_seen_ = nodes_;
  std::optional<Cupti> cupti_;
  bool on_ = false, whole_;
};

}  // namespace

std::unique_ptr<Source> make_graphs(std::shared_ptr<GraphNodes> nodes) {
  return std::make_unique<Graphs>(std::move(nodes));
}

}  // namespace wicprof::collector
