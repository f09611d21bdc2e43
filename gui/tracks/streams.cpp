// Kernels and copies by stream.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "gui/tracks/list.h"

namespace wicprof::gui {

std::vector<Track> stream_tracks(const analyzer::TraceModel& model) {
  using Stream = std::tuple<store::ProcessId, DeviceId, std::uint32_t, std::uint32_t>;  // process, device, context, stream
  std::map<Stream, std::vector<Span>> streams;
  std::set<store::ProcessId> processes;
  for (std::size_t i = 0; i < model.kernels.size(); ++i) {
    const store::KernelRow& row = model.kernels[i];
    streams[{row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, {EventKind::kernel, static_cast<std::uint32_t>(i)}, State::computing});
    processes.insert(row.process);
  }
  for (std::size_t i = 0; i < model.copies.size(); ++i) {
    const store::CopyRow& row = model.copies[i];
    streams[{row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, {EventKind::copy, static_cast<std::uint32_t>(i)}, State::transferring});
    processes.insert(row.process);
  }
  std::vector<Track> list;
  for (auto& [stream, spans] : streams) {
    const auto [process, device, context, number] = stream;
    Track track;
    track.key = fmt::format("stream/{}/{}/{}/{}", process, device, context, number);
    track.name = fmt::format("{} stream {}", model.device_key(device), number);
    if (processes.size() > 1) track.name += fmt::format(", process {}", process);
    track.note = fmt::format("{}, context {}", model.device_name(device), context);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
