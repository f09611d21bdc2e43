// The patched modules that the program has loaded, and the memory that their loops share with this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collector/rewrite/device_clock.h"
#include "collector/rewrite/rewrite_driver.h"
#include "collector/rewrite/wait_records.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/words.h"

namespace wicprof::collector {

/// Any thread.
class PatchedModules {
 public:
  /// Sites that a process can have; those of further modules poll as they did.
  static constexpr std::size_t kMostSites = 1024;
  /// Numbers of sites in the trace: those below are the backend's and the host threads'.
  static constexpr SiteId kFirstSite = 4096;

  /// `control`: the session's; nullptr: nothing is ever wanted.
  explicit PatchedModules(ControlBlock* control) : control_(control) {}
  PatchedModules(const PatchedModules&) = delete;
  PatchedModules& operator=(const PatchedModules&) = delete;

  /// A module that the driver has just loaded: `library` or `module`, the other one is nullptr. Returns the names of
  /// its sites in the session, which are declared in the trace.
  std::vector<std::string> add(const rewriter::Replacement& replacement, CUlibrary library, CUmodule module,
                               EventSink& sink);
  void unloaded(CUlibrary library, CUmodule module);
  /// A context ends, and with it the memory that its kernels use. Call before it ends. Writes the waits so far.
  void context_ends(CUcontext context, EventSink& sink);

  /// Whether a module may still need its memory in this context; fast.
  bool unbound(CUcontext context) const {
    return any_.load(std::memory_order_relaxed) && bound_in_.load(std::memory_order_relaxed) != context;
  }
  /// Gets the memory that modules will need in the current context, if there is one, while the first one is compiled.
  /// What fails here fails again in bind().
  void prepare(const RewriteDriver& driver, EventSink& sink);
  /// Gives the modules their memory in the current context, and takes a first reading of the device's clock. Empty:
  /// done, or there is no context; else what failed, and the modules go on polling.
  std::string bind(const RewriteDriver& driver, EventSink& sink);

  /// Writes what the session wants, and whether waits are recorded, into the words of all sites. True: something has
  /// changed.
  bool follow_session();
  void record(bool on);

  /// Writes the waits that have ended since the last call. True: there are contexts whose waits may be recorded.
  bool read_waits(EventSink& sink);
  /// Takes a reading of each device's clock, where the kernel for the last request has begun, and asks for the next.
  /// One thread.
  void read_clocks(const RewriteDriver& driver, EventSink& sink);

 private:
  struct Site {
    rewriter::LoadedSite loaded;
    std::uint32_t session_number = 0;  // in the control block; 0: none
  };
  // A module in one context.
  struct Bound {
    CUcontext context = nullptr;
    std::unique_ptr<WaitRecords> records;  // nullptr: binding failed
  };
  struct Module {
    CUlibrary library = nullptr;  // both nullptr: unloaded
    CUmodule module = nullptr;
    std::string table;
    std::size_t first = 0, count = 0;  // in sites_
    std::vector<Bound> bound;
  };
  // Of one context, in pinned memory of the host, one entry per site of sites_.
  struct Memory {
    CUcontext context = nullptr;
    DeviceId device = 0;
    CUstream stream = nullptr;
    rewriter::SiteWords* words = nullptr;
    CUdeviceptr address = 0;
    std::shared_ptr<DeviceClock> clock;
  };

  Memory* memory_of(const RewriteDriver& driver, CUcontext context, EventSink& sink, std::string& problem);
  std::string bind_module(const RewriteDriver& driver, const Module& module, const Memory& memory, Bound& bound);
  std::uint32_t control_word(const Site& site) const;

  ControlBlock* control_;
  std::atomic<bool> recording_{false};
  mutable std::mutex mutex_;
  std::vector<Site> sites_;
  std::vector<Module> modules_;
  std::vector<Memory> memories_;
  std::atomic<bool> any_{false};
  std::atomic<CUcontext> bound_in_{nullptr};  // where all modules had their memory at the last look
};

}  // namespace wicprof::collector
