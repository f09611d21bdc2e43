// Bytes of events per second through the ring between two threads, compared with a memcpy of the same bytes. The
// consumer copies each event, like the recorder, which reads its fields. Repetitions alternate in one run.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "bench/claim.h"
#include "protocol/events/wait.h"
#include "protocol/ring.h"
#include "protocol/time.h"

namespace {

using namespace wicprof;

struct Aligned {
  std::byte* data;
  explicit Aligned(std::size_t bytes) : data(new (std::align_val_t{64}) std::byte[bytes]()) {}
  ~Aligned() { ::operator delete[](data, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
};

// Both methods use a window of the ring's size, so that both run in the same caches.
double through_ring(std::size_t events, std::size_t capacity, std::uint64_t& sum) {
  const Aligned memory(ring_bytes(capacity));
  RingHeader* ring = make_ring(memory.data, capacity);
  std::atomic<bool> go{false};
  std::thread producer([&] {
    RingWriter writer(ring);
    WaitEvent event = make_event<WaitEvent>();
    while (!go.load(std::memory_order_acquire)) {
    }
    for (std::size_t i = 0; i < events; ++i) {
      event.iteration = static_cast<std::uint32_t>(i);
      // A full ring drops events. Here every event must arrive, so the producer retries until the ring has space.
      while (!writer.write(event)) std::this_thread::yield();
    }
  });
  RingReader reader(ring);
  const std::unique_ptr<WaitEvent[]> window(new WaitEvent[capacity / sizeof(WaitEvent)]);
  const TimeNs begin = now_ns();
  go.store(true, std::memory_order_release);
  std::size_t received = 0;
  while (received < events) {
    const std::size_t before = received;
    reader.read([&](const EventHeader& header) {
      if (const auto* wait = event_cast<WaitEvent>(header)) {
        window[received % (capacity / sizeof(WaitEvent))] = *wait;
        ++received;
      }
    });
    if (received == before) std::this_thread::yield();
  }
  const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  producer.join();
  sum += window[0].iteration;
  return seconds;
}

double through_memcpy(std::size_t events, std::size_t capacity, std::uint64_t& sum) {
  const std::size_t count = capacity / sizeof(WaitEvent);
  const std::unique_ptr<WaitEvent[]> from(new WaitEvent[count]());
  const std::unique_ptr<WaitEvent[]> to(new WaitEvent[count]());
  const TimeNs begin = now_ns();
  for (std::size_t left = events; left > 0;) {
    const std::size_t part = std::min(left, count);
    std::memcpy(to.get(), from.get(), part * sizeof(WaitEvent));
    sum += to[part - 1].iteration;  // keeps the compiler from removing the copy
    from[part - 1].iteration += 1;
    left -= part;
  }
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  static_assert(sizeof(WaitEvent) == 64);
  bench::Claim claim("ring_throughput", "bytes per second through the ring between two threads, and by memcpy", argc,
                     argv);
  const auto events = static_cast<std::size_t>(claim.option("events", 20'000'000));
  const auto kib = static_cast<std::size_t>(claim.option("ring-kib", 8192));
  const std::int64_t repetitions = claim.option("repetitions", 7);
  const std::size_t capacity = std::bit_ceil(kib << 10);

  std::uint64_t sum = 0;
  std::vector<double> ring, copy, ratios;
  const double bytes = static_cast<double>(events * sizeof(WaitEvent));
  for (std::int64_t i = 0; i < repetitions + 1; ++i) {
    const double ring_seconds = through_ring(events, capacity, sum);
    const double copy_seconds = through_memcpy(events, capacity, sum);
    if (i == 0) continue;  // warms up the caches and the CPU clock
    ring.push_back(bytes / ring_seconds);
    copy.push_back(bytes / copy_seconds);
    ratios.push_back(copy_seconds / ring_seconds);
  }
  std::fprintf(stderr, "ring_throughput: checksum %llu\n", static_cast<unsigned long long>(sum));

  const std::map<std::string, bench::Parameter> params = {{"events", static_cast<std::int64_t>(events)},
                                                          {"event_bytes", static_cast<std::int64_t>(sizeof(WaitEvent))},
                                                          {"ring_bytes", static_cast<std::int64_t>(capacity)},
                                                          {"repetitions", repetitions}};
  claim.add({"memcpy", params, bench::median(copy), "bytes/s"});
  claim.add({"ring", params, bench::median(ring), "bytes/s", "memcpy", bench::median(ratios)});
  return claim.write();
}
