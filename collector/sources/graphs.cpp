// Launches of CUDA graphs, one event per launch. Not part of the word "cuda": if CUPTI records graph launches, it omits
// the kernels and copies in them.
#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Graphs final : public Source {
 public:
  Graphs() : Source("graphs", {CUPTI_ACTIVITY_KIND_GRAPH_TRACE}) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const GraphRecord&>(any));
    if (event) batch.write(*event);
    return event.has_value();
  }
};

}  // namespace

std::unique_ptr<Source> make_graphs() { return std::make_unique<Graphs>(); }

}  // namespace wicprof::collector
