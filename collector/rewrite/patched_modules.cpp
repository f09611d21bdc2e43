#include "collector/rewrite/patched_modules.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "collector/rewrite/load_functions.h"
#include "collector/rewrite/own_code.h"
#include "protocol/events/device.h"
#include "protocol/events/polled_word.h"
#include "protocol/events/site.h"
#include "protocol/events/strategy.h"
#include "protocol/strategy.h"
#include "rewriter/patch/site.h"

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

/// Those that waits of patched loops have.
void declare_strategies(EventSink& sink) {
  for (const StrategyId strategy : {StrategyId::poll, StrategyId::pause, StrategyId::watch}) {
    auto event = make_event<StrategyEvent>();
    event.strategy = static_cast<std::uint32_t>(strategy);
    event.name = sink.text(strategy_name(strategy));
    sink.write_or_hold(event);
  }
}

// The driver has just loaded the program's code, and nothing else runs: the clock's kernel begins at once, unless
// another process holds the device.
constexpr TimeNs kFirstReading = 20 * kMillisecond;

}  // namespace

std::vector<std::string> PatchedModules::add(const rewriter::Replacement& replacement, CUlibrary library,
                                             CUmodule module, EventSink& sink, CUcontext context) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  if (sites_.empty()) declare_strategies(sink);
  // The same code again: its sites are declared.
  for (Module& each : modules_) {
    if (!each.gone || each.table != replacement.table || each.count != replacement.sites.size()) continue;
    each.gone = false;
    each.library = library;
    each.module = module;
    each.context = context;
    for (std::size_t i = 0; i < each.count; ++i) {
      names.push_back(codes_.at(kFirstSite + static_cast<SiteId>(each.first + i)).name);
    }
    look_again();
    return names;
  }
  if (sites_.size() + replacement.sites.size() > kMostSites) return names;
  Module& added = modules_.emplace_back();
  added.library = library;
  added.module = module;
  added.context = context;
  added.table = replacement.table;
  added.first = sites_.size();
  added.count = replacement.sites.size();
  for (const rewriter::LoadedSite& each : replacement.sites) {
    Site& site = sites_.emplace_back();
    site.loaded = each;
    names.push_back(names_.of(each.name, added.table + each.name));
    if (control_ != nullptr) site.session_number = register_site(*control_, names.back().c_str());
    for (const Memory& memory : memories_) memory.words[sites_.size() - 1].control = control_word(site);
    auto event = make_event<SiteEvent>();
    event.site = kFirstSite + static_cast<SiteId>(sites_.size() - 1);
    event.name = sink.text(names.back());
    event.pollers = Pollers::each_thread;
    sink.write_or_hold(event);
    codes_[event.site] = {names.back(), each.knows_word, each.wanted};
    if (each.knows_word) continue;
    auto word = make_event<PolledWordEvent>();
    word.site = event.site;
    word.device = kHostDevice;
    sink.write_or_hold(word);
  }
  any_ = true;
  look_again();
  return names;
}

void PatchedModules::add_beside(CUlibrary library, CUmodule module, CUcontext context) {
  const std::lock_guard lock(mutex_);
  const auto free = std::find_if(modules_.begin(), modules_.end(),
                                 [](const Module& each) { return each.gone && each.table.empty(); });
  Module& added = free != modules_.end() ? *free : modules_.emplace_back();
  added.gone = false;
  added.library = library;
  added.module = module;
  added.context = context;
  look_again();
}

std::unique_lock<std::mutex> PatchedModules::lock_bind(TimeNs patience) {
  std::unique_lock lock(bind_mutex_, std::try_to_lock);
  for (const TimeNs until = now_ns() + patience; !lock && now_ns() < until; static_cast<void>(lock.try_lock())) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return lock;
}

void PatchedModules::unloaded(CUlibrary library, CUmodule module) {
  const std::unique_lock bind_lock = lock_bind(kEndPatience);
  const std::lock_guard lock(mutex_);
  for (Module& each : modules_) {
    if ((library != nullptr && each.library == library) || (module != nullptr && each.module == module)) {
      each.leaving = library != nullptr ? static_cast<const void*>(library) : module;
      each.library = nullptr;
      each.module = nullptr;
    }
  }
}

