#include "analyzer/figures/curves.h"
#include "analyzer/figures/list.h"

namespace wicprof::analyzer {

template <>
Figure figure<6>(const FigureInput& input) {
  Figure figure;
  describe_curves(figure, "not_arrived");
  figure.formula =
      "the share of an iteration's waiters whose T_c is later than `progress`, which is 0 at the first arrival and 1 "
      "at "
      "the last resumption; the mean over iterations with at least two waiters";
  if (!has_kernel_waits(input, figure)) return figure;
  for (const auto& trace : input) {
    Curves curves;
    const auto& slots = trace->waiters->slots();
    for (const IterationSlot& slot : slots) {
      if (slot.waits > 1 && slot.device != kHostDevice) curves[{slot.site, mode_of(*trace, slot)}].add_iteration();
    }
    for (std::size_t i = 0; i < trace->model.waits.size(); ++i) {
      const IterationSlot& slot = slots[trace->waiters->slot_of_wait(i)];
      if (slot.waits < 2) continue;
      curves[{slot.site, mode_of(*trace, slot)}].add(progress_at(slot, trace->model.waits[i].arrived),
                                                     1.0 / slot.waits);
    }
    add_curves(figure, *trace, curves, [](const auto&, const Curve& curve, std::size_t i) { return curve.at(i); });
  }
  if (figure.rows.empty()) figure.missing = "no iteration has more than one waiter";
  return figure;
}

}  // namespace wicprof::analyzer
