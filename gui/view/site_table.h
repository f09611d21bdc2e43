// The table of wait sites, and the details of one site.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/aggregates/distribution.h"
#include "analyzer/analysis.h"
#include "gui/view/search.h"

namespace wicprof::gui {

enum class SiteColumn { name, count, total, share, p50, p99, polls, wake, waiters, gain, strategy };
inline constexpr std::size_t kSiteColumns = 11;
struct SiteColumnLook {
  const char* key;
  const char* title;
  bool numeric;
};
const SiteColumnLook& look_of(SiteColumn column);

struct SiteLine {
  SiteId site = 0;
  std::string cells[kSiteColumns];   ///< formatted
  double values[kSiteColumns] = {};  ///< sort keys of numeric columns
};

/// One line per site. Sites that compare equal stay in order of waiting time.
std::vector<SiteLine> site_table(const analyzer::Analysis& analysis, SiteColumn by, bool descending);

struct SiteDetail {
  SiteId site = 0;
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::pair<std::string, TimeNs>> percentiles;  ///< "p10" ...
  analyzer::WaitDistribution waits;                         ///< how long they take
  std::optional<SearchHit> longest;                         ///< its longest wait
};
std::optional<SiteDetail> site_detail(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                      SiteId site);

}  // namespace wicprof::gui
