// The options that every sample has.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "wic/runtime.h"

namespace sample {

struct SampleOptions {
  std::string devices = "simt:1";
  wicprof::Mode wait = wicprof::Mode::poll;
  std::uint32_t iterations = 100;
  double seconds = 0;     ///< when above 0, instead of `iterations`
  double timeout_s = 10;  ///< the deadline of every wait

  std::uint64_t timeout_ns() const { return static_cast<std::uint64_t>(timeout_s * 1e9); }
  bool on_gpu() const { return devices.starts_with("cuda:"); }
  wic::RuntimeOptions runtime() const;
};

/// Whether --wait is among the options of a program: poll or park, or else its own to add.
enum class Waits { poll_or_park, apps_own };
/// Adds --devices, --wait, --iterations, --seconds and --timeout to `app`.
void add_options(CLI::App& app, SampleOptions& options, Waits waits = Waits::poll_or_park);

/// Parses the command line; nothing to go on with (--help, or an error that was said) gives the exit status.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Says what went wrong on stderr and returns the exit status for it: 1 for a failed check, 2 for bad usage, 3 for what
/// this machine lacks.
int fail(const char* sample, const wicprof::Error& error);

/// Counts iterations until there were enough of them or the time is over.
class Progress {
 public:
  explicit Progress(const SampleOptions& options);
  bool more() const;                             ///< whether another iteration is due
  std::uint32_t next() { return ++iteration_; }  ///< its number, from 1
  std::uint32_t done() const { return iteration_; }

 private:
  std::uint32_t iteration_ = 0;
  std::uint32_t last_;
  wicprof::TimeNs end_ns_;
};

/// The median; 0 of nothing.
double median(std::vector<double> values);

}  // namespace sample
