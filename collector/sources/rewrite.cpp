// Patched code in the place of what the program loads: the callback at the entry of a load changes the image that the
// driver reads. Whatever fails leaves the program with its own image.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/program/environment.h"
#include "collector/program/executable.h"
#include "collector/program/per_thread.h"
#include "collector/rewrite/code_cache.h"
#include "collector/rewrite/door.h"
#include "collector/rewrite/file_bytes.h"
#include "collector/rewrite/image_bytes.h"
#include "collector/rewrite/load_calls.h"
#include "collector/rewrite/load_steps.h"
#include "collector/rewrite/memory_file.h"
#include "collector/rewrite/own_code.h"
#include "collector/rewrite/patched_code.h"
#include "collector/rewrite/patched_modules.h"
#include "collector/rewrite/toggle_loop.h"
#include "collector/rewrite/word_writers.h"
#include "collector/sources/list.h"
#include "collector/waits/watched_launches.h"
#include "protocol/notice.h"
#include "protocol/rewrite_notices.h"
#include "protocol/symbol_name.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

// Loads, unloads, and launches: before its first launch a module gets its memory in the context.
constexpr CUpti_CallbackId kWatched[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
    CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

// With a context, the counts of its waits end, which lie in its memory.
constexpr CUpti_CallbackId kEnds[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
};
// How long the end of a module, a context or the program waits for a copy of counts, which takes some 20 us unless
// other copies are in its way (chosen).
constexpr TimeNs kLastCountsPatience = 20 * kMillisecond;

// What they begin in a stream may last until the program itself does something.
constexpr CUpti_CallbackId kMayWait[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc,       CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback,    CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64_v2, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2,  CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2_ptsz,
};

// The load that the thread is in.
struct OpenLoad {
  const rewriter::Replacement* replacement = nullptr;
  const void* original = nullptr;
  MemoryFile file;  // of the patched code, if the load names one
  LoadSteps steps;
};
OpenLoad& open_load() {
  static auto* const of_threads = new PerThread<OpenLoad>;  // never destroyed, as its threads may outlive it
  return of_threads->here();
}

constexpr std::uintmax_t kLargestFile = std::uintmax_t{256}
                                        << 20;  // a program loads no larger one by its name (chosen)

class Rewrite final : public Source {
 public:
  /// `driver`: nullptr: that of the process, which is looked up at the first load.
  Rewrite(OwnCalls& own_calls, ControlBlock* control, OpenWork* work, const RewriteDriver* driver)
      : Source("rewrite", {}),
        own_calls_(own_calls),
        given_(driver),
        modules_(control, work),
        toggles_(control, modules_) {}

  // Always on, also while nothing is recorded: a program loads its code once.
  Result<> prepare(const Cupti& cupti) override {
    LaunchCallbacks::need(LaunchCallbacks::User::rewrite, true, [](bool) {});
    for (const CUpti_CallbackId id : kWatched) {
      const Result<> enabled =
          cupti_call(cupti.api, "cuptiEnableCallback",
                     cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id));
      if (!enabled && id == CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData) return enabled;
    }
    for (const CUpti_CallbackId id : kMayWait)
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    for (const CUpti_CallbackId id : writing_calls()) {
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
    for (const CUpti_CallbackId id :
         {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    }
    return ok();
  }

  bool wants_callbacks() const override { return true; }

  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data,
                EventSink& sink) override {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data.functionParams == nullptr) return;
    if (const void** const image = image_of(id, data.functionParams); image != nullptr) {
      if (data.callbackSite == CUPTI_API_ENTER) {
        enter(*image, changes_code(id, data.functionParams), sink);
      } else if (open_load().replacement != nullptr && !OwnCode::runs()) {
        *image = open_load().original;
        leave(id, data, sink);
      } else if (!OwnCode::runs() && in_executable(*image)) {
        loaded_beside(id, data, sink);
      }
      return;
    }
    if (const char** const file = file_of(id, data.functionParams); file != nullptr) {
      if (OwnCode::runs()) return;
      if (data.callbackSite == CUPTI_API_ENTER) {
        enter_file(*file, changes_code(id, data.functionParams), sink);
      } else if (open_load().replacement != nullptr) {
        *file = static_cast<const char*>(open_load().original);
        leave(id, data, sink);
      }
      return;
    }
    if (OwnCode::runs()) return;
    if (data.callbackSite == CUPTI_API_ENTER &&
        std::find(std::begin(kMayWait), std::end(kMayWait), id) != std::end(kMayWait))
      modules_.may_wait(data.context);
    if (is_writing_call(id)) return write(id, data);
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload) {
      return unloads(static_cast<const cuLibraryUnload_params*>(data.functionParams)->library, nullptr, data, sink);
    }
    if (id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload) {
      return unloads(nullptr, static_cast<const cuModuleUnload_params*>(data.functionParams)->hmod, data, sink);
    }
    if (data.callbackSite != CUPTI_API_ENTER) return;
    if (std::ranges::find(kEnds, id) != std::end(kEnds)) return read_last_counts(sink);
    launched(id, data);
    if (modules_.unbound(data.context)) {
      bind(sink);
    }
  }

  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink& sink) override {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) modules_.context_begins(data.context);
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) modules_.context_ends(data.context, sink);
  }

  Result<> enable(const Cupti&) override {
    modules_.record(true);
    return ok();
  }
  void disable(const Cupti&) override { modules_.record(false); }

  void finish(EventSink& sink) override {
    const bool driver_answers = toggles_.stop();
    modules_.read_waits(sink);
    if (driver_answers) read_last_counts(sink);
    modules_.look_at_words(nullptr, sink);
    say_what_compiling_took(sink);
    say_what_is_machine_code(sink);
  }

 private:
  const RewriteDriver& driver() const {
    std::call_once(found_, [this] {
      driver_ = given_ != nullptr ? *given_ : RewriteDriver::loaded();
      driver_.own_calls = &own_calls_;
    });
    return driver_;
  }

  /// A copy, a memset or a stream's write.
  void write(CUpti_CallbackId id, const CUpti_CallbackData& data) const {
    thread_local TimeNs called = 0;
    if (data.callbackSite == CUPTI_API_ENTER) {
      called = now_ns();
      return;
    }
    const auto* const result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result != nullptr && *result != CUDA_SUCCESS) return;
    if (!modules_.any()) return;
    const std::vector<WriteCall> writes = writes_of(id, data.functionParams);
    if (writes.empty() || is_captured(writes.front().stream)) return;
    WordWriters::of_process().made(data.correlationId, called, writes);
  }

  /// Whether a call went into a graph, which does it later, or never.
  bool is_captured(CUstream stream) const {
    const RewriteDriver& api = driver();
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream == nullptr || api.is_capturing == nullptr) return false;
    const OwnCode own(driver());
    return api.is_capturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  void launched(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (!modules_.candidates().any()) return;
    if (void** const parameters = parameters_of(id, data.functionParams); parameters != nullptr) {
      modules_.candidates().launched(data.symbolName, parameters, data.correlationId);
    }
  }

  // A program with thousands of modules does not fill the trace with them.
  static constexpr std::size_t kMostNotices = 64;
  static constexpr TimeNs kLongCompiling = 100 * kMillisecond;

  /// Whether the trace names another patched module. They have places of their own: PyTorch has more kernels that stay
  /// as they are than a trace names.
  bool reports_patch() {
    const std::lock_guard lock(mutex_);
    return patch_reports_ != kMostNotices && ++patch_reports_ != 0;
  }

  /// Names the cure, unless all was in the cache.
  void say_what_compiling_took(EventSink& sink) {
    const std::lock_guard lock(mutex_);
    if (compiling_ < kLongCompiling || CodeCache::user_folder().empty()) return;
    char seconds[16];
    std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(compiling_) / static_cast<double>(kSecond));
    write_notice(
        sink, NoticeSeverity::info,
        "rewrite: compiling patched code took " + std::string(seconds) +
            " s; the next run finds it in the cache, which `wic-prof rewrite --prewarm FILE` fills beforehand");
  }

  /// Names the first ones; all are counted.
  void report_machine_code(const std::vector<std::string>& kernels, EventSink& sink) {
    std::size_t named = 0;
    {
      const std::lock_guard lock(mutex_);
      named = std::min(kernels.size(), kMostNotices - std::min(kMostNotices, machine_code_kernels_));
      ++machine_code_modules_;
      machine_code_kernels_ += kernels.size();
    }
    for (std::size_t i = 0; i < named; ++i) {
      write_notice(sink, NoticeSeverity::info,
                   std::string(kKernelNotice) + demangled(kernels[i]) + std::string(kMachineCodeOnly));
    }
  }
  void say_what_is_machine_code(EventSink& sink) {
    const std::lock_guard lock(mutex_);
    if (machine_code_modules_ == 0) return;
    write_notice(sink, NoticeSeverity::info,
                 std::string(kMachineCodeKernels) + std::to_string(machine_code_kernels_) +
                     std::string(kMachineCodeModules) + std::to_string(machine_code_modules_));
  }

  void report(EventSink& sink, const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      if (reports_ == kMostNotices) return;
      if (++reports_ == kMostNotices)
        return write_notice(sink, NoticeSeverity::info, "rewrite: further modules are not named");
    }
    write_notice(sink, NoticeSeverity::info, "rewrite: " + text);
  }

  /// At the entry of a load. `image` is the driver's own copy of the argument.
  void enter(const void*& image, bool with_options, EventSink& sink) {
    if (const void* const answer = door_.answer(image); answer != nullptr) {
      image = answer;
      return;
    }
    if (OwnCode::runs()) return;
    open_load() = {};
    LoadSteps steps;
    const OwnCode own(driver());
    if (!door_is_open(sink)) return;
    steps.done("door");
    const rewriter::Replacement* const replacement = replace(image, image_at(image), with_options, sink, steps);
    if (replacement == nullptr) return;
    if (!recompile_only_) open_load() = {replacement, image, {}, std::move(steps)};
    image = recompile_only_ ? replacement->unpatched.c_str() : replacement->text.c_str();
  }

  /// A load that names a file gets one with the patched code.
  void enter_file(const char*& file, bool with_options, EventSink& sink) {
    open_load() = {};
    if (file == nullptr) return;
    LoadSteps steps;
    const OwnCode own(driver());
    if (!door_is_open(sink)) return;
    steps.done("door");
    std::error_code error;
    if (std::filesystem::file_size(file, error) > kLargestFile || error) return;
    const std::string bytes = file_bytes(file);
    steps.done("file");
    const rewriter::Replacement* const replacement = replace(bytes.c_str(), bytes, with_options, sink, steps);
    if (replacement == nullptr || recompile_only_) return;
    MemoryFile patched(replacement->text);
    if (patched.path().empty()) {
      return report(sink, "a module stays as it is: a load of a file needs memfd_create and /proc/self/fd");
    }
    open_load() = {replacement, file, std::move(patched), std::move(steps)};
    file = open_load().file.path().c_str();
  }

  bool door_is_open(EventSink& sink) {
    const std::string problem = door_.problem(driver());
    if (!problem.empty()) {
      if (!door_reported_.exchange(true)) {
        write_notice(sink, NoticeSeverity::warning, "rewrite: no code is patched, because " + problem);
      }
      return false;
    }
    if (!door_reported_.exchange(true)) {
      write_notice(sink, NoticeSeverity::info, "rewrite: this driver loads the patched code that wic-prof hands to it");
    }
    return true;
  }

  /// What the driver gets in the place of an image; it stays until the process ends, since the driver may read it as
  /// long as the module is loaded. Code that is loaded again gets the same. nullptr: the original. `bytes` are those of
  /// `image`.
  const rewriter::Replacement* replace(const void* image, std::string_view bytes, bool with_options, EventSink& sink,
                                       LoadSteps& steps) {
    if (bytes.empty()) return nullptr;
    const RewriteDriver& driver = this->driver();
    const std::optional<CodeTarget> target = target_of(driver);
    if (!target) {
      report(sink, "a module stays as it is: the GPUs differ, and no context says which one it is for");
      return nullptr;
    }
    const std::string key = cache_key(driver, bytes, *target);
    if (const rewriter::Replacement* const kept = with_options ? nullptr : kept_of(key); kept != nullptr) return kept;
    auto replacement = std::make_unique<rewriter::Replacement>(
        recompile_only_ ? analysed(bytes, *target)
                        : patched_code_of(driver, cache_, key, image, bytes, *target, steps));
    {
      const std::lock_guard lock(mutex_);
      compiling_ += steps.took("compiler");
    }
    modules_.candidates().loaded(replacement->stores);
    if (replacement->text.empty() || with_options) {
      std::string why = replacement->left_alone;
      if (!replacement->text.empty()) why = "the program loads it with options for the compiler";
      if (!replacement->machine_code_only.empty()) {
        report_machine_code(replacement->machine_code_only, sink);
      } else if (!why.empty()) {
        report(sink, "a module stays as it is: " + why);
      }
      return nullptr;
    }
    for (const auto& [kernel, why] : replacement->kernels_left_alone) {
      report(sink, "kernel " + demangled(kernel) + " stays as it is: " + why);
    }
    const std::lock_guard lock(mutex_);
    if (recompile_only_)
      write_notice(sink, NoticeSeverity::info, "rewrite: a module is compiled again without a patch");
    return kept_.try_emplace(key, std::move(replacement)).first->second.get();
  }

  const rewriter::Replacement* kept_of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    return found == kept_.end() ? nullptr : found->second.get();
  }

  void leave(CUpti_CallbackId id, const CUpti_CallbackData& data, EventSink& sink) {
    OpenLoad load = std::exchange(open_load(), {});
    load.steps.done("driver");
    const auto* const result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result == nullptr || *result != CUDA_SUCCESS) {
      return report(sink, "the driver refused a patched module that it took before");
    }
    const LoadedHandles handles = handles_of(id, data.functionParams);
    std::string names;
    for (const std::string& name : modules_.add(*load.replacement, handles.library, handles.module, sink,
                                                handles.module != nullptr ? data.context : nullptr)) {
      names += (names.empty() ? "" : ", ") + name;
    }
    const bool reports = reports_patch();
    if (reports) {
      const std::string loops = std::to_string(load.replacement->sites.size()) + " loops: " + names;
      write_notice(sink, NoticeSeverity::info, "rewrite: patched " + loops);
    }
    WordWriters::of_process().begin();
    toggles_.begin(driver(), sink);
    bind(sink);
    load.steps.done("memory");
    if (reports) write_notice(sink, NoticeSeverity::info, "rewrite: the load took " + load.steps.text());
  }

  /// The program has loaded a module of its own that stays as it is.
  void loaded_beside(CUpti_CallbackId id, const CUpti_CallbackData& data, EventSink& sink) {
    const auto* const result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result == nullptr || *result != CUDA_SUCCESS) return;
    const LoadedHandles handles = handles_of(id, data.functionParams);
    modules_.add_beside(handles.library, handles.module, handles.module != nullptr ? data.context : nullptr);
    bind(sink);
  }

  void unloads(CUlibrary library, CUmodule module, const CUpti_CallbackData& data, EventSink& sink) {
    if (data.callbackSite == CUPTI_API_ENTER) {
      read_last_counts(sink);
      return modules_.unloaded(library, module);
    }
    const auto* const result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result != nullptr && *result == CUDA_SUCCESS) modules_.gone(library, module, sink);
  }

  void read_last_counts(EventSink& sink) {
    if (!modules_.any()) return;
    const OwnCode own(driver());
    modules_.read_counts(driver(), sink, kLastCountsPatience);
  }

  void bind(EventSink& sink) {
    const OwnCode own(driver());
    const std::string problem = modules_.bind(driver(), sink);
    if (!problem.empty()) report(sink, "patched loops poll as they did: " + problem);
  }

  /// A device that the program uses already: the trial would open a context on another one, and so would all ranks on
  /// the first.
  static CUdevice used_device(const RewriteDriver& driver, int count) {
    for (CUdevice device = 0; driver.primary_state != nullptr && device < count; ++device) {
      unsigned flags = 0;
      int active = 0;
      if (driver.primary_state(device, &flags, &active) == CUDA_SUCCESS && active != 0) return device;
    }
    return 0;
  }

  /// The device that a load is for, with its architecture; nothing where that is not known.
  static std::optional<CodeTarget> target_of(const RewriteDriver& driver) {
    const auto architecture = [&](CUdevice device) {
      int major = 0, minor = 0;
      driver.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
      driver.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
      return major * 10 + minor;
    };
    int count = 0;
    if (driver.device_count(&count) != CUDA_SUCCESS || count == 0) return std::nullopt;
    // A library is loaded for all devices.
    for (CUdevice device = 1; device < count; ++device) {
      if (architecture(device) != architecture(0)) return std::nullopt;
    }
    CUdevice current = 0;
    if (driver.current_device(&current) != CUDA_SUCCESS) current = used_device(driver, count);
    return CodeTarget{current, architecture(current)};
  }

  OwnCalls& own_calls_;
  const RewriteDriver* const given_;
  mutable std::once_flag found_;
  mutable RewriteDriver driver_;
  const bool recompile_only_ = recompile_only();
  const CodeCache cache_{CodeCache::user_folder()};
  Door door_;
  PatchedModules modules_;
  ToggleLoop toggles_;
  std::atomic<bool> door_reported_{false};
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<rewriter::Replacement>> kept_;  // by cache_key()
  std::size_t reports_ = 0, patch_reports_ = 0;
  std::size_t machine_code_modules_ = 0, machine_code_kernels_ = 0;
  TimeNs compiling_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_rewrite(OwnCalls& own_calls, ControlBlock* control, OpenWork* work,
                                     const RewriteDriver* driver) {
  return std::make_unique<Rewrite>(own_calls, control, work, driver);
}

}  // namespace wicprof::collector
