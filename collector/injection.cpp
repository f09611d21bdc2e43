#include "collector/injection.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/attachment.h"
#include "collector/collector.h"
#include "collector/dormant.h"
#include "collector/program/driver.h"
#include "collector/program/without_forks.h"
#include "collector/sources/list.h"
#include "collector/waits/waits_of_process.h"
#include "protocol/notice.h"
#include "protocol/process.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

// Never destroyed: other threads, CUPTI and exit handlers may use it until the process ends.
struct State {
  SessionMap session;
  WaitsOfProcess waits;
  std::optional<EventSink> sink;
  std::optional<Collector> collector;
};

State& state() {
  static State* const instance = new State;
  return *instance;
}

std::atomic<bool> cupti_is_used{false};

// Loaded once, by cuInit() or by the program's first NVTX call, whichever comes first.
const Result<CuptiApi>& shared_cupti(const Environment& environment) {
  cupti_is_used = true;
  static const Result<CuptiApi>* const loaded =
      new Result<CuptiApi>(load_cupti(environment.cupti_path, environment.nvtx_cupti));
  return *loaded;
}

/// Where a program has contexts already, and the driver writes dumps of the GPU, a fault hangs once CUPTI is there
/// (driver 580).
const Result<CuptiApi>& cupti_beside_contexts(const Environment& environment) {
  static const Result<CuptiApi> refused(unavailable(
      "the driver writes dumps of the GPU for the program (CUDA_ENABLE_COREDUMP_ON_EXCEPTION, "
      "CUDA_ENABLE_USER_TRIGGERED_COREDUMP or cuCoredumpSetAttributeGlobal), and a fault would hang with CUPTI; "
      "record without CUPTI (--trace host), or start the program without dumps"));
  return !cupti_is_used && writes_gpu_dumps() ? refused : shared_cupti(environment);
}

void at_exit() noexcept {
  try {
    state().collector->stop();
  } catch (...) {
    state().collector->switch_off();
  }
}

void in_child() noexcept { state().collector->switch_off(); }

/// A call may come while the program is within cuInit() still, which CUPTI must not come before.
void wait_for_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto init = driver == nullptr ? nullptr : reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (init != nullptr) init(0);
}

void start() {
  const Environment environment = read_environment();
  if (environment.session.empty()) return wait_to_be_woken();
  Result<SessionMap> session = SessionMap::attach(environment.session);
  if (!session) return;  // no ring to report to
  State& s = state();
  s.session = std::move(*session);
  RingHeader* ring = s.session.claim_ring();
  if (ring == nullptr) return;
  s.sink.emplace(ring);
  write_process_event(*s.sink);

  Selection selection = select_sources(environment.trace, s.waits, &s.session.control(), &s.session.open_work());
  for (const std::string& word : selection.unknown) {
    s.sink->loss(LossSource::cupti, 1,
                 std::string(kTraceVariable) + " has an unknown word '" + word + "'; known words: " + known_words());
  }
  // CUPTI serves one subscriber: without a source it stays free for the program's own profiler, for example PyTorch's.
  if (selection.sources.empty()) return;

  const Result<CuptiApi>& cupti = shared_cupti(environment);
  if (!cupti) return s.sink->loss(LossSource::cupti, 1, "no CUDA activity recorded: " + cupti.error().message);
  s.collector.emplace(*cupti, *s.sink, ring, environment, &s.session.control());
  if (Result<> started = s.collector->start(std::move(selection.sources)); !started) {
    s.collector->switch_off();
    return s.sink->loss(LossSource::cupti, 1, "no CUDA activity recorded: " + started.error().message);
  }
  if (cupti->loaded_by_program) {
    write_notice(
        *s.sink, NoticeSeverity::info,
        "the program brings a CUPTI of its own: a profiler that it starts itself, such as torch.profiler, gets "
        "no CUDA activity in this run, since CUPTI serves one profiler at a time; to use that one, record "
        "without CUPTI (--trace host)");
  }
  if (const std::string variable = gpu_dump_variable(); !variable.empty()) {
    write_notice(*s.sink, NoticeSeverity::warning,
                 variable +
                     " has no effect: the driver writes no dumps of the GPU for a program that CUPTI is in, and "
                     "a fault is an error of a call in place of an abort; to get dumps, record without CUPTI "
                     "(--trace host)");
  }
  pthread_atfork(nullptr, nullptr, in_child);
  std::atexit(at_exit);
}

/// The CUPTI that the program has loaded itself, as PyTorch does: a second one in a process would be in its way. Empty:
/// none.
std::string cupti_of_program() {
  const WithoutForks without;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    void* const loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    dlclose(loaded);  // counts references only
    return name;
  }
  return {};
}

}  // namespace

void start_once() noexcept {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  try {
    start();
  } catch (...) {
    // For example out of memory: the program continues unrecorded.
    if (state().collector) state().collector->switch_off();
  }
}

int answer_to_driver() noexcept {
  try {
    return cupti_is_used || gpu_dump_variable().empty() ? 1 : 0;
  } catch (...) {
    return 1;
  }
}

void record_request(const WakeRequest& request) noexcept {
  try {
    static std::once_flag prepared;
    std::call_once(prepared, [] {
      wait_for_driver();
      pthread_atfork(nullptr, nullptr, attached_in_child);
    });
    Environment environment = read_environment();
    static const std::string of_program = cupti_of_program();  // CUPTI is loaded once
    if (environment.nvtx_cupti.empty()) environment.nvtx_cupti = of_program;
    record_attached(request, environment, state().waits, cupti_beside_contexts);
  } catch (...) {
    // For example out of memory: the program continues unrecorded.
  }
}

bool connect_nvtx(void* get_export_table) noexcept {
  try {
    const Environment environment = read_environment();
    if (environment.session.empty()) return false;
    if (select_sources(environment.trace, state().waits).sources.empty()) return false;  // records nothing of CUPTI's
    const Result<CuptiApi>& cupti = shared_cupti(environment);
    if (!cupti) return false;  // start() reports the error
    using Initialize = int (*)(void*);
    const auto initialize = reinterpret_cast<Initialize>(dlsym(cupti->library, "InitializeInjectionNvtx2"));
    return initialize != nullptr && initialize(get_export_table) != 0;
  } catch (...) {
    return false;
  }
}

}  // namespace wicprof::collector
