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
  range.thread =
      raw(record, &MarkerRecord::objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD ? record.objectId.pt.threadId : 0;
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
  event.has_colour = has_colour ? 1 : 0;
  event.colour = colour;
  event.category = category;
  return event;
}

NvtxRanges::Outcome NvtxRanges::add(const MarkerRecord& record, NamedRange* out) {
  if (!usable_times(record.timestamp, record.timestamp)) return Outcome::unusable;
  const auto flags = raw(record, &MarkerRecord::flags);
  if (flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) {
    apply_pending(record.id, marks_.emplace_back(record.id, start_of(record, NvtxKind::mark)).second);
    return Outcome::mark;
  }
  if (flags & CUPTI_ACTIVITY_FLAG_MARKER_START) {
    if (open_.size() >= max_open_) return Outcome::unusable;
    apply_pending(record.id, open_.insert_or_assign(record.id, start_of(record, NvtxKind::range)).first->second);
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

void NvtxRanges::add(const MarkerDataRecord& record) {
  MarkerAttributes attributes;
  attributes.has_colour = (raw(record, &MarkerDataRecord::flags) & CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB) != 0;
  attributes.colour = attributes.has_colour ? record.color : 0;
  attributes.category = record.category;
  if (const auto open = open_.find(record.id); open != open_.end()) return apply(attributes, open->second);
  for (std::size_t i = marks_.size(); i > 0 && marks_.size() - i < kMaxMarksBack; --i) {
    if (marks_[i - 1].first == record.id) return apply(attributes, marks_[i - 1].second);
  }
  if (pending_.size() >= kMaxPending) pending_.clear();  // their markers never arrived
  pending_.insert_or_assign(record.id, attributes);
}

void NvtxRanges::apply(const MarkerAttributes& attributes, NamedRange& range) {
  range.has_colour = attributes.has_colour;
  range.colour = attributes.colour;
  range.category = attributes.category;
}

void NvtxRanges::apply_pending(std::uint32_t id, NamedRange& range) {
  if (pending_.empty()) return;
  if (const auto attributes = pending_.extract(id)) apply(attributes.mapped(), range);
}

std::vector<NamedRange> NvtxRanges::take_marks() {
  std::vector<NamedRange> marks;
  for (auto& [id, mark] : marks_) marks.push_back(std::move(mark));
  marks_.clear();
  return marks;
}

std::vector<NamedRange> NvtxRanges::close_all(TimeNs at) {
  std::vector<NamedRange> ranges = take_marks();
  for (auto& [id, range] : open_) {
    range.end = std::max(range.start, at);
    ranges.push_back(std::move(range));
  }
  open_.clear();
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return ranges;
}

}  // namespace wicprof::collector
