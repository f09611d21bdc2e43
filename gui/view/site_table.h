// The table of wait sites, and the details of one site.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// Durations of waits: bins of equal width on a logarithmic scale, eight per decade.
struct Histogram {
  struct Bin {
    TimeNs begin = 0, end = 0;
    std::uint64_t polling = 0, parked = 0, host = 0;
    std::uint64_t count() const { return polling + parked + host; }
  };
  std::vector<Bin> bins;      ///< contiguous, from the first bin with a wait to the last
  std::uint64_t most = 0;     ///< count of the fullest bin
  std::uint64_t instant = 0;  ///< waits shorter than 10 ns, which no bin holds
};
Histogram wait_histogram(const analyzer::TraceModel& model, SiteId site);

struct SiteDetail {
  SiteId site = 0;
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::pair<std::string, TimeNs>> percentiles;  ///< "p10" ...
  Histogram histogram;
  std::optional<SearchHit> longest;  ///< its longest wait
};
std::optional<SiteDetail> site_detail(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                      SiteId site);

}  // namespace wicprof::gui
