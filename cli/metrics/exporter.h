// Sends metrics to a receiver, on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/metrics/address.h"
#include "protocol/result.h"

namespace wicprof::cli {

class MetricsExporter {
 public:
  /// Sends at once, and then every ten seconds. `page` makes what is sent, on the exporter's thread. The first failure
  /// is shown as a warning. Error: the system refused the thread.
  static Result<MetricsExporter> start(const OtlpReceiver& receiver, std::function<std::string()> page);
  MetricsExporter(MetricsExporter&&) noexcept;
  /// Sends a last time. Whatever the receiver does: ends within half a second.
  ~MetricsExporter();

 private:
  struct State;
  explicit MetricsExporter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::cli
