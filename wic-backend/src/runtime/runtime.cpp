#include "wic/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "src/runtime/clock_readings.h"
#include "src/runtime/control_loop.h"
#include "src/runtime/device_memory.h"
#include "src/runtime/drain_loop.h"
#include "src/runtime/host_wait.h"
#include "src/runtime/overlap.h"
#include "src/runtime/producer_watch.h"
#include "src/runtime/trace_link.h"
#include "src/strategy/strategy_board.h"

namespace wic {

namespace {

constexpr std::uint32_t kRecordsPerSm = 4096;
constexpr std::uint32_t kSampledRecordsPerSm = 256;  // without a trace, for `auto`, which needs only a sample of them

std::uint32_t records_per_sm(bool traced, std::uint32_t observe_one_in) {
  if (traced) return kRecordsPerSm;
  // Allocated even while no site is on `auto`: a later allocation could wait for running kernels.
  return observe_one_in != 0 ? kSampledRecordsPerSm : 0;
}

}  // namespace

// The parts of a runtime, each with its own lock. While a part holds its lock, it may use the parts above it, never
// those below it. The parts and their threads end in the opposite order.
struct Runtime::State {
  explicit State(WantedWait program) : board(program) {}

  Result<> open(const RuntimeOptions& options);
  Result<> open_devices(const RuntimeOptions& options, std::uint32_t observe_one_in);
  void warn_of_neighbours(const DeviceProperties& gpu);
  Result<SiteId> add_site(const SiteSpec& spec);
  Result<> set_wait(SiteId site, WantedWait wanted);
  DeviceView view(std::size_t index) const;
  void release_waiters(SiteId site, const std::string& why);
  bool look_for_failed_devices();

