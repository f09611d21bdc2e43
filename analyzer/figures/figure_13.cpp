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
    const Curves to_arrive = curves_of<&store::WaitRow::arrived>(*trace);
    const Curves to_resume = curves_of<&store::WaitRow::resumed>(*trace);
    add_curves(figure, *trace, to_resume, [&](const auto& key, const Curve& curve, std::size_t i) {
      return std::max(0.0, curve.at(i) - to_arrive.at(key).at(i));
    });
  }
  if (figure.rows.empty()) figure.missing = "no iteration has more than one waiter";
  return figure;
}

}  // namespace wicprof::analyzer
