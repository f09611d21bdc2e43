// What an application of the gallery is: the common main, and bench/applications, run them all alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wic/channel_spec.h"
#include "wic/device.h"
#include "wic/runtime.h"

namespace sample {

using wic::Way;

struct AppOptions {
  Way way = Way::poll;           ///< the program's own, or park: then it begins parked
  std::uint32_t size = 0;        ///< of the problem, as AppInfo::size_help has it; 0 = by the kind of device
  std::uint32_t blocks = 0;      ///< of the consumer's kernel; 0 = the application's choice
  std::uint32_t block_size = 0;  ///< threads, a multiple of 32; 0 = the application's choice
  bool on_gpu = false;
  std::uint64_t timeout_ns = 10'000'000'000;  ///< the deadline of every wait
  std::string prefix;  ///< in front of the wait sites' names: one runtime can hold several applications
  std::map<std::string, std::string> more;  ///< AppInfo::options: name to value, the default where none was given

  /// The application's own option as a number; it has passed AppOption::check.
  std::uint32_t number(const std::string& name) const;
};

struct Traffic {
  double messages = 0;  ///< a step, over all directions and devices
  double bytes = 0;
};

/// Host thread.
class App {
 public:
  virtual ~App() = default;
  /// One unit of work, which all ends have done when it returns. `step` counts from 1. Errors: wicprof::failed when a
  /// deadline passed (says at which wait), unavailable when the device fails. No step comes after an error.
  virtual wicprof::Result<> step(std::uint32_t step) = 0;
  /// After the last step. Error: wicprof::failed, says what differs from the reference and where.
  virtual wicprof::Result<> check() = 0;
  virtual Traffic traffic() const = 0;
  /// For the printed line: "192^3 cells on 2 ranks".
  virtual std::string shape() const = 0;
};

/// An option beside the common ones.
struct AppOption {
  const char* name;  ///< without the dashes
  const char* help;
  const char* standard;               ///< the default
  std::uint32_t least = 0, most = 0;  ///< of a number; most = 0: any text
};

struct AppInfo {
  const char* name;
  const char* summary;    ///< a line, for --help
  const char* size_help;  ///< what --size is
  const char* devices;    ///< the default of --devices
  std::uint32_t least_devices;
  std::vector<AppOption> options;
  /// Errors: sizes that cannot be, blocks that do not fit the devices at once, too little memory.
  wicprof::Result<std::unique_ptr<App>> (*make)(wic::Runtime& runtime, const AppOptions& options);
};

/// The program around an application. Exit status: 0 right, 1 wrong or too late, 2 bad usage, 3 the machine cannot do
/// it.
int run_app(const AppInfo& info, int argc, char** argv);

}  // namespace sample
