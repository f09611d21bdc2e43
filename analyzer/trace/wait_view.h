// A wait, whoever waits: what the tables wait and host_wait both tell. What only host threads have (calls, CPU time,
// naps) is in the row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct WaitView {
  bool host = false;        ///< a host thread waits; else a group of warps
  bool in_call = false;     ///< in a call of CUDA, not at a site that the program declares
  std::uint32_t index = 0;  ///< of the row in TraceModel::host_waits or waits
  store::RowId row = 0;
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::uint32_t who = 0, warp = 0, sm = 0;  ///< the block, or the host thread
  std::uint32_t iteration = 0;
  TimeNs begin = 0, end = 0;
  std::optional<WordTag> word = {};
  std::optional<std::uint32_t> value = {};   ///< of the word, when the wait ended
  std::optional<std::uint32_t> wanted = {};  ///< the value that the wait wanted, where its condition names one
  std::optional<std::uint32_t> polls = {};
  WaitStatus status = WaitStatus::satisfied;
  StrategyId strategy = StrategyId::poll;

  /// 0 if clock errors swap the ends of a very short wait.
  TimeNs took() const { return std::max<TimeNs>(0, end - begin); }
};

[[gnu::always_inline]] inline WaitView view_of(const store::WaitRow& w, std::size_t index) {
  return {false,       false,     static_cast<std::uint32_t>(index),
          w.id,        w.site,    w.device,
          w.block,     w.warp,    w.sm,
          w.iteration, w.arrived, w.resumed,
          w.word,      w.value,   w.wanted,
          w.polls,     w.status,  w.strategy};
}
[[gnu::always_inline]] inline WaitView view_of(const store::HostWaitRow& w, std::size_t index) {
  return {true,        w.in_call(), static_cast<std::uint32_t>(index),
          w.id,        w.site,      kHostDevice,
          w.thread,    0,           0,
          w.iteration, w.begin,     w.end,
          w.word,      w.value,     w.wanted,
          w.polls,     w.status,    w.strategy};
}

/// The waits of kernels, then those of host threads, each in order of begin.
template <class Visit>
void for_each_wait(const TraceModel& model, Visit visit) {
  for (std::size_t i = 0; i < model.waits.size(); ++i) visit(view_of(model.waits[i], i));
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) visit(view_of(model.host_waits[i], i));
}

}  // namespace wicprof::analyzer
