// Runs a whole application within a test: some steps and the check.
#pragma once

#include "make_app.h"

namespace sample_test {

inline constexpr std::uint64_t kTimeoutNs = 60'000'000'000;

/// The first error, or an empty string.
inline std::string run_app(const sample::AppInfo& info, std::uint32_t devices, const sample::AppOptions& options,
                           std::uint32_t steps) {
  const auto runtime = make_runtime(devices, options.way);
  if (runtime == nullptr) return "no runtime";
  auto app = info.make(*runtime, options);
  if (!app) return app.error().message;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    if (auto done = (*app)->step(step); !done) return done.error().message;
  }
  const auto checked = (*app)->check();
  return checked ? "" : checked.error().message;
}

}  // namespace sample_test
