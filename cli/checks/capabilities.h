// What this process may do as root may: in a container even root may lack it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

namespace wicprof::cli {

/// `number`: as in linux/capability.h; of the effective set.
inline bool has_capability(int number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapEff:")) return (std::strtoull(line.c_str() + 7, nullptr, 16) >> number & 1) != 0;
  }
  return false;
}

}  // namespace wicprof::cli
