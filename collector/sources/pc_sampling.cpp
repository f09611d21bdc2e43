// Samples program counters with the stall reasons of their warps, and fetches the samples while kernels run.
//
// Sampling starts within the creation of a context, because samples cannot be attributed to modules loaded before it
// starts. It never stops: stopping waits for all kernels of the context, and a kernel may be waiting for the program.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/program/cubin_symbols.h"
#include "collector/program/driver.h"
#include "collector/program/environment.h"
#include "collector/program/modules.h"
#include "collector/sources/list.h"
#include "collector/sources/sampling_period.h"
#include "collector/translate/pc_tally.h"
#include "protocol/events/pc_interval.h"
#include "protocol/events/pc_sample.h"
#include "protocol/symbol_name.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

constexpr std::size_t kHardwareBufferBytes = 64 << 20;
constexpr std::uint32_t kWorkerSleepMs = 20;  // CUPTI's threads check that buffer this often
constexpr std::size_t kPcsPerFetch = 4096;
constexpr TimeNs kInterval = 500 * kMillisecond;     // samples are summed over this time
constexpr std::size_t kLinesPerWrite = 500;          // each lookup reads the module's line table
constexpr std::uint32_t kMaxLookupsWithoutLine = 4;  // then the function is assumed to have no line table
constexpr std::chrono::milliseconds kTimeout{500};   // for mutex_, and for space in the ring
constexpr std::string_view kReasonPrefix = "smsp__pcsamp_warps_issue_stalled_";

// The memory that CUPTI fills with program counters and their stall reasons.
class PcBuffer {
 public:
  PcBuffer(std::size_t pcs, std::size_t reasons) : pcs_(pcs), reasons_(pcs * std::max<std::size_t>(reasons, 1)) {
    data_.size = sizeof data_;
    data_.collectNumPcs = pcs;
    data_.pPcData = pcs_.data();
    for (std::size_t i = 0; i < pcs; ++i) {
      pcs_[i].size = sizeof pcs_[i];
      pcs_[i].stallReason = &reasons_[i * std::max<std::size_t>(reasons, 1)];
    }
  }
  PcBuffer(const PcBuffer&) = delete;
  PcBuffer& operator=(const PcBuffer&) = delete;

  CUpti_PCSamplingData& data() { return data_; }

 private:
  CUpti_PCSamplingData data_{};
  std::vector<CUpti_PCSamplingPCData> pcs_;
  std::vector<CUpti_PCSamplingStallReason> reasons_;
};

struct SampledContext {
  CUcontext context = nullptr;
  std::uint32_t id = 0;
  DeviceId device = 0;
  std::uint32_t period = 0;  // its exponent
  std::vector<std::uint32_t> reasons;
  std::unordered_map<std::uint32_t, std::string> reason_names;
  std::unique_ptr<PcBuffer> final_buffer;  // CUPTI may write to it until the process ends
  std::unique_ptr<PcBuffer> buffer;
  PcTally tally;
  bool overflow_reported = false;
  bool gone = false;  // destroyed: do not fetch from it
};

struct SourceLine {
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
};

class PcSampling;
PcSampling* source_instance = nullptr;  // CUPTI passes no user pointer to the callback that computes a module's number

class PcSampling final : public Source {
 public:
  PcSampling() : Source("pcsampling", {}), modules_(modules_folder()), budget_(samples_per_second()) {}

