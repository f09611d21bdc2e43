// Switches the recording of a session off and on in turn, so that one process shows both.
//   bench_capture_turns SESSION_FILE PERIOD_MILLISECONDS SECONDS
// The program must run under `wic-prof run --delay TIME`, by which its collector knows that recording may change.
// Prints a line per phase: its begin (CLOCK_MONOTONIC, ns), and 1 for a recording one. The phases come in pairs, off
// and on, then on and off, so that a drift does not look like a difference. Recording is on at the end.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "protocol/session.h"
#include "protocol/time.h"

int main(int argc, char** argv) {
  using namespace wicprof;
  if (argc < 4) return 2;
  Result<SessionMap> session = SessionMap::attach(argv[1]);
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    return 2;
  }
  ControlBlock& control = session->control();
  const auto period = std::chrono::milliseconds(std::atoi(argv[2]));
  const TimeNs end = now_ns() + static_cast<TimeNs>(std::atof(argv[3]) * 1e9);
  const auto set = [&](std::uint32_t on) {
    control.capturing.store(on);
    futex_wake_all(control.capturing);
  };
  for (unsigned phase = 0; now_ns() < end; ++phase) {
    const std::uint32_t on = phase % 4 == 1 || phase % 4 == 2 ? 1 : 0;
    set(on);
    std::printf("%lld %u\n", static_cast<long long>(now_ns()), on);
    std::fflush(stdout);
    std::this_thread::sleep_for(period);
  }
  set(1);
}
