// What the warps behind each wait of a model do while it lasts (store/summaries/wait_states.h).
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

  /// Of a settled model, which must outlive it.
  explicit WaitStateTable(const TraceModel& model);

  /// What the row's own warp does.
  Own own(std::size_t wait) const { return states_.own(model_.waits[wait]); }
  /// How many warps more stand at the barrier all along.
  std::uint32_t others(std::size_t wait) const { return others_.empty() ? 0 : others_[wait]; }

 private:
  const TraceModel& model_;
  store::WaitStates states_;
  std::vector<std::uint8_t> others_;  // empty: nobody, at any wait
};

}  // namespace wicprof::analyzer
