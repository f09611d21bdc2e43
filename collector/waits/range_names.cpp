#include "collector/waits/range_names.h"

#include <generated_nvtx_meta.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>

#include "collector/program/per_thread.h"
#include "protocol/library_domains.h"

namespace wicprof::collector {

namespace {

/// Ranges within ranges whose names are kept; deeper ones take the name of the range around them. Not calibrated.
constexpr std::size_t kDeepest = 64;

struct OpenRange {
  nvtxDomainHandle_t domain = nullptr;
  RangeName name;
};

struct OpenRanges {
  std::array<OpenRange, kDeepest> ranges;
  std::size_t depth = 0, beyond = 0;

  void push(nvtxDomainHandle_t domain, std::string_view name) {
    if (depth == kDeepest) {
      ++beyond;
    } else {
      ranges[depth++] = {domain, RangeName::of(name)};
    }
  }
  /// Each domain has ranges of its own.
  void pop(nvtxDomainHandle_t domain) {
    if (beyond > 0) {
      --beyond;
      return;
    }
    for (std::size_t i = depth; i-- > 0;) {
      if (ranges[i].domain != domain) continue;
      std::move(ranges.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                ranges.begin() + static_cast<std::ptrdiff_t>(depth), ranges.begin() + static_cast<std::ptrdiff_t>(i));
      --depth;
      return;
    }
  }
};
PerThread<OpenRanges>& ranges_of_threads() {
  static auto* const of_threads = new PerThread<OpenRanges>;  // never destroyed, as its threads may outlive it
  return *of_threads;
}
OpenRanges& open_ranges() { return ranges_of_threads().here(); }

struct Registered {
  std::mutex mutex;
  std::unordered_map<nvtxStringHandle_t, std::string> names;
};
Registered& registered() {
  static auto* const of_process = new Registered;  // never destroyed: callbacks arrive until the process ends
  return *of_process;
}

/// The domains of libraries, which are few. A domain beyond the last place counts as the program's.
class LibraryDomains {
 public:
  void add(nvtxDomainHandle_t domain) {
    const std::size_t place = used_.fetch_add(1, std::memory_order_relaxed);
    if (place < domains_.size()) domains_[place].store(domain, std::memory_order_release);
  }
  bool has(nvtxDomainHandle_t domain) const {
    const std::size_t used = std::min(used_.load(std::memory_order_relaxed), domains_.size());
    const auto end = domains_.begin() + static_cast<std::ptrdiff_t>(used);
    return domain != nullptr &&
           std::any_of(domains_.begin(), end, [&](const auto& each) { return each.load() == domain; });
  }

 private:
  std::array<std::atomic<nvtxDomainHandle_t>, 64> domains_{};
  std::atomic<std::size_t> used_{0};
};
LibraryDomains library_domains;

std::string name_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return {};
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr)
    return attributes->message.ascii;
  if (attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return {};
  const std::lock_guard lock(registered().mutex);
  const auto found = registered().names.find(attributes->message.registered);
  return found == registered().names.end() ? std::string() : found->second;
}

}  // namespace

RangeName RangeName::of(std::string_view name) {
  name = name.substr(0, name.find(", "));
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t end = name.find_last_not_of(kDigits);
  if (end != std::string_view::npos && end + 1 < name.size()) {
    const std::size_t word = name.find_last_not_of(" _-=#:.", end);
    if (word != std::string_view::npos && word < end) name = name.substr(0, word + 1);  // a number by itself
  }
  RangeName range;
  range.length = static_cast<std::uint8_t>(std::min(name.size(), kMost));
  std::copy_n(name.begin(), range.length, range.text.begin());
  range.key = std::hash<std::string_view>()(range.str());
  return range;
}

const std::array<CUpti_CallbackId, RangeNames::kCallbacks>& RangeNames::callbacks() {
  static constexpr std::array<CUpti_CallbackId, kCallbacks> kIds = {
      CUPTI_CBID_NVTX_nvtxRangePushA,     CUPTI_CBID_NVTX_nvtxRangePushEx,
      CUPTI_CBID_NVTX_nvtxRangePop,       CUPTI_CBID_NVTX_nvtxDomainRangePushEx,
      CUPTI_CBID_NVTX_nvtxDomainRangePop, CUPTI_CBID_NVTX_nvtxDomainRegisterStringA,
      CUPTI_CBID_NVTX_nvtxDomainCreateA,
  };
  return kIds;
}

void RangeNames::forget() {
  if (any_.exchange(false)) ranges_of_threads().forget([](OpenRanges&) {});
}

void RangeNames::callback(CUpti_CallbackId id, const CUpti_NvtxData& data) {
  const void* const params = data.functionParams;
  const auto push = [](nvtxDomainHandle_t domain, std::string_view name) {
    any_.store(true, std::memory_order_relaxed);
    open_ranges().push(domain, name);
  };
  if (id == CUPTI_CBID_NVTX_nvtxRangePop) return open_ranges().pop(nullptr);
  if (params == nullptr) return;
  switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA: {
      const char* const name = static_cast<const nvtxRangePushA_params*>(params)->message;
      return push(nullptr, name == nullptr ? "" : name);
    }
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
      return push(nullptr, name_of(static_cast<const nvtxRangePushEx_params*>(params)->eventAttrib));
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
      const auto& [domain, core] = *static_cast<const nvtxDomainRangePushEx_params*>(params);
      return library_domains.has(domain) ? void() : push(domain, name_of(core.eventAttrib));
    }
    case CUPTI_CBID_NVTX_nvtxDomainRangePop:
      return open_ranges().pop(static_cast<const nvtxDomainRangePop_params*>(params)->domain);
    case CUPTI_CBID_NVTX_nvtxDomainCreateA: {
      const char* const name = static_cast<const nvtxDomainCreateA_params*>(params)->name;
      if (name == nullptr || data.functionReturnValue == nullptr || !is_library_domain(name)) return;
      return library_domains.add(*static_cast<const nvtxDomainHandle_t*>(data.functionReturnValue));
    }
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA: {
      const char* const text = static_cast<const nvtxDomainRegisterStringA_params*>(params)->string;
      if (text == nullptr || data.functionReturnValue == nullptr) return;
      const std::lock_guard lock(registered().mutex);
      registered().names[*static_cast<const nvtxStringHandle_t*>(data.functionReturnValue)] = text;
      return;
    }
    default:
      return;
  }
}

const RangeName* RangeNames::innermost_of_thread() {
  const OpenRanges& open = open_ranges();
  if (open.depth == 0 || open.ranges[open.depth - 1].name.length == 0) return nullptr;
  return &open.ranges[open.depth - 1].name;
}

}  // namespace wicprof::collector
