#include "collector/rewrite/trial.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "collector/rewrite/own_code.h"
#include "rewriter/patch/limit.h"

namespace wicprof::collector {

namespace {

// Of an SM since sm_70; registers are given to warps in units of 8 per thread.
constexpr int kRegistersPerSm = 65'536, kWarpThreads = 32, kRegisterUnit = 8, kMostWarps = 64;

// The patch keeps 32 bytes of each thread in local memory, and a limit for registers may put some values there. Every
// thread has 1 KiB of it unless the program asks for less; what a visit costs with it is measured (docs/results).
constexpr int kMoreLocalBytes = 128;

class Loaded {
 public:
  Loaded(const RewriteDriver& driver, const void* image) : driver_(driver) {
    result = driver.library_load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
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

/// `text` with limits for all kernels, such that as many warps fit as of the originals: the driver's linker gives
/// kernels without a patch more registers, too, since it compiles for code that is linked later (a histogram of CUB's
/// 79 in place of 40). A kernel that limits itself keeps its own limit.
void limit(rewriter::Replacement& replacement, const std::string& text, const std::map<std::string, KernelNeeds>& had) {
  std::map<std::string, int> limits;
  for (const std::string& kernel : replacement.kernels) {
    limits[kernel] = registers_for(resident_warps(had.at(kernel)));
  }
  replacement.text = limited_text(text, limits);
  replacement.is_machine_code = false;
}

/// The text becomes machine code, which can be kept; without a compiler it stays as it is.
std::string compile(const RewriteDriver& driver, rewriter::Replacement& replacement) {
  if (!driver.can_compile()) return {};
  CUlinkState state = nullptr;
  CUresult result = driver.link_create(0, nullptr, nullptr, &state);
  if (result != CUDA_SUCCESS) return refused("to compile", result);
  void* code = nullptr;
  std::size_t bytes = 0;
  result = driver.link_add(state, CU_JIT_INPUT_PTX, replacement.text.data(), replacement.text.size() + 1, "patched", 0,
                           nullptr, nullptr);
  if (result == CUDA_SUCCESS) result = driver.link_complete(state, &code, &bytes);
  if (result == CUDA_SUCCESS) {
    replacement.text.assign(static_cast<const char*>(code), bytes);
    replacement.is_machine_code = true;
  }
  driver.link_destroy(state);
  return result == CUDA_SUCCESS ? std::string() : refused("the patched PTX", result);
}

}  // namespace

int resident_warps(const KernelNeeds& needs) {
  const int registers = std::max(1, (needs.registers + kRegisterUnit - 1) / kRegisterUnit) * kRegisterUnit;
  return std::min(kMostWarps, kRegistersPerSm / (registers * kWarpThreads));
}

int registers_for(int warps) {
  return kRegistersPerSm / (std::clamp(warps, 1, kMostWarps) * kWarpThreads) / kRegisterUnit * kRegisterUnit;
}

std::string worse_needs(const KernelNeeds& original, const KernelNeeds& patched) {
  if (resident_warps(patched) < resident_warps(original)) {
    return changed("registers", original.registers, patched.registers);
  }
  if (patched.local_bytes > original.local_bytes + kMoreLocalBytes) {
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
                            CUdevice device) {
  const SomeContext context(driver, device);
  std::optional<Loaded> before;
  std::map<std::string, KernelNeeds> had;
  const auto look_at_original = [&]() -> std::string {
    before.emplace(driver, original);
    if (before->result != CUDA_SUCCESS) return refused("the original", before->result);
    for (const std::string& kernel : replacement.kernels) {
      if (!read_needs(driver, before->library, kernel, device, had[kernel])) return not_compared(kernel);
    }
    return {};
  };
  const std::string text = replacement.text;
  std::string problem;
  const bool limited = replacement.has_machine_code && driver.can_compile();
  if (replacement.has_machine_code || !driver.can_compile()) {
    // What the original needs is known before the first compilation.
    if (problem = look_at_original(); !problem.empty()) return problem;
    if (driver.can_compile()) limit(replacement, text, had);
    if (problem = compile(driver, replacement); !problem.empty()) return problem;
  } else {
    // The driver compiles both at the same time. A kernel with few values gets the limit that it is likely to need.
    std::string other;
    CUcontext current = nullptr;
    driver.current_context(&current);
    std::thread thread([&] {
      const OwnCode own;
      driver.push_context(current);
      other = look_at_original();
      CUcontext popped = nullptr;
      driver.pop_context(&popped);
    });
    std::map<std::string, int> limits;
    for (const std::string& kernel : replacement.small_kernels) limits[kernel] = registers_for(kMostWarps);
    replacement.text = limited_text(text, limits);
    problem = compile(driver, replacement);
    thread.join();
    if (!problem.empty()) return problem;
    if (!other.empty()) return other;
  }
  for (const bool again : {false, true}) {
    const Loaded after(driver, replacement.text.c_str());
    if (after.result != CUDA_SUCCESS) return refused("the patched PTX", after.result);
    std::string worse;
    for (const std::string& kernel : replacement.kernels) {
      KernelNeeds has;
      if (!read_needs(driver, after.library, kernel, device, has)) return not_compared(kernel);
      worse = worse_needs(had[kernel], has);
      if (!worse.empty()) {
        worse = "the patch would change what " + kernel + " needs: " + worse;
        break;
      }
    }
    if (worse.empty()) break;
    if (again || limited) return worse;
    limit(replacement, text, had);
    if (problem = compile(driver, replacement); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace wicprof::collector
