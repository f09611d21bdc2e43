#include "collector/rewrite/trial.h"

#include <algorithm>
#include <map>

#include "rewriter/patch/limit.h"

namespace wicprof::collector {

namespace {

// Of an SM since sm_70; registers are given to warps in units of 8 per thread.
constexpr int kRegistersPerSm = 65'536, kWarpThreads = 32, kRegisterUnit = 8, kMostWarps = 64;

// A limit for registers may put some of the patch's values into local memory. Every thread has 1 KiB of it unless the
// program asks for less; what a visit costs with it is measured (docs/results).
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
  const Loaded before(driver, original);
  if (before.result != CUDA_SUCCESS) {
    return "the driver refused the original (error " + std::to_string(before.result) + ")";
  }
  // Kernels that a first look finds to have fewer warps.
  std::map<std::string, int> limits;
  for (const bool limited : {false, true}) {
    const Loaded after(driver, replacement.text.c_str());
    if (after.result != CUDA_SUCCESS) {
      return "the driver refused the patched PTX (error " + std::to_string(after.result) + ")";
    }
    for (const std::string& kernel : replacement.kernels) {
      KernelNeeds had, has;
      if (!read_needs(driver, before.library, kernel, device, had) ||
          !read_needs(driver, after.library, kernel, device, has)) {
        return "the registers of " + kernel + " could not be compared with those of the original";
      }
      if (!limited && resident_warps(has) < resident_warps(had)) {
        limits[kernel] = registers_for(resident_warps(had));
        continue;
      }
      if (const std::string worse = worse_needs(had, has); !worse.empty()) {
        return "the patch would change what " + kernel + " needs: " + worse;
      }
    }
    if (limited || limits.empty()) break;
    Result<std::string> text = rewriter::limit_registers(replacement.text, limits);
    if (!text) return text.error().message;
    replacement.text = *std::move(text);
  }
  return {};
}

}  // namespace wicprof::collector
