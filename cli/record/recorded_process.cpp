#include "cli/record/recorded_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace wicprof::cli {

bool RecordedProcess::handles(int signal) const {
  std::ifstream status(fmt::format("/proc/{}/status", pid()));
  const std::string key = "SigCgt:\t";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    return (std::strtoull(line.c_str() + key.size(), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

bool RecordedProcess::shares_terminal_signals() const { return getpgid(pid()) == getpgrp(); }

}  // namespace wicprof::cli
