// The metrics of one run, from the thread that records to whoever asks.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cli/metrics/address.h"
#include "cli/metrics/exporter.h"
#include "cli/metrics/facts.h"
#include "cli/metrics/server.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/write/wait_tally.h"

namespace wicprof::cli {

class RunMetrics {
 public:
  /// Shows `first` from now on, as planned.
  static Result<std::unique_ptr<RunMetrics>> start(const MetricsPlan& plan, MetricFacts first);

  /// For people: where the metrics are served, and to whom they are sent.
  std::string where() const;
  /// For the recorder. Its thread alone uses the tally while it records.
  store::WaitTally& tally() { return tally_; }

  /// Whether the facts that are shown are old. The recorder's thread.
  bool is_due(TimeNs now) const { return now - published_ >= kInterval; }
  /// Shows these facts, with the tally's, from now on: those who ask wait for nothing, nor does the recorder for them.
  /// The recorder's thread.
  void publish(MetricFacts facts, TimeNs now);

 private:
  static constexpr TimeNs kInterval = 100 * kMillisecond;

  std::shared_ptr<const MetricFacts> facts() const;

  store::WaitTally tally_;
  TimeNs published_ = 0;
  mutable std::mutex mutex_;  // guards the pointer, not what it points to
  std::shared_ptr<const MetricFacts> facts_;
  // These end first.
  std::optional<MetricsServer> server_;
  std::optional<MetricsExporter> exporter_;
  std::string sent_to_;
};

}  // namespace wicprof::cli
