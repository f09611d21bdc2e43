// Synthetic programs with program counter samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/nvdisasm.h"
#include "sass_listings.h"
#include "synthetic.h"

namespace wicprof::analyzer::synthetic {

inline constexpr std::uint64_t kModule = 0xfeed'0000'0000'0001;

struct Sampled {
  std::uint64_t offset;
  std::string reason;
  std::uint64_t samples;
};

/// Adds samples of one function on device 0. `body`: its instructions; empty: the trace contains none.
inline void add_samples(TraceModel& model, const std::string& function, const std::vector<Sampled>& samples,
                        std::string_view body = {}) {
  for (const Sampled& sampled : samples) {
    store::PcTotalRow row{};
    row.device = 0;
    row.function = function;
    row.symbol = function;
    row.module = kModule;
    row.offset = sampled.offset;
    row.reason = sampled.reason;
    row.samples = sampled.samples;
    row.begin = 1'000'000'000;
    row.end = 2'000'000'000;
    model.pc_totals.push_back(row);
  }
  if (body.empty()) return;
  for (store::SassRow& row : parse_nvdisasm(listings::kernel(function, body), kModule, {function})) {
    model.sass.push_back(std::move(row));
  }
}

inline void add_kernel(TraceModel& model, const std::string& name, TimeNs start, TimeNs end) {
  store::KernelRow kernel{};
  kernel.name = name;
  kernel.device = 0;
  kernel.start = start;
  kernel.end = end;
  model.kernels.push_back(kernel);
}

/// A kernel whose blocks poll a flag (poll.cu:7; three quarters of all samples, barrier included) beside one that
/// streams.
inline TraceModel polling_program() {
  TraceModel model = empty_program();
  model.sites.clear();
  add_samples(model, "poll",
              {{0x70, "long_scoreboard", 10},
               {0x90, "long_scoreboard", 900},
               {0x90, "long_scoreboard_not_issued", 880},
               {0xa0, "branch_resolve", 90},
               {0xc0, "barrier", 1'900},
               {0xd0, "barrier", 100},
               {0xe0, "selected", 5}},
              listings::kVolatilePoll);
  add_samples(model, "stream", {{0x70, "long_scoreboard", 900}, {0x80, "lg_throttle", 90}, {0x70, "selected", 5}},
              listings::kStreaming);
  add_kernel(model, "poll", 1'000'000'000, 2'000'000'000);
  add_kernel(model, "stream", 1'100'000'000, 1'900'000'000);
  settle(model);
  return model;
}

}  // namespace wicprof::analyzer::synthetic
