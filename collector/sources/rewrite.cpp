// Patched code in the place of what the program loads: the callback at the entry of a load changes the image that the
// driver reads. Whatever fails leaves the program with its own image.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/program/environment.h"
#include "collector/program/symbol_name.h"
#include "collector/rewrite/door.h"
#include "collector/rewrite/image_bytes.h"
#include "collector/rewrite/own_code.h"
#include "collector/rewrite/patched_modules.h"
#include "collector/rewrite/toggle_loop.h"
#include "collector/rewrite/trial.h"
#include "collector/sources/list.h"
#include "protocol/events/notice.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

// Loads, unloads, and launches: before its first launch a module gets its memory in the context.
constexpr CUpti_CallbackId kWatched[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
    CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

/// The image of a load; nullptr: not a load.
const void** image_of(CUpti_CallbackId id, const void* params) {
  void* const writable = const_cast<void*>(params);
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
      return &static_cast<cuLibraryLoadData_params*>(writable)->code;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
      return &static_cast<cuModuleLoadData_params*>(writable)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
      return &static_cast<cuModuleLoadDataEx_params*>(writable)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
      return &static_cast<cuModuleLoadFatBinary_params*>(writable)->fatCubin;
    default:
      return nullptr;
  }
}

/// What a load has given the program.
struct Handles {
  CUlibrary library = nullptr;
  CUmodule module = nullptr;
};

