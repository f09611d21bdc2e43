#include "cli/metrics/run_metrics.h"

#include <ctime>
#include <new>
#include <utility>

#include "cli/metrics/list.h"

namespace wicprof::cli {

namespace {

TimeNs own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<RunMetrics>> RunMetrics::serve(const MetricsAddress& address, MetricFacts first) {
  auto metrics = std::make_unique<RunMetrics>();
  metrics->publish(std::move(first), 0);
  Result<MetricsServer> server = MetricsServer::start(address, [m = metrics.get()] { return m->text(); });
  if (!server) return server.error();
  metrics->server_.emplace(*std::move(server));
  return metrics;
}

void RunMetrics::publish(MetricFacts facts, TimeNs now) try {
  published_ = now;
  facts.waits = tally_.waits(now);
  facts.changes = tally_.changes();
  facts.collector_cpu_ns = tally_.collector_cpu_ns();
  facts.recorder_cpu = own_cpu_time();
  auto latest = std::make_shared<const MetricFacts>(std::move(facts));
  const std::lock_guard lock(mutex_);
  facts_.swap(latest);
} catch (const std::bad_alloc&) {  // recording goes on; the earlier facts stay
}

std::string RunMetrics::text() const {
  std::shared_ptr<const MetricFacts> facts;
  {
    const std::lock_guard lock(mutex_);
    facts = facts_;
  }
  return metrics_text(*facts);
}

}  // namespace wicprof::cli
