// NVTX ranges and marks with colour and category. Payloads are not recorded.
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
      : Source("nvtx", {CUPTI_ACTIVITY_KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER_DATA}),
        write_open_events_(nvtx_open_wanted()) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    if (any.kind == CUPTI_ACTIVITY_KIND_MARKER_DATA) {
      ranges_.add(reinterpret_cast<const MarkerDataRecord&>(any));
      return true;
    }
    NamedRange range;
    const auto& record = reinterpret_cast<const MarkerRecord&>(any);
    const auto outcome = ranges_.add(record, &range);
    if (outcome == NvtxRanges::Outcome::complete) write(range, batch);
    if (outcome == NvtxRanges::Outcome::opened && write_open_events_) write_open(record, batch);
    return outcome != NvtxRanges::Outcome::unusable;
  }

  // Marks are written here because their colours arrive after them, but within the same buffer.
  void end_of_buffer(EventBatch& batch) override {
    for (const NamedRange& mark : ranges_.take_marks()) write(mark, batch);
  }

  // From here on, no end of a range is reported.
  void disable(const Cupti& cupti) override {
    Source::disable(cupti);
    recorded_until_.store(now_ns(), std::memory_order_relaxed);
  }

  void finish(EventSink& sink) override {
    EventBatch batch(sink);
    const TimeNs recorded_until = recorded_until_.load(std::memory_order_relaxed);
    for (NamedRange& range : ranges_.close_all(now_ns())) {
      if (range.start <= recorded_until) range.end = std::min(range.end, recorded_until);
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

  bool write_open_events_;
  std::atomic<TimeNs> recorded_until_{0};  // the end of the last recording
  NvtxRanges ranges_;
};

}  // namespace

std::unique_ptr<Source> make_nvtx() { return std::make_unique<Nvtx>(); }

}  // namespace wicprof::collector
