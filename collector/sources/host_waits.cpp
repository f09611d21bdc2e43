// Host threads that wait in a synchronizing call, including synchronous copies. Uses callbacks rather than records,
// because only the waiting thread can read its CPU time, which separates spinning waits from sleeping ones, and its
// scheduling delay; and because only that thread can wait in the call's place, once a toggle asks for that.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "collector/cupti/call_names.h"
#include "collector/program/caller.h"
#include "collector/program/python_frames.h"
#include "collector/program/short_slices.h"
#include "collector/program/time_slice.h"
#include "collector/sources/list.h"
#include "collector/waits/cpu_meter.h"
#include "collector/waits/host_control.h"
#include "collector/waits/open_kernels.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/parking.h"
#include "collector/waits/plain_events.h"
#include "collector/waits/predictor.h"
#include "collector/waits/range_names.h"
#include "collector/waits/short_waits.h"
#include "collector/waits/wait_sites.h"
#include "protocol/events/choice.h"
#include "protocol/events/host_wait.h"
#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

struct WaitingCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  Awaited awaited;
  /// A call of the runtime that waits in the driver's call for the same. Its own callbacks are disabled once the
  /// driver's have shown that they suffice: they would double what a wait costs.
  bool in_driver() const { return domain == CUPTI_CB_DOMAIN_RUNTIME_API && awaited != Awaited::copy; }
  /// A call of the driver that may be made by such a call of the runtime.
  bool by_runtime() const { return domain == CUPTI_CB_DOMAIN_DRIVER_API && awaited != Awaited::copy; }
};

constexpr auto kRuntimeCall = CUPTI_CB_DOMAIN_RUNTIME_API;
constexpr auto kDriverCall = CUPTI_CB_DOMAIN_DRIVER_API;

constexpr WaitingCall kWaitingCalls[] = {
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, Awaited::device},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020, Awaited::device},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, Awaited::stream},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, Awaited::stream},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, Awaited::event},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, Awaited::stream},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, Awaited::stream},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, Awaited::event},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, Awaited::copy},
};

/// Numbers of waiting calls by their callbacks' ids, since every call looks its number up four times.
constexpr std::uint8_t kNoNumber = std::numeric_limits<std::uint8_t>::max();
template <std::size_t kIds>
constexpr std::array<std::uint8_t, kIds> numbers_of(CUpti_CallbackDomain domain) {
  std::array<std::uint8_t, kIds> numbers{};
  numbers.fill(kNoNumber);
  for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
    if (kWaitingCalls[i].domain == domain) numbers[kWaitingCalls[i].id] = static_cast<std::uint8_t>(i);
  }
  return numbers;
}
constexpr auto kRuntimeNumbers = numbers_of<CUPTI_RUNTIME_TRACE_CBID_SIZE>(kRuntimeCall);
constexpr auto kDriverNumbers = numbers_of<CUPTI_DRIVER_TRACE_CBID_SIZE>(kDriverCall);

/// A waiting call's number; kNoNumber for another call.
std::uint8_t number_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == kRuntimeCall) return id < kRuntimeNumbers.size() ? kRuntimeNumbers[id] : kNoNumber;
  return domain == kDriverCall && id < kDriverNumbers.size() ? kDriverNumbers[id] : kNoNumber;
}

/// What the driver is about to wait for; nothing where wic-prof cannot wait in its place. A copy to the device does not
/// wait for earlier work, and one between host and device of managed memory need not.
std::optional<Awaitable> awaitable_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params) {
  if (domain != kDriverCall) return std::nullopt;
  const auto stream_of = [](CUstream stream, CUstream default_stream) {
    return stream == nullptr ? default_stream : stream;
  };
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz: {
      if (params == nullptr) return std::nullopt;
      const bool per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz;
      const CUstream stream = static_cast<const cuStreamSynchronize_params*>(params)->hStream;
      return Awaitable{Awaited::stream, stream_of(stream, per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY)};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize:
      if (params == nullptr) return std::nullopt;
      return Awaitable{Awaited::event, nullptr, static_cast<const cuEventSynchronize_params*>(params)->hEvent};
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize:
      return Awaitable{Awaited::device};
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2:
      if (params == nullptr) return std::nullopt;
      return Awaitable{Awaited::device, nullptr, nullptr, static_cast<const cuCtxSynchronize_v2_params*>(params)->ctx};
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2:
      return Awaitable{Awaited::copy, CU_STREAM_LEGACY};
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds:
      return Awaitable{Awaited::copy, CU_STREAM_PER_THREAD};
    default:
      return std::nullopt;
  }
}

