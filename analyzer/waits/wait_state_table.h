// The states of the warps of each wait of a model, by the rules of store/summaries/wait_states.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/words/colours.h"
#include "store/summaries/wait_states.h"

namespace wicprof::analyzer {

class WaitStateTable {
 public:
  using Own = store::WaitStates::Own;

  /// The model must be settled, and outlive the table.
  explicit WaitStateTable(const TraceModel& model);

  /// The state of the row's own warp.
  Own own(std::size_t wait) const { return states_.own(model_.waits[wait]); }
  /// The number of other warps that wait at the barrier during the whole wait.
  std::uint32_t others(std::size_t wait) const { return others_.empty() ? 0 : others_[wait]; }

 private:
  const TraceModel& model_;
  store::WaitStates states_;
  std::vector<std::uint8_t> others_;  // by wait; empty: 0 at every wait
};

}  // namespace wicprof::analyzer
