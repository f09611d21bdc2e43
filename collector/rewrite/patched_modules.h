// The patched modules that the program has loaded, and the memory that their loops share with this process.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/rewrite/device_clock.h"
#include "collector/rewrite/polled_words.h"
#include "collector/rewrite/rewrite_driver.h"
#include "collector/rewrite/wait_counts.h"
#include "collector/rewrite/wait_records.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/words.h"
#include "rewriter/waits/site_names.h"

namespace wicprof::collector {

/// Any thread.
class PatchedModules {
 public:
  /// Sites that a process can have; those of further modules poll as they did.
  static constexpr std::size_t kMostSites = 1024;
  /// Numbers of sites in the trace: those below are the backend's and the host threads'.
  static constexpr SiteId kFirstSite = 4096;

  /// `control`: the session's; nullptr: nothing is ever wanted. `work`: the session's; nullptr: waits that last are not
  /// shown.
  explicit PatchedModules(ControlBlock* control, OpenWork* work = nullptr) : control_(control), words_(work) {}
  PatchedModules(const PatchedModules&) = delete;
  PatchedModules& operator=(const PatchedModules&) = delete;

  /// A module that the driver has just loaded: `library` or `module`, the other one is nullptr. `context`: that of
  /// `module`. Returns the names of its sites in the session, which are declared in the trace.
  std::vector<std::string> add(const rewriter::Replacement& replacement, CUlibrary library, CUmodule module,
                               EventSink& sink, CUcontext context = nullptr);
  /// A module of the program without patched loops, whose kernels may run beside those that have some.
  void add_beside(CUlibrary library, CUmodule module, CUcontext context);
  /// Before the driver unloads a module.
  void unloaded(CUlibrary library, CUmodule module);
  /// Behind that, when no kernel of it can run any more. Writes its last waits; what it had is kept for its next load.
  void gone(CUlibrary library, CUmodule module, EventSink& sink);
  void context_begins(CUcontext context);
  /// The program gives the context work that may wait for the program itself, such as a host function. Loading a kernel
  /// in the context waits for that work, so it is done at the context's own first launch only.
  void may_wait(CUcontext context);
  /// A context ends, and with it the memory that its kernels use. Call before it ends. Writes the waits so far.
  void context_ends(CUcontext context, EventSink& sink);

  /// Whether a module has been added.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  /// Whether a module may still need its memory in this context; fast.
  bool unbound(CUcontext context) const {
    if (!any_.load(std::memory_order_relaxed)) return false;
    return std::none_of(bound_in_.begin(), bound_in_.end(),
                        [&](const auto& bound) { return bound.load(std::memory_order_relaxed) == context; });
  }
  /// Gives the modules their memory in the current context, then in all others that have begun, loads their kernels and
  /// those beside them (load_functions.h), and takes a first reading of the devices' clocks. In the others (but those
  /// of may_wait()), too, since
  /// the driver may make a later call wait for a kernel that polls by then, and which the program's next launch, in
  /// another context, should release. Empty: done, or there is no context; else what failed, and the modules go on
  /// polling.
  /// While another thread binds, waits for it up to kBindPatience and then lets the program go on, which may be about
  /// to launch what that thread's call of the driver waits for.
  std::string bind(const RewriteDriver& driver, EventSink& sink);
  static constexpr TimeNs kBindPatience = 100 * kMillisecond;
  /// How long the end of a context or module waits for a thread that binds, which may wait for a lock of the driver
  /// that the ending thread holds.
  static constexpr TimeNs kEndPatience = 2 * kSecond;

  /// Writes what the session wants, and whether waits are recorded, into the words of all sites. True: something has
  /// changed.
  bool follow_session();
  void record(bool on);
  /// From now on the loops are to wait in the program's own way; false: as the session wants again. Takes effect with
  /// the next follow_session().
  void recorder_gone(bool gone) { recorder_gone_ = gone; }

  std::size_t site_count() const;
  /// The number of a site in the control block; 0: none. `index`: below site_count().
  std::uint32_t session_number(std::size_t index) const;
  /// How a site waits parked.
  StrategyId strategy(std::size_t index) const;

  /// Writes the waits that have ended since the last call. True: there are contexts whose waits may be recorded.
  bool read_waits(EventSink& sink);
  /// Now and then shows the waits that last in the session's table. Not for the driver's thread: which waits last has
  /// to be seen while the driver holds that one. One thread.
  void show_waits();
  /// Looks after the words of the waits: what memory they are in, who wrote them, and for whoever asks, what they hold.
  /// `driver`: nullptr: the last call, without the driver, and then no wait is shown any more. The thread of
  /// request_clocks().
  void look_at_words(const RewriteDriver* driver, EventSink& sink);
  /// Copies the counts of all waits from the devices, on streams of our own, and writes what has come since the last
  /// time while waits were recorded. A copy that takes longer than `patience`, or that meets a thread that binds,
  /// counts at the next call. Within OwnCode; any thread.
  void read_counts(const RewriteDriver& driver, EventSink& sink, TimeNs patience);
  /// Whether waits are recorded, or not recorded, since the last read_counts() alone: what came before is not of now.
  bool counts_are_due() const { return counts_recorded_ != recording_; }
  WriterCandidates& candidates() { return candidates_; }
  /// Asks for a reading of each device's clock. take_clocks() writes it if it comes within the 50 ms for which the
  /// clock's kernel waits. One thread.
  void request_clocks(const RewriteDriver& driver);
  void take_clocks(EventSink& sink);