  const pid_t process = getpid();
  std::string warning;
  TraceLink trace;
  std::vector<DeviceMemory> devices;  // complete after open()
  StrategyBoard board;
  std::optional<ControlLoop> control;  // where the trace is attached
  std::optional<DrainLoop> drain;      // always, after open()
  struct SiteName {
    char text[wicprof::kMaxSiteName] = {};
  };
  std::array<SiteName, kMaxSites> site_names;              // written before the site's number is known to the program
  std::array<std::atomic<TimeNs>, kMaxSites> predicted{};  // length of a host thread's wait; 0 = nothing known
  ProducerWatch producers{[this] { return look_for_failed_devices(); }};
  std::mutex declaring;  // the trace gets the sites in the order of their numbers
};

Result<> Runtime::State::open(const RuntimeOptions& options) {
  const std::uint32_t observe_one_in =
      options.observe_one_in == 0 ? 0 : std::bit_ceil(std::min(options.observe_one_in, 1u << 20));
  if (Result<> opened = open_devices(options, observe_one_in); !opened) return opened;
  drain.emplace(devices, board, trace, observe_one_in);
  if (!trace.attached()) {
    drain->observe_if_automatic();
    return ok();
  }
  drain->open_waits().attach(trace.session().open_work());
  trace.write_strategies();
  for (const DeviceMemory& memory : devices) trace.write_device(memory.properties());
  ClockReadings clocks(devices, trace);
  if (std::string problem = clocks.take_first(); !problem.empty()) warning = std::move(problem);
  control.emplace(board, trace);
  Result<std::string> problem = control->start();
  if (!problem) return problem.error();
  if (!problem->empty()) warning = *std::move(problem);
  drain->start(clocks);
  return ok();
}

Result<> Runtime::State::open_devices(const RuntimeOptions& options, std::uint32_t observe_one_in) {
  Result<std::vector<std::unique_ptr<Device>>> opened = wic::open_devices(options.devices);
  if (!opened) return opened.error();
  const char* path = secure_getenv(wicprof::kSessionVariable);
  if (path != nullptr && *path != '\0' && options.record) {
    if (Result<> attached = trace.attach(path); !attached) warning = attached.error().message;
  }
  for (std::unique_ptr<Device>& device : *opened) {
    Result<DeviceMemory> memory =
        DeviceMemory::make(std::move(device), records_per_sm(trace.attached(), observe_one_in));
    if (!memory) return memory.error();
    if (memory->properties().kind == wicprof::DeviceKind::cuda) warn_of_neighbours(memory->properties());
    devices.push_back(*std::move(memory));
    board.add_device(devices.back().device(), devices.back().strategies(), devices.back().control());
  }
  return ok();
}

void Runtime::State::warn_of_neighbours(const DeviceProperties& gpu) {
  std::string text = what_prevents_overlap([](const char* name) { return secure_getenv(name); });
  if (text.empty() && gpu.shared_by_mps) {
    text = gpu.name +
           " is shared with other processes (MPS): their blocks take room at any time, so blocks that wait for each "
           "other may not all fit; stop them, or give each process its SMs with CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
  }
  if (text.empty() || !warning.empty()) return;
  warning = text;
  if (trace.attached()) trace.write_notice(wicprof::NoticeSeverity::warning, text);
}

Result<SiteId> Runtime::State::add_site(const SiteSpec& spec) {
  const std::lock_guard lock(declaring);
  Result<SiteId> site = board.add_site(spec);
  if (!site) return site;
  if (spec.producer) producers.start_asking();
  trace.write_site(*site, spec);
  drain->open_waits().declare(*site, spec);
  wicprof::copy_name(site_names[*site].text, spec.name);
  if (board.wanted(*site).strategy == StrategyId::automatic) trace.write_choice(*site, board.choice(*site));
  if (control) control->add_site(*site, spec.name);
  return site;
}

Result<> Runtime::State::set_wait(SiteId site, WantedWait wanted) {
  if (site > board.site_count()) return bad_input("there is no wait site number " + std::to_string(site));
  if (Result<> possible = board.refusal(site, wanted); !possible) return possible;
  if (control) return control->request(site, wanted);
  Result<> done = board.want(site, wanted);
  drain->observe_if_automatic();
  return done;
}

DeviceView Runtime::State::view(std::size_t index) const {
  const DeviceMemory& memory = devices[index];
  DeviceView view = memory.view();
  view.hot = board.hot_sites();
  if (drain->uses_records()) view.records = memory.records();
  view.record_sample_mask = drain->sample_mask();
  return view;
}

void Runtime::State::release_waiters(SiteId site, const std::string& why) {
  const Result<> released = board.set_lost(site, true);
  trace.write_notice(wicprof::NoticeSeverity::error, "the waiters of site " + std::to_string(site) +
                                                         " were released because their producer is gone: " + why +
                                                         (released ? "" : "; " + released.error().message));
}

bool Runtime::State::look_for_failed_devices() {
  bool look_again = false;
  for (const DeviceMemory& memory : devices) {
    const std::vector<SiteId> fed = board.sites_fed_by(memory.properties().id);
    if (fed.empty()) continue;
    if (!memory.device().failed()) {
      look_again = true;
      continue;
    }
    for (const SiteId site : fed) release_waiters(site, memory.properties().name + " has failed");
  }
  return look_again;
}

Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() {
  // The child of a fork has neither the threads, for whose end this would wait, nor the places in the session.
  if (getpid() != state_->process) static_cast<void>(state_.release());
}

Result<std::unique_ptr<Runtime>> Runtime::create(const RuntimeOptions& options) {
  auto state = std::make_unique<State>(WantedWait{options.mode, default_strategy(options.mode)});
  if (Result<> opened = state->open(options); !opened) return opened.error();
  return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

std::size_t Runtime::device_count() const { return state_->devices.size(); }
Device& Runtime::device(std::size_t index) const { return state_->devices[index].device(); }
const std::string& Runtime::warning() const { return state_->warning; }
bool Runtime::recording() const { return state_->trace.attached(); }
DeviceView Runtime::view(std::size_t index) const { return state_->view(index); }

Site Runtime::site(SiteId id, std::uint64_t timeout_ns, std::size_t device) const {
  return {view(device), id, timeout_ns};
}

Result<SiteId> Runtime::add_site(const SiteSpec& spec) { return state_->add_site(spec); }
Result<> Runtime::set_wait(SiteId site, WantedWait wanted) { return state_->set_wait(site, wanted); }
StrategyId Runtime::strategy(SiteId site) const { return state_->board.strategy(site); }
Mode Runtime::mode(SiteId site) const { return state_->board.wanted(site).mode; }
std::string Runtime::strategy_reason(SiteId site) const { return state_->board.choice(site).reason; }

Result<> Runtime::release_waiters(SiteId site) { return state_->board.set_lost(site, true); }

Result<> Runtime::readmit(SiteId site) {
  Result<> done = state_->board.set_lost(site, false);
  state_->producers.start_asking();
  return done;
}

Result<> Runtime::watch_producer(SiteId site, int pid) {
  return state_->producers.add_process(
      pid, [state = state_.get(), site] { state->release_waiters(site, "its process has ended"); });
}

void Runtime::signal(SiteId site, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
                     const Payload& payload) {
  const TimeNs at = now_ns();
  std::atomic_ref(*word).store(value, std::memory_order_release);
  record_signal(site, iteration, word, at, value, payload);
}

void Runtime::signal(SiteId site, std::uint32_t iteration, std::uint64_t* word, std::uint64_t value,
                     const Payload& payload) {
  const TimeNs at = now_ns();
  std::atomic_ref(*word).store(value, std::memory_order_release);
  record_signal(site, iteration, lower_half(word), at, static_cast<std::uint32_t>(value), payload);
}

WaitResult Runtime::wait_until(SiteId site, std::uint32_t iteration, const std::uint64_t* word, AtLeast64 condition,
                               TimeNs timeout) {
  const WaitResult result = wait_until(site, iteration, lower_half(word), condition.of_lower_half(), timeout);
  // Accesses of the same size order each other: this one acquires what the store of 64 bits released.
  if (result) static_cast<void>(std::atomic_ref(*const_cast<std::uint64_t*>(word)).load(std::memory_order_acquire));
  return result;
}

WaitResult Runtime::wait_until(SiteId site, std::uint32_t iteration, const std::uint32_t* word, AtLeast condition,
                               TimeNs timeout) {
  std::atomic<TimeNs>& predicted = state_->predicted[site];
  const TimeNs known = predicted.load(std::memory_order_relaxed);
  const TimeNs begin = now_ns();
  const TimeNs cpu_begin = thread_cpu_ns();
  wicprof::OpenCall open;
  open.begin = begin;
  open.handle = reinterpret_cast<std::uint64_t>(word);
  open.iteration = iteration;
  open.names_wanted = 1;
  open.wanted = condition.goal;
  wicprof::copy_name(open.name, state_->site_names[site].text);
  const wicprof::OpenWordWait shown(recording() ? &state_->trace.session().open_work() : nullptr, open);
  const HostWaitResult wait = host_wait(word, condition, timeout, known, [&] { return state_->board.strategy(site); });
  const TimeNs end = now_ns();
  if (wait.result) {  // a passed deadline does not predict the next wait
    predicted.store(known == 0 ? end - begin : known + (end - begin - known) / 4, std::memory_order_relaxed);
  }
  if (recording()) {
    record_wait(site, iteration, word, begin, end, thread_cpu_ns() - cpu_begin, wait.polls, wait.result.status,
                wait.result.value, condition.goal);
  }
  return wait.result;
}

void Runtime::record_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin, TimeNs end,
                          TimeNs cpu_ns, std::uint32_t polls, WaitStatus status, std::uint32_t value,
                          std::optional<std::uint32_t> wanted) {
  state_->trace.write_host_wait(site, iteration, word, begin, end, cpu_ns, polls, status, value, wanted);
}

void Runtime::record_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at,
                            std::uint32_t value, const Payload& payload) {
  state_->trace.write_host_signal(site, iteration, word, at, value, payload);
}

void Runtime::drain() { state_->drain->drain(); }

}  // namespace wic
