#include "collector/translate/nvtx_ranges.h"

#include <algorithm>

#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

NamedRange start_of(const MarkerRecord& record, NvtxKind kind) {
  NamedRange range;
  if (record.name != nullptr) range.name = record.name;
  if (record.domain != nullptr) range.domain = record.domain;
  range.start = range.end = static_cast<TimeNs>(record.timestamp);
  range.thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? record.objectId.pt.threadId : 0;
  range.kind = kind;
  return range;
}

}  // namespace

NvtxEvent NamedRange::event(TextId name_id, TextId domain_id) const {
  NvtxEvent event = make_event<NvtxEvent>();
  event.name = name_id;
  event.domain = domain_id;
  event.start_ns = start;
  event.end_ns = end;
  event.thread = thread;
  event.kind = kind;
  return event;
}

NvtxRanges::Outcome NvtxRanges::add(const MarkerRecord& record, NamedRange* out) {
  if (!usable_times(record.timestamp, record.timestamp)) return Outcome::unusable;
  const auto flags = static_cast<unsigned>(record.flags);
  if (flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) {
    *out = start_of(record, NvtxKind::mark);
    return Outcome::complete;
  }
  if (flags & CUPTI_ACTIVITY_FLAG_MARKER_START) {
    if (open_.size() >= max_open_) return Outcome::unusable;
    open_.insert_or_assign(record.id, start_of(record, NvtxKind::range));
    return Outcome::opened;
  }
  if (flags & CUPTI_ACTIVITY_FLAG_MARKER_END) {
    auto opened = open_.extract(record.id);
    if (opened.empty()) return Outcome::unusable;
    *out = std::move(opened.mapped());
    out->end = std::max(out->start, static_cast<TimeNs>(record.timestamp));
    return Outcome::complete;
  }
  return Outcome::unusable;
}

std::vector<NamedRange> NvtxRanges::close_all(TimeNs at) {
  std::vector<NamedRange> ranges;
  for (auto& [id, range] : open_) {
    range.end = std::max(range.start, at);
    ranges.push_back(std::move(range));
  }
  open_.clear();
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return ranges;
}

}  // namespace wicprof::collector
