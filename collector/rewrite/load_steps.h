// What the time of a load that got patched code went to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "protocol/time.h"

namespace wicprof::collector {

/// One thread.
class LoadSteps {
 public:
  LoadSteps() : begin_(now_ns()), last_(begin_) {}

  /// What has passed since the last call, or since the begin, went to `step`, a literal. Times of one step add up.
  void done(const char* step);
  /// What another thread did meanwhile.
  void meanwhile(const char* step, TimeNs took);

  /// How long that step has taken so far.
  TimeNs took(const char* step) const;

  /// "12.3 ms: door 0.1, compiler 11.0, ...": steps below a microsecond are left out.
  std::string text() const;

 private:
  void add(const char* step, TimeNs took, bool is_beside);

  struct Step {
    const char* name;
    TimeNs took;
    bool is_beside;
  };
  TimeNs begin_, last_;
  std::vector<Step> steps_;
};

}  // namespace wicprof::collector
