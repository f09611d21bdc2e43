// Kernels and copies, per stream.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "analyzer/words/runtime_names.h"
#include "analyzer/work/kernels.h"
#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Streams>(const analyzer::TraceModel& model, const store::TrackKey& key,
                                  const TrackScope& scope, std::string_view only_kernel) {
  Track track;
  track.key = fmt::format("stream/{}/{}/{}/{}", key.process, key.device, key.context, key.number);
  track.name = fmt::format("{} stream {}", model.device_key(key.device), key.number);
  if (scope.several_processes) track.name += fmt::format(", process {}", key.process);
  track.note = fmt::format("{}, context {}", model.device_name(key.device), key.context);
  track.folded = !only_kernel.empty() && analyzer::is_runtime_kernel(only_kernel);
  return track;
}

template <>
std::vector<Track> build_tracks<struct Streams>(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> streams;
  const auto add = [&](const auto& row, EventKind kind, std::size_t index) {
    streams[{store::LaneKind::stream, row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, {kind, static_cast<std::uint32_t>(index)}, store::state_of(row)});
  };
  for (std::size_t i = 0; i < model.kernels.size(); ++i) add(model.kernels[i], EventKind::kernel, i);
  for (std::size_t i = 0; i < model.copies.size(); ++i) add(model.copies[i], EventKind::copy, i);
  analyzer::ProgramKernels of_program;
  const auto is_runtimes = [&](const Span& span) {
    return span.ref.kind == EventKind::kernel && !of_program(model.kernels[span.ref.index]);
  };
  const TrackScope scope = scope_of(std::views::keys(streams));
  std::vector<Track> list;
  for (auto& [key, spans] : streams) {
    Track track = empty_track<Streams>(model, key, scope, "");
    track.folded = std::all_of(spans.begin(), spans.end(), is_runtimes);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
