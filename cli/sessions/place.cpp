#include "cli/sessions/place.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "protocol/file_text.h"

namespace wicprof::cli {

namespace {

// The device number of the controlling terminal; 0 without one.
unsigned terminal_device() {
  const std::string stat = file_text("/proc/self/stat");
  const std::size_t name_end = stat.rfind(')');  // the name before it may contain anything
  int device = 0;
  if (name_end == std::string::npos) return 0;
  if (std::sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %d", &device) != 1) return 0;
  return static_cast<unsigned>(device);
}

}  // namespace

std::string terminal_name(unsigned device) {
  if (device == 0) return {};
  // The numbers of Linux (Documentation/admin-guide/devices.txt).
  constexpr unsigned kConsoles = 4, kSerialLines = 64, kFirstPts = 136, kLastPts = 143, kPtsPerMajor = 256;
  const unsigned major_number = gnu_dev_major(device), minor_number = gnu_dev_minor(device);
  if (major_number >= kFirstPts && major_number <= kLastPts) {
    return fmt::format("pts/{}", (major_number - kFirstPts) * kPtsPerMajor + minor_number);
  }
  if (major_number != kConsoles) return fmt::format("{}:{}", major_number, minor_number);
  return minor_number < kSerialLines ? fmt::format("tty{}", minor_number)
                                     : fmt::format("ttyS{}", minor_number - kSerialLines);
}

Place place_of_this_process() {
  std::error_code removed;
  return {std::filesystem::current_path(removed).string(), terminal_name(terminal_device()), getuid()};
}

bool same_place(const Place& one, const Place& other) {
  const auto shared = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  return one.user == other.user && (shared(one.folder, other.folder) || shared(one.terminal, other.terminal));
}

}  // namespace wicprof::cli
