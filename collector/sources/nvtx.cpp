// NVTX ranges and marks. Their colours, categories and payloads (KIND_MARKER_DATA) have no place in a trace yet, so
// they are not collected.
#include "collector/sources/list.h"
#include "collector/translate/nvtx_ranges.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

class Nvtx final : public Source {
 public:
  Nvtx() : Source("nvtx", {CUPTI_ACTIVITY_KIND_MARKER}) {}

  bool record(const CUpti_Activity& any, EventSink& sink) override {
    NamedRange range;
    const auto outcome = ranges_.add(reinterpret_cast<const MarkerRecord&>(any), &range);
    if (outcome == NvtxRanges::Outcome::complete) write(range, sink);
    return outcome != NvtxRanges::Outcome::unusable;
  }

  void finish(EventSink& sink) override {
    for (const NamedRange& range : ranges_.close_all(now_ns())) write(range, sink);
  }

 private:
  static void write(const NamedRange& range, EventSink& sink) {
    const TextId name = sink.text(range.name);
    const TextId domain = sink.text(range.domain);
    sink.write(range.event(name, domain));
  }

  NvtxRanges ranges_;
};

}  // namespace

std::unique_ptr<Source> make_nvtx() { return std::make_unique<Nvtx>(); }

}  // namespace wicprof::collector