void PatchedModules::gone(CUlibrary library, CUmodule module, EventSink& sink) {
  const void* const handle = library != nullptr ? static_cast<const void*>(library) : module;
  const std::lock_guard lock(mutex_);
  EventBatch batch(sink);
  for (Module& each : modules_) {
    if (handle == nullptr || each.leaving != handle) continue;
    each.leaving = nullptr;
    each.gone = true;
    for (const Bound& bound : each.bound) {
      if (bound.records == nullptr) continue;
      bound.records->read(batch);
      free_rings_.emplace(bound.context, bound.records->ring());
    }
    each.bound.clear();
  }
}

rewriter::Record* PatchedModules::take_ring(CUcontext context) {
  const std::lock_guard lock(mutex_);
  const auto found = free_rings_.find(context);
  return found == free_rings_.end() ? nullptr : free_rings_.extract(found).mapped();
}

void PatchedModules::context_begins(CUcontext context) {
  const std::lock_guard lock(mutex_);
  contexts_.push_back(context);
  look_again();
}

void PatchedModules::may_wait(CUcontext context) {
  const std::lock_guard lock(mutex_);
  std::erase(contexts_, context);
}

void PatchedModules::context_ends(CUcontext context, EventSink& sink) {
  const std::unique_lock bind_lock = lock_bind(kEndPatience);
  read_waits(sink);
  const std::lock_guard lock(mutex_);
  std::erase(contexts_, context);
  std::erase_if(memories_, [&](const Memory& memory) { return memory.context == context; });
  free_rings_.erase(context);
  {
    const std::lock_guard clocks_lock(clocks_mutex_);
    std::erase_if(clocks_, [&](const Clock& each) { return each.context == context; });
  }
  for (Module& each : modules_) {
    const auto of_context = [&](const Bound& bound) { return bound.context == context; };
    if (std::erase_if(each.bound, of_context) != 0 && each.module != nullptr) each.module = nullptr;  // ends as well
  }
  ended_.push_back(context);
  look_again();
}

