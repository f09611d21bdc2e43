// What takes longer to work out than a picture may wait, and how it comes from a process of its own: the analyzer needs
// all rows of a trace in memory, which of a large one is more than the window should hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/figures/figure.h"
#include "gui/view/segments.h"
#include "gui/view/site_table.h"

namespace wicprof::gui {

struct Facts {
  /// The whole trace, as far as it was known then; nullptr: it was analysed elsewhere, and `details` has what needs it.
  std::shared_ptr<const analyzer::TraceModel> model;
  std::vector<SiteDetail> details;
  analyzer::Analysis analysis;
  analyzer::Comparison comparison;
  BeforeAfter before_after;
  std::vector<analyzer::Figure> figures;  ///< of the paper, in the order of their list

  std::optional<SiteDetail> detail_of(SiteId site) const;
};

/// Without what needs edges; the model goes on being used. `known_from`: waits that ended before may be missing from
/// it.
Facts make_facts(std::shared_ptr<const analyzer::TraceModel> model, TimeNs known_from = 0);
/// The same of a large trace, for others who do not have its rows. Iterations beyond 20,000 of a segment are left out
/// evenly, and so is the critical path's course (its shares stay).
Facts make_facts_apart(std::shared_ptr<const analyzer::TraceModel> model);

/// Facts as bytes, but for the model; only the same wic-prof reads them.
std::string pack_facts(const Facts& facts);
std::optional<Facts> unpack_facts(std::string_view bytes);

/// In the process that does the work: analyses the trace and writes the facts to standard output.
Result<> write_facts(const std::string& path);

}  // namespace wicprof::gui
