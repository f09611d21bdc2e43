#include "cli/metrics/run_metrics.h"

#include <chrono>
#include <ctime>
#include <new>
#include <utility>

#include "cli/metrics/openmetrics.h"
#include "cli/metrics/otlp.h"

namespace wicprof::cli {

namespace {

TimeNs own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

std::int64_t unix_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

Result<std::unique_ptr<RunMetrics>> RunMetrics::start(const MetricsPlan& plan, MetricFacts first) {
  auto metrics = std::make_unique<RunMetrics>();
  metrics->publish(std::move(first), 0);
  RunMetrics* const m = metrics.get();
  if (plan.served) {
    Result<MetricsServer> server = MetricsServer::start(*plan.served, [m] { return metrics_text(*m->facts()); });
    if (!server) return server.error();
    m->server_.emplace(*std::move(server));
  }
  if (plan.sent) {
    m->sent_to_ = plan.sent->url;
    Result<MetricsExporter> exporter = MetricsExporter::start(
        *plan.sent, [m, begin = unix_ns()] { return otlp_request(*m->facts(), begin, unix_ns()); });
    if (!exporter) return exporter.error();
    m->exporter_.emplace(*std::move(exporter));
  }
  return metrics;
}

std::string RunMetrics::where() const {
  const std::string served = server_ ? "at " + server_->where() : "";
  return served + (server_ && exporter_ ? ", and " : "") + (exporter_ ? "sent to " + sent_to_ : "");
}

void RunMetrics::publish(MetricFacts facts, TimeNs now) try {
  published_ = now;
  facts.waits = tally_.waits(now);
  facts.ranks = tally_.ranks().ranks();
  facts.changes = tally_.changes();
  facts.collector_cpu_ns = tally_.collector_cpu_ns();
  facts.recorder_cpu = own_cpu_time();
  auto latest = std::make_shared<const MetricFacts>(std::move(facts));
  const std::lock_guard lock(mutex_);
  facts_.swap(latest);
} catch (const std::bad_alloc&) {  // recording goes on; the earlier facts stay
}

std::shared_ptr<const MetricFacts> RunMetrics::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

}  // namespace wicprof::cli
