// One part of a process in a session: it follows what the session wants, and reports what is in effect.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/control.h"
#include "protocol/events/intervention.h"
#include "protocol/events/notice.h"
#include "protocol/recorder_watch.h"
#include "protocol/result.h"

namespace wicprof {

/// What one kind of part does with a change. All calls come from the member's thread, but those of join().
class Applier {
 public:
  /// A wait site: its number in the trace, and in the control block (0: none there).
  struct Site {
    SiteId id = 0;
    std::uint32_t number = 0;
  };

  /// Of its interventions. `host`: it follows what is wanted of host threads in calls of CUDA.
  virtual WaitSide side() const = 0;
  /// The first sites_now() sites; their order and their number in the control block, once known, never change.
  virtual std::size_t most_sites() const = 0;
  virtual std::size_t sites_now() const = 0;
  virtual Site site(std::size_t index) const = 0;

  /// The way that the part waits in when `wanted` is wanted.
  virtual WantedWait way(WantedWait wanted) const { return wanted; }
  /// The same of one site.
  virtual WantedWait way(WantedWait wanted, const Site&) const { return way(wanted); }
  /// The program's own way: of the whole program, and of a site (WantedWait::pack(); kNothing: as the whole program).
  virtual WantedWait own() const { return {}; }
  virtual std::uint32_t own(const Site&) const { return WantedWait::kNothing; }
  /// How a site (0: the whole program) waits now, where the part knows better than the member, which says `known`.
  virtual WantedWait now(SiteId, WantedWait known) const { return known; }

  /// The recorder has gone, or has come back: until the next call, only the program's own way counts.
  virtual void recorder_gone(bool) {}
  /// Before the changes of one sequence.
  virtual void follow() {}
  /// Brings a site to `way`, or the whole program (site 0), which ends the ways of single sites.
  virtual Result<> apply(SiteId, WantedWait) { return ok(); }

  virtual void write(const InterventionEvent& event) = 0;
  virtual void write_notice(NoticeSeverity severity, const std::string& text) = 0;

  /// After each look. Returns for how long to sleep at most; RecorderWatch::kInterval is the longest useful time.
  virtual TimeNs between_looks() { return RecorderWatch::kInterval; }

 protected:
  ~Applier() = default;
};

/// Joins the session, follows its control block on a thread of its own, writes an intervention for each change that is
/// in effect, and returns the part to the program's own way within a second after the recorder has gone. Where the
/// session has no place, it follows all the same, says so in a notice, and tries again at each look.
class SessionMember {
 public:
  static constexpr TimeNs kInterval = RecorderWatch::kInterval;

  /// `session`: where the process has the session mapped. All must outlive the member.
  SessionMember(ControlBlock& control, const void* session, Applier& applier);
  SessionMember(const SessionMember&) = delete;
  SessionMember& operator=(const SessionMember&) = delete;
  ~SessionMember() { leave(); }

  /// Joins. The part must be brought to what the session wants first; a toggle may come at any time. What the session
  /// wants now counts as in effect, unless Applier::now() says otherwise. Empty, or a warning: the session had no
  /// place.
  std::string join();

  /// After join(). `start(body)` starts a thread; `prepare` runs on it first. False: the system refused it. The part
  /// must then wait in the program's own way, since nobody would notice that the recorder is gone, and counts as
  /// refused.
  template <class Start, class Prepare>
  bool begin(Start&& start, Prepare prepare) {
    thread_ = start([this, prepare] {
      prepare();
      run();
    });
    if (!thread_.joinable()) refuse();
    return thread_.joinable();
  }

  /// Ends the thread and leaves. One thread.
  void leave();

  /// The place in the session; nullptr: none. Any thread.
  PartControl* place() const { return place_.load(std::memory_order_acquire); }
  /// One look at the control block, for begin()'s thread, or for a test that has not begun.
  void look();

 private:
  void run();
  bool claim_place();
  void refuse();
  void apply_changes(std::uint32_t sequence);
  void change(SiteId site, WantedWait before, WantedWait after, std::uint32_t sequence);
  std::uint32_t wanted_of_program() const;
  std::uint32_t wanted_of(const Applier::Site& site) const;

  ControlBlock& control_;
  const void* const session_;
  Applier& applier_;
  std::atomic<PartControl*> place_{nullptr};
  std::atomic<bool> stop_{false}, ended_{false};
  std::thread thread_;
  // Of the thread.
  RecorderWatch recorder_;
  bool gone_ = false, refused_ = false;
  TimeNs requested_ = 0;
  std::uint32_t sequence_ = 0, program_ = 0;  // applied last; program_: WantedWait::pack()
  std::vector<std::uint32_t> sites_;          // the same of each site; kNothing: as the whole program
};

}  // namespace wicprof
