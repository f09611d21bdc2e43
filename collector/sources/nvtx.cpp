// NVTX ranges and marks, with colour and category. Payloads have no place in a trace.
#include <algorithm>
#include <atomic>

#include "collector/program/environment.h"
#include "collector/sources/list.h"
#include "collector/translate/nvtx_ranges.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

class Nvtx final : public Source {
 public:
  Nvtx()
      : Source("nvtx", {CUPTI_ACTIVITY_KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER_DATA}), tell_open_(nvtx_open_wanted()) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    if (any.kind == CUPTI_ACTIVITY_KIND_MARKER_DATA) {
      ranges_.add(reinterpret_cast<const MarkerDataRecord&>(any));
      return true;
    }
    NamedRange range;
    const auto& record = reinterpret_cast<const MarkerRecord&>(any);
    const auto outcome = ranges_.add(record, &range);
    if (outcome == NvtxRanges::Outcome::complete) write(range, batch);
    if (outcome == NvtxRanges::Outcome::opened && tell_open_) write_open(record, batch);
    return outcome != NvtxRanges::Outcome::unusable;
  }

  // A mark waits that long for its colour.
  void end_of_buffer(EventBatch& batch) override {
    for (const NamedRange& mark : ranges_.take_marks()) write(mark, batch);
  }

  // What becomes of ranges is not heard from here on.
  void disable(const Cupti& cupti) override {
    Source::disable(cupti);
    heard_until_.store(now_ns(), std::memory_order_relaxed);
  }

  void finish(EventSink& sink) override {
    EventBatch batch(sink);
    const TimeNs heard_until = heard_until_.load(std::memory_order_relaxed);
    for (NamedRange& range : ranges_.close_all(now_ns())) {
      if (range.start <= heard_until) range.end = std::min(range.end, heard_until);
      write(range, batch);
    }
  }

 private:
  static void write(const NamedRange& range, EventBatch& batch) {
    const TextId name = batch.text(range.name);
    const TextId domain = batch.text(range.domain);
    batch.write(range.event(name, domain));
  }

  static void write_open(const MarkerRecord& record, EventBatch& batch) {
    auto event = make_event<NvtxOpenEvent>();
    if (record.name != nullptr) event.name = batch.text(record.name);
    if (record.domain != nullptr) event.domain = batch.text(record.domain);
    event.start_ns = static_cast<std::int64_t>(record.timestamp);
    event.thread =
        raw(record, &MarkerRecord::objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD ? record.objectId.pt.threadId : 0;
    batch.write(event);
  }

  bool tell_open_;
  std::atomic<TimeNs> heard_until_{0};  // when recording last ended
  NvtxRanges ranges_;
};

}  // namespace

std::unique_ptr<Source> make_nvtx() { return std::make_unique<Nvtx>(); }

}  // namespace wicprof::collector
