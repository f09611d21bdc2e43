#include "collector/rewrite/patched_modules.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "collector/program/symbol_name.h"

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

template <class Word>
Word read(const Word& word) {
  return std::atomic_ref(const_cast<Word&>(word)).load(std::memory_order_relaxed);
}

}  // namespace

std::vector<std::string> PatchedModules::add(const rewriter::Replacement& replacement, CUlibrary library,
                                             CUmodule module) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
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
    for (const Memory& memory : memories_) {
      SiteWords& words = memory.words[sites_.size() - 1];
      std::memset(&words, 0, sizeof words);
      words.control = control_word(site);
    }
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

void PatchedModules::context_ends(CUcontext context) {
  const std::lock_guard lock(mutex_);
  for (const Memory& memory : memories_) {
    if (memory.context != context) continue;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      sites_[i].waits += read(memory.words[i].waits);
      sites_[i].rounds += read(memory.words[i].rounds);
      sites_[i].ns += read(memory.words[i].ns);
    }
  }
  std::erase_if(memories_, [&](const Memory& memory) { return memory.context == context; });
  for (Module& each : modules_) {
    if (std::erase(each.bound, context) != 0 && each.module != nullptr) each.module = nullptr;  // ends with the context
  }
  bound_in_ = nullptr;
}

PatchedModules::Memory* PatchedModules::memory_of(const RewriteDriver& driver, CUcontext context,
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
  memories_.push_back(memory);
  return &memories_.back();
}

std::string PatchedModules::bind_module(const RewriteDriver& driver, const Module& module, const Memory& memory) {
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  CUresult result = module.library != nullptr
                        ? driver.library_global(&table, &bytes, module.library, module.table.c_str())
                        : driver.module_global(&table, &bytes, module.module, module.table.c_str());
  if (result != CUDA_SUCCESS) return error_of("looking up the table of patched loops", result);
  const std::uint64_t address = memory.address + module.first * sizeof(SiteWords);
  if (bytes < sizeof(rewriter::ModuleWords))
    return "the table of patched loops has " + std::to_string(bytes) + " bytes";
  result = driver.copy_to_device(table, &address, sizeof address, memory.stream);
  if (result == CUDA_SUCCESS) result = driver.synchronize(memory.stream);  // `address` must live until then
  return result == CUDA_SUCCESS ? std::string() : error_of("writing the table of patched loops", result);
}

std::string PatchedModules::bind(const RewriteDriver& driver) {
  if (!any_.load(std::memory_order_relaxed)) return {};
  CUcontext context = nullptr;
  if (driver.current_context(&context) != CUDA_SUCCESS || context == nullptr) return {};
  const OutsideOfCaptures outside(driver);
  const std::lock_guard lock(mutex_);
  std::string problem;
  for (Module& each : modules_) {
    if (each.library == nullptr && each.module == nullptr) continue;
    if (std::find(each.bound.begin(), each.bound.end(), context) != each.bound.end()) continue;
    each.bound.push_back(context);  // once: a failure would only come again
    const Memory* const memory = memory_of(driver, context, problem);
    const std::string failed = memory == nullptr ? problem : bind_module(driver, each, *memory);
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
  // Not kCount: see docs/design/rewriter.md.
  return park ? rewriter::kLongestPause : 0;
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

std::vector<SiteTotals> PatchedModules::totals() const {
  const std::lock_guard lock(mutex_);
  std::vector<SiteTotals> all;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    SiteTotals& of = all.emplace_back(SiteTotals{site.loaded, site.session_number, site.waits, site.rounds, site.ns});
    for (const Memory& memory : memories_) {
      of.waits += read(memory.words[i].waits);
      of.rounds += read(memory.words[i].rounds);
      of.ns += read(memory.words[i].ns);
    }
  }
  return all;
}

}  // namespace wicprof::collector
