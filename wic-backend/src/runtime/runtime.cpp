#include "wic/runtime.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "protocol/event_sink.h"
#include "protocol/events/choice.h"
#include "protocol/events/clock.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/signal.h"
#include "protocol/events/strategy.h"
#include "protocol/process.h"
#include "protocol/session.h"
#include "src/records/record_drain.h"
#include "src/records/record_events.h"
#include "src/runtime/host_wait.h"
#include "src/runtime/producer_watch.h"
#include "src/strategy/site_census.h"
#include "src/strategy/strategy_board.h"

namespace wic {

using wicprof::bad_input;
using wicprof::make_event;
using wicprof::Mode;
using wicprof::SiteId;
using wicprof::StrategyId;
using wicprof::TimeNs;
using wicprof::WantedWait;

namespace {

constexpr std::uint32_t kRecordsAnSm = 4096;
constexpr std::uint32_t kSampledRecordsAnSm = 256;  // without a trace, for `auto`; what finds no room is missed
constexpr std::uint32_t kWatchSlots = 1024;
// Clock readings come close together at first, then ever more rarely: how far two clocks drift apart is known the
// better the longer they have been compared.
constexpr TimeNs kFirstClockInterval = 10 * wicprof::kMillisecond;
constexpr TimeNs kLastClockInterval = 500 * wicprof::kMillisecond;
constexpr TimeNs kFirstClockTimeout = 2 * wicprof::kSecond;
constexpr TimeNs kControlTimeout = 200 * wicprof::kMillisecond;
constexpr auto kDrainInterval = std::chrono::milliseconds(1);
constexpr auto kSampleDrainInterval = std::chrono::milliseconds(10);

// Many readers of one line wait for each other on a GPU; on the CPU device every line is one more store to make.
std::uint32_t watch_lines(wicprof::DeviceKind kind) { return kind == wicprof::DeviceKind::cuda ? kMaxWatchLines : 2; }

std::uint32_t this_thread() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

// One device with what the backend keeps in its memory.
struct Member {
  std::unique_ptr<Device> device;
  Array<StrategyWord> strategies;
  Array<SiteMemory> sites;
  Array<WatchSlot> watch;
  Array<StewardLine> steward;
  Array<ControlPage> control;
  Array<RingHead> heads;
  Array<DeviceRecord> records;
  std::optional<RecordDrain> drain;
  std::uint64_t reported_lost = 0;
};

// `records_an_sm`: 0 = no records.
Result<Member> make_member(std::unique_ptr<Device> device, std::uint32_t records_an_sm) {
  Member m;
  const std::uint32_t sms = device->properties().sm_count;
  auto strategies = Array<StrategyWord>::make(*device, kMaxSites, Memory::device);
  if (!strategies) return strategies.error();
  auto sites = Array<SiteMemory>::make(*device, kMaxSites, Memory::device);
  if (!sites) return sites.error();
  auto watch = Array<WatchSlot>::make(*device, kWatchSlots, Memory::device);
  if (!watch) return watch.error();
  auto steward = Array<StewardLine>::make(*device, 1, Memory::device);
  if (!steward) return steward.error();
  auto control = Array<ControlPage>::make(*device, 1, Memory::pinned_host);
  if (!control) return control.error();
  auto heads = Array<RingHead>::make(*device, sms, Memory::device);
  if (!heads) return heads.error();
  if (records_an_sm != 0) {
    auto records = Array<DeviceRecord>::make(*device, std::size_t{sms} * records_an_sm, Memory::pinned_host);
    if (!records) return records.error();
    m.records = *std::move(records);
    m.drain.emplace(m.records.data(), sms, records_an_sm);
  }
  m.strategies = *std::move(strategies);
  m.sites = *std::move(sites);
  m.watch = *std::move(watch);
  m.steward = *std::move(steward);
  m.control = *std::move(control);
  m.heads = *std::move(heads);
  m.device = std::move(device);
  return m;
}

}  // namespace

struct Runtime::State {
  explicit State(WantedWait program) : board(program) {}
  ~State();

