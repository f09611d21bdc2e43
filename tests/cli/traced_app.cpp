// A minimal program for wic-prof run: it attaches to the session, declares two wait sites, writes waits and signals,
// and applies toggles. Each option disables one of these, changes the waits, or makes the program fail.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "protocol/events/clock.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/process.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/wait.h"
#include "protocol/session.h"

namespace {

using namespace wicprof;

struct Options {
  double seconds = 0.3;
  int sites = 2;
  bool runtime = true;          // --no-runtime: does not attach, writes nothing
  bool ignore_toggles = false;  // --ignore-toggles: never applies a toggle
  bool crash = false;           // --crash: ends by SIGSEGV after its first events
  bool ignore_signals = false;  // --ignore-signals: ignores SIGINT and SIGTERM
  double child = 0;             // --child S: starts a child that writes for S seconds
  int burst = 0;                // --burst N: writes N waits at once at the start
  int status = 0;               // --status N
  // Synthetic times, so that all derived figures are known: with --period-us P, the program writes --iterations N of P
  // us each (while parked: of --park-period-us). In each, one waiter waits for --wait-us and resumes --late-us after
  // its signal.
  int period_us = 0, park_period_us = 0, wait_us = 500, late_us = 10, iterations = 50;
  int polls = 10;
  int parked_rate = 0;  // --parked-rate N: while parked, at most N iterations per millisecond
  int parked_ms = 1;    // --parked-ms N: while parked, an iteration takes N ms
  int polled_ms = 1;    // --polled-ms N: the same of polling
  // --later S: once parked for S seconds in all, an iteration takes --parked-later-ms N while parked, instead.
  double later = 0;
  int parked_later_ms = 1;
  bool first_call = false;  // --first-call: begins with calls of CUDA that wait, some time before its wait sites
};

Options read_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::atof(argv[++i]) : 0.0; };
    if (option == "--seconds") o.seconds = value();
    if (option == "--sites") o.sites = static_cast<int>(value());
    if (option == "--no-runtime") o.runtime = false;
    if (option == "--ignore-toggles") o.ignore_toggles = true;
    if (option == "--crash") o.crash = true;
    if (option == "--ignore-signals") o.ignore_signals = true;
    if (option == "--child") o.child = value();
    if (option == "--burst") o.burst = static_cast<int>(value());
    if (option == "--status") o.status = static_cast<int>(value());
    if (option == "--period-us") o.period_us = static_cast<int>(value());
    if (option == "--park-period-us") o.park_period_us = static_cast<int>(value());
    if (option == "--wait-us") o.wait_us = static_cast<int>(value());
    if (option == "--late-us") o.late_us = static_cast<int>(value());
    if (option == "--iterations") o.iterations = static_cast<int>(value());
    if (option == "--polls") o.polls = static_cast<int>(value());
    if (option == "--parked-rate") o.parked_rate = static_cast<int>(value());
    if (option == "--parked-ms") o.parked_ms = static_cast<int>(value());
    if (option == "--polled-ms") o.polled_ms = static_cast<int>(value());
    if (option == "--later") o.later = value();
    if (option == "--first-call") o.first_call = true;
    if (option == "--parked-later-ms") o.parked_later_ms = static_cast<int>(value());
  }
  return o;
}

constexpr DeviceId kDevice = simt_device(0);

RingHeader* claim(const SessionMap& session) {
  RingHeader* ring = session.claim_ring();
  if (ring == nullptr) std::_Exit(72);
  return ring;
}

