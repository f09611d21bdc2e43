#include "analyzer/path/handed_on.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// Of a site's signals, as many decide. Not calibrated.
constexpr std::uint64_t kEnoughSignals = 20'000;
/// The least share of signals that hand the word on: some programs write a second word beside it. Not calibrated.
constexpr double kLeastHandedOn = 0.25;

using Word = std::pair<SiteId, WordTag>;
std::uint64_t block_of(DeviceId device, std::uint32_t block) {
  return std::uint64_t{static_cast<std::uint32_t>(device)} << 32 | block;
}

struct Passing {
  std::uint64_t signals = 0, handed_on = 0;
};

/// Follows waits and signals in order of time.
class Follower {
 public:
  explicit Follower(std::map<SiteId, Passing> sites) : sites_(std::move(sites)) {}

  void wait(const store::WaitRow& wait) {
    if (wait.word && sites_.contains(wait.site))
      last_waits_[block_of(wait.device, wait.block)] = {{wait.site, *wait.word}, wait.resumed};
  }

  /// Whether any site still needs signals.
  bool signal(const store::SignalRow& signal) {
    const auto site = sites_.find(signal.site);
    if (site == sites_.end() || signal.device == kHostDevice || !signal.word) return open_ > 0;
    const Word word{signal.site, *signal.word};
    const auto [before, first] = last_signals_.try_emplace(word, signal.at);
    const auto wait = last_waits_.find(block_of(signal.device, signal.block));
    // The one who signals has gone on since the word's signal before this one, after a wait for the same word.
    const bool handed_on = !first && wait != last_waits_.end() && wait->second.word == word &&
                           wait->second.resumed >= before->second && wait->second.resumed <= signal.at;
    before->second = signal.at;
    Passing& passing = site->second;
    passing.handed_on += handed_on;
    if (++passing.signals == kEnoughSignals) --open_;
    return open_ > 0;
  }

  std::set<SiteId> found() const {
    std::set<SiteId> found;
    for (const auto& [site, passing] : sites_) {
      const auto signals = static_cast<double>(passing.signals);
      if (signals > 0 && static_cast<double>(passing.handed_on) >= kLeastHandedOn * signals) found.insert(site);
    }
    return found;
  }

 private:
  std::map<SiteId, Passing> sites_;
  std::size_t open_ = sites_.size();
  struct LastWait {
    Word word;
    TimeNs resumed = 0;
  };
  std::unordered_map<std::uint64_t, LastWait> last_waits_;  // by block
  std::map<Word, TimeNs> last_signals_;
};

}  // namespace

std::set<SiteId> handed_on_sites(const TraceModel& model, const std::vector<SiteStats>& stats) {
  std::map<SiteId, Passing> candidates;
  for (const SiteStats& site : stats) {
    if (site.word_memory == WordMemory::device && site.waiters_per_word.value_or(0) >= 2) candidates[site.site] = {};
  }
  if (candidates.empty()) return {};
  Follower follower(std::move(candidates));
  auto wait = model.waits.begin();
  for (const store::SignalRow& signal : model.signals) {
    // A block waits and signals in turn: its last wait that began before is the one before the signal.
    for (; wait != model.waits.end() && wait->arrived <= signal.at; ++wait) follower.wait(*wait);
    if (!follower.signal(signal)) break;
  }
  return follower.found();
}

}  // namespace wicprof::analyzer
