// The options common to all samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wic/runtime.h"

namespace CLI {
class App;
}

namespace sample {

struct SampleOptions {
  std::string devices = "simt:1";
  wic::Mode wait = wic::Mode::poll;
  std::uint32_t iterations = 100;
  double seconds = 0;     ///< run time; above 0 it replaces `iterations`
  double timeout_s = 10;  ///< per wait

  std::uint64_t timeout_ns() const { return static_cast<std::uint64_t>(timeout_s * 1e9); }
  bool on_gpu() const { return devices.starts_with("cuda:"); }
  wic::RuntimeOptions runtime() const;
};

/// Who adds --wait: add_options(), with the values poll and park, or the application.
enum class WaitOption { poll_or_park, added_by_app };
/// Adds --devices, --iterations, --seconds, --timeout and, for WaitOption::poll_or_park, --wait to `app`.
void add_options(CLI::App& app, SampleOptions& options, WaitOption wait = WaitOption::poll_or_park);

/// Parses the command line. Returns the exit status if the program should end: after --help or a reported error.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Prints the error to stderr and returns its exit status: 1 for a failed check, 2 for bad usage, 3 if this machine
/// cannot run the sample.
int fail(const char* sample, const wic::Error& error);

/// Counts iterations until the iteration or time limit is reached.
class Progress {
 public:
  explicit Progress(const SampleOptions& options);
  bool more() const;                             ///< whether another iteration is due
  std::uint32_t next() { return ++iteration_; }  ///< number of the next iteration, from 1
  std::uint32_t done() const { return iteration_; }

 private:
  std::uint32_t iteration_ = 0;
  std::uint32_t last_;
  wic::TimeNs end_ns_;
};

/// The upper median; 0 if `values` is empty.
double median(std::vector<double> values);

}  // namespace sample
