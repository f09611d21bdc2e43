// The waits in kernels that held their block up, because the signal came after the wait began.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

/// A wait that ended because its signal came after the wait had begun.
struct Blocked {
  TimeNs resumed = 0;
  std::uint32_t signal = 0;  ///< index into TraceModel::signals
  SiteId site = 0;
};

/// Per block, in order of resumption. Keeps only indexes into the model, which must outlive it: there are millions.
class BlockedWaits {
 public:
  BlockedWaits(const TraceModel& model, const Matching& matching);

  bool empty() const { return waits_.empty(); }
  /// The last wait of a block that resumed no later than `time`. Fast if the times of consecutive queries decrease:
  /// each search starts where the previous one for the block ended.
  std::optional<Blocked> last(DeviceId device, std::uint32_t block, TimeNs time);

 private:
  struct Entry {
    std::uint32_t wait = 0, signal = 0;
  };

  TimeNs resumed(const Entry& entry) const { return model_.waits[entry.wait].resumed; }
  std::span<Entry> of(std::uint32_t block) {
    return {waits_.data() + begins_[block], begins_[block + 1] - begins_[block]};
  }

  const TraceModel& model_;
  FlatIndex blocks_;
  std::vector<std::size_t> begins_;  // per block, in waits_; and the end
  std::vector<Entry> waits_;
  std::vector<std::uint32_t> position_;  // per block: the end of its waits up to the last query's time
};

}  // namespace wicprof::analyzer
