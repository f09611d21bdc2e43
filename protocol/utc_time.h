// The date and time of day, for people.
#pragma once

#include <ctime>
#include <string>

namespace wicprof {

/// Now, as 2026-01-31T23:59:59Z. Any thread.
inline std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace wicprof
