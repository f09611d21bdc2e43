#include "collector/rewrite/trial.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "collector/program/own_thread.h"
#include "collector/rewrite/own_code.h"
#include "rewriter/patch/limit.h"

namespace wicprof::collector {

namespace {

// Of an SM since sm_70; registers are given to warps in units of 8 per thread.
constexpr int kRegistersPerSm = 65'536, kWarpThreads = 32, kRegisterUnit = 8, kMostWarps = 64;

// The patch keeps 32 bytes of each thread in local memory. A limit for registers may put a few of the kernel's values
// there as well, but not many: 60 bytes of them made CUB's select 11 % slower (docs/results).
constexpr int kMoreLocalBytes = 64;
// What the patch's function keeps there while it runs, beside the 32 bytes: at most 136 in all with ptxas 13.0
// (docs/results/rewrite_forms.txt). No values of the kernel: those that live across its call have registers.
constexpr int kMoreLocalBytesOfCalls = 144;

// CU_JIT_SPLIT_COMPILE, since CUDA 12.4: the driver compiles several kernels at the same time.
constexpr auto kSplitCompile = static_cast<CUjit_option>(34);

class Loaded {
 public:
  /// `split`: compiled in less time, but not kept in the driver's cache for loads without that option.
  Loaded(const RewriteDriver& driver, const void* image, bool split = false) : driver_(driver) {
    CUjit_option option = kSplitCompile;
    void* all_cpus = nullptr;  // 0
    result = CUDA_ERROR_NOT_SUPPORTED;
    if (split) {
      const WithoutSignals without;  // for the compiler's threads
      result = driver.library_load(&library, image, &option, &all_cpus, 1, nullptr, nullptr, 0);
    }
    if (result != CUDA_SUCCESS) result = driver.library_load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  ~Loaded() {
    if (result == CUDA_SUCCESS) driver_.library_unload(library);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  CUresult result;
  CUlibrary library = nullptr;

 private:
  const RewriteDriver& driver_;
};

/// Makes the device's primary context current where the thread has no context: a program may load code before it uses
/// a device.
class SomeContext {
 public:
  SomeContext(const RewriteDriver& driver, CUdevice device) : driver_(driver), device_(device) {
    CUcontext current = nullptr;
    if (driver.current_context(&current) == CUDA_SUCCESS && current != nullptr) return;
    CUcontext primary = nullptr;
    if (driver.retain_primary(&primary, device) != CUDA_SUCCESS) return;
    retained_ = true;
    pushed_ = driver.push_context(primary) == CUDA_SUCCESS;
  }
  ~SomeContext() {
    CUcontext before = nullptr;
    if (pushed_) driver_.pop_context(&before);
    if (retained_) driver_.release_primary(device_);
  }
  SomeContext(const SomeContext&) = delete;
  SomeContext& operator=(const SomeContext&) = delete;

 private:
  const RewriteDriver& driver_;
  CUdevice device_;
  bool retained_ = false, pushed_ = false;
};

bool read_needs(const RewriteDriver& driver, CUlibrary library, const std::string& name, CUdevice device,
                KernelNeeds& needs) {
  CUkernel kernel = nullptr;
  if (driver.library_kernel(&kernel, library, name.c_str()) != CUDA_SUCCESS) return false;
  const auto read = [&](int& value, CUfunction_attribute attribute) {
    return driver.kernel_attribute(&value, attribute, kernel, device) == CUDA_SUCCESS;
  };
  return read(needs.registers, CU_FUNC_ATTRIBUTE_NUM_REGS) &&
         read(needs.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) &&
         read(needs.shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) &&
         read(needs.most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

std::string changed(const char* what, int from, int to) {
  return std::string(what) + " from " + std::to_string(from) + " to " + std::to_string(to);
}

std::string refused(const char* what, CUresult result) {
  return std::string("the driver refused ") + what + " (error " + std::to_string(result) + ")";
}
std::string not_compared(const std::string& kernel) {
  return "the registers of " + kernel + " could not be compared with those of the original";
}

std::string limited_text(const std::string& text, const std::map<std::string, int>& limits) {
  Result<std::string> limited = rewriter::limit_registers(text, limits);
  return limited ? *std::move(limited) : text;
}

/// The kernels that are compared with their originals: the driver makes the same code of the others as of the
/// original's, unless the image had its own.
std::set<std::string> compared(const rewriter::Replacement& replacement) {
  if (!replacement.has_machine_code) return replacement.patched_kernels;
  return {replacement.kernels.begin(), replacement.kernels.end()};
}

/// Limits for these kernels, such that as many warps fit as of the originals. A kernel that limits itself keeps its own
/// limit.
std::map<std::string, int> limits_of(const rewriter::Replacement& replacement,
                                     const std::map<std::string, KernelNeeds>& had) {
  std::map<std::string, int> limits;
  for (const std::string& kernel : compared(replacement))
    limits[kernel] = registers_for(resident_warps(had.at(kernel)));
  return limits;
}

int more_local_bytes(bool calls) { return calls ? kMoreLocalBytesOfCalls : kMoreLocalBytes; }

/// No original has fewer needs that count: all warps that an SM can hold have registers, and so does a block of any
/// size that the kernel's own directives allow. The patch adds no shared memory.
bool fits_always(const KernelNeeds& needs, bool calls) {
  return resident_warps(needs) == kMostWarps && needs.local_bytes <= more_local_bytes(calls);
}

/// One image on its way into the place of another.
class Trial {
 public:
  Trial(const RewriteDriver& driver, const void* original, rewriter::Replacement& replacement, CUdevice device,
        LoadSteps& steps)
      : driver_(driver),
        original_(original),
        replacement_(replacement),
        device_(device),
        steps_(steps),
        text_(replacement.text) {}

  std::string run() {
    std::string problem = first();
    if (!problem.empty()) return problem;
    std::map<std::string, std::string> worse;
    if (problem = compare(worse); !problem.empty() || worse.empty()) return problem;
    std::map<std::string, int> limits = limits_of(replacement_, had_);
    if (limits != limits_) {
      if (problem = make(limits); !problem.empty()) return problem;
      if (problem = compare(worse); !problem.empty() || worse.empty()) return problem;
    }
    // Once more without the kernels that need more, so that the others are patched.
    const std::string reason = worse.begin()->second;
    rewriter::Replacement rest = rewriter::without_kernels(replacement_, worse);
    if (rest.text.empty()) return reason;
    replacement_ = std::move(rest);
    text_ = replacement_.text;
    if (problem = make(limits_of(replacement_, had_)); !problem.empty()) return problem;
    if (problem = compare(worse); !problem.empty()) return problem;
    return worse.empty() ? std::string() : worse.begin()->second;
  }

 private:
  /// The first text of the replacement, with the limits that its kernels have or are likely to need.
  std::string first() {
    const std::size_t large = replacement_.patched_kernels.size() - replacement_.small_kernels.size();
    if (replacement_.has_machine_code || large > 1) {
      // The limits are known before the first compilation: one of several large kernels is likely to need one.
      std::string problem = look_at_original();
      return problem.empty() ? make(limits_of(replacement_, had_)) : problem;
    }
    std::map<std::string, int> likely;
    for (const std::string& kernel : replacement_.small_kernels) likely[kernel] = registers_for(kMostWarps);
    if (large == 0) return make(likely);  // with these limits, the originals' needs are likely not to count
    std::string of_original;
    CUcontext current = nullptr;
    driver_.current_context(&current);
    TimeNs took = 0;
    std::future<void> reading;
    {
      const WithoutSignals without;
      // Deferred where the system has no thread for us: then it is read after the compilation.
      reading = std::async(std::launch::async | std::launch::deferred, [&] {
        const OwnCode own(driver_);
        const TimeNs begin = now_ns();
        driver_.push_context(current);
        of_original = read_original();
        CUcontext popped = nullptr;
        driver_.pop_context(&popped);
        took = now_ns() - begin;
      });
    }
    std::string problem = make(likely);
    reading.get();
    steps_.done("compiler");
    steps_.meanwhile("original", took);
    return problem.empty() ? of_original : problem;
  }

  std::string look_at_original() {
    std::string problem = read_original();
    steps_.done("original");
    return problem;
  }

  /// Fills had_. The driver compiles the original if it has no machine code.
  std::string read_original() {
    const bool split = !replacement_.has_machine_code && replacement_.kernels.size() > 1;
    const Loaded before(driver_, original_, split);
    if (before.result != CUDA_SUCCESS) return refused("the original", before.result);
    for (const std::string& kernel : replacement_.kernels) {
      if (!read_needs(driver_, before.library, kernel, device_, had_[kernel])) return not_compared(kernel);
    }
    has_original_ = true;
    return {};
  }

  /// The replacement with these limits; the driver compiles it and says in has_ what it needs.
  std::string make(const std::map<std::string, int>& limits) {
    limits_ = limits;
    replacement_.text = limits.empty() ? text_ : limited_text(text_, limits);
    has_.clear();
    const Loaded after(driver_, replacement_.text.c_str());
    steps_.done("compiler");
    if (after.result != CUDA_SUCCESS) return refused("the patched PTX", after.result);
    for (const std::string& kernel : compared(replacement_)) {
      if (!read_needs(driver_, after.library, kernel, device_, has_[kernel])) return not_compared(kernel);
    }
    return {};
  }

  /// `worse`: the kernels that need more than their originals, with the reason each.
  std::string compare(std::map<std::string, std::string>& worse) {
    worse.clear();
    const auto is_free = [this](const auto& each) { return fits_always(each.second, calls(each.first)); };
    if (!has_original_ && std::all_of(has_.begin(), has_.end(), is_free)) return {};
    if (!has_original_) {
      if (std::string problem = look_at_original(); !problem.empty()) return problem;
    }
    for (const auto& [kernel, needs] : has_) {
      const std::string more = worse_needs(had_.at(kernel), needs, calls(kernel));
      if (!more.empty()) worse[kernel] = "the patch would change what " + kernel + " needs: " + more;
    }
    steps_.done("comparison");
    return {};
  }

  bool calls(const std::string& kernel) const { return replacement_.calling_kernels.contains(kernel); }

  const RewriteDriver& driver_;
  const void* original_;
  rewriter::Replacement& replacement_;
  CUdevice device_;
  LoadSteps& steps_;
  std::string text_;  // patched, without limits
  bool has_original_ = false;
  std::map<std::string, int> limits_;  // of replacement_.text
  std::map<std::string, KernelNeeds> had_, has_;
};

}  // namespace

int resident_warps(const KernelNeeds& needs) {
  const int registers = std::max(1, (needs.registers + kRegisterUnit - 1) / kRegisterUnit) * kRegisterUnit;
  return std::min(kMostWarps, kRegistersPerSm / (registers * kWarpThreads));
}

int registers_for(int warps) {
  return kRegistersPerSm / (std::clamp(warps, 1, kMostWarps) * kWarpThreads) / kRegisterUnit * kRegisterUnit;
}

std::string worse_needs(const KernelNeeds& original, const KernelNeeds& patched, bool calls) {
  if (resident_warps(patched) < resident_warps(original)) {
    return changed("registers", original.registers, patched.registers);
  }
  if (patched.local_bytes > original.local_bytes + more_local_bytes(calls)) {
    return changed("local memory", original.local_bytes, patched.local_bytes);
  }
  if (patched.shared_bytes > original.shared_bytes) {
    return changed("shared memory", original.shared_bytes, patched.shared_bytes);
  }
  if (patched.most_threads < original.most_threads) {
    return changed("threads per block", original.most_threads, patched.most_threads);
  }
  return {};
}

std::string try_replacement(const RewriteDriver& driver, const void* original, rewriter::Replacement& replacement,
                            CUdevice device, LoadSteps& steps) {
  const SomeContext context(driver, device);
  steps.done("context");
  return Trial(driver, original, replacement, device, steps).run();
}

}  // namespace wicprof::collector
