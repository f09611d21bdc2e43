// What every run needs of this machine.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "cli/checks/check.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr std::uint64_t kDefaultBufferMib = 128;  // what run takes unless told otherwise

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

// What the source `host` reads.
Check scheduler_check() {
  const bool times = access("/proc/self/schedstat", R_OK) == 0;
  const bool children = access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), R_OK) == 0;
  Check check{"scheduler statistics",
              CheckState::ok,
              "/proc has CPU time, run-queue delay and children of every thread",
              {},
              false};
  if (times && children) return check;
  check.state = CheckState::missing;
  check.detail = fmt::format("/proc has no {}",
                             times ? "list of children: only the program and processes that use CUDA or wic are sampled"
                                   : "schedstat: CPU time by clock ticks, no run-queue delay");
  check.cure = times ? "a Linux kernel with CONFIG_PROC_CHILDREN"
                     : "a Linux kernel with CONFIG_SCHED_INFO; some sandboxes have none";
  return check;
}

Check display_check() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (set(name)) return {"display", CheckState::ok, fmt::format("{}={}", name, std::getenv(name)), {}, false};
  }
  return {"display",
          CheckState::not_applicable,
          "neither DISPLAY nor WAYLAND_DISPLAY is set; reports (html, md) need none",
          {},
          false};
}

// What a container takes away, as far as it can be told from inside.
Check container_check() {
  std::string kind;
  if (access("/.dockerenv", F_OK) == 0) kind = "docker";
  if (access("/run/.containerenv", F_OK) == 0) kind = "podman";
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) kind = "kubernetes";
  if (std::getenv("APPTAINER_CONTAINER") != nullptr || std::getenv("SINGULARITY_CONTAINER") != nullptr)
    kind = "apptainer";
  if (const char* named = std::getenv("container"); named != nullptr && *named != '\0') kind = named;
  if (kind.empty()) return {"container", CheckState::not_applicable, "none that shows", {}, false};
  return {
      "container",
      CheckState::ok,
      fmt::format(
          "{}: run wic-prof inside, beside the program; it takes --gpus for the GPU, --shm-size above the buffers, and "
          "--cap-add=SYS_ADMIN for pcsampling where counters are for administrators only",
          kind),
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
  checks.push_back(scheduler_check());
  checks.push_back(perf_check());
  checks.push_back(container_check());
  checks.push_back(display_check());
  return checks;
}

}  // namespace wicprof::cli
