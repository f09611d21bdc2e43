// The interface of a gallery application. The common main and bench/applications run every application through it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rivals/rival.h"
#include "wic/channel_spec.h"
#include "wic/device.h"
#include "wic/runtime.h"

namespace sample {

using wic::Way;

struct AppOptions {
  Way way = Way::poll;        ///< naive or poll: the program's own way of waiting; park: start parked
  Rival rival = Rival::none;  ///< how messages move; check_rival() accepts it
  std::uint32_t size =
      0;  ///< problem size in the unit that AppInfo::size_help names; 0 = depends on the kind of device
  std::uint32_t blocks = 0;      ///< per consumer kernel; 0 = the application's choice
  std::uint32_t block_size = 0;  ///< threads, a multiple of 32; 0 = the application's choice
  bool on_gpu = false;
  std::uint64_t timeout_ns = 10'000'000'000;  ///< per wait
  std::string prefix;  ///< of all wait site names, so that one runtime can hold several applications
  std::map<std::string, std::string> more;  ///< values of AppInfo::options by name, defaults included

  /// The value of an application-specific numeric option. The command line has checked its range.
  std::uint32_t number(const std::string& name) const;
};

struct Traffic {
  double messages = 0;  ///< per step, over all directions and devices
  double bytes = 0;     ///< per step
};

/// What a user of the program feels, beside the time of a step.
struct Felt {
  const char* unit = nullptr;  ///< of `work`, in the plural: "requests"; nullptr: the program has no such figure
  double work = 0;
  std::vector<double> latency_ns = {};  ///< of each request, where there are requests
  const char* beside_unit = nullptr;    ///< of what a neighbour did on the same device; nullptr: no neighbour
  double beside = 0;
};

/// Host thread.
class App {
 public:
  virtual ~App() = default;
  /// Runs one unit of work; all ends have finished when it returns. `step` counts from 1. Errors: wic::failed when
  /// a deadline passed (names the wait), unavailable when the device fails. Do not call again after an error.
  virtual wic::Result<> step(std::uint32_t step) = 0;
  /// Call after the last step. Error: wic::failed, names what differs from the reference and where.
  virtual wic::Result<> check() = 0;
  virtual Traffic traffic() const = 0;
  /// Of the steps since the last call.
  virtual Felt take_felt() { return {}; }
  /// The wait sites of host threads in a program in which kernels wait, too: a user may park one side alone.
  virtual std::vector<wic::SiteId> host_sites() const { return {}; }
  /// Problem size for the printed line, for example "192^3 cells on 2 ranks".
  virtual std::string shape() const = 0;
};

/// An application-specific option.
struct AppOption {
  const char* name;  ///< without the dashes
  const char* help;
  const char* default_value;
  std::uint32_t min = 0, max = 0;  ///< allowed range of a number; max = 0: the option takes any text
};

struct AppInfo {
  const char* name;
  const char* summary;    ///< one line for --help
  const char* size_help;  ///< meaning and default of --size
  const char* devices;    ///< default of --devices
  std::uint32_t min_devices;
  std::vector<AppOption> options;
  /// Errors: invalid sizes, blocks that do not fit the devices at once, too little memory.
  wic::Result<std::unique_ptr<App>> (*make)(wic::Runtime& runtime, const AppOptions& options);
  std::vector<RivalRefusal> refused = {};  ///< rivals between ends of this application's kind that it does not run with
  const char* naive = "Algorithm 1 of the WIC paper";  ///< what Way::naive is
  const char* no_naive = nullptr;                      ///< why the application has no Way::naive
  const char* no_rival = nullptr;                      ///< why the application runs with no rival at all
};

/// Error: bad usage, with the reason why the application does not wait in this way. AppInfo::make does not check it.
wic::Result<> check_way(const AppInfo& info, Way way);

/// Error: bad usage, with the reason why the application does not run with this rival, or not in this way of waiting.
/// AppInfo::make does not check it.
wic::Result<> check_rival(const AppInfo& info, const AppOptions& options);

/// AppInfo::make for an application with a `static Result<std::unique_ptr<Program>> make(runtime, options)`.
template <class Program>
wic::Result<std::unique_ptr<App>> make_app(wic::Runtime& runtime, const AppOptions& options) {
  auto program = Program::make(runtime, options);
  if (!program) return program.error();
  return wic::Result<std::unique_ptr<App>>(*std::move(program));
}

/// The main function of every application. Returns the exit status: 0 correct, 1 wrong result or missed deadline, 2 bad
/// usage, 3 the machine cannot run it.
int run_app(const AppInfo& info, int argc, char** argv);

}  // namespace sample
