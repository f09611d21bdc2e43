// Waits per second that the recorder writes, compared with a bare loop that inserts the same rows into the same table
// with the same settings. Both write a whole trace and checkpoint the write-ahead log; repetitions alternate in one
// run.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/bare_insert.h"
#include "bench/claim.h"
#include "protocol/events/clock.h"
#include "protocol/events/wait.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace {

using namespace wicprof;

constexpr std::size_t kBatch = 20'000;  // the recorder's
constexpr DeviceId kDevice = cuda_device(0);

std::vector<WaitEvent> make_waits(std::size_t count) {
  std::vector<WaitEvent> waits(count, make_event<WaitEvent>());
  const auto begin = static_cast<std::uint64_t>(now_ns());
  for (std::size_t i = 0; i < count; ++i) {
    WaitEvent& wait = waits[i];
    wait.site = 1 + i % 4;
    wait.device = kDevice;
    wait.block = static_cast<std::uint32_t>(i % 264);
    wait.sm = static_cast<std::uint16_t>(i % 132);
    wait.iteration = static_cast<std::uint32_t>(i / 264);
    wait.polls = static_cast<std::uint32_t>(100 + i * 7919 % 1000);
    wait.arrived_ns = begin + i * 1000;
    wait.resumed_ns = wait.arrived_ns + 900 + i * 104729 % 5000;
    wait.value = wait.iteration + 1;
    if (i % 1000 == 0) wait.switched_after_ns = 500;
  }
  return waits;
}

// Seconds for the trace; negative on failure.
double record(const std::string& path, const std::vector<WaitEvent>& waits) {
  const TimeNs begin = now_ns();
  store::RecorderOptions options;
  options.path = path;
  options.overwrite = true;
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) {
    std::fprintf(stderr, "store_ingest: %s\n", recorder.error().message.c_str());
    return -1;
  }
  // Readings of a GPU's and the host's clock before and after, so that every time is converted.
  ClockEvent clock = make_event<ClockEvent>();
  clock.device = kDevice;
  clock.error_ns = 700;
  for (const WaitEvent* at : {&waits.front(), &waits.back()}) {
    clock.device_ns = at->arrived_ns;
    clock.host_ns = static_cast<TimeNs>(at->arrived_ns) + 123'456'789;
    recorder->add(0, clock.header);
  }
  for (const WaitEvent& wait : waits) recorder->add(0, wait.header);
  // The bare loop creates no indexes and matches no signals, so end the trace like a killed recorder.
  const bool lost = recorder->progress().lost != 0 || recorder->progress().waits != waits.size();
  { const store::Recorder closed = std::move(*recorder); }
  const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  if (lost) std::fprintf(stderr, "store_ingest: the recorder lost events\n");
  return lost ? -1 : seconds;
}

double insert_bare(const std::string& path, const std::vector<WaitEvent>& waits) {
  const TimeNs begin = now_ns();
  if (const Result<> done = store::bare_insert(path, waits, kBatch); !done) {
    std::fprintf(stderr, "store_ingest: %s\n", done.error().message.c_str());
    return -1;
  }
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("store_ingest", "rows per second into a trace, by the recorder and by a bare insert loop", argc,
                     argv);
  const auto rows = static_cast<std::size_t>(claim.option("rows", 1'000'000));
  const std::int64_t repetitions = claim.option("repetitions", 7);
  const std::string folder = claim.option("folder", std::string("/tmp"));
  const std::string path = folder + "/store_ingest." + std::to_string(getpid()) + ".wicprof";

  const std::vector<WaitEvent> waits = make_waits(rows);
  std::vector<double> ours, bare, ratios;
  bool failed = false;
  for (std::int64_t i = 0; i < repetitions + 1 && !failed; ++i) {
    // Alternate the order, too.
    double recorded = 0, inserted = 0;
    if (i % 2 == 0) recorded = record(path, waits);
    inserted = insert_bare(path, waits);
    if (i % 2 != 0) recorded = record(path, waits);
    failed = recorded < 0 || inserted < 0;
    if (i == 0) continue;  // warms up the file system
    ours.push_back(static_cast<double>(rows) / recorded);
    bare.push_back(static_cast<double>(rows) / inserted);
    ratios.push_back(inserted / recorded);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
  if (failed) return 2;

  const std::map<std::string, bench::Parameter> params = {{"rows", static_cast<std::int64_t>(rows)},
                                                          {"batch", static_cast<std::int64_t>(kBatch)},
                                                          {"repetitions", repetitions}};
  claim.add({"bare_insert", params, bench::median(bare), "rows/s"});
  claim.add({"recorder", params, bench::median(ours), "rows/s", "bare_insert", bench::median(ratios), 0.8});
  return claim.write();
}
