// The date and time of day, for people.
#pragma once

#include <ctime>
#include <string>

namespace wicprof {

/// As 2026-01-31T23:59:59Z. Any thread.
inline std::string utc_time(std::time_t at) {
  std::tm parts{};
  gmtime_r(&at, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}
/// Now.
inline std::string utc_time() { return utc_time(std::time(nullptr)); }

}  // namespace wicprof