/// Launches, from which `hybrid` knows for what work a thread waits. Enabled while `hybrid` is in force and a wait is
/// uncertain without them: short kernels took 3 us longer with these callbacks on an H200.
constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

bool is_launch(CUpti_CallbackId id) {
  return std::find(std::begin(kLaunches), std::end(kLaunches), id) != std::end(kLaunches);
}

void add_launch(AwaitedWork& work, CUpti_CallbackId id, const void* params) {
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz) {
    const auto& p = *static_cast<const cuLaunchKernel_params*>(params);
    work.add(p.f, {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ}, now_ns());
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz) {
    work.add(static_cast<const cuGraphLaunch_ptsz_params*>(params)->hGraphExec, {}, now_ns());
  } else {
    const auto& p = *static_cast<const cuLaunchKernelEx_params*>(params);
    const CUlaunchConfig& c = *p.config;
    work.add(p.f, {c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY, c.blockDimZ}, now_ns());
  }
}

// Which events of the program block: seen from their creation on.
constexpr CUpti_CallbackId kEventCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventDestroy,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2};

// The calling thread's current wait. Runtime calls contain driver calls; only the outermost call is a wait.
struct ThreadWait {
  int depth = 0;
  TimeNs begin = 0;
  PlaceOfWait place;
  std::uint8_t outer = kNoNumber;   // the outermost call
  std::uint8_t number = kNoNumber;  // the call whose name the wait has
  std::uint32_t correlation = 0;
  const void* from = nullptr;  // where the program makes it; nullptr: not looked up
  // Of waiting in the call's place.
  StrategyId strategy = StrategyId::poll;
  std::uint32_t polls = 0, naps = 0;
  std::optional<Forecast> forecast;
  HybridWay way = HybridWay::learning;
  bool learns = true;  // `hybrid`, from this wait
};

// A wait that ended, from which `hybrid` has not learned yet.
struct PastWait {
  ThreadWait wait;
  TimeNs end = 0;
  AwaitedWork work;
  TimeNs run_delay = -1;
};

// What `hybrid` knows on one thread. Outlives the wait.
struct Experience {
  AwaitedWork work;  // launched since the last wait
  Predictor predictor;
  SleepLateness sleeps;
  Contention contention;
  TimeNs computing = 0;  // between waits, recently
  std::optional<PastWait> past;
  // Of the waits that decide about watching launches.
  std::uint32_t judged = 0, uncertain = 0;
  // The last place whose waits are too short to sleep in, and how many more waits there need no new forecast.
  SiteId short_place = 0;
  std::uint32_t short_waits = 0;
  Forecast short_forecast;
};

constexpr TimeNs kRecentComputing = 8;  // waits, about

/// Of so many waits at a place whose waits are too short to sleep in, one asks for a forecast and is learned from,
/// which takes a microsecond; a wait that is longer than expected ends that. Not calibrated.
constexpr std::uint32_t kShortWaits = 16;

// The path by which the thread came to its last wait in a call of the driver: most waits follow one on the same path.
struct LastPath {
  std::uint8_t number = kNoNumber;  // of the driver's call
  std::uint8_t call = kNoNumber;    // whose name the wait has
  const void* from = nullptr;
  bool is(std::uint8_t of, const void* address) const { return number == of && from == address; }
};

// In one block, since finding a variable of a thread costs a library that is loaded late a call.
struct ThreadState {
  ThreadWait wait;
  ThreadsPlaces places;
  LastPath last_path;
  OpenCall shown;                         // the wait, as the session's table of open calls has it
  std::uint8_t shown_number = kNoNumber;  // of the call whose name `shown` has
  bool shown_whole = false;               // the table's entry differs from `shown` in its begin alone
  OwnOpenCall& open_call = OwnOpenCall::of_thread();
  std::uint64_t context = 0;  // in which it waits
  CpuMeter cpu_meter;
  TimeSlice time_slice;
  Experience* experience = nullptr;  // once it has waited by wic-prof's strategies
  Caller caller;
  PythonFrames::Cache python;
  bool calling_driver = false;  // our own calls of the driver are not the program's
  std::uint32_t id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  ShortWaits* short_waits = ShortWaitsOfThreads::of_process().claim();

