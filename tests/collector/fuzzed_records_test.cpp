// Records of random bytes, in the layout of every version of CUPTI.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>

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
#include "tests/collector/small_cupti.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

// A record of random bytes with exactly the size of one version's layout, so that a sanitizer finds a read beyond its
// end. Texts are valid or nullptr, as in CUPTI's records.
class Fuzzed {
 public:
  Fuzzed(std::mt19937_64& random, CUpti_ActivityKind kind, std::uint32_t version)
      : bytes_(record_bytes(kind, version)), memory_(std::aligned_alloc(8, bytes_), &std::free) {
    for (std::size_t at = 0; at < bytes_; at += 8) {
      const std::uint64_t patterns[] = {random(), 0, ~std::uint64_t{0}, random() % 1'000,
                                        random() % 10 << 32 | random() % 10};
      put(at, patterns[random() % std::size(patterns)]);
    }
    put(offsetof(CUpti_Activity, kind), kind);
    const char* const name = random() % 2 == 0 ? nullptr : "_ZN5fuzzyEv";
    switch (kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        put(offsetof(KernelRecord, name), name);
        break;
      case CUPTI_ACTIVITY_KIND_DEVICE:
        put(offsetof(DeviceRecord, name), name);
        break;
      case CUPTI_ACTIVITY_KIND_MARKER:
        put(offsetof(MarkerRecord, name), name);
        put(offsetof(MarkerRecord, domain), name);
        break;
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        if (random() % 2 == 0)
          put(offsetof(OverheadRecord, overheadKind), static_cast<std::uint32_t>(random() % 10) << 16);
        if (version >= 130'000) put(offsetof(OverheadRecord, overheadData), static_cast<void*>(nullptr));
        break;
      default:
        break;
    }
  }
  const CUpti_Activity& activity() const { return *static_cast<const CUpti_Activity*>(memory_.get()); }

 private:
  template <class Field>
  void put(std::size_t at, Field value) {
    std::memcpy(static_cast<std::byte*>(memory_.get()) + at, &value, sizeof value);
  }
  std::size_t bytes_;
  std::unique_ptr<void, decltype(&std::free)> memory_;
};

template <class Event>
std::size_t in_order(const Delivered& delivered) {
  const auto events = delivered.all<Event>();
  for (const Event& event : events) {
    EXPECT_LE(event.start_ns, event.end_ns);
    EXPECT_GT(event.start_ns, 0);
  }
  return events.size();
}

class EveryVersion : public ::testing::TestWithParam<std::uint32_t> {};

// Records with arbitrary bytes give events with ordered times, or none.
TEST_P(EveryVersion, FuzzedRecordsGiveValidEventsOrNone) {
  constexpr int kRecords = 100'000 / static_cast<int>(std::size(kCuptiVersions)) + 1;  // per kind, over all versions
  std::mt19937_64 random(20'240'607 + GetParam());
  CuptiApi api = api_with(no_name);
  api.version = GetParam();
  const Selection selection = select_sources({"cuda", "nvtx", "uvm", "graphs"}, of_process());
  PlainRing memory;
  EventSink sink(memory.ring());
  for (const auto& source : selection.sources) {
    ASSERT_TRUE(source->prepare({api, nullptr}));
    ASSERT_TRUE(source->enable({api, nullptr}));
  }
  for (const auto& source : selection.sources) {
    std::size_t records = 0;
    for (const CUpti_ActivityKind kind : source->kinds()) {
      ASSERT_NE(record_bytes(kind, GetParam()), 0u) << kind;
      for (int i = 0; i < kRecords;) {
        {
          EventBatch batch(sink);
          for (const int end = i + 200; i < end; ++i)
            source->record(Fuzzed(random, kind, GetParam()).activity(), batch);
          source->end_of_buffer(batch);
        }
        const Delivered delivered = memory.read();
        records += delivered.records.size();
        in_order<KernelEvent>(delivered);
        in_order<CopyEvent>(delivered);
        in_order<CallEvent>(delivered);
        in_order<NvtxEvent>(delivered);
        in_order<SyncEvent>(delivered);
        in_order<GraphEvent>(delivered);
        in_order<OverheadEvent>(delivered);
        in_order<UvmEvent>(delivered);
        for (const auto& event : delivered.all<KernelEvent>()) EXPECT_LT(event.device, kSimtDeviceBase);
        for (const auto& event : delivered.all<CudaEventEvent>()) EXPECT_GE(event.at_ns, 0);
        for (const auto& event : delivered.all<UvmEvent>()) {
          EXPECT_LT(event.device, kSimtDeviceBase);
          EXPECT_GE(event.device, kHostDevice);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
    source->finish(sink);
    memory.read();
    if (source->kinds().empty()) continue;
    EXPECT_GT(records, 100u) << source->name();  // fuzzed records do become events
  }
  EXPECT_EQ(RingReader(memory.ring()).corrupt(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Sources, EveryVersion, ::testing::ValuesIn(kCuptiVersions));

}  // namespace
}  // namespace wicprof::collector