  Result<> open(const RuntimeOptions& options);
  void attach(const char* session_path);
  void announce();
  void first_clock_readings();
  bool take_clock_reading(Member& m);
  void obey();
  void observe_if_automatic();
  void tell_choice(SiteId site, const Choice& choice);
  void tell_choices(SiteId site);
  void drain();
  void drain_records();
  void choose();
  void run_control();
  void run_drain();
  void close_rings();
  void release(SiteId site, const std::string& why);
  bool look_for_failed_devices();

  StrategyBoard board;
  std::vector<Member> members;
  std::string warning;

  wicprof::SessionMap session;
  std::unique_ptr<wicprof::EventSink> sink;  // nullptr: no session
  wicprof::RuntimeControl* place = nullptr;  // in the control block; set where there is a sink
  std::array<std::uint32_t, kMaxSites>
      control_sites{};  // the control block's numbers of our sites, 0 = none; site_mutex
  std::array<std::atomic<TimeNs>, kMaxSites> predicted{};

  std::mutex drain_mutex;
  SiteCensus census;                   // under drain_mutex
  std::uint32_t observe_one_in = 0;    // RuntimeOptions, rounded up to a power of two
  std::atomic<bool> observing{false};  // records, or a sample of them, go to the census
  std::uint32_t records_an_sm = 0;
  std::mutex site_mutex;

  // Control: the last state of the control block that was obeyed.
  std::uint32_t obeyed_sequence = 0;
  std::array<std::uint32_t, kMaxSites> obeyed_sites{};

