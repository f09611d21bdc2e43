// Waits of patched loops, from the records that the loops write to pinned memory.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/event_batch.h"
#include "protocol/events/wait.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "rewriter/patch/words.h"

namespace wicprof::collector {

/// The ring of one module in one context. One thread at a time.
class WaitRecords {
 public:
  /// Waits whose end is not known are forgotten beyond this number, the oldest first: a kernel that was ended from
  /// outside never says that its waits are over.
  static constexpr std::size_t kMostOpen = std::size_t{1} << 20;

  struct Site {
    SiteId id = 0;  ///< in the trace
    StrategyId parked = StrategyId::pause;
  };
  /// `ring`: kRecords Records that begin as zeros. `sites`: those of the module.
  WaitRecords(rewriter::Record* ring, DeviceId device, std::vector<Site> sites)
      : ring_(ring), device_(device), sites_(std::move(sites)) {}

  /// Writes the waits that have ended since the last call, and how many records were overwritten before they were read.
  void read(EventBatch& batch);

  /// A thread of the device: grid, block, thread in the block.
  using Thread = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;
  /// A wait that has begun and not ended.
  struct Open {
    std::uint64_t number = 0;
    TimeNs read = 0;  ///< when the host read the begin: a few ms after it
    rewriter::Record begin{};
  };
  /// A word at which a wait has been seen.
  struct Word {
    SiteId site = 0;
    std::uint64_t address = 0;
    auto operator<=>(const Word&) const = default;
  };
  /// Words that are remembered at most; waits at further ones are recorded as those of words that are not known.
  static constexpr std::size_t kMostWords = 4096;
  /// The words that were seen for the first time since the last call.
  std::vector<Word> new_words() { return std::exchange(new_words_, {}); }
  SiteId site_of(const rewriter::Record& record) const { return sites_[record.site & 0xffff].id; }
  DeviceId device() const { return device_; }
  rewriter::Record* ring() const { return ring_; }
  const std::map<Thread, Open>& open() const { return open_; }

 private:
  void take(const rewriter::Record& record, EventBatch& batch);

  rewriter::Record* ring_;
  DeviceId device_;
  std::vector<Site> sites_;
  std::uint64_t next_ = 0;  // number of the next record
  std::map<Thread, Open> open_;
  std::set<Word> words_;
  std::vector<Word> new_words_;
  std::uint64_t lost_ = 0, reported_lost_ = 0;
};

/// As wic::word_tag: equal for equal addresses, never 0 but for the address 0.
WordTag word_tag_of(std::uint64_t address);

/// Whether the host sees all of the record.
bool is_complete(const rewriter::Record& record);

}  // namespace wicprof::collector
