// Kernels that poll by their samples: what part of their bars is drawn as polling.
#pragma once

#include <vector>

#include "analyzer/machine_code/kernel_polling.h"
#include "gui/view/timeline.h"

namespace wicprof::gui {

/// Gives each row of kernels the shares of its kernels. A separate step, because the samples are analysed after the
/// first picture. `model`: that of the timeline.
void add_polling(Timeline& timeline, const analyzer::TraceModel& model,
                 const std::vector<analyzer::PollingLoop>& loops);

}  // namespace wicprof::gui
