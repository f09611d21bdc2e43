// Launches of CUDA graphs, each as a whole. Not part of the word "cuda": where CUPTI records graphs it records none of
// their kernels and copies, which then are missing from the trace.
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
