// One recording of a program that ran before, from `wic-prof attach` to its end.
#pragma once

#include "collector/cupti/cupti_api.h"
#include "collector/program/environment.h"
#include "collector/waits/waits_of_process.h"
#include "protocol/dormant.h"
#include "protocol/result.h"

namespace wicprof::collector {

/// Records into the request's session until its tool wants no more, is gone, or the program ends; then gives everything
/// back. On a thread of ours that holds no lock. `cupti` loads CUPTI, or has loaded it before. At most one at a time.
void record_attached(const WakeRequest& request, const Environment& environment, WaitsOfProcess& waits,
                     const Result<CuptiApi>& (*cupti)(const Environment&));

/// Of the program's exit: writes what is known, and lets nothing end that goes on. Waits for an end in progress.
void attached_at_exit() noexcept;
/// Of the child of a fork.
void attached_in_child() noexcept;

}  // namespace wicprof::collector
