// Creates applications inside a test, without their command lines.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/app.h"

namespace sample_test {

/// The defaults of an application on the CPU device, with a deadline long enough for a busy machine.
inline sample::AppOptions options_of(const sample::AppInfo& info, std::uint32_t size, sample::Way way) {
  sample::AppOptions options;
  options.way = way;
  options.size = size;
  options.timeout_ns = 60'000'000'000;
  for (const sample::AppOption& option : info.options) options.more[option.name] = option.default_value;
  return options;
}

inline std::unique_ptr<wic::Runtime> make_runtime(std::uint32_t devices, sample::Way way) {
  wic::RuntimeOptions options;
  options.devices = "simt:" + std::to_string(devices);
  options.mode = way == sample::Way::park ? wicprof::Mode::park : wicprof::Mode::poll;
  auto runtime = wic::Runtime::create(options);
  EXPECT_TRUE(runtime) << runtime.error().message;
  return runtime ? *std::move(runtime) : nullptr;
}

}  // namespace sample_test
