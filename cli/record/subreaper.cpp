#include "cli/record/subreaper.h"

#include <sys/prctl.h>

namespace wicprof::cli {

Subreaper::Subreaper(bool wanted) : on_(wanted && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) {}

Subreaper::~Subreaper() {
  if (on_) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace wicprof::cli
