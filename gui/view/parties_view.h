// What the view of parties shows: which waits count, and the matrix and the lengths that follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/aggregates/distribution.h"
#include "analyzer/aggregates/party_matrix.h"
#include "analyzer/analysis.h"

namespace wicprof::gui {

/// The user's choice.
struct PartiesChoice {
  analyzer::PartyBy by = analyzer::PartyBy::kernel;
  std::optional<SiteId> site;                ///< nothing: all
  std::optional<analyzer::WaitWay> way;      ///< nothing: all
  std::optional<analyzer::Interval> window;  ///< nothing: the whole trace
  std::string window_name;                   ///< "before the toggle"; for people

  bool filters() const { return site || way || window; }
  analyzer::WaitFilter filter() const { return {site, window, way}; }
};

/// Immutable once made.
struct PartiesResult {
  analyzer::PartyMatrix matrix;
  std::optional<analyzer::WaitDistribution> lengths;  ///< nothing where the rows of the trace are not in memory
};

/// With the rows of the trace: any choice. `edges`: the model's wake edges, if they are known; empty: matches them.
PartiesResult find_parties(const analyzer::TraceModel& model, const std::vector<analyzer::WakeEdge>& edges,
                           const PartiesChoice& choice);
/// From the analysis alone: the choice's filters do not count.
PartiesResult known_parties(const analyzer::Analysis& analysis, analyzer::PartyBy by);

}  // namespace wicprof::gui
