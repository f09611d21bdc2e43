// What every run needs of this machine.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>

#include "cli/checks/check.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr std::uint64_t kDefaultBufferMib = 64;  // what run takes unless told otherwise

Check session_folder_check(const Result<std::string>& folder) {
  if (folder) return {"session folder", CheckState::ok, *folder, {}, true};
  return {"session folder", CheckState::missing, folder.error().message, "set XDG_RUNTIME_DIR to a folder of yours",
          true};
}

// A real session, made and removed: the file, its lock, its memory.
Check session_check() {
  SessionOptions options;
  options.name = fmt::format("doctor-{}", getpid());
  options.app = "doctor";
  options.ring_count = 1;
  options.ring_capacity = 2 * kMaxEventSize;
  const Result<SessionOwner> session = SessionOwner::create(options);
  if (session) return {"session", CheckState::ok, "made and removed one", {}, true};
  return {"session", CheckState::missing, session.error().message, "see the line above", true};
}

Check shared_memory_check(const std::string& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) {
    return {"shared memory", CheckState::missing, "cannot ask " + folder, "set XDG_RUNTIME_DIR to a folder of yours",
            true};
  }
  const std::uint64_t free_mib = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize >> 20;
  Check check{"shared memory", CheckState::ok, fmt::format("{} MiB free in {}", free_mib, folder), {}, true};
  if (free_mib < kDefaultBufferMib + 1) {
    check.state = CheckState::missing;
    check.cure = fmt::format("free some, enlarge that file system, or run with --buffer-size below {}",
                             std::max<std::uint64_t>(free_mib, 1));
  }
  return check;
}

Check dev_shm_check() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) {
    return {
        "/dev/shm", CheckState::not_applicable, "not there; without XDG_RUNTIME_DIR sessions live in /tmp", {}, false};
  }
  const auto mib = [&](std::uint64_t blocks) { return blocks * info.f_frsize >> 20; };
  return {"/dev/shm",
          CheckState::ok,
          fmt::format("{} MiB, {} MiB free", mib(info.f_blocks), mib(info.f_bavail)),
          {},
          false};
}

Check clock_check() {
  constexpr int kReadings = 20'000;
  TimeNs smallest_step = std::numeric_limits<TimeNs>::max();
  const TimeNs begin = now_ns();
  TimeNs last = begin;
  for (int i = 0; i < kReadings; ++i) {
    const TimeNs now = now_ns();
    if (now > last) smallest_step = std::min(smallest_step, now - last);
    last = now;
  }
  const TimeNs cost = (last - begin) / kReadings;
  std::string source = "unknown source";
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  Check check{"clock",
              CheckState::ok,
              fmt::format("CLOCK_MONOTONIC ({}): steps of {} ns, {} ns a reading", source, smallest_step, cost),
              {},
              false};
  constexpr TimeNs kCoarse = 10 * kMicrosecond;  // waits of microseconds could not be told apart
  if (smallest_step > kCoarse || cost > kCoarse) {
    check.state = CheckState::missing;
    check.cure = "short waits will not be measured well; boot with clocksource=tsc where the CPU has a stable one";
  }
  return check;
}

Check perf_check() {
  int level = 0;
  if (!(std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level)) {
    return {"kernel perf events",
            CheckState::not_applicable,
            "the kernel has none; wic-prof does not need them",
            {},
            false};
  }
  return {"kernel perf events",
          CheckState::not_applicable,
          fmt::format("kernel.perf_event_paranoid = {}; wic-prof does not need them", level),
          {},
          false};
}

}  // namespace

std::vector<Check> host_checks() {
  std::vector<Check> checks;
  const Result<std::string> folder = session_directory();
  checks.push_back(session_folder_check(folder));
  if (folder) {
    checks.push_back(session_check());
    checks.push_back(shared_memory_check(*folder));
  }
  checks.push_back(dev_shm_check());
  checks.push_back(clock_check());
  checks.push_back(perf_check());
  return checks;
}

}  // namespace wicprof::cli