std::optional<PatchedModules::Memory> PatchedModules::memory_of(const RewriteDriver& driver, CUcontext context,
                                                                EventSink& sink, std::string& problem) {
  {
    const std::lock_guard lock(mutex_);
    for (const Memory& memory : memories_) {
      if (memory.context == context) return memory;
    }
  }
  Memory memory;
  memory.context = context;
  void* words = nullptr;
  constexpr std::size_t kBytesOfCounts = rewriter::kCountSlots * sizeof(rewriter::SiteCounts);
  constexpr std::size_t kBytes = kMostSites * (sizeof(SiteWords) + kBytesOfCounts);
  if (const CUresult result = driver.host_alloc(&words, kBytes, CU_MEMHOSTALLOC_DEVICEMAP); result != CUDA_SUCCESS) {
    problem = error_of("cuMemHostAlloc", result);
    return std::nullopt;
  }
  memory.words = static_cast<SiteWords*>(words);
  memory.counts = reinterpret_cast<rewriter::SiteCounts*>(memory.words + kMostSites);
  std::memset(words, 0, kBytes);
  CUresult result = driver.device_pointer(&memory.address, words, 0);
  if (result == CUDA_SUCCESS) result = driver.create_stream(&memory.stream, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = driver.create_stream(&memory.counts_stream, CU_STREAM_NON_BLOCKING);
  // Its memory stays with the context; there is nothing to undo.
  if (result != CUDA_SUCCESS) {
    problem = error_of("preparing memory for patched loops", result);
    return std::nullopt;
  }
  CUdevice device = 0;
  driver.current_device(&device);
  memory.device = cuda_device(device);
  const auto clock = std::make_shared<DeviceClock>(driver, memory.device);
  if (clock->open(memory.stream)) {
    clock->request();
    if (const std::optional<ClockEvent> reading = clock->take(kFirstReading)) sink.write_or_hold(*reading);
  }
  {
    const std::lock_guard lock(clocks_mutex_);
    clocks_.push_back({context, clock});
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < sites_.size(); ++i) memory.words[i].control = control_word(sites_[i]);
  memories_.push_back(memory);
  return memory;
}

std::unique_ptr<WaitRecords> PatchedModules::bind_module(const RewriteDriver& driver, const Unbound& module,
                                                         const Memory& memory, CUdeviceptr& counts,
                                                         std::string& problem) {
  const auto failed = [&](const char* call, CUresult result) {
    problem = error_of(call, result);
    return nullptr;
  };
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  CUresult result = module.library != nullptr
                        ? driver.library_global(&table, &bytes, module.library, module.table.c_str())
                        : driver.module_global(&table, &bytes, module.module, module.table.c_str());
  if (result != CUDA_SUCCESS) return failed("looking up the table of patched loops", result);
  if (bytes < sizeof(rewriter::ModuleWords)) {
    problem = "the table of patched loops has " + std::to_string(bytes) + " bytes";
    return nullptr;
  }
  const rewriter::Table layout{module.table, module.count};
  if (bytes >= layout.bytes()) counts = table + layout.counts(0);
  void* ring = take_ring(memory.context);
  if (ring == nullptr) {
    result = driver.host_alloc(&ring, rewriter::kRecords * sizeof(rewriter::Record), CU_MEMHOSTALLOC_DEVICEMAP);
  }
  if (result != CUDA_SUCCESS) return failed("cuMemHostAlloc", result);
  std::memset(ring, 0, rewriter::kRecords * sizeof(rewriter::Record));
  CUdeviceptr ring_address = 0;
  if (result = driver.device_pointer(&ring_address, ring, 0); result != CUDA_SUCCESS) {
    return failed("cuMemHostGetDevicePointer", result);
  }
  auto records = std::make_unique<WaitRecords>(static_cast<rewriter::Record*>(ring), memory.device, module.sites);
  const std::uint64_t words[] = {memory.address + module.first * sizeof(SiteWords), ring_address};
  static_assert(offsetof(rewriter::ModuleWords, sites) == 0 && offsetof(rewriter::ModuleWords, records) == 8);
  result = driver.copy_to_device(table, words, sizeof words, memory.stream);
  if (result == CUDA_SUCCESS) result = driver.synchronize(memory.stream);  // `words` must live until then
  if (result != CUDA_SUCCESS) problem = error_of("writing the table of patched loops", result);
  return records;
}

std::string PatchedModules::bind_in(const RewriteDriver& driver, CUcontext context, EventSink& sink) {
  std::vector<Unbound> unbound;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      Module& each = modules_[i];
      if (each.library == nullptr && each.module == nullptr) continue;
      if (each.context != nullptr && each.context != context) continue;
      const auto of_context = [&](const Bound& bound) { return bound.context == context; };
      if (std::any_of(each.bound.begin(), each.bound.end(), of_context)) continue;
      each.bound.emplace_back().context = context;  // once: a failure would only come again
      unbound.push_back({i, each.library, each.module, each.table, each.first, each.count, {}});
      for (std::size_t site = each.first; site < each.first + each.count; ++site)
        unbound.back().sites.push_back({kFirstSite + static_cast<SiteId>(site), strategy_of(sites_[site])});
    }
  }
  std::string problem;
  for (const Unbound& each : unbound) {
    load_functions(driver, each.library, each.module);
    if (each.table.empty()) continue;
    const std::optional<Memory> memory = memory_of(driver, context, sink, problem);
    if (!memory) continue;
    CUdeviceptr counts = 0;
    std::unique_ptr<WaitRecords> records = bind_module(driver, each, *memory, counts, problem);
    const std::lock_guard lock(mutex_);
    for (Bound& bound : modules_[each.number].bound) {
      if (bound.context != context) continue;
      bound.records = std::move(records);
      bound.counts = counts;
      bound.sums.resize(each.count);
      bound.counted = now_ns();
      bound.counting = recording_;
    }
  }
  return problem;
}

std::string PatchedModules::bind(const RewriteDriver& driver, EventSink& sink) {
  if (!any_.load(std::memory_order_relaxed)) return {};
  CUcontext current = nullptr;
  if (driver.current_context(&current) != CUDA_SUCCESS || current == nullptr) return {};
  const OutsideOfCaptures outside(driver);
  const std::unique_lock bind_lock = lock_bind(kBindPatience);
  if (!bind_lock) return {};
  std::vector<CUcontext> others;
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    changes = changes_;
    others = contexts_;
  }
  std::string problem = bind_in(driver, current, sink);
  std::vector<CUcontext> bound{current};
  for (const CUcontext context : others) {
    if (context == current || driver.push_context(context) != CUDA_SUCCESS) continue;
    const std::string of_other = bind_in(driver, context, sink);
    if (problem.empty()) problem = of_other;
    CUcontext popped = nullptr;
    driver.pop_context(&popped);
    bound.push_back(context);
  }
  const std::lock_guard lock(mutex_);
  if (changes_ == changes && contexts_ == others) {
    look_again();
    for (std::size_t i = 0; i < std::min(bound.size(), bound_in_.size()); ++i) bound_in_[i] = bound[i];
  }
  return problem;
}