 private:
  struct Site {
    rewriter::LoadedSite loaded;
    std::uint32_t session_number = 0;  // in the control block; 0: none
  };
  static StrategyId strategy_of(const Site& site) {
    return site.loaded.watches ? StrategyId::watch : StrategyId::pause;
  }
  // A module in one context.
  struct Bound {
    CUcontext context = nullptr;
    std::unique_ptr<WaitRecords> records;  // nullptr: binding failed
    CUdeviceptr counts = 0;                // of the module's first site; 0: none
    std::vector<WaitSums> sums;            // of each site, as last read
    TimeNs counted = 0;                    // when
    bool counting = false;                 // whether waits have been recorded since
    bool copied = false;                   // by the copy that runs
  };
  struct Module {
    CUlibrary library = nullptr;  // both nullptr: unloaded
    CUmodule module = nullptr;
    const void* leaving = nullptr;     // the handle that the driver is unloading
    bool gone = false;                 // its sites and its rings are for its next load
    CUcontext context = nullptr;       // the only one that has `module`
    std::string table;                 // empty: it has no patched loops
    std::size_t first = 0, count = 0;  // in sites_
    std::vector<Bound> bound;
  };
  // Of one context, in pinned memory of the host, one entry per site of sites_ (of counts: kCountSlots).
  struct Memory {
    CUcontext context = nullptr;
    DeviceId device = 0;
    CUstream stream = nullptr;
    rewriter::SiteWords* words = nullptr;
    CUdeviceptr address = 0;
    rewriter::SiteCounts* counts = nullptr;  // as copied last
    CUstream counts_stream = nullptr;        // nothing else is in it: a clock's kernel may wait for its place
    bool copying = false;
  };
  struct CountsCopy {
    CUcontext context = nullptr;
    CUdeviceptr from = 0;
    rewriter::SiteCounts* to = nullptr;
    std::size_t bytes = 0;
  };
  struct Clock {
    CUcontext context = nullptr;
    std::shared_ptr<DeviceClock> clock;
  };

  // A module that is to be bound, in modules_[number].
  struct Unbound {
    std::size_t number = 0;
    CUlibrary library = nullptr;
    CUmodule module = nullptr;
    std::string table;
    std::size_t first = 0, count = 0;
    std::vector<WaitRecords::Site> sites;  // of the module: sites_ may grow meanwhile
  };

  // These two under bind_mutex_ alone. nullopt and nullptr: see `problem`. Records with a problem: the table may have
  // been written.
  std::optional<Memory> memory_of(const RewriteDriver& driver, CUcontext context, EventSink& sink,
                                  std::string& problem);
  rewriter::Record* take_ring(CUcontext context);
  std::unique_ptr<WaitRecords> bind_module(const RewriteDriver& driver, const Unbound& module, const Memory& memory,
                                           CUdeviceptr& counts, std::string& problem);
  std::vector<CountsCopy> counts_to_copy();
  /// In the context of `memory`. False: a copy runs, or has failed.
  static bool copy_counts(const RewriteDriver& driver, Memory& memory, const std::vector<CountsCopy>& copies,
                          TimeNs patience);
  void write_counts(CUcontext context, EventBatch& batch);
  /// In the current context. Empty, or what failed.
  std::string bind_in(const RewriteDriver& driver, CUcontext context, EventSink& sink);
  std::uint32_t control_word(const Site& site) const;
  /// Under mutex_: a module or context has come or gone.
  void look_again();
  /// bind_mutex_, or nothing after that time.
  std::unique_lock<std::mutex> lock_bind(TimeNs patience);

  /// With what is known of their sites.
  std::vector<LastingWait> lasting_waits(std::map<SiteId, SiteCode>& codes);

  ControlBlock* control_;
  PolledWords words_;
  WriterCandidates candidates_;
  // Of modules that are gone, by context: pinned memory is not freed, since that could wait for a kernel that waits for
  // the caller.
  std::multimap<CUcontext, rewriter::Record*> free_rings_;
  std::map<SiteId, SiteCode> codes_;
  rewriter::SiteNames names_;     // by table and name in the module: the same code gets them again
  std::vector<CUcontext> ended_;  // contexts that words_ has not heard of
  TimeNs next_show_ = 0;          // of the thread of show_waits()
  std::atomic<bool> recording_{false}, recorder_gone_{false}, counts_recorded_{false};
  // Held for calls of the driver, which may wait for a kernel, and before the two below. While it is held, the modules
  // and contexts that are being bound stay.
  std::mutex bind_mutex_;
  mutable std::mutex mutex_;
  std::vector<Site> sites_;
  std::vector<Module> modules_;
  std::uint64_t changes_ = 0;  // of modules and contexts
  std::vector<Memory> memories_;
  std::vector<CUcontext> contexts_;  // that have begun, but those of may_wait()
  std::mutex clocks_mutex_;          // after mutex_, if both are held
  std::vector<Clock> clocks_;
  std::atomic<bool> any_{false};
  std::array<std::atomic<CUcontext>, 16> bound_in_{};  // where all modules had their memory at the last look
};

}  // namespace wicprof::collector
