// The backend in a program: its devices, its wait sites, and the session with wic-prof if there is one.
//
// Under `wic-prof run` the runtime attaches to the session by itself: it sends every wait and signal to the trace and
// obeys the toggle. Alone it works just the same, without a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wic/device.h"
#include "wic/device_state.h"
#include "wic/payload.h"
#include "wic/site.h"
#include "wic/types.h"
#include "wic/wait.h"

namespace wic {

struct SiteSpec {
  std::string name;  ///< at most 47 bytes, unique in the program
  WordMemory word_memory = WordMemory::unknown;
  Pollers pollers = Pollers::leader;
  bool shared_word = false;  ///< all groups wait on one word, rather than each on its own; `auto` starts from that
  /// The device whose kernels release the waiters: when it fails, they are released with WaitStatus::producer_lost.
  std::optional<DeviceId> producer = {};
  /// For the trace: what the words are for, and who releases and who waits, by kFirstDeviceEnd + index in the runtime.
  /// So that two ends on one device are told apart.
  SitePurpose purpose = SitePurpose::unknown;
  SiteEnd releasing = 0, waiting = 0;
  /// How it waits in mode poll: `poll` or `naive`. `naive` gives way to `poll` where it would lose its flag, as in
  /// set_wait().
  StrategyId own = StrategyId::poll;
};

struct RuntimeOptions {
  std::string devices = "simt:1";  ///< see open_devices()
  Mode mode = Mode::poll;          ///< unless the session wants another
  bool record = true;              ///< false: no trace even under wic-prof
  /// Strategy `auto` looks at how sites wait, by the records that go to the trace. Where there is none (alone, or
  /// record = false) kernels keep records for it while any site is on `auto`: of one iteration's waits in so many, a
  /// power of two. 0: `auto` does not look, trace or not, and goes by the sites' declarations for good.
  std::uint32_t observe_one_in = 16;
};

class Runtime {
 public:
  /// Errors: those of open_devices(); a session that cannot be attached to is said in warning() and done without.
  static Result<std::unique_ptr<Runtime>> create(const RuntimeOptions& options);
  Runtime(const Runtime&) = delete;
  ~Runtime();  ///< no kernel that uses a view may be running

  std::size_t device_count() const;
  Device& device(std::size_t index) const;
  /// For kernels on that device; by value. The records of kernels launched with it go to the trace. Without a trace,
  /// take it after the site was put on `auto`: what a view from before is used for is not seen.
  DeviceView view(std::size_t index) const;
  /// The site for kernels on that device: Site::wait() and Site::signal(). Made per launch, for the reasons given at
  /// view(). `timeout_ns`: of each wait through the handle; kForever never passes.
  Site site(SiteId id, std::uint64_t timeout_ns, std::size_t device = 0) const;
  /// Why the session cannot be used; empty when all is well or there is none.
  const std::string& warning() const;
  bool recording() const;

  /// Declares a wait site, before the first launch that uses it. Errors: too many sites, a name that is taken.
  Result<SiteId> add_site(const SiteSpec& spec);

  /// The toggle from inside the program: site 0 is all sites. Returns once every device has the new words. Error: polls
  /// by atomics (`naive`) wanted at a site whose word may lie in host memory, where a device lacks host-native atomics;
  /// wanted of all sites, such a site polls by loads instead.
  Result<> set_wait(SiteId site, WantedWait wanted);
  /// The strategy that waits at the site use now; kProducerLost (wic/device_state.h) in its place while the site's
  /// producer is gone. Any thread.
  StrategyId strategy(SiteId site) const;
  /// How the site is wanted to wait now: in the program's own way, or parked. Any thread.
  Mode mode(SiteId site) const;
  /// Why `auto` stands for what it does at the site, in a sentence with the figures that decided; the trace holds it,
  /// too.
  std::string strategy_reason(SiteId site) const;

  /// The producer of the site is gone: whoever waits there now or later, in kernels or on the host, leaves with
  /// WaitStatus::producer_lost unless the word is ready. Until readmit(). Site 0 is all sites. Any thread.
  Result<> release_waiters(SiteId site);
  Result<> readmit(SiteId site);
  /// Calls release_waiters(site) once that process has ended. Error: no such process. Any thread.
  Result<> watch_producer(SiteId site, int pid);

  /// Releases the waiters of a word from the host. The word lies in pinned host memory. `payload`: what becomes
  /// readable, for the trace. Any thread.
  void signal(SiteId site, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
              const Payload& payload = {});

  /// The host's side of wait_until: spins in mode poll; in mode park sleeps through most of the wait that earlier ones
  /// predict, then looks again and again, giving way to other threads. Any thread.
  WaitResult wait_until(SiteId site, std::uint32_t iteration, const std::uint32_t* word, AtLeast condition,
                        TimeNs timeout);

  /// For waits and releases that have words or sleepers of their own (wic/channel.h): they go to the trace as those
  /// above do. `polls`: 0 = not known. Any thread.
  void record_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin, TimeNs end,
                   TimeNs cpu_ns, std::uint32_t polls, WaitStatus status);
  void record_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at, std::uint32_t value,
                     const Payload& payload = {});

  /// Moves the records that kernels have written so far to the session. Called by itself all the time; call it to be
  /// sure. Any thread.
  void drain();

 private:
  struct State;
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wic
