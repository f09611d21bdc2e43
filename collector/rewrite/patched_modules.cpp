#include "collector/rewrite/patched_modules.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>

#include "collector/program/symbol_name.h"
#include "protocol/events/device.h"
#include "protocol/events/site.h"
#include "protocol/events/strategy.h"
#include "protocol/strategy.h"

namespace wicprof::collector {

namespace {

using rewriter::SiteWords;

/// The program may be recording a graph, which our calls must neither join nor end.
class OutsideOfCaptures {
 public:
  explicit OutsideOfCaptures(const RewriteDriver& driver) : driver_(driver) { driver_.exchange_capture_mode(&mode_); }
  ~OutsideOfCaptures() { driver_.exchange_capture_mode(&mode_); }
  OutsideOfCaptures(const OutsideOfCaptures&) = delete;
  OutsideOfCaptures& operator=(const OutsideOfCaptures&) = delete;

 private:
  const RewriteDriver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

std::string error_of(const char* call, CUresult result) {
  return std::string(call) + " failed (error " + std::to_string(result) + ")";
}

/// "kernel:line", cut from the left where it is too long: the end tells sites of one kernel apart.
std::string name_of(const rewriter::LoadedSite& site, std::size_t number) {
  std::string name = readable_symbol(site.function);
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;) name.erase(at, kUnnamed.size());
  name = name.substr(0, name.find('('));
  name = name.substr(name.rfind(' ') + 1);
  name += ':' + (site.line != 0 ? std::to_string(site.line) : "site" + std::to_string(number));
  constexpr std::size_t kLongest = kMaxSiteName - 1;
  return name.size() > kLongest ? name.substr(name.size() - kLongest) : name;
}

/// Those that waits of patched loops have.
void declare_strategies(EventSink& sink) {
  for (const StrategyName& strategy : kStrategies) {
    if (strategy.id != StrategyId::poll && strategy.id != StrategyId::backoff) continue;
    auto event = make_event<StrategyEvent>();
    event.strategy = static_cast<std::uint32_t>(strategy.id);
    event.name = sink.text(strategy.name);
    sink.write_or_hold(event);
  }
}

// The driver has just loaded the program's code, and nothing else runs: the clock's kernel begins at once, unless
// another process holds the device.
constexpr TimeNs kFirstReading = 20 * kMillisecond;

}  // namespace

std::vector<std::string> PatchedModules::add(const rewriter::Replacement& replacement, CUlibrary library,
                                             CUmodule module, EventSink& sink) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  if (sites_.empty()) declare_strategies(sink);
  if (sites_.size() + replacement.sites.size() > kMostSites) return names;
  Module& added = modules_.emplace_back();
  added.library = library;
  added.module = module;
  added.table = replacement.table;
  added.first = sites_.size();
  added.count = replacement.sites.size();
  for (const rewriter::LoadedSite& each : replacement.sites) {
    Site& site = sites_.emplace_back();
    site.loaded = each;
    names.push_back(name_of(each, sites_.size() - added.first - 1));
    if (control_ != nullptr) site.session_number = register_site(*control_, names.back().c_str());
    for (const Memory& memory : memories_) memory.words[sites_.size() - 1].control = control_word(site);
    auto event = make_event<SiteEvent>();
    event.site = kFirstSite + static_cast<SiteId>(sites_.size() - 1);
    event.name = sink.text(names.back());
    event.pollers = Pollers::each_thread;
    sink.write_or_hold(event);
  }
  any_ = true;
  bound_in_ = nullptr;
  return names;
}

void PatchedModules::unloaded(CUlibrary library, CUmodule module) {
  const std::lock_guard lock(mutex_);
  for (Module& each : modules_) {
    if ((library != nullptr && each.library == library) || (module != nullptr && each.module == module)) {
      each.library = nullptr;
      each.module = nullptr;
    }
  }
}

void PatchedModules::context_ends(CUcontext context, EventSink& sink) {
  read_waits(sink);
  const std::lock_guard lock(mutex_);
  std::erase_if(memories_, [&](const Memory& memory) { return memory.context == context; });
  for (Module& each : modules_) {
    const auto of_context = [&](const Bound& bound) { return bound.context == context; };
    if (std::erase_if(each.bound, of_context) != 0 && each.module != nullptr) each.module = nullptr;  // ends as well
  }
  bound_in_ = nullptr;
}

PatchedModules::Memory* PatchedModules::memory_of(const RewriteDriver& driver, CUcontext context, EventSink& sink,
                                                  std::string& problem) {
  for (Memory& memory : memories_) {
    if (memory.context == context) return &memory;
  }
  Memory memory;
  memory.context = context;
  void* words = nullptr;
  if (const CUresult result = driver.host_alloc(&words, kMostSites * sizeof(SiteWords), CU_MEMHOSTALLOC_DEVICEMAP);
      result != CUDA_SUCCESS) {
    problem = error_of("cuMemHostAlloc", result);
    return nullptr;
  }
  memory.words = static_cast<SiteWords*>(words);
  std::memset(words, 0, kMostSites * sizeof(SiteWords));
  for (std::size_t i = 0; i < sites_.size(); ++i) memory.words[i].control = control_word(sites_[i]);
  CUresult result = driver.device_pointer(&memory.address, words, 0);
  if (result == CUDA_SUCCESS) result = driver.create_stream(&memory.stream, CU_STREAM_NON_BLOCKING);
  // Its memory stays with the context; there is nothing to undo.
  if (result != CUDA_SUCCESS) {
    problem = error_of("preparing memory for patched loops", result);
    return nullptr;
  }
  CUdevice device = 0;
  driver.current_device(&device);
  memory.device = cuda_device(device);
  memory.clock = std::make_shared<DeviceClock>(driver, memory.device);
  if (memory.clock->open(memory.stream)) {
    memory.clock->request();
    if (const std::optional<ClockEvent> reading = memory.clock->take(kFirstReading)) sink.write_or_hold(*reading);
  }
  memories_.push_back(std::move(memory));
  return &memories_.back();
}

