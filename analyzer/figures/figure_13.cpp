#include "analyzer/figures/curves.h"
#include "analyzer/figures/list.h"

namespace wicprof::analyzer {

Figure figure_13(const FigureInput& input) {
  Figure figure;
  describe_curves(figure, "without_data");
  figure.formula =
      "of the waiters of an iteration, the part that has come and not gone on after that much of the time from the "
      "first "
      "arrival to the last resumption; the mean over iterations with at least two waiters";
  if (!has_kernel_waits(input, figure)) return figure;
  for (const auto& trace : input) {
    Curves to_come, to_go_on;
    const auto& slots = trace->waiters.slots();
    for (const IterationSlot& slot : slots) {
      if (slot.waits < 2 || slot.device == kHostDevice) continue;
      to_come[{slot.site, mode_of(*trace, slot)}].add_iteration();
      to_go_on[{slot.site, mode_of(*trace, slot)}].add_iteration();
    }
    for (std::size_t i = 0; i < trace->model.waits.size(); ++i) {
      const IterationSlot& slot = slots[trace->waiters.slot_of_wait(i)];
      if (slot.waits < 2) continue;
      const std::pair key{slot.site, mode_of(*trace, slot)};
      to_come[key].add(progress_at(slot, trace->model.waits[i].arrived), 1.0 / slot.waits);
      to_go_on[key].add(progress_at(slot, trace->model.waits[i].resumed), 1.0 / slot.waits);
    }
    add_curves(figure, *trace, to_go_on, [&](const auto& key, const Curve& curve, std::size_t i) {
      return std::max(0.0, curve.at(i) - to_come.at(key).at(i));
    });
  }
  if (figure.rows.empty()) figure.missing = "no iteration has more than one waiter";
  return figure;
}

}  // namespace wicprof::analyzer
