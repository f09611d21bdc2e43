#include "rewriter/load/replacement.h"

#include <algorithm>
#include <optional>

#include "rewriter/flow/live_values.h"
#include "rewriter/images/device_code.h"
#include "rewriter/load/compile_options.h"
#include "rewriter/patch/patch.h"

namespace wicprof::rewriter {

namespace {

Replacement left_alone(std::string why) {
  Replacement none;
  none.left_alone = std::move(why);
  return none;
}

// sm_90a runs on sm_90 alone, and its PTX has the flag of such a target.
constexpr std::uint64_t kExactTarget = 0x100000, kFamilyTarget = 0x200000;

bool runs_on(const FatEntry& entry, int architecture) {
  if (entry.kind == ImageKind::ptx && (entry.flags & (kExactTarget | kFamilyTarget)) != 0) {
    return entry.architecture == architecture;
  }
  if (entry.kind == ImageKind::ptx) return entry.architecture <= architecture;
  // Machine code runs on later minor versions of its own architecture.
  return entry.architecture <= architecture && entry.architecture / 10 == architecture / 10;
}

Replacement compiled_with(const std::string& option) {
  return left_alone("it was compiled with " + option +
                    ", and the driver would compile the patched code without that option");
}

const FatEntry* newest(const std::vector<FatEntry>& entries, ImageKind kind, int architecture) {
  const FatEntry* best = nullptr;
  for (const FatEntry& each : entries) {
    if (each.kind != kind || !runs_on(each, architecture)) continue;
    if (best == nullptr || each.architecture > best->architecture) best = &each;
  }
  return best;
}

constexpr std::string_view kMachineCodeOnly =
    "it is machine code only: its waits are seen by samples only (--trace with pcsampling). With the PTX in the "
    "program they can be patched: "
    "nvcc -gencode arch=compute_XX,code=compute_XX, or for a build that you cannot change NVCC_APPEND_FLAGS in its "
    "environment; TORCH_CUDA_ARCH_LIST=X.Y+PTX for a PyTorch extension";

// Of the namespace wic in a symbol.
constexpr std::string_view kWicSymbol = "N3wic";

// Kernels that nvcc 13.0 makes with so many values need some 20 registers, 32 at most.
constexpr int kFewValues = 80;

/// `left_alone_kernels`: by symbol, functions whose waits stay as they are.
Replacement patched(const std::string& text, const std::map<std::string, std::string>& left_alone_kernels,
                    const GoesOn& goes_on, bool counts) {
  if (std::string why = why_untouched(text); !why.empty()) return left_alone(std::move(why));
  const Result<Module> module = read_module(text);
  if (!module) return left_alone("its PTX is not understood: " + module.error().message);
  std::optional<std::vector<FunctionVerdicts>> verdicts = recognize(*module, goes_on);
  if (!verdicts) {
    Replacement none =
        left_alone("its " + std::to_string(Lines(text).of(text.size())) + " lines of PTX take longer to analyse than " +
                   std::to_string(kLongestAnalysis.count()) + " s, and the program waits for that");
    none.ended_early = true;
    return none;
  }
  std::erase_if(*verdicts, [&](const FunctionVerdicts& each) {
    return left_alone_kernels.contains(std::string(each.function->name));
  });
  const Result<Patch> patched = patch(*module, *verdicts, counts);
  Replacement replacement;
  replacement.kernels_left_alone = left_alone_kernels;
  replacement.stores = stores_of(*module);
  if (!patched) replacement.left_alone = "its PTX cannot be patched: " + patched.error().message;
  if (!patched || patched->sites.empty()) return replacement;
  replacement.text = patched->text;
  replacement.unpatched = text;
  replacement.counts = counts;
  replacement.table = patched->table;
  for (const Site& site : patched->sites) {
    LoadedSite& added = replacement.sites.emplace_back();
    added.function = site.function;
    added.name = site.loop->name;
    added.pause = site.loop->pause;
    added.watches = site.watches();
    added.knows_word = site.loop->word.has_value();
    added.ends_known = site.records();
    added.wanted = site.loop->wanted;
  }
  std::set<std::string_view> with_sites;
  for (const Site& site : patched->sites) {
    with_sites.insert(site.function);
    if (site.calls) replacement.calling_kernels.emplace(site.function);
  }
  bool in_a_function = false;
  for (const Function& function : module->functions) {
    if (!function.has_body) continue;
    if (!function.is_entry) {
      in_a_function |= with_sites.contains(function.name);
      continue;
    }
    replacement.kernels.emplace_back(function.name);
    if (!with_sites.contains(function.name)) continue;
    replacement.patched_kernels.emplace(function.name);
    if (declared_registers(function) <= kFewValues) replacement.small_kernels.emplace(function.name);
  }
  if (in_a_function) replacement.patched_kernels.insert(replacement.kernels.begin(), replacement.kernels.end());
  return replacement;
}

}  // namespace

std::string why_untouched(const std::string& text) {
  if (text.size() > kLargestPtx) {
    return "its PTX has " + std::to_string(text.size()) + " bytes, more than " + std::to_string(kLargestPtx);
  }
  return text.find(kWicSymbol) != std::string::npos ? "its kernels wait through wic" : "";
}

bool may_have_ptx(std::string_view image) {
  if (!begins_as_fat_binary(image)) return true;
  const Result<DeviceCode> code = read_device_code(image);
  const auto is_ptx = [](const FatEntry& each) { return each.kind == ImageKind::ptx; };
  return !code || std::any_of(code->entries.begin(), code->entries.end(), is_ptx);
}

Replacement without_kernels(const Replacement& replacement, const std::map<std::string, std::string>& kernels) {
  for (const auto& [kernel, why] : kernels) {
    const auto in_kernel = [&](const LoadedSite& site) { return site.function == kernel; };
    if (std::none_of(replacement.sites.begin(), replacement.sites.end(), in_kernel)) return {};
  }
  Replacement rest = patched(replacement.unpatched, kernels, within(kLongestAnalysis), replacement.counts);
  rest.has_machine_code = replacement.has_machine_code;
  return rest;
}

GoesOn within(std::chrono::nanoseconds time) {
  return [until = std::chrono::steady_clock::now() + time] { return std::chrono::steady_clock::now() < until; };
}

Replacement replacement_of(std::string_view image, int architecture, const GoesOn& goes_on, bool counts) {
  const Result<DeviceCode> code = read_device_code(image);
  if (!code) return left_alone(code.error().message);
  const FatEntry* const ptx =
      code->is_text ? &code->entries.front() : newest(code->entries, ImageKind::ptx, architecture);
  const FatEntry* const cubin = newest(code->entries, ImageKind::cubin, architecture);
  if (ptx == nullptr) {
    if (cubin == nullptr) return {};
    const Result<CubinContents> contents = contents_of_cubin(*cubin);
    if (contents && contents->kernels.empty()) return {};
    const std::string option = contents ? changing_option(contents->options) : std::string();
    if (!option.empty()) return compiled_with(option);
    Replacement none = left_alone(std::string(kMachineCodeOnly));
    if (contents) none.machine_code_only = contents->kernels;
    return none;
  }
  if (cubin != nullptr && ptx->architecture < cubin->architecture) {
    return left_alone("its PTX is for sm_" + std::to_string(ptx->architecture) +
                      ", and its machine code for the later sm_" + std::to_string(cubin->architecture));
  }
  if (const std::string option = changing_option(ptx->options); !option.empty()) return compiled_with(option);
  const Result<std::string> text = ptx_of(*ptx);
  if (!text) return left_alone(text.error().message);
  Replacement replacement = patched(*text, {}, goes_on, counts);
  replacement.has_machine_code = cubin != nullptr;
  if (cubin != nullptr && !replacement.text.empty()) {
    const Result<CubinContents> contents = contents_of_cubin(*cubin);
    const std::string option = contents ? changing_option(contents->options) : std::string();
    if (!option.empty()) return compiled_with(option);
  }
  return replacement;
}

}  // namespace wicprof::rewriter