  std::atomic<bool> stop{false};
  std::mutex stop_mutex;
  std::condition_variable stopping;
  std::thread control_thread;
  std::thread drain_thread;
  ProducerWatch producers{[this] { return look_for_failed_devices(); }};  // last: its thread ends first
};

Result<> Runtime::State::open(const RuntimeOptions& options) {
  Result<std::vector<std::unique_ptr<Device>>> devices = open_devices(options.devices);
  if (!devices) return devices.error();
  const char* path = std::getenv(wicprof::kSessionVariable);
  if (path != nullptr && *path != '\0' && options.record) attach(path);
  observe_one_in = options.observe_one_in == 0 ? 0 : std::bit_ceil(std::min(options.observe_one_in, 1u << 20));
  // Memory is set aside even if no site is on `auto` yet: setting it aside later could wait for kernels that run.
  records_an_sm = sink != nullptr ? kRecordsAnSm : observe_one_in != 0 ? kSampledRecordsAnSm : 0;
  for (std::unique_ptr<Device>& device : *devices) {
    Result<Member> member = make_member(std::move(device), records_an_sm);
    if (!member) return member.error();
    if (member->device->properties().lazy_loading) {
      warning =
          "CUDA loads kernels lazily here (it was in use before, or CUDA_MODULE_LOADING says so): the first launch of "
          "one can wait for those that run, a deadlock where they wait for it; set CUDA_MODULE_LOADING=EAGER";
    }
    members.push_back(*std::move(member));
    board.add_device(*members.back().device, members.back().strategies.data(), members.back().control.data());
  }
  if (sink == nullptr) {
    observe_if_automatic();
    return wicprof::ok();
  }
  observing = observe_one_in != 0;
  announce();
  first_clock_readings();
  wicprof::ControlBlock& control = session.control();
  obeyed_sequence = control.sequence.load(std::memory_order_acquire);
  if (const std::uint32_t wanted = control.wanted.load(std::memory_order_relaxed); wanted != WantedWait::kNothing) {
    if (Result<> set = board.want(0, WantedWait::unpack(wanted)); !set) return set;
  } else {
    control.own.store(board.wanted(0).pack(), std::memory_order_relaxed);  // what `sessions` shows
  }
  place = wicprof::join_runtime(control, &session.header(), obeyed_sequence);
  if (place == nullptr) {
    warning = "the session has " + std::to_string(wicprof::kMaxRuntimes) +
              " wic runtimes already; toggles do not reach this one";
  }
  if (place != nullptr) control_thread = std::thread([this] { run_control(); });
  drain_thread = std::thread([this] { run_drain(); });
  return wicprof::ok();
}

void Runtime::State::attach(const char* session_path) {
  Result<wicprof::SessionMap> map = wicprof::SessionMap::attach(session_path);
  if (!map) {
    warning = map.error().message;
    return;
  }
  wicprof::RingHeader* const ring = map->claim_ring();
  if (ring == nullptr) {
    warning = "all rings of the session are taken; nothing of this process is recorded";
    return;
  }
  session = *std::move(map);
  sink = std::make_unique<wicprof::EventSink>(ring);
  wicprof::tell_process(*sink);
}

void Runtime::State::announce() {
  for (const wicprof::StrategyName& strategy : wicprof::kStrategies) {
    auto e = make_event<wicprof::StrategyEvent>();
    e.strategy = static_cast<std::uint32_t>(strategy.id);
    e.name = sink->text(strategy.name);
    sink->write(e);
  }
  for (const Member& m : members) {
    const DeviceProperties& p = m.device->properties();
    auto e = make_event<wicprof::DeviceEvent>();
    e.device = p.id;
    e.name = sink->text(p.name);
    e.memory_bytes = p.memory_bytes;
    e.sm_count = p.sm_count;
    e.compute_major = p.compute_major;
    e.compute_minor = p.compute_minor;
    e.kind = p.kind;
    e.host_native_atomics = p.host_native_atomics ? 1 : 0;
    e.uuid = sink->text(p.uuid);
    e.max_threads_per_sm = p.max_threads_per_sm;
    e.max_blocks_per_sm = p.max_blocks_per_sm;
    e.registers_per_sm = p.registers_per_sm;
    e.shared_bytes_per_sm = p.shared_bytes_per_sm;
    e.reserved_shared_bytes_per_block = p.reserved_shared_bytes_per_block;
    e.clock_khz = p.clock_khz;
    sink->write(e);
  }
}

// Without one reading no device time can be placed, so the start waits for it.
void Runtime::State::first_clock_readings() {
  for (Member& m : members) {
    m.device->request_clock_reading();
    const TimeNs end = wicprof::now_ns() + kFirstClockTimeout;
    while (!take_clock_reading(m)) {
      if (wicprof::now_ns() > end) {
        warning =
            "the clock of " + m.device->properties().name + " could not be read; its waits cannot be placed in time";
        break;
      }
      std::this_thread::yield();
    }
  }
}

bool Runtime::State::take_clock_reading(Member& m) {
  const std::optional<ClockReading> reading = m.device->take_clock_reading();
  if (!reading) return false;
  auto e = make_event<wicprof::ClockEvent>();
  e.device = m.device->properties().id;
  e.device_ns = reading->device_ns;
  e.host_ns = reading->host_ns;
  e.error_ns = reading->error_ns;
  sink->write(e);
  return true;
}

// Brings the program to the state that the control block asks for, and tells the trace about each change.
void Runtime::State::obey() {
  wicprof::ControlBlock& control = session.control();
  const std::uint32_t sequence = control.sequence.load(std::memory_order_acquire);
  if (sequence == obeyed_sequence) return;
  const TimeNs requested = control.requested_ns.load(std::memory_order_relaxed);

  const auto change = [&](SiteId site, std::uint32_t wanted_word) {
    const WantedWait old = board.wanted(site);
    const WantedWait wanted = WantedWait::unpack(wanted_word);
    if (Result<> done = board.want(site, wanted); !done) {
      sink->loss(wicprof::LossSource::device_ring, 0, "a toggle failed: " + done.error().message);
      return;
    }
    if (site != 0 && old.pack() == wanted.pack()) return;  // it came with that, from a request that was there before it
    auto e = make_event<wicprof::InterventionEvent>();
    e.site = site;
    e.sequence = sequence;
    e.old_strategy = static_cast<std::uint32_t>(old.strategy);
    e.new_strategy = static_cast<std::uint32_t>(wanted.strategy);
    e.old_mode = static_cast<std::uint8_t>(old.mode);
    e.new_mode = static_cast<std::uint8_t>(wanted.mode);
    e.requested_ns = requested;
    e.effective_ns = wicprof::now_ns();
    sink->write(e);
    if (wanted.strategy == StrategyId::automatic) tell_choices(site);
  };

  const std::uint32_t program = control.wanted.load(std::memory_order_relaxed);
  const auto numbers = [&] {
    const std::lock_guard lock(site_mutex);
    return control_sites;
  }();
  const auto wanted_at = [&](SiteId site) {
    return numbers[site] == 0 ? WantedWait::kNothing
                              : control.sites[numbers[site]].wanted.load(std::memory_order_relaxed);
  };
  bool site_cleared = false;
  for (SiteId site = 1; site < kMaxSites; ++site) {
    site_cleared |= obeyed_sites[site] != WantedWait::kNothing && wanted_at(site) == WantedWait::kNothing;
  }
  if (program != WantedWait::kNothing && (program != board.wanted(0).pack() || site_cleared)) {
    obeyed_sites.fill(WantedWait::kNothing);
    change(0, program);
  }
  for (SiteId site = 1; site < kMaxSites; ++site) {
    const std::uint32_t wanted = wanted_at(site);
    if (wanted == obeyed_sites[site] || wanted == WantedWait::kNothing) continue;
    obeyed_sites[site] = wanted;
    change(site, wanted);
  }
  obeyed_sequence = sequence;
  wicprof::tell_applied(control, *place, sequence);
}

void Runtime::State::run_control() {
  while (!stop.load()) {
    wicprof::futex_wait(session.control().sequence, obeyed_sequence, kControlTimeout);
    obey();
  }
}

// Without a session a thread is needed only while somebody is on `auto`; once started it stays.
void Runtime::State::observe_if_automatic() {
  const std::lock_guard lock(drain_mutex);
  if (observe_one_in == 0 || observing || !board.any_automatic()) return;
  observing = true;
  drain_thread = std::thread([this] { run_drain(); });
}

void Runtime::State::tell_choice(SiteId site, const Choice& choice) {
  if (sink == nullptr) return;
  auto e = make_event<wicprof::ChoiceEvent>();
  e.site = site;
  e.strategy = static_cast<std::uint32_t>(choice.strategy);
  e.at_ns = wicprof::now_ns();
  e.reason = sink->text(choice.reason);
  e.waiters_a_word = choice.seen.waiters_a_word;
  e.words = choice.seen.words;
  e.waits = choice.seen.waits;
  e.median_wait_ns = choice.seen.waits == 0 ? -1 : choice.seen.median_ns;
  e.look_ns = choice.seen.look_ns.value_or(-1);
  sink->write(e);
}

// What `auto` stands for at a site that has just been put on it, or at every site (0).
void Runtime::State::tell_choices(SiteId site) {
  const SiteId first = site == 0 ? 1 : site;
  const SiteId last = site == 0 ? board.site_count() : site;
  for (SiteId id = first; id <= last; ++id) tell_choice(id, board.choice(id));
}

void Runtime::State::drain() {
  const std::lock_guard lock(drain_mutex);
  drain_records();
  if (observing) choose();
}

void Runtime::State::drain_records() {
  const TimeNs now = wicprof::now_ns();
  for (Member& m : members) {
    if (!m.drain) continue;
    const DeviceId id = m.device->properties().id;
    m.drain->drain([&](const DeviceRecord& record) {
      if (record_kind(record) == wicprof::EventKind::signal && sink != nullptr) sink->write(signal_event(record, id));
      if (record_kind(record) != wicprof::EventKind::wait) return;
      const wicprof::WaitEvent wait = wait_event(record, id);
      if (sink != nullptr) sink->write(wait);
      if (observing) census.add(wait, now);
    });
    if (sink == nullptr) continue;  // a sample that is not whole is none the worse
    if (m.drain->lost() == m.reported_lost) continue;
    sink->loss(wicprof::LossSource::device_ring, m.drain->lost() - m.reported_lost, "overwritten before they were read",
               id);
    m.reported_lost = m.drain->lost();
  }
}

// Puts another strategy where what was seen speaks for it.
void Runtime::State::choose() {
  const TimeNs now = wicprof::now_ns();
  const SiteId sites = board.site_count();
  for (SiteId site = 1; site <= sites; ++site) {
    const std::optional<SiteObservation> seen = census.take(site, now);
    if (!seen) continue;
    const Result<std::optional<Choice>> choice = board.see(site, *seen);
    if (choice && *choice) tell_choice(site, **choice);
    if (!choice && sink != nullptr) {
      sink->loss(wicprof::LossSource::device_ring, 0, "a choice of auto failed: " + choice.error().message);
    }
  }
}

void Runtime::State::run_drain() {
  const auto interval = sink != nullptr ? kDrainInterval : kSampleDrainInterval;
  TimeNs clock_interval = kFirstClockInterval;
  TimeNs next_clock = wicprof::now_ns() + clock_interval;
  std::unique_lock lock(stop_mutex);
  while (!stop.load()) {
    stopping.wait_for(lock, interval);
    drain();
    if (sink == nullptr) continue;  // times need no place on the host's clock
    for (Member& m : members) take_clock_reading(m);
    if (wicprof::now_ns() < next_clock) continue;
    for (Member& m : members) m.device->request_clock_reading();
    clock_interval = std::min(2 * clock_interval, kLastClockInterval);
    next_clock = wicprof::now_ns() + clock_interval;
  }
}

// The last records, and an account of those that never came.
void Runtime::State::close_rings() {
  drain();
  for (Member& m : members) {
    const std::size_t sms = m.heads.size();
    std::vector<RingHead> heads(sms);
    const std::size_t words = sms * sizeof(RingHead) / sizeof(std::uint32_t);
    if (Result<> done = m.device->read_live(&heads[0].next, &m.heads.data()->next, words); !done) {
      sink->loss(wicprof::LossSource::device_ring, 1,
                 "how many records were never finished is not known: " + done.error().message,
                 m.device->properties().id);
      continue;
    }
    std::vector<std::uint32_t> claimed(sms);
    for (std::size_t i = 0; i < sms; ++i) claimed[i] = heads[i].next;
    const std::lock_guard lock(drain_mutex);
    m.drain->close(claimed);
  }
  drain();
}

// The waiters of a producer that is gone are let go; the trace learns why.
void Runtime::State::release(SiteId site, const std::string& why) {
  const Result<> released = board.set_lost(site, true);
  if (sink == nullptr) return;
  sink->loss(wicprof::LossSource::device_ring, 0,
             "the waiters of site " + std::to_string(site) + " were released, their producer being gone: " + why +
                 (released ? "" : "; " + released.error().message));
}

bool Runtime::State::look_for_failed_devices() {
  bool asks_on = false;
  for (const Member& m : members) {
    const std::vector<SiteId> fed = board.sites_fed_by(m.device->properties().id);
    if (fed.empty()) continue;
    if (!m.device->failed()) {
      asks_on = true;
      continue;
    }
    for (const SiteId site : fed) release(site, m.device->properties().name + " has failed");
  }
  return asks_on;
}

Runtime::State::~State() {
  stop = true;
  { const std::lock_guard lock(stop_mutex); }
  stopping.notify_all();
  if (sink != nullptr) wicprof::futex_wake_all(session.control().sequence);
  if (control_thread.joinable()) control_thread.join();
  if (drain_thread.joinable()) drain_thread.join();
  if (sink == nullptr) return;
  close_rings();
  if (place != nullptr) wicprof::leave_runtime(session.control(), *place);
}

Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::create(const RuntimeOptions& options) {
  auto state = std::make_unique<State>(WantedWait{options.mode, wicprof::default_strategy(options.mode)});
  if (Result<> opened = state->open(options); !opened) return opened.error();
  return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

std::size_t Runtime::device_count() const { return state_->members.size(); }
Device& Runtime::device(std::size_t index) const { return *state_->members[index].device; }
const std::string& Runtime::warning() const { return state_->warning; }
bool Runtime::recording() const { return state_->sink != nullptr; }

DeviceView Runtime::view(std::size_t index) const {
  const Member& m = state_->members[index];
  DeviceView view;
  view.strategies = m.strategies.data();
  view.sites = m.sites.data();
  view.watch = {m.watch.data(), kWatchSlots, watch_lines(m.device->properties().kind)};
  view.steward = m.steward.data();
  view.control = m.control.data();
  view.hot = state_->board.hot_sites();
  view.ring_heads = m.heads.data();
  const bool sampled = state_->observing && state_->board.any_automatic();
  if (state_->sink != nullptr || sampled) view.records = m.records.data();
  view.ring_capacity = state_->records_an_sm;
  view.record_sample_mask = state_->sink != nullptr || state_->observe_one_in == 0 ? 0 : state_->observe_one_in - 1;
  view.sm_count = m.device->properties().sm_count;
  return view;
}

Site Runtime::site(SiteId id, std::uint64_t timeout_ns, std::size_t device) const {
  return {view(device), id, timeout_ns};
}

Result<SiteId> Runtime::add_site(const SiteSpec& spec) {
  const std::lock_guard lock(state_->site_mutex);
  Result<SiteId> site = state_->board.add_site(spec);
  if (site && spec.producer) state_->producers.start_asking();
  if (!site || state_->sink == nullptr) return site;
  auto e = make_event<wicprof::SiteEvent>();
  e.site = *site;
  e.name = state_->sink->text(spec.name);
  e.word_memory = spec.word_memory;
  e.pollers = spec.pollers;
  e.words = spec.shared_word ? 1 : 0;
  e.purpose = spec.purpose;
  e.releasing = spec.releasing;
  e.waiting = spec.waiting;
  state_->sink->write(e);
  if (state_->board.wanted(*site).strategy == StrategyId::automatic) {
    state_->tell_choice(*site, state_->board.choice(*site));
  }
  // Several processes may name the same sites: the control block goes by names, and has numbers of its own.
  wicprof::ControlBlock& control = state_->session.control();
  const std::uint32_t number = wicprof::register_site(control, spec.name.c_str());
  state_->control_sites[*site] = number;
  // Another process may have had that site before, and a toggle may have been asked for there.
  const std::uint32_t wanted =
      number == 0 ? WantedWait::kNothing : control.sites[number].wanted.load(std::memory_order_relaxed);
  if (wanted != WantedWait::kNothing) (void)state_->board.want(*site, WantedWait::unpack(wanted));
  return site;
}

Result<> Runtime::release_waiters(SiteId site) { return state_->board.set_lost(site, true); }
Result<> Runtime::readmit(SiteId site) {
  Result<> done = state_->board.set_lost(site, false);
  state_->producers.start_asking();
  return done;
}
Result<> Runtime::watch_producer(SiteId site, int pid) {
  return state_->producers.add_process(pid,
                                       [state = state_.get(), site] { state->release(site, "its process has ended"); });
}

Result<> Runtime::set_wait(SiteId site, WantedWait wanted) {
  if (site > state_->board.site_count()) return bad_input("there is no wait site number " + std::to_string(site));
  if (Result<> possible = state_->board.refusal(site, wanted); !possible) return possible;
  if (state_->sink == nullptr) {
    Result<> done = state_->board.want(site, wanted);
    state_->observe_if_automatic();
    return done;
  }
  const auto number = [&]() -> std::uint32_t {
    const std::lock_guard lock(state_->site_mutex);
    return state_->control_sites[site];
  }();
  wicprof::ControlBlock& control = state_->session.control();
  if (state_->place == nullptr || (site != 0 && number == 0)) {
    return wicprof::unavailable("the session has no room for this runtime's toggles: too many runtimes or sites in it");
  }
  const std::uint32_t sequence = wicprof::request_wait(control, number, wanted);
  if (!wicprof::wait_applied_by(control, *state_->place, sequence, wicprof::kSecond)) {
    return wicprof::unavailable("the change of strategy was not applied within a second");
  }
  if (state_->board.wanted(site).pack() != wanted.pack()) {
    return wicprof::unavailable(
        "the change of strategy could not be carried out; the trace says why, in its table of losses");
  }
  return wicprof::ok();
}

StrategyId Runtime::strategy(SiteId site) const { return state_->board.strategy(site); }
wicprof::Mode Runtime::mode(SiteId site) const { return state_->board.wanted(site).mode; }
std::string Runtime::strategy_reason(SiteId site) const { return state_->board.choice(site).reason; }

void Runtime::signal(SiteId site, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
                     const Payload& payload) {
  const TimeNs at = wicprof::now_ns();
  std::atomic_ref(*word).store(value, std::memory_order_release);
  record_signal(site, iteration, word, at, value, payload);
}

WaitResult Runtime::wait_until(SiteId site, std::uint32_t iteration, const std::uint32_t* word, AtLeast condition,
                               TimeNs timeout) {
  std::atomic<TimeNs>& predicted = state_->predicted[site];
  const TimeNs known = predicted.load(std::memory_order_relaxed);
  const TimeNs begin = wicprof::now_ns();
  const TimeNs cpu_begin = wicprof::thread_cpu_ns();
  const HostWaitResult wait = host_wait(word, condition, timeout, known, [&] { return state_->board.strategy(site); });
  const TimeNs end = wicprof::now_ns();
  if (wait.result.status == wicprof::WaitStatus::satisfied) {  // a deadline says nothing about the next wait
    predicted.store(known == 0 ? end - begin : known + (end - begin - known) / 4, std::memory_order_relaxed);
  }
  if (state_->sink != nullptr) {
    record_wait(site, iteration, word, begin, end, wicprof::thread_cpu_ns() - cpu_begin, wait.polls,
                wait.result.status);
  }
  return wait.result;
}

void Runtime::record_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin, TimeNs end,
                          TimeNs cpu_ns, std::uint32_t polls, wicprof::WaitStatus status) {
  if (state_->sink == nullptr) return;
  auto e = make_event<wicprof::HostWaitEvent>();
  e.site = site;
  e.thread = this_thread();
  e.iteration = iteration;
  e.begin_ns = begin;
  e.end_ns = end;
  e.cpu_ns = cpu_ns;
  e.polls = polls;
  e.status = status;
  e.word_tag = word_tag(word);
  e.involuntary_switches = wicprof::HostWaitEvent::kUnknownSwitches;
  e.run_delay_ns = -1;
  state_->sink->write(e);
}

void Runtime::record_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at,
                            std::uint32_t value, const Payload& payload) {
  if (state_->sink == nullptr) return;
  auto e = make_event<wicprof::SignalEvent>();
  e.site = site;
  e.device = wicprof::kHostDevice;
  e.block = this_thread();
  e.iteration = iteration;
  e.value = value;
  e.at_ns = static_cast<std::uint64_t>(at);
  e.word_tag = word_tag(word);
  e.offset = payload.offset;
  e.span = payload.span;
  e.bytes = payload.bytes;
  e.pieces = payload.pieces;
  e.regular = payload.regular ? 1 : 0;
  state_->sink->write(e);
}

void Runtime::drain() {
  if (state_->sink != nullptr || state_->observing) state_->drain();
}

}  // namespace wic
