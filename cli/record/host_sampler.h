// Samples the operating system's scheduler counters for the threads of the traced processes and of wic-prof: time on a
// CPU, time ready but not running, context switches.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "protocol/event_sink.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// The scheduler's counters of one thread since it began.
struct ThreadCounts {
  TimeNs cpu_ns = 0;
  TimeNs run_delay_ns = -1;  ///< -1 = unknown: the operating system does not report it
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

/// The machine's stolen time since boot, all CPUs, from /proc/stat; empty when it is not reported.
std::optional<TimeNs> stolen_ns();

/// A ring in wic-prof's own memory, for events that wic-prof itself records.
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

/// Samples every 100 ms on its own thread, less often where a sample takes more than 2 ms of CPU time: the processes
/// that own a ring of the session, `app` and its descendants as far as the operating system lists them (searched every
/// 500 ms), and this process.
class HostSampler {
 public:
  /// `session` and `sink` must outlive the sampler. Create it before the program starts, so that the counters of the
  /// program's threads start at 0. `look` is called with each process without a ring.
  HostSampler(const SessionMap& session, pid_t app, EventSink& sink, std::function<void(pid_t)> look);
  ~HostSampler();

  /// Takes a last sample and stops the thread.
  void finish();

 private:
  struct Thread {
    ThreadCounts counts;
    std::string name;
  };
  struct Process {
    TimeNs seen = 0;   // time of the first sample; 0 = none yet
    std::string name;  // of the main thread when the process event was written; a new program (exec) changes it
    std::unordered_map<pid_t, Thread> threads;
  };

  void work();
  void sample();
  void find_processes();
  void sample_process(pid_t pid, Process& process, TimeNs begin);
  void write_process(pid_t pid);

  const SessionMap& session_;
  pid_t app_;
  EventSink& sink_;
  std::function<void(pid_t)> look_;
  std::map<pid_t, Process> processes_;
  TimeNs last_sample_ = 0;
  unsigned samples_ = 0;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
