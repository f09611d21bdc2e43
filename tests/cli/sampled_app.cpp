// A program as wic-prof sees it when its collector samples program counters: it sends samples of one kernel, and saves
// the kernel's module in the folder of kModulesVariable.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "protocol/environment.h"
#include "protocol/event_sink.h"
#include "protocol/events/device.h"
#include "protocol/events/pc_interval.h"
#include "protocol/events/pc_sample.h"
#include "protocol/session.h"

using namespace wicprof;

namespace {

constexpr std::uint64_t kModule = 0x00fe'ed00'0000'0001;

void send_samples(EventSink& sink) {
  DeviceEvent device = make_event<DeviceEvent>();
  device.device = 0;
  device.kind = DeviceKind::cuda;
  device.name = sink.text("a GPU");
  sink.write(device);
  const TimeNs now = now_ns();
  struct Sampled {
    std::uint64_t offset;
    const char* reason;
    std::uint32_t samples;
  };
  for (const Sampled& sampled : {Sampled{0x20, "long_scoreboard", 10},
                                 {0x30, "long_scoreboard", 900},
                                 {0x40, "branch_resolve", 90},
                                 {0x50, "selected", 3}}) {
    PcSampleEvent event = make_event<PcSampleEvent>();
    event.function = sink.text("spin(int*)");
    event.symbol = sink.text("_Z4spinPi");
    event.stall_reason = sink.text(sampled.reason);
    event.module = kModule;
    event.pc_offset = sampled.offset;
    event.samples = sampled.samples;
    event.begin_ns = now;
    event.at_ns = now + 1'000'000;
    sink.write(event);
  }
  PcIntervalEvent interval = make_event<PcIntervalEvent>();
  interval.begin_ns = now;
  interval.end_ns = now + 1'000'000;
  interval.samples = 1'003;
  sink.write(interval);
}

}  // namespace

// With the argument "forget" it saves no module; with "none" it sends no samples.
int main(int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "";
  const char* folder = std::getenv(kModulesVariable);
  std::printf("%s\n", folder == nullptr ? "no folder" : folder);
  const char* path = std::getenv(kSessionVariable);
  if (path == nullptr) return 70;
  Result<SessionMap> session = SessionMap::attach(path);
  if (!session) return 71;
  EventSink sink(session->claim_ring());
  if (option != "none") send_samples(sink);
  if (folder != nullptr && option != "forget")
    std::ofstream(std::string(folder) + "/00feed0000000001.cubin") << "a module";
  return 0;
}
