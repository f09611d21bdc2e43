// Runs an application within the test: a runtime, its options at their defaults, some steps and the check.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/app.h"

namespace sample_test {

inline constexpr std::uint64_t kTimeoutNs = 60'000'000'000;

inline sample::AppOptions default_options(const sample::AppInfo& info, wic::Way way = wic::Way::park) {
  sample::AppOptions options;
  options.way = way;
  options.timeout_ns = kTimeoutNs;
  for (const sample::AppOption& option : info.options) options.more[option.name] = option.standard;
  return options;
}

inline std::unique_ptr<wic::Runtime> open_runtime(const std::string& devices, wic::Way way = wic::Way::park) {
  wic::RuntimeOptions options;
  options.devices = devices;
  options.mode = way == wic::Way::park ? wicprof::Mode::park : wicprof::Mode::poll;
  auto runtime = wic::Runtime::create(options);
  EXPECT_TRUE(runtime) << runtime.error().message;
  return runtime ? *std::move(runtime) : nullptr;
}

/// The error of the first thing that went wrong, or nothing.
inline std::string run_app(const sample::AppInfo& info, const std::string& devices, const sample::AppOptions& options,
                           std::uint32_t steps) {
  const auto runtime = open_runtime(devices, options.way);
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
