// CUPTI's records with any contents, in every layout that the collector accepts. Texts are valid or missing, as in
// CUPTI's records; each record has exactly its layout's size, so that AddressSanitizer sees a read beyond it.
#include <map>
#include <memory>

#include "collector/cupti/records.h"
#include "collector/sources/list.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/graph.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/sync.h"
#include "protocol/events/uvm.h"
#include "tests/collector/of_process.h"
#include "tests/collector/record_bytes.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::fuzz {
namespace {

using namespace collector;

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DEVICE,
                                         CUPTI_ACTIVITY_KIND_MARKER,
                                         CUPTI_ACTIVITY_KIND_MARKER_DATA,
                                         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                         CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                         CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                         CUPTI_ACTIVITY_KIND_OVERHEAD,
                                         CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER};

CuptiApi silent_api(std::uint32_t version) {
  CuptiApi api;
  api.version = version;
  api.get_result_string = [](CUptiResult, const char** text) {
    *text = "AN_ERROR";
    return CUPTI_SUCCESS;
  };
  api.get_callback_name = [](CUpti_CallbackDomain, std::uint32_t, const char** name) {
    *name = nullptr;
    return CUPTI_ERROR_INVALID_PARAMETER;
  };
  api.activity_enable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  api.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
    return CUPTI_SUCCESS;
  };
  api.activity_configure_unified_memory_counter = [](CUpti_ActivityUnifiedMemoryCounterConfig*, std::uint32_t) {
    return CUPTI_SUCCESS;
  };
  return api;
}

// The sources of one version, as in one process that records for long.
struct Collector {
  CuptiApi api;
  PlainRing ring{std::size_t{64} << 10};
  EventSink sink{ring.ring(), 100};
  Selection selection = select_sources({"cuda", "nvtx", "uvm", "graphs"}, of_process());
  explicit Collector(std::uint32_t version) : api(silent_api(version)) {
    for (const auto& source : selection.sources) {
      require(source->prepare({api, nullptr}) && source->enable({api, nullptr}), "the sources can be enabled");
    }
  }
  Source* source_of(CUpti_ActivityKind kind) const {
    for (const auto& source : selection.sources) {
      for (const CUpti_ActivityKind own : source->kinds()) {
        if (own == kind) return source.get();
      }
    }
    return nullptr;
  }
};

struct Record {
  std::unique_ptr<void, decltype(&std::free)> memory;
  const CUpti_Activity& activity() const { return *static_cast<const CUpti_Activity*>(memory.get()); }
};

template <class Field>
void put(void* memory, std::size_t at, Field value) {
  std::memcpy(static_cast<std::byte*>(memory) + at, &value, sizeof value);
}

Record record_of(Bytes& input, CUpti_ActivityKind kind, std::uint32_t version) {
  const std::size_t bytes = record_bytes(kind, version);
  Record record{{std::aligned_alloc(8, bytes), &std::free}};
  void* const memory = record.memory.get();
  std::memset(memory, 0, bytes);
  for (int count = input.take<std::uint8_t>() & 15; count > 0; --count) {
    const auto where = input.take<std::uint8_t>();
    const std::uint64_t number = input.number();
    const bool wide = (where & 0x80) != 0;
    const std::size_t at = (where & 0x7f) * 4u % (bytes - 4);
    std::memcpy(static_cast<std::byte*>(memory) + at, &number, wide && at + 8 <= bytes ? 8 : 4);
  }
  put(memory, offsetof(CUpti_Activity, kind), kind);
  constexpr const char* kNames[] = {nullptr, "", "_ZN5fuzzyEv", "_Z1fIXadL_Z1gvEEEvv"};
  const char* const name = kNames[input.take<std::uint8_t>() & 3];
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      put(memory, offsetof(KernelRecord, name), name);
      break;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      put(memory, offsetof(DeviceRecord, name), name);
      break;
    case CUPTI_ACTIVITY_KIND_MARKER:
      put(memory, offsetof(MarkerRecord, name), name);
      put(memory, offsetof(MarkerRecord, domain), name);
      break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      if (version >= 130'000) put(memory, offsetof(OverheadRecord, overheadData), static_cast<void*>(nullptr));
      break;
    default:
      break;
  }
  return record;
}

template <class Event>
void require_order(const EventHeader& header) {
  if (const auto* event = event_cast<Event>(header)) {
    require(event->start_ns > 0 && event->start_ns <= event->end_ns, "an event has times in order");
  }
}

void take(const EventHeader& header) {
  require_order<KernelEvent>(header);
  require_order<CopyEvent>(header);
  require_order<CallEvent>(header);
  require_order<NvtxEvent>(header);
  require_order<SyncEvent>(header);
  require_order<GraphEvent>(header);
  require_order<OverheadEvent>(header);
  require_order<UvmEvent>(header);
  if (const auto* event = event_cast<CudaEventEvent>(header)) require(event->at_ns >= 0, "a time is not negative");
}

}  // namespace

void run(std::string_view text) {
  Bytes input(text);
  const std::uint32_t version = kCuptiVersions[input.take<std::uint8_t>() % std::size(kCuptiVersions)];
  // Ranges stay open from input to input otherwise.
  static std::map<std::uint32_t, std::unique_ptr<Collector>> collectors;
  static std::map<std::uint32_t, int> uses;
  std::unique_ptr<Collector>& collector = collectors[version];
  if (collector == nullptr || ++uses[version] % 1000 == 0) collector = std::make_unique<Collector>(version);
  RingReader reader(collector->ring.ring());
  for (int count = 0; count < 16 && !input.empty(); ++count) {
    const CUpti_ActivityKind kind = kKinds[input.take<std::uint8_t>() % std::size(kKinds)];
    Source* const source = collector->source_of(kind);
    require(source != nullptr, "each kind has its source");
    const Record record = record_of(input, kind, version);
    EventBatch batch(collector->sink);
    source->record(record.activity(), batch);
    if (input.take<std::uint8_t>() % 2 == 0) source->end_of_buffer(batch);
  }
  reader.read(take);
  require(reader.corrupt() == 0 && reader.empty(), "the ring holds whole records");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (char version = 0; version < static_cast<char>(std::size(kCuptiVersions)); ++version) {
    std::string seed(1, version);
    for (char kind = 0; kind < static_cast<char>(std::size(kKinds)); ++kind) {
      seed += kind;
      seed += '\x06';
      for (char at = 2; at < 14; at += 2) {
        seed += static_cast<char>(at | 0x80);
        seed += '\x20';
        seed += static_cast<char>(at + kind);
      }
      seed += '\x02';
      seed += '\0';
    }
    all.push_back(seed);
  }
  return all;
}

}  // namespace wicprof::fuzz