  Result<> prepare(const Cupti& cupti) override {
    const CuptiApi& api = cupti.api;
    if (api.pc_sampling_enable == nullptr || api.pc_sampling_get_data == nullptr ||
        api.pc_sampling_set_configuration_attribute == nullptr || api.pc_sampling_get_num_stall_reasons == nullptr ||
        api.pc_sampling_get_stall_reasons == nullptr || api.register_compute_crc_callback == nullptr ||
        api.get_device_id == nullptr || api.get_context_id == nullptr) {
      return unavailable("this CUPTI has no PC Sampling API; use the CUPTI of CUDA 12 or newer");
    }
    api_ = &api;
    source_instance = this;
    const auto number = [](const void* cubin, std::size_t bytes, std::uint64_t* crc) {
      try {
        *crc = source_instance->modules_.add(cubin, bytes);
      } catch (const std::exception&) {
        *crc = 0;  // out of memory: the module's samples carry no module number
      }
    };
    Result<> done = cupti_call(api, "cuptiRegisterComputeCrcCallback", api.register_compute_crc_callback(number));
    if (!done) return done;
    for (const CUpti_CallbackId id : {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                      CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING}) {
      done = cupti_call(api, "cuptiEnableCallback(resources)",
                        api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_RESOURCE, id));
      if (!done) return done;
    }
    return ok();
  }

  // Sampling never stops; unwanted samples are discarded.
  Result<> enable(const Cupti&) override {
    set_wanted(true, [](SampledContext& context, EventBatch&) { context.tally.clear(now_ns()); });
    return ok();
  }
  void disable(const Cupti&) override {
    set_wanted(false, [this](SampledContext& context, EventBatch& batch) { write(context, batch); });
  }

  // Runs on a thread of the program, within the driver, so it leaves writing and line lookups to the next tick().
  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink& sink) override {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) return begin(data.context, sink);
    const bool destroyed = id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
    if (!destroyed && id != CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) return;
    // Waits with a limit: the fetching thread may hold mutex_ within CUPTI while it waits for a lock of this thread.
    if (const std::unique_lock lock(mutex_, kTimeout); lock) {
      apply_context_changes();
      EventBatch batch(sink);
      for (const auto& context : contexts_) {
        if (context->context != data.context || context->gone) continue;
        fetch(*context, batch);
        std::set<std::uint64_t> sampled;
        for (const auto& [key, samples] : context->tally.counts) {
          if (sampled.insert(key.module).second) modules_.copy(key.module);
        }
        if (destroyed) retire(*context);
      }
    } else {
      if (destroyed) mark_destroyed(data.context);
      sink.loss(LossSource::pc_sampling, 1, "samples of a destroyed context or unloaded module");
    }
    if (!destroyed && data.resourceDescriptor != nullptr) {
      modules_.forget(static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor)->pCubin);
    }
  }

  void tick(EventBatch& batch) override {
    std::vector<std::uint64_t> gone;
    {
      const std::lock_guard lock(mutex_);
      apply_context_changes();
      gone = modules_.unloaded();
      for (const auto& context : contexts_) {
        fetch(*context, batch);
        if (context->gone || !gone.empty() || now_ns() - context->tally.begin >= kInterval) write(*context, batch);
      }
      remove_gone();
    }
    modules_.save_copies();
    const std::lock_guard lock(mutex_);
    forget(gone);
  }

  void finish(EventSink& sink) override {
    // Lets CUPTI's threads read the last samples.
    usleep(2 * kWorkerSleepMs * 1000);
    {
      const std::unique_lock lock(mutex_, kTimeout);
      if (!lock) return sink.loss(LossSource::pc_sampling, 1, "the last samples: CUPTI was busy");
      apply_context_changes();
      EventBatch batch(sink, kTimeout.count() * kMillisecond);
      for (const auto& context : contexts_) {
        fetch(*context, batch);
        write(*context, batch);
      }
    }
    modules_.save_copies();
  }

 private:
  using Contexts = std::vector<std::unique_ptr<SampledContext>>;

  // Runs within the creation of a context, so it must not wait for the fetching thread.
  void begin(CUcontext context, EventSink& sink) {
    auto sampled = std::make_unique<SampledContext>();
    sampled->context = context;
    if (Result<> started = switch_on(*sampled); !started) {
      return sink.loss(LossSource::pc_sampling, 1, "program counters not sampled: " + started.error().message);
    }
    sampled->tally.begin = now_ns();
    const std::lock_guard lock(changes_mutex_);
    sink_ = &sink;
    created_.push_back(std::move(sampled));
  }

  // For a context whose destruction could not lock mutex_.
  void mark_destroyed(CUcontext context) {
    const std::lock_guard lock(changes_mutex_);
    const auto created =
        std::find_if(created_.begin(), created_.end(), [&](const auto& one) { return one->context == context; });
    if (created == created_.end()) return destroyed_.push_back(context);
    (*created)->gone = true;
  }

  bool is_destroyed(const SampledContext& context) {
    const std::lock_guard lock(changes_mutex_);
    return std::find(destroyed_.begin(), destroyed_.end(), context.context) != destroyed_.end();
  }

  // Applies what begin() and mark_destroyed() noted; mutex_ is held. Destroyed contexts come first: a created context
  // at the same address is newer.
  void apply_context_changes() {
    const std::lock_guard lock(changes_mutex_);
    for (const auto& context : contexts_) {
      if (std::find(destroyed_.begin(), destroyed_.end(), context->context) != destroyed_.end()) retire(*context);
    }
    destroyed_.clear();
    for (auto& context : created_) contexts_.push_back(std::move(context));
    created_.clear();
  }

  // Starts or ends recording; calls last(context, batch) with the samples up to now.
  template <class LastSamples>
  void set_wanted(bool wanted, LastSamples&& last) {
    const std::unique_lock lock(mutex_, kTimeout);
    if (EventSink* const sink = sink_.load(); sink != nullptr) {  // nullptr: no context yet
      if (lock) {
        apply_context_changes();
        EventBatch batch(*sink, kTimeout.count() * kMillisecond);
        for (const auto& context : contexts_) {
          fetch(*context, batch);
          last(*context, batch);
        }
      } else {
        sink->loss(LossSource::pc_sampling, 1, "samples near the start or end of recording: CUPTI was busy");
      }
    }
    wanted_.store(wanted, std::memory_order_relaxed);
  }

  // Keeps final_buffer, to which CUPTI may still write.
  static void retire(SampledContext& context) {
    context.gone = true;
    context.buffer.reset();
  }

  void remove_gone() {
    std::erase_if(contexts_, [this](const auto& context) {
      if (context->gone) retired_buffers_.push_back(std::move(context->final_buffer));
      return context->gone;
    });
  }

  // Removes everything stored for modules that are no longer loaded.
  void forget(const std::vector<std::uint64_t>& gone) {
    if (gone.empty()) return;
    modules_.drop(gone);
    const std::set<std::uint64_t> modules(gone.begin(), gone.end());
    std::erase_if(functions_, [&](const auto& entry) { return modules.contains(entry.second.module); });
    std::erase_if(lines_, [&](const auto& entry) { return modules.contains(entry.first.module); });
  }

  Result<> switch_on(SampledContext& context) {
    const CuptiApi& api = *api_;
    std::uint32_t device = 0;
    Result<> done = cupti_call(api, "cuptiGetDeviceId", api.get_device_id(context.context, &device));
    if (!done) return done;
    context.device = cuda_device(static_cast<int>(device));
    api.get_context_id(context.context, &context.id);

    CUpti_PCSamplingEnableParams enable{};
    enable.size = CUpti_PCSamplingEnableParamsSize;
    enable.ctx = context.context;
    done = cupti_call(api, "cuptiPCSamplingEnable", api.pc_sampling_enable(&enable));
    if (!done) return done;
    done = choose_reasons(context, api);
    if (done) done = configure(context, static_cast<int>(device), api);
    if (done) return done;
    // Disabling is safe here: no kernel can run in a context that is being created.
    if (api.pc_sampling_disable != nullptr) {
      CUpti_PCSamplingDisableParams disable{};
      disable.size = CUpti_PCSamplingDisableParamsSize;
      disable.ctx = context.context;
      api.pc_sampling_disable(&disable);
    }
    static_cast<void>(context.final_buffer.release());  // leaked: CUPTI may use it
    return done;
  }

  // CUPTI lists each reason twice. The second one, "_not_issued", counts only samples in which the scheduler could
  // issue no warp.
  static Result<> choose_reasons(SampledContext& context, const CuptiApi& api) {
    std::size_t count = 0;
    CUpti_PCSamplingGetNumStallReasonsParams count_params{};
    count_params.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
    count_params.ctx = context.context;
    count_params.numStallReasons = &count;
    Result<> done =
        cupti_call(api, "cuptiPCSamplingGetNumStallReasons", api.pc_sampling_get_num_stall_reasons(&count_params));
    if (!done) return done;
    std::vector<std::uint32_t> indexes(count);
    std::vector<char> text(count * CUPTI_STALL_REASON_STRING_SIZE);
    std::vector<char*> names(count);
    for (std::size_t i = 0; i < count; ++i) names[i] = &text[i * CUPTI_STALL_REASON_STRING_SIZE];
    CUpti_PCSamplingGetStallReasonsParams names_params{};
    names_params.size = CUpti_PCSamplingGetStallReasonsParamsSize;
    names_params.ctx = context.context;
    names_params.numStallReasons = count;
    names_params.stallReasonIndex = indexes.data();
    names_params.stallReasons = names.data();
    done = cupti_call(api, "cuptiPCSamplingGetStallReasons", api.pc_sampling_get_stall_reasons(&names_params));
    if (!done) return done;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = names[i];
      if (!name.starts_with(kReasonPrefix) || name.ends_with("_not_issued")) continue;
      context.reasons.push_back(indexes[i]);
      context.reason_names.emplace(indexes[i], name.substr(kReasonPrefix.size()));
    }
    return context.reasons.empty() ? unavailable("CUPTI lists no known stall reason") : ok();
  }

  Result<> configure(SampledContext& context, int device, const CuptiApi& api) {
    const auto sm_count =
        static_cast<std::uint32_t>(device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    const auto clock_khz = static_cast<std::uint64_t>(device_attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
    context.period = sampling_period(budget_, std::max(sm_count, 1u), std::max<std::uint64_t>(clock_khz, 1) * 1000,
                                     static_cast<std::uint32_t>(std::max(device_count(), 1)));
    context.final_buffer = std::make_unique<PcBuffer>(kPcsPerFetch, context.reasons.size());
    context.buffer = std::make_unique<PcBuffer>(kPcsPerFetch, context.reasons.size());

    using Info = CUpti_PCSamplingConfigurationInfo;
    Info infos[5] = {};
    infos[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
    infos[0].attributeData.stallReasonData = {context.reasons.size(), context.reasons.data()};
    infos[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
    infos[1].attributeData.samplingPeriodData = {context.period};
    infos[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
    infos[2].attributeData.hardwareBufferSizeData = {kHardwareBufferBytes};
    infos[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN;
    infos[3].attributeData.workerThreadPeriodicSleepSpanData = {kWorkerSleepMs};
    infos[4].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
    infos[4].attributeData.samplingDataBufferData = {&context.final_buffer->data()};
    CUpti_PCSamplingConfigurationInfoParams params{};
    params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
    params.ctx = context.context;
    params.numAttributes = std::size(infos);
    params.pPCSamplingConfigurationInfo = infos;
    return cupti_call(api, "cuptiPCSamplingSetConfigurationAttribute",
                      api.pc_sampling_set_configuration_attribute(&params));
  }

  // Adds CUPTI's samples to the tally. Does not wait for the GPU.
  void fetch(SampledContext& context, EventBatch& batch) {
    if (context.gone) return;
    CUpti_PCSamplingData& data = context.buffer->data();
    CUpti_PCSamplingGetDataParams params{};
    params.size = CUpti_PCSamplingGetDataParamsSize;
    params.ctx = context.context;
    params.pcSamplingData = &data;
    do {
      if (is_destroyed(context)) return;
      data.totalNumPcs = data.remainingNumPcs = 0;
      data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
      data.hardwareBufferFull = 0;
      const CUptiResult result = api_->pc_sampling_get_data(&params);
      if (result != CUPTI_SUCCESS || data.hardwareBufferFull != 0) return report_overflow(context, result, batch);
      context.tally.samples += data.totalSamples;
      context.tally.dropped += data.droppedSamples;
      context.tally.foreign += data.nonUsrKernelsTotalSamples;
      for (std::size_t i = 0; i < std::min(data.totalNumPcs, kPcsPerFetch); ++i) add(context.tally, data.pPcData[i]);
    } while (data.remainingNumPcs > 0);
  }

  void report_overflow(SampledContext& context, CUptiResult result, EventBatch& batch) {
    if (std::exchange(context.overflow_reported, true)) return;
    std::string why = "no more program counters: CUPTI's hardware buffer overflowed; sample less often (" +
                      std::string(kPcSamplesVariable) + ")";
    if (const Result<> called = cupti_call(*api_, "cuptiPCSamplingGetData", result);
        !called && result != CUPTI_ERROR_OUT_OF_MEMORY) {
      why = "no more program counters: " + called.error().message;
    }
    batch.loss(LossSource::pc_sampling, 1, why, context.device);
  }

  static std::uint64_t function_key(std::uint64_t module, std::uint32_t function) {
    return module ^ (std::uint64_t{function} * 0x9e3779b97f4a7c15u);
  }

  void add(PcTally& tally, const CUpti_PCSamplingPCData& pc) {
    // Does not free the name: CUPTI's other records may share its memory.
    if (pc.functionName != nullptr) {
      functions_.try_emplace(function_key(pc.cubinCrc, pc.functionIndex),
                             SampledFunction{pc.functionName, pc.cubinCrc});
    }
    for (std::size_t i = 0; i < pc.stallReasonCount; ++i) {
      const auto& [reason, samples] = pc.stallReason[i];
      if (samples > 0) tally.counts[{pc.cubinCrc, pc.pcOffset, pc.functionIndex, reason}] += samples;
    }
  }

  void write(SampledContext& context, EventBatch& batch) {
    const TimeNs now = now_ns();
    PcTally& tally = context.tally;
    if (!tally.empty() && wanted_.load(std::memory_order_relaxed)) {
      auto interval = make_event<PcIntervalEvent>();
      interval.device = context.device;
      interval.context = context.id;
      interval.begin_ns = tally.begin;
      interval.end_ns = now;
      interval.samples = tally.samples;
      interval.dropped = tally.dropped;
      interval.foreign_samples = tally.foreign;
      interval.period_cycles = std::uint64_t{1} << context.period;
      batch.write(interval);
      if (tally.dropped > 0)
        batch.loss(LossSource::pc_sampling, tally.dropped, "the GPU's buffer was full", context.device);
      std::size_t lines_left = kLinesPerWrite;
      for (const auto& [key, samples] : tally.counts) write(context, key, samples, now, lines_left, batch);
    }
    tally.clear(now);
  }

  void write(const SampledContext& context, const PcKey& key, std::uint32_t samples, TimeNs now,
             std::size_t& lines_left, EventBatch& batch) {
    auto event = make_event<PcSampleEvent>();
    event.device = context.device;
    event.module = key.module;
    event.pc_offset = key.pc_offset;
    event.begin_ns = context.tally.begin;
    event.at_ns = now;
    event.samples = samples;
    if (const auto name = context.reason_names.find(key.reason); name != context.reason_names.end()) {
      event.stall_reason = batch.text(name->second);
    }
    const auto function = named_function(key);
    if (function != functions_.end()) {
      event.symbol = batch.text(function->second.symbol);
      event.function = batch.text(demangled(function->second.symbol));
      const SourceLine& line = line_of(key, function->second, lines_left);
      event.file = batch.text(line.file);
      event.line = line.line;
    }
    batch.write(event);
  }

  using Functions = std::unordered_map<std::uint64_t, SampledFunction>;

  // CUPTI may leave out the name of a function that a kernel calls; the module has it then.
  Functions::iterator named_function(const PcKey& key) {
    const std::uint64_t place = function_key(key.module, key.function);
    if (const auto known = functions_.find(place); known != functions_.end()) return known;
    const Modules::Bytes cubin = modules_.copy(key.module);
    std::string symbol = function_symbol(*cubin, key.function);
    if (symbol.empty()) return functions_.end();
    return functions_.emplace(place, SampledFunction{std::move(symbol), key.module}).first;
  }

  const SourceLine& line_of(const PcKey& key, SampledFunction& function, std::size_t& lines_left) {
    static const SourceLine& unknown = *new SourceLine;  // leaked: exit handlers use it
    const Modules::Bytes cubin = modules_.copy(key.module);
    if (function.without_line >= kMaxLookupsWithoutLine || cubin->empty() ||
        api_->get_sass_to_source_correlation == nullptr) {
      return unknown;
    }
    const PcKey place{key.module, key.pc_offset, key.function, 0};
    if (const auto known = lines_.find(place); known != lines_.end()) return known->second;
    if (lines_left == 0) return unknown;
    --lines_left;
    CUpti_GetSassToSourceCorrelationParams params{};
    params.size = CUpti_GetSassToSourceCorrelationParamsSize;
    params.cubin = cubin->data();
    params.cubinSize = cubin->size();
    params.functionName = function.symbol.c_str();
    params.pcOffset = key.pc_offset;
    SourceLine line;
    if (api_->get_sass_to_source_correlation(&params) == CUPTI_SUCCESS && params.fileName != nullptr &&
        params.lineNumber != 0) {
      line = {params.fileName, params.lineNumber};
      if (params.dirName != nullptr && *params.dirName != '\0' && !line.file.starts_with('/')) {
        line.file.insert(0, std::string(params.dirName) + "/");
      }
      function.has_line = true;
    } else if (!function.has_line) {
      ++function.without_line;  // probably built without -lineinfo
    }
    std::free(params.fileName);
    std::free(params.dirName);
    return lines_.emplace(place, std::move(line)).first->second;
  }

  const CuptiApi* api_ = nullptr;
  std::atomic<bool> wanted_{false};
  Modules modules_;
  std::uint64_t budget_;
  std::atomic<EventSink*> sink_{nullptr};  // set by the first context

  std::timed_mutex mutex_;  // guards the members up to lines_; held while CUPTI fetches samples
  Contexts contexts_;
  std::vector<std::unique_ptr<PcBuffer>> retired_buffers_;  // of contexts that are gone
  Functions functions_;
  std::unordered_map<PcKey, SourceLine, PcKeyHash> lines_;

  std::mutex changes_mutex_;  // guards created_ and destroyed_; locked after mutex_, held briefly
  Contexts created_;
  std::vector<CUcontext> destroyed_;
};

}  // namespace

std::unique_ptr<Source> make_pc_sampling() { return std::make_unique<PcSampling>(); }

}  // namespace wicprof::collector