class Program {
 public:
  Program(SessionMap session, const Options& options)
      : session_(std::move(session)), options_(options), ring_(claim(session_)), control_ring_(claim(session_)) {
    DeviceEvent device = make_event<DeviceEvent>();
    device.device = kDevice;
    device.name = 1;
    device.sm_count = 4;
    device.kind = DeviceKind::simt;
    ProcessEvent process = make_event<ProcessEvent>();
    process.pid = static_cast<std::uint32_t>(getpid());
    process.parent = static_cast<std::uint32_t>(getppid());
    process.name = 90;
    process.rank = process.local_rank = -1;
    process.seen_ns = now_ns();
    ring_.write_text(90, "traced_app");
    ring_.write(process);
    ring_.write_text(1, "a device of the test program");
    ring_.write(device);
    read_clock();
    ControlBlock& control = session_.control();
    for (int i = 1; i <= options.sites; ++i) {
      const std::string name = i == 1 ? "left" : i == 2 ? "right" : "site" + std::to_string(i);
      register_site(control, name.c_str());
      SiteEvent site = make_event<SiteEvent>();
      site.site = static_cast<SiteId>(i);
      site.name = static_cast<TextId>(i + 1);
      site.word_memory = WordMemory::pinned_host;
      site.words = 1;
      ring_.write_text(site.name, name);
      ring_.write(site);
    }
    if (control.wanted.load() == WantedWait::kNothing) control.own.store(WantedWait{}.pack());
    current_ = program_wait(control);
    applied_ = control.sequence.load();
    place_ = join_session(control, &session_.header(), applied_);
    if (!options.ignore_toggles) listener_ = std::thread([this] { listen(); });
    if (options.first_call) wait_in_calls(control);
  }

  ~Program() {
    stop_ = true;
    futex_wake_all(session_.control().sequence);
    if (listener_.joinable()) listener_.join();
    if (place_ != nullptr) leave_session(session_.control(), *place_);
  }

  void iterate(std::uint32_t iteration, bool pause = true) {
    const auto arrived = static_cast<std::uint64_t>(now_ns());
    const bool parks = parked_;
    if (pause) std::this_thread::sleep_for(std::chrono::milliseconds(parked_ ? parked_ms() : options_.polled_ms));
    for (int s = 1; s <= options_.sites; ++s) {
      const auto signalled = static_cast<std::uint64_t>(now_ns());
      write_wait(s, iteration, arrived, signalled, static_cast<std::uint64_t>(now_ns()));
    }
    read_clock();
    if (parks) parked_ns_ += now_ns() - static_cast<TimeNs>(arrived);
  }

  bool parked() const { return parked_; }
  int parked_ms() const {
    const bool is_later = options_.later > 0 && parked_ns_ > static_cast<TimeNs>(options_.later * kSecond);
    return is_later ? options_.parked_later_ms : options_.parked_ms;
  }

  void write_synthetic_iterations() {
    const bool parks = current_.mode == Mode::park && options_.park_period_us > 0;
    const std::uint64_t period =
        1000u * static_cast<std::uint64_t>(parks ? options_.park_period_us : options_.period_us);
    const std::uint64_t wait = 1000u * static_cast<std::uint64_t>(options_.wait_us);
    const auto begin = static_cast<std::uint64_t>(now_ns());
    for (int i = 0; i < options_.iterations; ++i) {
      const std::uint64_t arrived = begin + static_cast<std::uint64_t>(i) * period;
      for (int s = 1; s <= options_.sites; ++s) {
        const std::uint64_t signalled = arrived + wait - 1000u * static_cast<std::uint64_t>(options_.late_us);
        write_wait(s, static_cast<std::uint32_t>(i + 1), arrived, signalled, arrived + wait);
      }
    }
    read_clock();
  }

