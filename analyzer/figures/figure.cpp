#include "analyzer/figures/figure.h"

#include <algorithm>

#include "analyzer/words/missing.h"

namespace wicprof::analyzer {

FigureTrace::FigureTrace(const TraceModel& trace, std::shared_ptr<const Matching> matched,
                         std::shared_ptr<const Waiters> waiting, std::shared_ptr<const WaitKernels> with_waits)
    : model(trace),
      matching(std::move(matched)),
      waiters(std::move(waiting)),
      kernels(std::move(with_waits)),
      modes(trace),
      waits(trace, *matching, *waiters, modes) {}

FigureInput figure_input(const std::vector<const TraceModel*>& traces) {
  FigureInput input;
  for (const TraceModel* trace : traces) {
    auto matching = std::make_shared<const Matching>(match(*trace));
    auto waiters = std::make_shared<const Waiters>(*trace);
    auto kernels = std::make_shared<const WaitKernels>(*trace, *waiters);
    input.push_back(std::make_shared<FigureTrace>(*trace, std::move(matching), std::move(waiters), std::move(kernels)));
  }
  return input;
}

FigureCell cell(const std::optional<double>& value) { return value ? FigureCell(*value) : FigureCell(); }

std::vector<FigureCell> row_head(const FigureTrace& trace, Mode mode, SiteId site) {
  return {trace.model.name, std::string(mode_name(mode)),
          site == 0 ? std::string("all sites") : trace.model.site_name(site)};
}

Mode mode_of(const FigureTrace& trace, const IterationSlot& slot) {
  return trace.modes.at(slot.site, slot.first_arrival);
}

bool has_kernel_waits(const FigureInput& input, Figure& figure) {
  const bool any =
      std::any_of(input.begin(), input.end(), [](const auto& trace) { return !trace->model.waits.empty(); });
  if (!any) figure.missing = missing::kNoKernelWaits;
  return any;
}

std::optional<double> threads_of(const FigureTrace& trace) {
  double most = 0;
  for (std::size_t k = 0; k < trace.model.kernels.size(); ++k) {
    if (trace.kernels->waitless(trace.kernels->kind_of(k))) continue;
    const store::KernelRow& kernel = trace.model.kernels[k];
    double threads = 1;
    for (const int axis : {0, 1, 2}) threads *= static_cast<double>(kernel.grid[axis]) * kernel.block[axis];
    most = std::max(most, threads);
  }
  if (most <= 0) return std::nullopt;
  return most;
}

}  // namespace wicprof::analyzer
