// The metrics of one run, from the thread that records to whoever asks.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cli/metrics/facts.h"
#include "cli/metrics/server.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/write/wait_tally.h"

namespace wicprof::cli {

class RunMetrics {
 public:
  /// Serves `first` from now on.
  static Result<std::unique_ptr<RunMetrics>> serve(const MetricsAddress& address, MetricFacts first);

  const std::string& where() const { return server_->where(); }
  /// For the recorder. Its thread alone uses the tally while it records.
  store::WaitTally& tally() { return tally_; }

  /// Whether the facts that are served are old. The recorder's thread.
  bool is_due(TimeNs now) const { return now - published_ >= kInterval; }
  /// Serves these facts, with the tally's, from now on: those who ask wait for nothing, nor does the recorder for them.
  /// The recorder's thread.
  void publish(MetricFacts facts, TimeNs now);
  /// Nobody is answered any more.
  void end() { server_.reset(); }

 private:
  static constexpr TimeNs kInterval = 100 * kMillisecond;

  std::string text() const;

  store::WaitTally tally_;
  TimeNs published_ = 0;
  mutable std::mutex mutex_;  // guards the pointer, not what it points to
  std::shared_ptr<const MetricFacts> facts_;
  std::optional<MetricsServer> server_;  // ends first
};

}  // namespace wicprof::cli
