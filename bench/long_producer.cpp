// A program that writes the events of hours within minutes, for bench/long_recording.py: their times are those of the
// long run, and they come faster. Each iteration has 16 events (bench/made_trace.h) and an NVTX range with a name of
// its own, as programs have that name every step.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "bench/made_trace.h"
#include "protocol/environment.h"
#include "protocol/event_batch.h"
#include "protocol/events/nvtx.h"
#include "protocol/session.h"

namespace {

using namespace wicprof;

constexpr TimeNs kPatience = 60 * kSecond;  // with a full ring: then events are dropped, and counted so

double option(int argc, char** argv, const char* name, double otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::atof(argv[i + 1]);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const double covered = option(argc, argv, "--covered-seconds", 7200);
  const double taken = option(argc, argv, "--seconds", 180);
  const double rate = option(argc, argv, "--iterations-per-second", 60);  // of the covered time
  const char* path = std::getenv(kSessionVariable);
  Result<SessionMap> session = SessionMap::attach(path == nullptr ? "" : path);
  if (!session) {
    std::fprintf(stderr, "bench_long_producer: run it under wic-prof run: %s\n", session.error().message.c_str());
    return 2;
  }
  RingHeader* const rings[] = {session->claim_ring(), session->claim_ring()};
  if (rings[0] == nullptr || rings[1] == nullptr) return 3;
  EventSink waits(rings[0]), ranges(rings[1]);
  EventBatch range_batch(ranges, kPatience);
  const bench::PutEvent put = [&](const EventHeader& event) {
    waits.write_all({reinterpret_cast<const std::byte*>(&event), event.size}, kPatience);
  };
  const auto begin = static_cast<std::uint64_t>(now_ns());
  bench::put_declarations(put, begin);
  const auto iterations = static_cast<std::uint32_t>(covered * rate);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const auto at = begin + static_cast<std::uint64_t>(i / rate * 1e9);
    if (i % static_cast<std::uint32_t>(rate) == 0) bench::put_clock(put, at);
    bench::put_iteration(put, i + 1, at);
    NvtxEvent range = make_event<NvtxEvent>();
    range.name = range_batch.text("iteration " + std::to_string(i + 1) + " of the long recording's solver");
    range.start_ns = static_cast<std::int64_t>(at);
    range.end_ns = range.start_ns + static_cast<std::int64_t>(bench::kPeriod);
    range.thread = 1;
    range_batch.write(range);
    const auto due =
        static_cast<TimeNs>(begin) + static_cast<TimeNs>(i / static_cast<double>(iterations) * taken * 1e9);
    if (const TimeNs early = due - now_ns(); early > kMillisecond) {
      range_batch.flush();
      std::this_thread::sleep_for(std::chrono::nanoseconds(early));
    }
  }
  return 0;
}
