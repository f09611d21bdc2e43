// Results that take longer than a picture may wait, and their transfer from a separate process: the analyzer needs all
// rows of a trace in memory, and for a large trace that is more than the window should hold.
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
  /// The analysed trace, as far as it was known; nullptr: another process analysed it, and `details` is filled instead.
  std::shared_ptr<const analyzer::TraceModel> model;
  std::vector<SiteDetail> details;
  analyzer::Analysis analysis;
  analyzer::Comparison comparison;
  BeforeAfter before_after;
  std::vector<analyzer::Figure> figures;  ///< figures of the WIC paper, in the order of analyzer::figures()

  std::optional<SiteDetail> detail_of(SiteId site) const;
};

/// Analyses a model and keeps it. `known_from`: the model may lack waits that ended before this time.
Facts make_facts(std::shared_ptr<const analyzer::TraceModel> model, TimeNs known_from = 0);
/// The same without the model, for a process that lacks the rows. Keeps at most 20,000 iterations per segment, evenly
/// spread, and the critical path's shares but not its segments.
Facts make_portable_facts(std::shared_ptr<const analyzer::TraceModel> model);

/// Facts as bytes, without the model. Only the same build of wic-prof can unpack them.
std::string pack_facts(const Facts& facts);
std::optional<Facts> unpack_facts(std::string_view bytes);

/// For the separate process: analyses the trace and writes the packed facts to standard output.
Result<> write_facts(const std::string& path);

}  // namespace wicprof::gui