Handles handles_of(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData: {
      CUlibrary* const library = static_cast<const cuLibraryLoadData_params*>(params)->library;
      return {library != nullptr ? *library : nullptr, nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData: {
      CUmodule* const module = static_cast<const cuModuleLoadData_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx: {
      CUmodule* const module = static_cast<const cuModuleLoadDataEx_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary: {
      CUmodule* const module = static_cast<const cuModuleLoadFatBinary_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    default:
      return {};
  }
}

// The load that the thread is in.
struct OpenLoad {
  const rewriter::Replacement* replacement = nullptr;
  const void* original = nullptr;
};
thread_local OpenLoad open_load;
class Rewrite final : public Source {
 public:
  /// `driver`: nullptr: that of the process, which is looked up at the first load.
  Rewrite(ControlBlock* control, const RewriteDriver* driver)
      : Source("rewrite", {}), driver_(driver), modules_(control), toggles_(control, modules_) {}

  // Always on, also while nothing is recorded: a program loads its code once.
  Result<> prepare(const Cupti& cupti) override {
    for (const CUpti_CallbackId id : kWatched) {
      const Result<> enabled =
          cupti_call(cupti.api, "cuptiEnableCallback",
                     cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id));
      if (!enabled && id == CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData) return enabled;
    }
    for (const CUpti_CallbackId id : {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
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
        enter(*image, sink);
      } else if (open_load.replacement != nullptr && !OwnCode::runs()) {
        leave(id, data, *image, sink);
      }
      return;
    }
    if (OwnCode::runs() || data.callbackSite != CUPTI_API_ENTER) return;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload) {
      modules_.unloaded(static_cast<const cuLibraryUnload_params*>(data.functionParams)->library, nullptr);
    } else if (id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload) {
      modules_.unloaded(nullptr, static_cast<const cuModuleUnload_params*>(data.functionParams)->hmod);
    } else if (modules_.unbound(data.context)) {
      bind(sink);
    }
  }

  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink& sink) override {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) modules_.context_ends(data.context, sink);
  }

  Result<> enable(const Cupti&) override {
    modules_.record(true);
    return ok();
  }
  void disable(const Cupti&) override { modules_.record(false); }

  void finish(EventSink& sink) override {
    toggles_.stop();
    modules_.read_waits(sink);
  }

 private:
  const RewriteDriver& driver() const { return driver_ != nullptr ? *driver_ : RewriteDriver::loaded(); }

  // A program with thousands of modules does not fill the trace with them.
  static constexpr std::size_t kMostNotices = 64;

  void notice(EventSink& sink, NoticeSeverity severity, const std::string& text) {
    auto event = make_event<NoticeEvent>();
    event.at_ns = now_ns();
    event.text = sink.text(text);
    event.severity = severity;
    sink.write_or_hold(event);
  }

  void report(EventSink& sink, const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      if (reports_ == kMostNotices) return;
      if (++reports_ == kMostNotices)
        return notice(sink, NoticeSeverity::info, "rewrite: further modules are not named");
    }
    notice(sink, NoticeSeverity::info, "rewrite: " + text);
  }

  /// At the entry of a load. `image` is the driver's own copy of the argument.
  void enter(const void*& image, EventSink& sink) {
    if (const void* const answer = door_.answer(image); answer != nullptr) {
      image = answer;
      return;
    }
    if (OwnCode::runs()) return;
    open_load = {};
    const OwnCode own;
    const RewriteDriver& driver = this->driver();
    const std::string problem = door_.problem(driver);
    if (!problem.empty()) {
      if (!door_reported_.exchange(true)) {
        notice(sink, NoticeSeverity::warning, "rewrite: no code is patched, because " + problem);
      }
      return;
    }
    if (!door_reported_.exchange(true)) {
      notice(sink, NoticeSeverity::info, "rewrite: this driver takes patched code from a callback");
    }
    const std::string_view bytes = image_at(image);
    if (bytes.empty()) return;
    const std::optional<std::pair<CUdevice, int>> device = device_of(driver);
    if (!device)
      return report(sink, "a module stays as it is: the GPUs differ, and no context says which one it is for");
    auto replacement = std::make_unique<rewriter::Replacement>(rewriter::replacement_of(bytes, device->second));
    if (replacement->text.empty()) {
      if (!replacement->left_alone.empty()) report(sink, "a module stays as it is: " + replacement->left_alone);
      return;
    }
    if (const std::string refused = try_replacement(driver, image, *replacement, device->first); !refused.empty()) {
      return report(sink, "a module stays as it is: " + refused);
    }
    const std::lock_guard lock(mutex_);
    if (recompile_only_) {
      image = replacement->unpatched.c_str();
      notice(sink, NoticeSeverity::info, "rewrite: a module is compiled again without a patch");
    } else {
      open_load = {replacement.get(), image};
      image = replacement->text.c_str();
    }
    kept_.push_back(std::move(replacement));  // the driver may read the text as long as the module is loaded
  }

  void leave(CUpti_CallbackId id, const CUpti_CallbackData& data, const void*& image, EventSink& sink) {
    const OpenLoad load = open_load;
    open_load = {};
    image = load.original;
    const auto* const result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result == nullptr || *result != CUDA_SUCCESS) {
      return report(sink, "the driver refused a patched module that it took before");
    }
    const Handles handles = handles_of(id, data.functionParams);
    std::string names;
    for (const std::string& name : modules_.add(*load.replacement, handles.library, handles.module, sink)) {
      names += (names.empty() ? "" : ", ") + name;
    }
    report(sink, "patched " + std::to_string(load.replacement->sites.size()) + " loops: " + names);
    toggles_.begin(driver(), sink);
    bind(sink);
  }

  void bind(EventSink& sink) {
    const OwnCode own;
    const std::string problem = modules_.bind(driver(), sink);
    if (!problem.empty()) report(sink, "patched loops poll as they did: " + problem);
  }

  /// The device that a load is for, with its architecture; nothing where that is not known.
  static std::optional<std::pair<CUdevice, int>> device_of(const RewriteDriver& driver) {
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
    if (driver.current_device(&current) != CUDA_SUCCESS) current = 0;
    return std::pair(current, architecture(current));
  }

  const RewriteDriver* driver_;
  const bool recompile_only_ = recompile_only();
  Door door_;
  PatchedModules modules_;
  ToggleLoop toggles_;
  std::atomic<bool> door_reported_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<rewriter::Replacement>> kept_;
  std::size_t reports_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_rewrite(ControlBlock* control) { return std::make_unique<Rewrite>(control, nullptr); }

std::unique_ptr<Source> make_rewrite(ControlBlock* control, const RewriteDriver& driver) {
  return std::make_unique<Rewrite>(control, &driver);
}

}  // namespace wicprof::collector
