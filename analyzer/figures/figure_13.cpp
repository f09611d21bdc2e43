#include "analyzer/figures/curves.h"
#include "analyzer/figures/list.h"

namespace wicprof::analyzer {

template <>
Figure figure<13>(const FigureInput& input) {
  Figure figure;
  describe_curves(figure, "without_data");
  figure.formula =
      "the share of an iteration's waiters that have arrived and not resumed at `progress`, which is 0 at the first "
      "arrival and 1 at the last resumption; the mean over iterations with at least two waiters";
  if (!has_kernel_waits(input, figure)) return figure;
  for (const auto& trace : input) {
    Curves to_arrive, to_resume;
    const auto& slots = trace->waiters->slots();
    for (const IterationSlot& slot : slots) {
      if (slot.waits < 2 || slot.device == kHostDevice) continue;
      to_arrive[{slot.site, mode_of(*trace, slot)}].add_iteration();
      to_resume[{slot.site, mode_of(*trace, slot)}].add_iteration();
    }
    for (std::size_t i = 0; i < trace->model.waits.size(); ++i) {
      const IterationSlot& slot = slots[trace->waiters->slot_of_wait(i)];
      if (slot.waits < 2) continue;
      const std::pair key{slot.site, mode_of(*trace, slot)};
      to_arrive[key].add(progress_at(slot, trace->model.waits[i].arrived), 1.0 / slot.waits);
      to_resume[key].add(progress_at(slot, trace->model.waits[i].resumed), 1.0 / slot.waits);
    }
    add_curves(figure, *trace, to_resume, [&](const auto& key, const Curve& curve, std::size_t i) {
      return std::max(0.0, curve.at(i) - to_arrive.at(key).at(i));
    });
  }
  if (figure.rows.empty()) figure.missing = "no iteration has more than one waiter";
  return figure;
}

}  // namespace wicprof::analyzer
