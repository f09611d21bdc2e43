#include "gui/view/parties_view.h"

#include <algorithm>

namespace wicprof::gui {

PartiesResult find_parties(const analyzer::TraceModel& model, const std::vector<analyzer::WakeEdge>& edges,
                           const PartiesChoice& choice) {
  const analyzer::DeviceWork work(model);
  const std::vector<analyzer::WakeEdge> matched =
      edges.empty() ? analyzer::match(model).edges : std::vector<analyzer::WakeEdge>();
  const analyzer::WorkIndex index(model, work);
  const analyzer::PartyMatrices matrices(model, edges.empty() ? matched : edges, index);
  return {matrices.matrix(choice.by, choice.filter()), analyzer::wait_distribution(model, choice.filter())};
}

PartiesResult known_parties(const analyzer::Analysis& analysis, analyzer::PartyBy by) {
  const auto found = std::find_if(analysis.parties.begin(), analysis.parties.end(),
                                  [by](const analyzer::PartyMatrix& matrix) { return matrix.by == by; });
  return {found == analysis.parties.end() ? analyzer::PartyMatrix{} : *found, std::nullopt};
}

}  // namespace wicprof::gui
