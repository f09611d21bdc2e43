// Work of wic-prof while the program runs or after: a failure is reported and harms neither the program nor the trace.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "cli/terminal/messages.h"
#include "protocol/limit_words.h"

namespace wicprof::cli {

/// Calls `work`. An exception becomes a warning: "WHAT failed: REASON". Returns whether `work` returned.
template <class Work>
bool guarded(const char* what, Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::exception& e) {
    try {
      warn(std::string(what) + " failed: " + reason_of(e));
    } catch (const std::exception&) {
      warn(what);  // no memory for the message
    }
    return false;
  }
}

}  // namespace wicprof::cli
