// Rows of waits and signals, and a program whose waiters all poll one word, for the tests of paths and predictions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/trace/trace_model.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer::synthetic {

inline store::WaitRow wait_row(SiteId site, std::uint32_t block, TimeNs arrived, TimeNs resumed,
                               std::uint32_t number = 0) {
  store::WaitRow row{};
  row.site = site;
  row.block = block;
  row.arrived = arrived;
  row.resumed = resumed;
  row.iteration = number;
  row.value = number + 1;
  row.polls = 10;
  return row;
}

inline store::SignalRow signal_row(SiteId site, DeviceId device, std::uint32_t block, TimeNs at,
                                   std::uint32_t number = 0) {
  store::SignalRow row{};
  row.site = site;
  row.device = device;
  row.block = block;
  row.at = at;
  row.iteration = number;
  row.value = number + 1;
  return row;
}

inline store::HostWaitRow host_wait_row(SiteId site, TimeNs begin, TimeNs end, std::uint32_t number = 0) {
  store::HostWaitRow row{};
  row.site = site;
  row.thread = 7;
  row.begin = begin;
  row.end = end;
  row.iteration = number;
  return row;
}

/// Kernels of 1,056 blocks: 528 wait on one word, block 600 streams for `work` and signals the CPU, which releases
/// them.
inline TraceModel hot_word(WordMemory memory, std::uint32_t words, std::uint32_t waiters = 528, TimeNs work = 900'000) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "flag", memory, words);
  declare_site(model, 2, "streamed", WordMemory::pinned_host);
  TimeNs begin = 1'000'000'000;
  for (std::uint32_t i = 0; i < 60; ++i) {
    store::KernelRow kernel{};
    kernel.name = "hot";
    kernel.start = begin;
    kernel.grid[0] = 1056;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.correlation = i + 1;
    store::CallRow call{};
    call.thread = 7;
    call.correlation = i + 1;
    call.start = i == 0 ? begin - 10'000 : begin - 9'000;
    call.end = call.start + 2'000;
    model.calls.push_back(call);
    const TimeNs streamed = begin + work;
    model.signals.push_back(signal_row(2, 0, 600, streamed, i));
    model.host_waits.push_back(host_wait_row(2, begin + 1'000, streamed + 5'000, i));
    model.signals.push_back(signal_row(1, kHostDevice, 0, streamed + 6'000, i));
    for (std::uint32_t w = 0; w < waiters; ++w) {
      model.waits.push_back(wait_row(1, w, begin, streamed + 10'000, i));
      model.waits.edit_back()->sm = w % 132;
      // The host serves one look per microsecond.
      model.waits.edit_back()->polls = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(work / 1'000) / waiters);
    }
    kernel.end = streamed + 11'000;
    model.kernels.push_back(kernel);
    begin = kernel.end + 5'000;
  }
  settle(model);
  return model;
}

}  // namespace wicprof::analyzer::synthetic
