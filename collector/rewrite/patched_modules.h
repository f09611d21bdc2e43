// The patched modules that the program has loaded, and the memory that their loops share with this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "collector/rewrite/rewrite_driver.h"
#include "protocol/control.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/patch.h"

namespace wicprof::collector {

/// What the loops of one site have counted, over all contexts.
struct SiteTotals {
  rewriter::LoadedSite site;
  std::uint32_t session_number = 0;  ///< in the control block; 0: none
  std::uint64_t waits = 0, rounds = 0, ns = 0;
};

/// Any thread.
class PatchedModules {
 public:
  /// Sites that a process can have; those of further modules poll as they did.
  static constexpr std::size_t kMostSites = 1024;

  /// `control`: the session's; nullptr: nothing is ever wanted.
  explicit PatchedModules(ControlBlock* control) : control_(control) {}
  PatchedModules(const PatchedModules&) = delete;
  PatchedModules& operator=(const PatchedModules&) = delete;

  /// A module that the driver has just loaded: `library` or `module`, the other one is nullptr. Returns the names of
  /// its sites in the session.
  std::vector<std::string> add(const rewriter::Replacement& replacement, CUlibrary library, CUmodule module);
  void unloaded(CUlibrary library, CUmodule module);
  /// A context ends, and with it the memory that its kernels use. Call before it ends.
  void context_ends(CUcontext context);

  /// Whether a module may still need its memory in this context; fast.
  bool unbound(CUcontext context) const {
    return any_.load(std::memory_order_relaxed) && bound_in_.load(std::memory_order_relaxed) != context;
  }
  /// Gives the modules their memory in the current context. Empty: done, or there is no context; else what failed, and
  /// the modules go on polling.
  std::string bind(const RewriteDriver& driver);

  /// Writes what the session wants into the words of all sites. True: something has changed.
  bool follow_session();

  std::vector<SiteTotals> totals() const;

 private:
  struct Site {
    rewriter::LoadedSite loaded;
    std::uint32_t session_number = 0;
    std::uint64_t waits = 0, rounds = 0, ns = 0;  // of contexts that have ended
  };
  struct Module {
    CUlibrary library = nullptr;  // both nullptr: unloaded
    CUmodule module = nullptr;
    std::string table;
    std::size_t first = 0, count = 0;  // in sites_
    std::vector<CUcontext> bound;
  };
  // Of one context, in pinned memory of the host, one entry per site of sites_.
  struct Memory {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    rewriter::SiteWords* words = nullptr;
    CUdeviceptr address = 0;
  };

  Memory* memory_of(const RewriteDriver& driver, CUcontext context, std::string& problem);
  std::string bind_module(const RewriteDriver& driver, const Module& module, const Memory& memory);
  std::uint32_t control_word(const Site& site) const;

  ControlBlock* control_;
  mutable std::mutex mutex_;
  std::vector<Site> sites_;
  std::vector<Module> modules_;
  std::vector<Memory> memories_;
  std::atomic<bool> any_{false};
  std::atomic<CUcontext> bound_in_{nullptr};  // where all modules had their memory at the last look
};

}  // namespace wicprof::collector
