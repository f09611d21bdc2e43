// Looks from outside at what the operating system's scheduler does with the threads of the traced processes, and with
// wic-prof's own: on a CPU, ready but on none, switches.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/event_sink.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// What the scheduler has counted of one thread since it began.
struct ThreadCounts {
  TimeNs cpu_ns = 0;
  TimeNs run_delay_ns = -1;  ///< -1 = the operating system does not say
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

/// The machine's stolen time so far, all CPUs, from /proc/stat; nothing where it does not say.
std::optional<TimeNs> stolen_ns();

/// A ring of the tool's own, in its own memory, for events that the drain is to hand to the recorder.
class OwnRing {
 public:
  OwnRing();
  RingHeader* ring() const { return ring_; }
  EventSink& sink() { return *sink_; }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  RingHeader* ring_;
  std::unique_ptr<EventSink> sink_;
};

/// A thread of its own, which looks every 100 ms: at whoever has a ring of the session, at `app` and its descendants as
/// far as the operating system names them (looked for every 500 ms), and at this process.
class HostSampler {
 public:
  /// All must outlive it. Start it before the program, so that what the program's threads have counted is counted from
  /// 0.
  HostSampler(const SessionMap& session, pid_t app, EventSink& sink);
  ~HostSampler();

  /// A last look, and the end of the thread.
  void finish();

 private:
  struct Thread {
    ThreadCounts counts;
    std::string name;
  };
  struct Process {
    TimeNs seen = 0;  // 0 = not yet
    std::unordered_map<pid_t, Thread> threads;
  };

  void work();
  void look();
  void find_processes();
  void look_at(pid_t pid, Process& process, TimeNs begin);
  void tell_process(pid_t pid);

  const SessionMap& session_;
  pid_t app_;
  EventSink& sink_;
  std::map<pid_t, Process> processes_;
  TimeNs last_look_ = 0;
  unsigned looks_ = 0;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
