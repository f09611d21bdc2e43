#include "common/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>

namespace sample {

wic::RuntimeOptions SampleOptions::runtime() const {
  wic::RuntimeOptions runtime;
  runtime.devices = devices;
  runtime.mode = wait;
  return runtime;
}

void add_options(CLI::App& app, SampleOptions& options, WaitOption wait) {
  app.add_option("-d,--devices", options.devices, "simt:N for N CPU devices, or cuda:0[,cuda:1...]")
      ->capture_default_str();
  if (wait == WaitOption::poll_or_park) {
    app.add_option_function<std::string>(
           "-w,--wait", [&options](const std::string& mode) { options.wait = *wic::mode_from_name(mode); },
           "poll (the program's own way of waiting) or park; wic-prof's --mode and toggle take precedence")
        ->check(CLI::IsMember({"poll", "park"}));
  }
  app.add_option("-i,--iterations", options.iterations, "number of iterations")
      ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max() / 2))
      ->capture_default_str();
  app.add_option("-s,--seconds", options.seconds, "run for this many seconds instead")->check(CLI::NonNegativeNumber);
  app.add_option("--timeout", options.timeout_s, "deadline of every wait, in seconds")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

int fail(const char* sample, const wic::Error& error) {
  std::fprintf(stderr, "%s: %s\n", sample, error.message.c_str());
  switch (error.kind) {
    case wic::ErrorKind::bad_input:
      return 2;
    case wic::ErrorKind::unavailable:
      return 3;
    case wic::ErrorKind::failed:
      break;
  }
  return 1;
}

Progress::Progress(const SampleOptions& options)
    : last_(options.seconds > 0 ? std::numeric_limits<std::uint32_t>::max() / 2 : options.iterations),
      end_ns_(options.seconds > 0 ? wic::now_ns() + static_cast<wic::TimeNs>(options.seconds * 1e9)
                                  : std::numeric_limits<wic::TimeNs>::max()) {}

bool Progress::more() const { return iteration_ < last_ && wic::now_ns() < end_ns_; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace sample
