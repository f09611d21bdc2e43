// NVTX ranges and marks by thread and domain.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "gui/tracks/list.h"

namespace wicprof::gui {

std::vector<Track> nvtx_tracks(const analyzer::TraceModel& model) {
  std::map<std::tuple<store::ProcessId, std::uint32_t, std::string>, std::vector<Span>> by_thread;
  for (std::size_t i = 0; i < model.nvtx.size(); ++i) {
    const store::NvtxRow& row = model.nvtx[i];
    by_thread[{row.process, row.thread, row.domain}].push_back(
        {row.start, row.end, {EventKind::nvtx, static_cast<std::uint32_t>(i)}, State::range});
  }
  std::vector<Track> list;
  for (auto& [key, spans] : by_thread) {
    const auto& [process, thread, domain] = key;
    Track track;
    track.key = fmt::format("nvtx/{}/{}/{}", process, thread, domain);
    track.name = domain.empty() ? fmt::format("thread {}", thread) : fmt::format("{}, thread {}", domain, thread);
    track.note = fmt::format("process {}", process);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
