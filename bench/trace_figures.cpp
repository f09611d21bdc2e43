// Figures of a recorded trace as measured claims: iteration times in each mode, the latency of toggles (also for waits
// in progress), and losses.
#include <algorithm>
#include <cstdio>

#include "analyzer/analysis.h"
#include "bench/claim.h"
#include "store/read/reader.h"

namespace {

using namespace wicprof;
using bench::Claim;
using bench::ClaimRow;

constexpr double kMicro = 1e-3;
constexpr double kToggleBarUs = 1000;  // a toggle takes effect within a millisecond

TimeNs worst_clock_error(const analyzer::TraceModel& model) {
  TimeNs error = 0;
  for (const store::DeviceRow& device : model.devices) error = std::max(error, device.clock_error_ns.value_or(0));
  return error;
}

void add_comparison(Claim& claim, const analyzer::TraceModel& model, const std::string& program) {
  const analyzer::Comparison comparison = analyzer::compare(model);
  for (const analyzer::Side* side : {&comparison.before, &comparison.after}) {
    if (!side->iteration_ns_p50) continue;
    ClaimRow row;
    row.name = "iteration_p50_" + side->label;
    row.params = {{"program", program}, {"iterations", static_cast<std::int64_t>(side->iterations)}};
    row.value = static_cast<double>(*side->iteration_ns_p50) * 1e-6;
    row.unit = "ms";
    claim.add(row);
  }
  if (!comparison.speedup) return;
  ClaimRow row;
  row.name = "speedup";
  row.params = {{"program", program},
                {"low", comparison.speedup->low},
                {"high", comparison.speedup->high},
                {"verdict", std::string(verdict_name(comparison.verdict))}};
  row.value = comparison.speedup->value;
  row.unit = "x";
  row.compared_to = comparison.before.label;
  row.ratio = comparison.speedup->value;
  claim.add(row);
  if (!comparison.predicted) return;
  ClaimRow predicted;
  predicted.name = "predicted_gain";
  predicted.params = {{"program", program},
                      {"low", comparison.predicted->low},
                      {"high", comparison.predicted->high},
                      {"error", comparison.prediction_error.value_or(0)}};
  predicted.value = comparison.predicted->value;
  predicted.unit = "x, from the polled times alone";
  predicted.compared_to = "speedup";
  predicted.ratio = comparison.predicted->value / comparison.speedup->value;
  claim.add(predicted);
}

void add_latency(Claim& claim, const std::string& name, std::vector<double> us, const std::string& program) {
  if (us.empty()) return;
  ClaimRow row;
  row.name = name;
  row.params = {{"program", program},
                {"count", static_cast<std::int64_t>(us.size())},
                {"min_us", *std::min_element(us.begin(), us.end())},
                {"p50_us", bench::median(us)}};
  row.value = *std::max_element(us.begin(), us.end());
  row.unit = "us at most";
  row.compared_to = "1 ms";
  row.ratio = row.value / kToggleBarUs;
  row.bar = 1;
  row.at_most = true;
  claim.add(row);
}

// The time from the request to the new words in device memory, and to the moment each wait in progress noticed. A
// notice belongs to the toggle before it. A notice stamped up to a millisecond before a request, which is shorter than
// any time between two toggles, belongs to that request, because the stamp is taken before the last read of the
// strategy word and the device clock has an error.
void add_toggles(Claim& claim, const analyzer::TraceModel& model, const std::string& program) {
  constexpr TimeNs kEarliest = kMillisecond;
  std::vector<double> effective;
  std::vector<double> noticed;
  for (std::size_t i = 0; i < model.interventions.size(); ++i) {
    const store::InterventionRow& toggle = model.interventions[i];
    effective.push_back(static_cast<double>(toggle.effective - toggle.requested) * kMicro);
    const TimeNs next = i + 1 < model.interventions.size() ? model.interventions[i + 1].requested : INT64_MAX;
    for (const store::WaitRow& wait : model.waits) {
      if (!wait.switched || *wait.switched < toggle.requested - kEarliest || *wait.switched >= next - kEarliest)
        continue;
      noticed.push_back(static_cast<double>(*wait.switched - toggle.requested) * kMicro);
    }
  }
  add_latency(claim, "toggle_effective", std::move(effective), program);
  add_latency(claim, "toggle_noticed_by_waits_in_progress", std::move(noticed), program);
}

void add_counts(Claim& claim, const analyzer::TraceModel& model, const std::string& program) {
  const auto count = [&](const char* name, std::size_t value, const char* unit) {
    ClaimRow row;
    row.name = name;
    row.params = {{"program", program}};
    row.value = static_cast<double>(value);
    row.unit = unit;
    claim.add(row);
  };
  count("waits", model.waits.size(), "rows");
  count("signals", model.signals.size(), "rows");
  count("host_waits", model.host_waits.size(), "rows");
  count("kernels", model.kernels.size(), "rows");
  count("copies", model.copies.size(), "rows");
  count("calls", model.calls.size(), "rows");
  count("nvtx", model.nvtx.size(), "rows");
  std::int64_t lost = 0;
  for (const analyzer::Loss& loss : analyzer::losses(model)) lost += loss.count;
  count("lost", static_cast<std::size_t>(lost), "events");
  count("clock_error_bound", static_cast<std::size_t>(worst_clock_error(model)), "ns");
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("trace_figures", "the figures of a recorded trace", argc, argv);
  const std::string path = claim.option("trace", std::string());
  const std::string program = claim.option("program", std::string("app"));
  auto reader = store::Reader::open(path);
  if (!reader) {
    std::fprintf(stderr, "trace_figures: %s\n", reader.error().message.c_str());
    return 2;
  }
  const auto model = analyzer::load(*reader, path);
  if (!model) {
    std::fprintf(stderr, "trace_figures: %s\n", model.error().message.c_str());
    return 2;
  }
  add_comparison(claim, *model, program);
  add_toggles(claim, *model, program);
  add_counts(claim, *model, program);
  return claim.write();
}