  ~ThreadState() {
    ShortWaitsOfThreads::of_process().give_back(short_waits);
    // The thread's last calls may come after this. Without volatile, the compiler removes the store.
    *const_cast<ShortWaits* volatile*>(&short_waits) = nullptr;
  }
};
ThreadState& state_of_thread() {
  thread_local ThreadState state;
  return state;
}
/// By a pointer: with the state itself, the compiler would ask for the variable's address at each use, 25 times a wait.
ThreadState& of_thread() {
  thread_local ThreadState* found = nullptr;
  if (found == nullptr) found = &state_of_thread();
  return *found;
}

struct CallingDriver {
  explicit CallingDriver(ThreadState& thread) : thread_(thread) { thread_.calling_driver = true; }
  ~CallingDriver() { thread_.calling_driver = false; }
  CallingDriver(const CallingDriver&) = delete;
  CallingDriver& operator=(const CallingDriver&) = delete;

 private:
  ThreadState& thread_;
};
static_assert(std::size(kWaitingCalls) <= Caller::kCalls);
static_assert(WaitSites::kMost < CpuMeter::kPlaces);

Experience& experience() {
  thread_local Experience of_thread;
  return of_thread;
}

// Sleeps on the word that a toggle wakes.
class WaitingHere final : public Waiting {
 public:
  WaitingHere(const HostControl& control, std::uint32_t site, SleepLateness& sleeps)
      : control_(control), site_(site), sleeps_(sleeps) {}
  StrategyId wanted() override {
    sequence_ = control_.sequence();  // before the question, so that no change is missed
    return control_.wanted(site_);
  }
  void sleep(TimeNs time) override {
    if (!exact_) exact_.emplace();
    const TimeNs begin = now_ns();
    control_.sleep(sequence_, time);
    const TimeNs late = now_ns() - begin - time;
    if (late >= 0) sleeps_.sleep_ended(late, control_.costs().late);
  }
  TimeNs now() override { return now_ns(); }

 private:
  const HostControl& control_;
  std::uint32_t site_;
  SleepLateness& sleeps_;
  std::uint32_t sequence_ = 0;
  std::optional<ExactSleeps> exact_;
};

/// Earlier waits at a place before it counts as uncertain: twice as many as its first guess takes to fade. After as
/// many waits of a thread at such places it is decided whether the launches are watched. Not calibrated.
constexpr std::uint32_t kWaitsToJudge = 32;
/// Below one uncertain wait in so many, watching every launch costs more than it saves. Not calibrated.
constexpr std::uint32_t kFewUncertain = 8;
/// Watching launches adds less than one percent to waits longer than this: short kernels took 3 us longer on an H200.
constexpr TimeNs kWorthWatching = 300 * kMicrosecond;

class HostWaits final : public Source {
 public:
  HostWaits(ControlBlock* control, OpenWork* work)
      : Source("host_waits", {}), sites_(control), control_(control, sites_), work_(work) {}