void PatchedModules::look_again() {
  ++changes_;
  for (std::atomic<CUcontext>& bound : bound_in_) bound = nullptr;
}

std::uint32_t PatchedModules::control_word(const Site& site) const {
  std::uint32_t wanted = WantedWait::kNothing;
  if (control_ != nullptr && !recorder_gone_) {
    if (site.session_number != 0) {
      wanted = control_->sites[site.session_number].wanted.load(std::memory_order_relaxed);
    }
    if (wanted == WantedWait::kNothing) wanted = control_->wanted.load(std::memory_order_relaxed);
  }
  const bool park = wanted != WantedWait::kNothing && WantedWait::unpack(wanted).mode == Mode::park;
  return (park ? rewriter::kLongestPause : 0) | (recording_.load() ? rewriter::kRecord : 0);
}

std::size_t PatchedModules::site_count() const {
  const std::lock_guard lock(mutex_);
  return sites_.size();
}

std::uint32_t PatchedModules::session_number(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return sites_[index].session_number;
}

StrategyId PatchedModules::strategy(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return strategy_of(sites_[index]);
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

std::vector<PatchedModules::CountsCopy> PatchedModules::counts_to_copy() {
  std::vector<CountsCopy> copies;
  for (Module& each : modules_) {
    for (Bound& bound : each.bound) {
      const auto memory = std::ranges::find(memories_, bound.context, &Memory::context);
      bound.copied = bound.counts != 0 && memory != memories_.end() && !memory->copying &&
                     (each.library != nullptr || each.module != nullptr);
      if (!bound.copied) continue;
      copies.push_back({bound.context, bound.counts, memory->counts + each.first * rewriter::kCountSlots,
                        each.count * rewriter::kCountSlots * sizeof(rewriter::SiteCounts)});
    }
  }
  return copies;
}

bool PatchedModules::copy_counts(const RewriteDriver& driver, Memory& memory, const std::vector<CountsCopy>& copies,
                                 TimeNs patience) {
  if (memory.copying) {  // it was late
    memory.copying = driver.query(memory.counts_stream) == CUDA_ERROR_NOT_READY;
    return false;
  }
  for (const CountsCopy& each : copies) {
    if (each.context != memory.context) continue;
    if (driver.copy_to_host(each.to, each.from, each.bytes, memory.counts_stream) != CUDA_SUCCESS) return false;
    memory.copying = true;
  }
  for (const TimeNs until = now_ns() + patience; memory.copying;) {
    const CUresult result = driver.query(memory.counts_stream);
    memory.copying = result == CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS) return true;
    if (result != CUDA_ERROR_NOT_READY || now_ns() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return false;
}

void PatchedModules::write_counts(CUcontext context, EventBatch& batch) {
  const auto memory = std::ranges::find(memories_, context, &Memory::context);
  if (memory == memories_.end()) return;
  const TimeNs now = now_ns();
  for (Module& each : modules_) {
    for (Bound& bound : each.bound) {
      if (bound.context != context || !bound.copied) continue;
      for (std::size_t i = 0; i < each.count; ++i) {
        const WaitSums sums = sums_of(memory->counts + (each.first + i) * rewriter::kCountSlots);
        WaitCountEvent event = waits_between(bound.sums[i], sums, sites_[each.first + i].loaded);
        bound.sums[i] = sums;
        if (!bound.counting || (event.looked == 0 && event.sampled == 0 && event.timed == 0)) continue;
        event.site = kFirstSite + static_cast<SiteId>(each.first + i);
        event.device = memory->device;
        event.begin_ns = bound.counted;
        event.end_ns = now;
        batch.write(event);
      }
      bound.counted = now;
      bound.counting = recording_;
    }
  }
}

void PatchedModules::read_counts(const RewriteDriver& driver, EventSink& sink, TimeNs patience) {
  if (!any_.load(std::memory_order_relaxed) || driver.copy_to_host == nullptr || driver.query == nullptr) return;
  // The modules and contexts stay while this is held.
  const std::unique_lock bind_lock(bind_mutex_, std::try_to_lock);
  if (!bind_lock) return;
  counts_recorded_ = recording_.load();
  std::vector<CountsCopy> copies;
  std::vector<Memory> memories;
  {
    const std::lock_guard lock(mutex_);
    copies = counts_to_copy();
    memories = memories_;
  }
  const OutsideOfCaptures outside(driver);
  for (Memory& memory : memories) {
    if (driver.push_context(memory.context) != CUDA_SUCCESS) continue;
    const bool arrived = copy_counts(driver, memory, copies, patience);
    CUcontext popped = nullptr;
    driver.pop_context(&popped);
    const std::lock_guard lock(mutex_);
    for (Memory& each : memories_) {
      if (each.context == memory.context) each.copying = memory.copying;
    }
    EventBatch batch(sink);
    if (arrived) write_counts(memory.context, batch);
  }
}

void PatchedModules::take_clocks(EventSink& sink) {
  const std::lock_guard lock(clocks_mutex_);
  for (const Clock& each : clocks_) {
    if (const std::optional<ClockEvent> reading = each.clock->take(0)) sink.write_or_hold(*reading);
  }
}

void PatchedModules::request_clocks(const RewriteDriver& driver) {
  std::vector<Clock> clocks;
  {
    const std::lock_guard lock(clocks_mutex_);
    clocks = clocks_;
  }
  // Without the lock: a thread that destroys a context may hold a lock of the driver while it waits for ours.
  for (const auto& [context, clock] : clocks) {
    if (driver.push_context(context) != CUDA_SUCCESS) continue;
    clock->request();
    CUcontext popped = nullptr;
    driver.pop_context(&popped);
  }
}

std::vector<LastingWait> PatchedModules::lasting_waits(std::map<SiteId, SiteCode>& codes) {
  // A program with a million waiting threads is not gone through again and again.
  constexpr std::size_t kMostLooked = 65'536;
  std::vector<LastingWait> waits;
  const TimeNs before = now_ns() - PolledWords::kShownAfter;
  const std::lock_guard lock(mutex_);
  codes = codes_;
  for (const Module& each : modules_) {
    for (const Bound& bound : each.bound) {
      if (bound.records == nullptr) continue;
      std::size_t looked = 0;
      for (const auto& [thread, open] : bound.records->open()) {
        if (++looked > kMostLooked) break;
        if (open.read > before) continue;
        const rewriter::Record& begin = open.begin;
        const bool known = (begin.site & rewriter::Record::kKnowsValue) != 0;
        waits.push_back({bound.records->site_of(begin), known ? begin.address : 0, bound.records->device(), begin.block,
                         static_cast<std::uint16_t>(begin.thread / 32), begin.sm, open.read, known ? begin.value : 0});
      }
    }
  }
  std::stable_sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return waits;
}

void PatchedModules::show_waits() {
  constexpr TimeNs kShowInterval = 250 * kMillisecond;
  const TimeNs now = now_ns();
  if (now < next_show_) return;
  next_show_ = now + kShowInterval;
  std::map<SiteId, SiteCode> codes;
  const std::vector<LastingWait> waits = lasting_waits(codes);
  words_.show(waits, codes);
}

void PatchedModules::look_at_words(const RewriteDriver* driver, EventSink& sink) {
  std::vector<NewWord> words;
  std::vector<CUcontext> ended;
  std::map<SiteId, SiteCode> codes;
  {
    const std::lock_guard lock(mutex_);
    for (Module& each : modules_) {
      for (Bound& bound : each.bound) {
        if (bound.records == nullptr) continue;
        for (const WaitRecords::Word& word : bound.records->new_words()) {
          words.push_back({word.site, word.address, bound.records->device(), bound.context});
        }
      }
    }
    ended.swap(ended_);
    if (!words.empty()) codes = codes_;
  }
  const bool asked = driver != nullptr && words_.is_asked();
  std::optional<OwnCode> own;
  if (driver != nullptr && (asked || !words.empty())) own.emplace(*driver);
  // Without the lock, as in request_clocks().
  if (!words.empty()) words_.add(driver, words, codes, sink);
  words_.write_writers(candidates_, sink, driver == nullptr);
  if (driver == nullptr) return words_.hide();
  for (const CUcontext context : ended) words_.context_ends(context);
  if (!asked) return;
  const std::vector<LastingWait> waits = lasting_waits(codes);
  if (!words_.read(*driver, waits)) return;
  words_.show(waits, codes);
  words_.answer();
}

}  // namespace wicprof::collector
