// What the collector's sources share in a process, for tests.
#pragma once

#include "collector/waits/waits_of_process.h"

namespace wicprof::collector {

inline WaitsOfProcess& of_process() {
  static auto* const waits = new WaitsOfProcess;  // never destroyed, as in a program
  return *waits;
}

}  // namespace wicprof::collector
