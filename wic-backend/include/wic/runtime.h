// The backend in a program: its devices, its wait sites, and the session with wic-prof, if any.
//
// Under `wic-prof run` the runtime attaches to the session by itself: it sends every wait and signal to the trace and
// follows the toggle. Without a session it works the same way, without a trace.
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
  bool shared_word = false;  ///< all groups wait on one word, rather than each on its own; `auto` starts from this
  /// The device whose kernels release the waiters: when it fails, their waits end with WaitStatus::producer_lost.
  std::optional<DeviceId> producer = {};
  /// For the trace: the purpose of the words, and who releases and who waits: kHostEnd, or kFirstDeviceEnd + index in
  /// the runtime, which distinguishes two ends on one GPU.
  SitePurpose purpose = SitePurpose::unknown;
  SiteEnd releasing = 0, waiting = 0;
  /// The strategy in mode poll: `poll` or `naive`. Where `naive` would lose the flag (see set_wait()), the site uses
  /// `poll`.
  StrategyId own = StrategyId::poll;
  std::uint32_t group_warps = 0;  ///< warps of a group that waits; 0: not known. `auto` starts from this
};

struct RuntimeOptions {
  std::string devices = "simt:1";  ///< see open_devices()
  Mode mode = Mode::poll;          ///< unless the session requests another
  bool record = true;              ///< false: no trace even under wic-prof
  /// Strategy `auto` observes how sites wait, from the records that go to the trace. Without a trace (no session, or
  /// record = false) kernels record for `auto` alone while any site is on it: the waits of one iteration in this many,
  /// rounded up to a power of two. 0: `auto` never observes, and keeps to the sites' declarations.
  std::uint32_t observe_one_in = 16;
};

class Runtime {
 public:
  /// Errors: those of open_devices(). If the session cannot be used, the runtime works without it, and warning() says
  /// why.
  static Result<std::unique_ptr<Runtime>> create(const RuntimeOptions& options);
  Runtime(const Runtime&) = delete;
  ~Runtime();  ///< no kernel that uses a view or a site may be running

  std::size_t device_count() const;
  Device& device(std::size_t index) const;
  /// For kernels on that device, by value. The records of kernels launched with it go to the trace. Without a trace,
  /// take a new view after a site has changed to `auto`: kernels with an older one keep no records for `auto`.
  DeviceView view(std::size_t index) const;
  /// The site for kernels on that device: Site::wait() and Site::signal(). Made per launch, for the reasons given at
  /// view(). `timeout_ns`: of each wait through the handle; kForever never passes.
  Site site(SiteId id, std::uint64_t timeout_ns, std::size_t device = 0) const;
  /// Problems with the session or the clocks, or what keeps kernels from running beside each other; empty if none.
  const std::string& warning() const;
  bool recording() const;

  /// Declares a wait site, before the first launch that uses it. Errors: too many sites, a name that is taken or too
  /// long.
  Result<SiteId> add_site(const SiteSpec& spec);

  /// The toggle from inside the program; site 0 means all sites. Returns once every device has the new strategy words.
  /// Error: `naive` (polling by atomics) at a site whose word may be in host memory, where a device lacks host-native
  /// atomics. Requested for all sites, `naive` makes such a site use `poll`.
  Result<> set_wait(SiteId site, WantedWait wanted);
  /// The strategy of waits at the site now; kProducerLost (wic/device_state.h) while the site's producer is gone. Any
  /// thread.
  StrategyId strategy(SiteId site) const;
  /// The mode requested for the site: the program's own way of waiting, or parked. Any thread.
  Mode mode(SiteId site) const;
  /// Why `auto` chose its strategy at the site: one sentence with the deciding figures, as in the trace.
  std::string strategy_reason(SiteId site) const;

  /// The producer of the site is gone: until readmit(), every wait there, in kernels or on the host, ends with
  /// WaitStatus::producer_lost unless the word is ready. Site 0 means all sites. Any thread.
  Result<> release_waiters(SiteId site);
  Result<> readmit(SiteId site);
  /// Calls release_waiters(site) once that process has ended. Error: no such process. Any thread.
  Result<> watch_producer(SiteId site, int pid);

  /// Releases the waiters of a word in pinned host memory. `payload`: the data that becomes readable, for the trace.
  /// Any thread.
  void signal(SiteId site, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
              const Payload& payload = {});
  /// The same for a counter of 64 bits.
  void signal(SiteId site, std::uint32_t iteration, std::uint64_t* word, std::uint64_t value,
              const Payload& payload = {});

  /// A wait of a host thread. Spins in mode poll; in mode park sleeps through most of the time that earlier waits
  /// predict, then looks repeatedly, with naps between. Any thread.
  WaitResult wait_until(SiteId site, std::uint32_t iteration, const std::uint32_t* word, AtLeast condition,
                        TimeNs timeout);
  /// The same for a counter of 64 bits (see AtLeast64).
  WaitResult wait_until(SiteId site, std::uint32_t iteration, const std::uint64_t* word, AtLeast64 condition,
                        TimeNs timeout);

  /// For host code that waits and releases by other means (wic/channel.h): writes the events of wait_until() and
  /// signal() to the trace. `polls`: 0 = not known; `value`: of the word when the wait ended; `wanted`: the value that
  /// the wait wanted. Any thread.
  void record_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin, TimeNs end,
                   TimeNs cpu_ns, std::uint32_t polls, WaitStatus status, std::uint32_t value,
                   std::optional<std::uint32_t> wanted);
  void record_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at, std::uint32_t value,
                     const Payload& payload = {});

  /// Moves all records that kernels have written so far to the session. The runtime also does this continually. Any
  /// thread.
  void drain();

 private:
  struct State;
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wic
