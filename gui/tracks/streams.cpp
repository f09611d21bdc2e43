// Kernels and copies, per stream.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  SpansOfTracks streams;
  add_spans(streams, model.kernels);
  add_spans(streams, model.copies);
  analyzer::ProgramKernels of_program;
  const auto is_runtimes = [&](const Span& span) {
    return span.ref.kind == EventKind::kernel && !of_program(model.kernels[span.ref.index]);
  };
  return pack_tracks<Streams>(model, std::move(streams), [&](Track& track, const auto&, const auto& spans) {
    track.folded = std::all_of(spans.begin(), spans.end(), is_runtimes);
  });
}

}  // namespace wicprof::gui