 private:
  void wait_in_calls(ControlBlock& control) {
    const char* const name = "cudaDeviceSynchronize in start";
    control.sites[register_site(control, name)].side = static_cast<std::uint32_t>(WaitSide::host);
    SiteEvent site = make_event<SiteEvent>();
    site.site = static_cast<SiteId>(options_.sites + 1);
    site.name = 91;
    site.side = SiteSide::host;
    ring_.write_text(site.name, name);
    ring_.write_text(92, "cudaDeviceSynchronize");
    ring_.write(site);
    for (std::uint32_t i = 1; i <= 3; ++i) {
      HostWaitEvent wait = make_event<HostWaitEvent>();
      wait.site = site.site;
      wait.call = 92;
      wait.thread = static_cast<std::uint32_t>(getpid());
      wait.iteration = i;
      wait.begin_ns = now_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      wait.end_ns = now_ns();
      wait.cpu_ns = wait.run_delay_ns = -1;
      wait.involuntary_switches = HostWaitEvent::kUnknownSwitches;
      wait.status = WaitStatus::satisfied;
      ring_.write(wait);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }

  void write_wait(int site, std::uint32_t iteration, std::uint64_t arrived, std::uint64_t signalled,
                  std::uint64_t resumed) {
    SignalEvent signal = make_event<SignalEvent>();
    signal.site = static_cast<SiteId>(site);
    signal.device = kHostDevice;
    signal.iteration = signal.value = iteration;
    signal.at_ns = signalled;
    ring_.write(signal);
    WaitEvent wait = make_event<WaitEvent>();
    wait.site = static_cast<SiteId>(site);
    wait.device = kDevice;
    wait.iteration = wait.value = iteration;
    wait.polls = static_cast<std::uint32_t>(options_.polls);
    wait.arrived_ns = arrived;
    wait.resumed_ns = resumed;
    wait.status = WaitStatus::satisfied;
    ring_.write(wait);
  }

  void read_clock() {
    ClockEvent clock = make_event<ClockEvent>();
    clock.device = kDevice;
    clock.host_ns = now_ns();
    clock.device_ns = static_cast<std::uint64_t>(clock.host_ns);
    ring_.write(clock);
  }

  void listen() {
    ControlBlock& control = session_.control();
    std::uint32_t done = applied_;
    while (!stop_) {
      const std::uint32_t sequence = control.sequence.load(std::memory_order_acquire);
      if (sequence == done) {
        futex_wait(control.sequence, sequence, 50 * kMillisecond);
        continue;
      }
      const WantedWait wanted = WantedWait::unpack(control.wanted.load());
      InterventionEvent event = make_event<InterventionEvent>();
      event.sequence = sequence;
      event.old_mode = static_cast<std::uint8_t>(current_.mode);
      event.new_mode = static_cast<std::uint8_t>(wanted.mode);
      event.old_strategy = static_cast<std::uint32_t>(current_.strategy);
      event.new_strategy = static_cast<std::uint32_t>(wanted.strategy);
      event.requested_ns = control.requested_ns.load();
      event.effective_ns = now_ns();
      control_ring_.write(event);
      current_ = wanted;
      parked_ = wanted.mode == Mode::park;
      done = sequence;
      report_applied(control, *place_, sequence);
    }
  }

  SessionMap session_;
  Options options_;
  RingWriter ring_;
  RingWriter control_ring_;
  WantedWait current_;
  std::uint32_t applied_ = 0;
  PartControl* place_ = nullptr;
  TimeNs parked_ns_ = 0;  // of iterations
  std::atomic<bool> stop_{false}, parked_{false};
  std::thread listener_;
};

void start_child(const Options& options, const char* path) {
  if (options.child <= 0 || fork() != 0) return;
  Result<SessionMap> session = SessionMap::attach(path);
  if (session) {
    Options own = options;
    own.ignore_toggles = true;
    Program program(*std::move(session), own);
    const TimeNs end = now_ns() + static_cast<TimeNs>(options.child * 1e9);
    for (std::uint32_t i = 1; now_ns() < end; ++i) program.iterate(i, false);
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (options.ignore_signals) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
  }
  const char* path = std::getenv(kSessionVariable);
  if (path == nullptr) {
    std::fprintf(stderr, "traced_app: %s is not set\n", kSessionVariable);
    return 70;
  }
  start_child(options, path);
  const TimeNs end = now_ns() + static_cast<TimeNs>(options.seconds * 1e9);
  if (!options.runtime) {
    while (now_ns() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return options.status;
  }
  Result<SessionMap> session = SessionMap::attach(path);
  if (!session) {
    std::fprintf(stderr, "traced_app: %s\n", session.error().message.c_str());
    return 71;
  }
  Program program(*std::move(session), options);
  std::printf("ready\n");
  std::fflush(stdout);
  if (options.period_us > 0) {
    program.write_synthetic_iterations();
    return options.status;
  }
  std::uint32_t iteration = 1;
  for (int i = 0; i < options.burst; ++i) program.iterate(iteration++, false);
  do {
    program.iterate(iteration++);
    if (options.crash) raise(SIGSEGV);
    for (int i = 1; i < options.parked_rate && program.parked(); ++i) program.iterate(iteration++, false);
  } while (now_ns() < end);
  return options.status;
}
