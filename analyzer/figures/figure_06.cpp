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
    add_curves(figure, *trace, curves_of<&store::WaitRow::arrived>(*trace),
               [](const auto&, const Curve& curve, std::size_t i) { return curve.at(i); });
  }
  if (figure.rows.empty()) figure.missing = "no iteration has more than one waiter";
  return figure;
}

}  // namespace wicprof::analyzer
