#include "analyzer/figures/list.h"
#include "analyzer/path/prediction_constants.h"
#include "analyzer/work/own_cost.h"

namespace wicprof::analyzer {

template <>
Figure figure<15>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "threads: CPU time of wic-prof's own threads / the sampled time (1 = one core all the time); records in kernels: "
      "waits and signals of kernels x the time that recording one takes on an H200 / (waiters x traced time)";
  figure.columns = {"trace", "part", "share"};
  figure.series = 1;
  figure.y = 2;
  figure.shares = true;
  for (const auto& trace : input) {
    const TraceModel& model = trace->model;
    const OwnCost cost = own_cost(model, thread_stats(model));
    if (cost.sampled && cost.over_ns > 0) {
      const auto over = static_cast<double>(cost.over_ns);
      figure.rows.push_back(
          {model.name, std::string("threads in the program"), static_cast<double>(cost.in_program_ns) / over});
      figure.rows.push_back(
          {model.name, std::string("threads of wic-prof"), static_cast<double>(cost.in_tool_ns) / over});
    } else {
      figure.notes.push_back(model.name + ": the CPU time is unknown, because the trace holds no samples of threads");
    }
    const bool on_gpu = !model.waits.empty() && model.waits.front().device < kSimtDeviceBase;
    if (!on_gpu || model.span() <= 0) continue;
    double records = static_cast<double>(model.waits.size()), waiters = 0;
    for (const store::SignalRow& signal : model.signals) records += signal.device == kHostDevice ? 0 : 1;
    for (const Waiter& waiter : trace->waiters->list()) waiters += waiter.device == kHostDevice ? 0 : 1;
    const double share =
        records * static_cast<double>(calibration::kRecordCost) / (waiters * static_cast<double>(model.span()));
    figure.rows.push_back({model.name, std::string("records in kernels"), share});
  }
  if (figure.rows.empty()) {
    figure.missing = "the trace holds neither samples of threads nor waits inside kernels of a GPU";
    figure.notes.clear();
  }
  return figure;
}

}  // namespace wicprof::analyzer