std::string PatchedModules::bind_module(const RewriteDriver& driver, const Module& module, const Memory& memory,
                                        Bound& bound) {
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  CUresult result = module.library != nullptr
                        ? driver.library_global(&table, &bytes, module.library, module.table.c_str())
                        : driver.module_global(&table, &bytes, module.module, module.table.c_str());
  if (result != CUDA_SUCCESS) return error_of("looking up the table of patched loops", result);
  if (bytes < sizeof(rewriter::ModuleWords)) {
    return "the table of patched loops has " + std::to_string(bytes) + " bytes";
  }
  void* ring = nullptr;
  result = driver.host_alloc(&ring, rewriter::kRecords * sizeof(rewriter::Record), CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS) return error_of("cuMemHostAlloc", result);
  std::memset(ring, 0, rewriter::kRecords * sizeof(rewriter::Record));
  CUdeviceptr ring_address = 0;
  if (result = driver.device_pointer(&ring_address, ring, 0); result != CUDA_SUCCESS) {
    return error_of("cuMemHostGetDevicePointer", result);
  }
  std::vector<SiteId> sites(module.count);
  std::iota(sites.begin(), sites.end(), kFirstSite + static_cast<SiteId>(module.first));
  bound.records = std::make_unique<WaitRecords>(static_cast<rewriter::Record*>(ring), memory.device, std::move(sites));
  const std::uint64_t words[] = {memory.address + module.first * sizeof(SiteWords), ring_address};
  static_assert(offsetof(rewriter::ModuleWords, sites) == 0 && offsetof(rewriter::ModuleWords, records) == 8);
  result = driver.copy_to_device(table, words, sizeof words, memory.stream);
  if (result == CUDA_SUCCESS) result = driver.synchronize(memory.stream);  // `words` must live until then
  return result == CUDA_SUCCESS ? std::string() : error_of("writing the table of patched loops", result);
}

void PatchedModules::prepare(const RewriteDriver& driver, EventSink& sink) {
  CUcontext context = nullptr;
  if (driver.current_context(&context) != CUDA_SUCCESS || context == nullptr) return;
  const OutsideOfCaptures outside(driver);
  const std::lock_guard lock(mutex_);
  std::string problem;
  memory_of(driver, context, sink, problem);
}

std::string PatchedModules::bind(const RewriteDriver& driver, EventSink& sink) {
  if (!any_.load(std::memory_order_relaxed)) return {};
  CUcontext context = nullptr;
  if (driver.current_context(&context) != CUDA_SUCCESS || context == nullptr) return {};
  const OutsideOfCaptures outside(driver);
  const std::lock_guard lock(mutex_);
  std::string problem;
  for (Module& each : modules_) {
    if (each.library == nullptr && each.module == nullptr) continue;
    const auto of_context = [&](const Bound& bound) { return bound.context == context; };
    if (std::any_of(each.bound.begin(), each.bound.end(), of_context)) continue;
    Bound& bound = each.bound.emplace_back(Bound{context, nullptr});  // once: a failure would only come again
    const Memory* const memory = memory_of(driver, context, sink, problem);
    const std::string failed = memory == nullptr ? problem : bind_module(driver, each, *memory, bound);
    if (!failed.empty()) problem = failed;
  }
  bound_in_ = context;
  return problem;
}

std::uint32_t PatchedModules::control_word(const Site& site) const {
  std::uint32_t wanted = WantedWait::kNothing;
  if (control_ != nullptr) {
    if (site.session_number != 0) {
      wanted = control_->sites[site.session_number].wanted.load(std::memory_order_relaxed);
    }
    if (wanted == WantedWait::kNothing) wanted = control_->wanted.load(std::memory_order_relaxed);
  }
  const bool park = wanted != WantedWait::kNothing && WantedWait::unpack(wanted).mode == Mode::park;
  return (park ? rewriter::kLongestPause : 0) | (recording_.load() ? rewriter::kRecord : 0);
}

bool PatchedModules::follow_session() {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const std::uint32_t word = control_word(sites_[i]);
    for (const Memory& memory : memories_) {
      changed |= std::atomic_ref(memory.words[i].control).exchange(word, std::memory_order_relaxed) != word;
    }
  }
  return changed;
}

void PatchedModules::record(bool on) {
  recording_ = on;
  follow_session();
}

bool PatchedModules::read_waits(EventSink& sink) {
  const std::lock_guard lock(mutex_);
  EventBatch batch(sink);
  bool any = false;
  for (Module& each : modules_) {
    for (Bound& bound : each.bound) {
      if (bound.records == nullptr) continue;
      bound.records->read(batch);
      any = true;
    }
  }
  return any;
}

void PatchedModules::read_clocks(const RewriteDriver& driver, EventSink& sink) {
  std::vector<std::pair<CUcontext, std::shared_ptr<DeviceClock>>> clocks;
  {
    const std::lock_guard lock(mutex_);
    for (Memory& memory : memories_) {
      if (const std::optional<ClockEvent> reading = memory.clock->take(0)) sink.write_or_hold(*reading);
      clocks.emplace_back(memory.context, memory.clock);
    }
  }
  // Without the lock: a thread that destroys a context may hold a lock of the driver while it waits for ours.
  for (const auto& [context, clock] : clocks) {
    if (driver.push_context(context) != CUDA_SUCCESS) continue;
    clock->request();
    CUcontext popped = nullptr;
    driver.pop_context(&popped);
  }
}

}  // namespace wicprof::collector