  Result<> prepare(const Cupti& cupti) override {
    // Always on, since an event may be created long before a toggle asks for its flags.
    for (const CUpti_CallbackId id : kEventCalls) cupti.api.enable_callback(1, cupti.subscriber, kDriverCall, id);
    // So are ranges: a thread may enter one before recording starts.
    for (const CUpti_CallbackId id : RangeNames::callbacks())
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_NVTX, id);
    control_.on_hybrid([this, cupti](bool on) {
      // The source `launches` needs these callbacks for itself.
      if (!on && work_ != nullptr && work_->watches_launches.load(std::memory_order_relaxed) != 0) return;
      for (const CUpti_CallbackId id : kLaunches)
        cupti.api.enable_callback(on ? 1 : 0, cupti.subscriber, kDriverCall, id);
    });
    return ok();
  }

  Result<> enable(const Cupti& cupti) override {
    std::string missing;
    for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
      const auto [domain, id, awaited] = kWaitingCalls[i];
      if (watch_[i] == Watch::not_needed) continue;
      names_[i] = call_name(cupti.api, domain, id);
      const std::string what = "cuptiEnableCallback(" + names_[i] + ")";
      Result<> enabled = cupti_call(cupti.api, what, cupti.api.enable_callback(1, cupti.subscriber, domain, id));
      if (!enabled && missing.empty()) missing = enabled.error().message;
    }
    cupti_ = reinterpret_cast<const void*>(cupti.api.activity_flush_all);
    if (work_ != nullptr) work_->watches_calls.store(1, std::memory_order_relaxed);
    subscriber_ = cupti.subscriber;
    enabled_ = &cupti.api;
    return missing.empty() ? ok() : unavailable(missing);
  }

  void disable(const Cupti& cupti) override {
    enabled_ = nullptr;
    for (const auto [domain, id, awaited] : kWaitingCalls) cupti.api.enable_callback(0, cupti.subscriber, domain, id);
  }

  bool wants_callbacks() const override { return true; }

  // Not inlined, so that its frame lies at one place of each path to it (collector/program/caller.h).
  __attribute__((noinline)) void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                          const CUpti_CallbackData& data, EventSink& sink) override {
    ThreadState& thread = of_thread();
    if (thread.calling_driver) return;
    const std::uint8_t number = number_of(domain, id);
    if (number == kNoNumber) return note(domain, id, data);
    ThreadWait& wait = thread.wait;
    if (data.callbackSite == CUPTI_API_ENTER) {
      // The end of the outer call came without a callback, which has been disabled meanwhile.
      if (wait.depth > 0 && data.correlationId != wait.correlation && ids_nest_.load(std::memory_order_relaxed))
        wait.depth = 0;
      if (wait.depth++ == 0) {
        wait.outer = number;
        wait.correlation = data.correlationId;
        begin(thread, place(thread, number, __builtin_frame_address(0), sink), sink);
      } else if (kWaitingCalls[wait.outer].in_driver() && watch_[wait.outer] == Watch::asked) {
        prove(thread, number, __builtin_frame_address(0), data.correlationId);
      }
      const std::optional<Awaitable> what = awaitable_of(domain, id, data.functionParams);
      if (work_ != nullptr) show(thread, number, what, data);
      if (what) park_here(thread, *what, sink);
      return;
    }
    if (wait.depth == 0) return;  // entered before the callbacks were enabled
    if (--wait.depth > 0 && watch_[wait.outer].load(std::memory_order_relaxed) == Watch::asked) return;
    wait.depth = 0;
    thread.open_call.end();
    note_end(thread, data);
    end(thread, sink);
  }

  /// Disables callbacks of the runtime that are not needed, two ticks after that has been found, so that no call is in
  /// progress then; enables them again where they are needed after all.
  void tick(EventBatch& batch) override {
    ticks_.store(true, std::memory_order_relaxed);
    ShortSlices::of_process().mend();
    ShortWaitsOfThreads::of_process().each([&](ShortWaits& waits) {
      waits.pass_on([&](std::span<const HostWaitEvent> events) {
        for (const HostWaitEvent& event : events) batch.write(event);
      });
    });
    const CuptiApi* const api = enabled_;
    if (api == nullptr) return;
    for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
      Watch watch = watch_[i];
      if (runtime_needed_ && watch != Watch::asked) {
        if (watch == Watch::not_needed)
          api->enable_callback(1, subscriber_, kWaitingCalls[i].domain, kWaitingCalls[i].id);
        watch_[i] = Watch::asked;
      } else if (watch == Watch::proven) {
        watch_[i] = Watch::settling;
      } else if (watch == Watch::settling) {
        watch_[i] = Watch::not_needed;
        api->enable_callback(0, subscriber_, kWaitingCalls[i].domain, kWaitingCalls[i].id);
      }
    }
  }

  void finish(EventSink& sink) override {
    ticks_ = false;
    ShortWaitsOfThreads::of_process().each([&](ShortWaits& waits) { waits.pass_to(sink); });
    control_.stop();
  }

 private:
  /// Whether callbacks of a call of the runtime are needed beside those of the driver.
  enum class Watch : std::uint8_t { asked, proven, settling, not_needed };

  /// Within a call of the runtime, in that of the driver: whether the latter's callback alone knows which call of the
  /// runtime it is in.
  void prove(ThreadState& thread, std::uint8_t number, const void* frame, std::uint32_t correlation) {
    if (!kWaitingCalls[number].by_runtime() || runtime_needed_) return;
    const bool same = correlation == thread.wait.correlation;
    if (same) thread.caller.find(cuda_call(number), frame, [](const void*) { return false; });
    if (same && thread.caller.runtime_call() == names_[thread.wait.outer]) {
      ids_nest_ = true;
      watch_[thread.wait.outer] = Watch::proven;
    } else if (same && thread.caller.ambiguous() && inside_[thread.wait.outer] == nullptr && learn_inside(thread)) {
      // A program without names: the next wait shows whether that is enough to know the call.
    } else {
      runtime_needed_ = true;
    }
  }

  /// Where the runtime's call, which is linked into the program, is when it calls on. False: not known.
  bool learn_inside(const ThreadState& thread) {
    const void* const inside = thread.wait.from == nullptr ? nullptr : Caller::callee_of(thread.wait.from);
    inside_[thread.wait.outer] = inside;
    return inside != nullptr;
  }

  CudaCall cuda_call(std::uint8_t number) const {
    const WaitingCall& call = kWaitingCalls[number];
    CudaCall of{number, call.domain == kRuntimeCall, names_[number], cupti_};
    if (call.by_runtime()) {
      of.runtime_calls = names_;
      of.inside = inside_;
    }
    return of;
  }

  /// Writes the call to the session's table for as long as it lasts. The driver's call within a runtime's call knows
  /// what is waited for.
  void show(ThreadState& thread, std::uint8_t number, const std::optional<Awaitable>& what,
            const CUpti_CallbackData& data) {
    OpenCall& shown = thread.shown;
    const bool outer = thread.wait.depth == 1;
    const std::uint64_t stream = what && what->kind == Awaited::stream ? handle_of(what->stream) : 0;
    const std::uint64_t handle =
        what && what->kind == Awaited::event ? reinterpret_cast<std::uint64_t>(what->event) : 0;
    const auto context = what ? reinterpret_cast<std::uint64_t>(data.context) : 0;
    const Awaited awaited = kWaitingCalls[number].awaited;
    if (outer && thread.shown_whole && thread.shown_number == thread.wait.number && shown.awaited == awaited &&
        shown.stream == stream && shown.handle == handle) {
      thread.context = context;
      shown.begin = thread.wait.begin;
      return thread.open_call.again(shown.begin);
    }
    if (outer) {
      if (thread.shown_number != thread.wait.number) {
        thread.shown_number = thread.wait.number;
        copy_name(shown.name, names_[thread.shown_number]);
      }
      shown.begin = thread.wait.begin;
      shown.stream = shown.handle = thread.context = 0;
    }
    shown.awaited = awaited;
    if (what) {
      shown.stream = stream;
      shown.handle = handle;
      thread.context = context;
    }
    thread.open_call.begin(work_, shown);
    thread.shown_whole = true;
  }

  /// After a wait for a stream or a device, what was launched there before has ended.
  void note_end(const ThreadState& thread, const CUpti_CallbackData& data) {
    const Awaited awaited = thread.shown.awaited;
    const auto* const result = static_cast<const int*>(data.functionReturnValue);
    if (work_ == nullptr || (awaited != Awaited::stream && awaited != Awaited::device)) return;
    if (result != nullptr && *result != 0) return;
    OpenKernels::of_process().waited(thread.shown.stream, thread.context, awaited == Awaited::device,
                                     thread.wait.begin);
  }

  /// 0: the default stream.
  static std::uint64_t handle_of(CUstream stream) {
    return stream == CU_STREAM_LEGACY ? 0 : reinterpret_cast<std::uint64_t>(stream);
  }

  /// Events that are created and destroyed, and launches.
  void note(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (domain != kDriverCall || data.functionParams == nullptr) return;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuEventCreate) {
      const auto& params = *static_cast<const cuEventCreate_params*>(data.functionParams);
      if (data.callbackSite == CUPTI_API_EXIT && params.phEvent != nullptr) {
        plain_events_.created(*params.phEvent, params.Flags);
      }
    } else if (id == CUPTI_DRIVER_TRACE_CBID_cuEventDestroy || id == CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2) {
      if (data.callbackSite == CUPTI_API_ENTER) {
        plain_events_.destroyed(static_cast<const cuEventDestroy_v2_params*>(data.functionParams)->hEvent);
      }
    } else if (data.callbackSite == CUPTI_API_ENTER && is_launch(id)) {
      add_launch(experience().work, id, data.functionParams);
    }
  }

  void begin(ThreadState& thread, PlaceOfWait place, EventSink& sink) {
    ThreadWait& wait = thread.wait;
    control_.begin(sink);
    wait.place = place;
    wait.strategy = StrategyId::poll;
    wait.polls = wait.naps = 0;
    wait.forecast.reset();
    wait.learns = true;
    thread.cpu_meter.begin(place.site == 0 ? 0 : place.site - WaitSites::kFirst + 1);
    wait.begin = now_ns();
  }

  void park_here(ThreadState& thread, const Awaitable& what, EventSink& sink) {
    ThreadWait& wait = thread.wait;
    const std::uint32_t site = sites_.session_number(wait.place.site);
    const StrategyId strategy = control_.wanted(site);
    if (strategy != StrategyId::hybrid) thread.time_slice.restore();
    if (strategy == StrategyId::poll) return;
    if (what.kind == Awaited::event && !plain_events_.contains(what.event)) return;
    wait.strategy = strategy;
    if (thread.experience == nullptr) thread.experience = &experience();
    Experience& known = *thread.experience;
    if (const TimeNs computing = thread.cpu_meter.between(); computing >= 0)
      known.computing += (computing - known.computing) / kRecentComputing;
    if (strategy == StrategyId::hybrid && known.short_waits > 0 && known.short_place == wait.place.site) {
      --known.short_waits;
      wait.learns = false;
      wait.strategy = strategy;
      wait.forecast = known.short_forecast;
      wait.way = HybridWay::polls;
      return;
    }
    learn_past(known, sink);
    SleepCosts costs = control_.costs();
    costs.late = known.sleeps.late(costs.late);
    costs.contended = known.contention.contended();
    // It stays short while `hybrid` is in force: the waits without a CPU that it spares say nothing about others.
    if (!TimeSlice::fits(known.computing)) {
      thread.time_slice.restore();
    } else if (strategy == StrategyId::hybrid && costs.contended) {
      thread.time_slice.shorten();
    }
    wait.forecast = known.predictor.forecast(wait.place.site, known.work, wait.begin);
    const auto plan_for = [&](StrategyId of) {
      wait.strategy = of;
      const WaitPlan plan = plan_of(of, wait.forecast, costs);
      wait.way = way_of(wait.forecast, plan);
      return plan;
    };
    if (const WaitPlan plan = plan_for(strategy); plan.to_driver && plan.sleep == 0) {
      if (wait.forecast && wait.way == HybridWay::polls && is_short(wait.forecast->left)) {
        known.short_place = wait.place.site;
        known.short_waits = kShortWaits - 1;
        known.short_forecast = *wait.forecast;
      }
      return;  // a short one: costs nothing
    }
    const CallingDriver guard(thread);
    const OwnCalls::Span own(OwnCalls::of_process(), thread.id);
    const DriverApi& driver = DriverApi::loaded();
    if (may_park(driver, what)) {
      WaitingHere waiting(control_, site, known.sleeps);
      const Parked parked = park(driver, what, strategy, plan_for, waiting, wait.begin);
      wait.polls += parked.polls;
      wait.naps += parked.naps;
      if (parked.naps > 0 && !parked.done) thread.cpu_meter.woke();
    } else {
      wait.strategy = StrategyId::poll;
      wait.forecast.reset();
    }
  }

  /// Too short to sleep in, by far.
  static bool is_short(TimeNs length) { return length < kWorthWatching / 2; }

  void end(ThreadState& thread, EventSink& sink) {
    const ThreadWait& wait = thread.wait;
    const TimeNs now = now_ns();
    ShortWaits* const kept = thread.short_waits;
    const bool keeps = now - wait.begin < CpuMeter::kTooShortToSleep && kept != nullptr && wait.polls == 0 &&
                       wait.naps == 0 && ticks_.load(std::memory_order_relaxed);
    if (keeps) {
      HostWaitEvent* place = kept->place();
      if (place == nullptr) {
        kept->pass_to(sink);
        place = kept->place();
      }
      if (place != nullptr) {
        write(thread, now, *place, sink);
        return kept->commit();
      }
    } else if (kept != nullptr && !kept->empty()) {
      kept->pass_to(sink);  // in their order
    }
    HostWaitEvent event;
    write(thread, now, event, sink);
    sink.write_or_hold(event);
  }

  /// The thread's wait, which has ended now.
  void write(ThreadState& thread, TimeNs now, HostWaitEvent& event, EventSink& sink) {
    const ThreadWait& wait = thread.wait;
    event = make_event<HostWaitEvent>();
    event.end_ns = now;
    event.begin_ns = wait.begin;
    const CpuUse use = thread.cpu_meter.end(wait.begin, event.end_ns);
    event.cpu_ns = use.cpu;
    event.involuntary_switches = use.involuntary_switches;
    event.run_delay_ns = use.run_delay;
    event.site = wait.place.site;
    event.iteration = wait.place.iteration;
    event.call = text_of(wait.number, sink);
    event.thread = thread.id;
    event.correlation = wait.correlation;
    event.status = WaitStatus::satisfied;
    event.awaited = kWaitingCalls[wait.number].awaited;
    event.strategy = static_cast<std::uint8_t>(wait.strategy);
    event.polls = wait.polls;
    event.naps = wait.naps;
    if (wait.forecast) event.predicted_ns = wait.forecast->left;
    if (wait.strategy == StrategyId::hybrid) {
      Experience& known = *thread.experience;
      const bool expected = wait.way == HybridWay::polls && is_short(event.end_ns - wait.begin);
      if (!expected) known.short_waits = 0;
      if (wait.learns || !expected) known.past = PastWait{wait, event.end_ns, known.work, event.run_delay_ns};
      known.work = {};
    }
  }

  /// From the thread's last wait. At the next one, because then the thread waits anyway.
  void learn_past(Experience& known, EventSink& sink) {
    if (!known.past) return;
    const PastWait past = *known.past;
    known.past.reset();
    const ThreadWait& wait = past.wait;
    const TimeNs end = past.end;
    known.predictor.observe(wait.place.site, past.work, wait.begin, end);
    if (past.run_delay >= 0) known.contention.wait_ended(past.run_delay);
    judge(known, wait, past.work.key != 0);
    if (wait.place.site == 0 || !wait.forecast) return;
    // A place's way is a choice of the trace. Only changes are written, so the table of them stays small.
    const std::uint32_t place = wait.place.site - WaitSites::kFirst;
    const auto way = static_cast<std::uint8_t>(wait.way);
    if (ways_[place].exchange(way, std::memory_order_relaxed) == way) return;
    if (choices_[place].fetch_add(1, std::memory_order_relaxed) >= kMostChoices) return;
    auto event = make_event<ChoiceEvent>();
    event.site = wait.place.site;
    event.strategy = static_cast<std::uint32_t>(StrategyId::hybrid);
    event.at_ns = end;
    event.reason = sink.text(reason_of(wait.way, *wait.forecast, control_.costs()));
    event.waits = wait.forecast->waits;
    event.median_wait_ns = wait.forecast->left;
    event.look_ns = -1;
    sink.write_or_hold(event);
  }

  /// Whether launches are to be watched.
  void judge(Experience& known, const ThreadWait& wait, bool watched) {
    if (!wait.forecast || wait.forecast->waits < kWaitsToJudge || wait.forecast->left < kWorthWatching) return;
    const bool uncertain = wait.way == HybridWay::naps;
    known.uncertain += uncertain ? 1 : 0;
    if (++known.judged < kWaitsToJudge) return;
    if (watched) {
      known.uncertain * 2 < known.judged ? control_.need_launches() : control_.give_up_launches();
    } else if (known.uncertain * kFewUncertain >= known.judged) {
      control_.want_launches();
    }
    known.judged = known.uncertain = 0;
  }

  /// Also says by which call the thread waits: the driver's callback is the only one where those of the runtime are not
  /// needed.
  PlaceOfWait place(ThreadState& thread, std::uint8_t number, const void* frame, EventSink& sink) {
    ThreadsPlaces& places = thread.places;
    LastPath& last = thread.last_path;
    const void* from = nullptr;
    bool looked = false;
    if (kWaitingCalls[number].by_runtime()) {
      looked = true;
      from = thread.caller.find(cuda_call(number), frame, [&](const void* address) {
        return last.is(number, address) || WaitSites::known_path(places, number, address);
      });
      if (from != nullptr && !last.is(number, from) && !WaitSites::known_path(places, number, from)) {
        const bool by_driver = !thread.caller.ambiguous() || !some_not_needed();
        if (by_driver) {
          WaitSites::note_path(places, number, from, number_of_runtime(thread.caller.runtime_call(), number));
        } else {  // nobody knows the place
          runtime_needed_ = true;
          from = nullptr;
        }
      }
      if (from != nullptr && !last.is(number, from)) {
        last = {number, static_cast<std::uint8_t>(WaitSites::call_of_path(places, number, from)), from};
      }
      if (from != nullptr) number = last.call;
    }
    thread.wait.number = number;
    thread.wait.from = from;
    if (const RangeName* range = RangeNames::innermost()) {
      if (const auto within = sites_.enter(places, number, names_[number], *range, sink)) return *within;
    }
    if (!looked) {
      from = thread.caller.find(cuda_call(number), frame,
                                [&](const void* address) { return WaitSites::known(places, number, address); });
    }
    thread.wait.from = from;
    if (const PythonFrames::Function function = PythonFrames::of_process().innermost(thread.python)) {
      if (const auto within = sites_.enter(places, number, names_[number], from, function, sink)) return *within;
    }
    return sites_.enter(places, number, names_[number], from, sink);
  }

  bool some_not_needed() const {
    return std::any_of(std::begin(watch_), std::end(watch_), [](Watch one) { return one != Watch::asked; });
  }

  /// `otherwise`: where the name is none of the runtime's waiting calls.
  std::uint8_t number_of_runtime(const std::string& name, std::uint8_t otherwise) const {
    for (std::size_t i = 0; i < std::size(kWaitingCalls) && !name.empty(); ++i) {
      if (kWaitingCalls[i].in_driver() && names_[i] == name) return static_cast<std::uint8_t>(i);
    }
    return otherwise;
  }

  /// The number of the call's name, for which the sink is asked only once.
  TextId text_of(std::uint32_t number, EventSink& sink) {
    const std::uint64_t generation = std::uint64_t{sink.text_generation()} + 1;
    std::uint64_t kept = texts_[number].load(std::memory_order_relaxed);
    if (kept >> 32 == generation) return static_cast<TextId>(kept);
    const TextId id = sink.text(names_[number]);
    if (id != 0) texts_[number].store(generation << 32 | id, std::memory_order_relaxed);  // 0: the ring was full
    return id;
  }

  /// Changes of a place's way beyond this are not written: lengths between two ways would make one per wait.
  static constexpr std::uint32_t kMostChoices = 16;

  WaitSites sites_;
  HostControl control_;
  OpenWork* const work_;
  PlainEvents plain_events_;
  const void* cupti_ = nullptr;  // an address in CUPTI
  std::string names_[std::size(kWaitingCalls)];
  std::atomic<const void*> inside_[std::size(kWaitingCalls)] = {};   // CudaCall::inside
  std::atomic<std::uint64_t> texts_[std::size(kWaitingCalls)] = {};  // the sink's generation and one, and the number
  std::atomic<Watch> watch_[std::size(kWaitingCalls)] = {};
  std::atomic<bool> runtime_needed_{false};  // the runtime's callbacks, for good
  std::atomic<bool> ticks_{false};           // waits that are kept will be passed on
  std::atomic<bool> ids_nest_{false};        // a call of the runtime and the driver's call in it have one id
  std::atomic<const CuptiApi*> enabled_{nullptr};
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::atomic<std::uint8_t> ways_[WaitSites::kMost] = {};
  std::atomic<std::uint32_t> choices_[WaitSites::kMost] = {};
};

}  // namespace

std::unique_ptr<Source> make_host_waits(ControlBlock* control, OpenWork* work) {
  return std::make_unique<HostWaits>(control, work);
}

}  // namespace wicprof::collector
