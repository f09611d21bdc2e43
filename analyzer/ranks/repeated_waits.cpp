#include "analyzer/ranks/repeated_waits.h"

#include <algorithm>

#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {
namespace {

/// How far one rank would be ahead of its trace, had no rank kept it waiting.
class RankAhead {
 public:
  explicit RankAhead(const CoveredTime& host_waits) : host_waits_(host_waits) {}

  void add(MpiWait& wait) {
    if (wait.enqueued > enqueued_) host_ = std::min(host_ + host_waits_.covered(enqueued_, wait.enqueued), device_);
    enqueued_ = std::max(enqueued_, wait.enqueued);
    const TimeNs most = host_ + wait.end - wait.enqueued;
    wait.counted_ns = std::clamp<TimeNs>(most - device_, 0, wait.length());
    counted_.push_back(&wait);
    take_back(device_ - most);
    device_ = std::min(device_ + wait.length(), most);
  }

 private:
  /// From the latest ones.
  void take_back(TimeNs time) {
    while (time > 0 && !counted_.empty()) {
      const TimeNs part = std::min(time, counted_.back()->counted_ns);
      counted_.back()->counted_ns -= part;
      time -= part;
      if (counted_.back()->counted_ns == 0) counted_.pop_back();
    }
  }

  const CoveredTime& host_waits_;
  std::vector<MpiWait*> counted_;
  TimeNs device_ = 0, host_ = 0;  // how far ahead
  TimeNs enqueued_ = 0;           // the last kernel
};

}  // namespace

void count_repeated_once(std::vector<MpiWait>& waits, const std::map<store::ProcessId, RankDevices>& devices) {
  std::map<store::ProcessId, RankAhead> ranks;
  for (MpiWait& wait : waits) {
    const auto of = devices.find(wait.waiter);
    if (!is_nccl(wait.operation) || of == devices.end() || of->second.host_waits.empty()) continue;
    ranks.try_emplace(wait.waiter, of->second.host_waits).first->second.add(wait);
  }
}

}  // namespace wicprof::analyzer
