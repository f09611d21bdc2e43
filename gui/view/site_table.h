// The table of wait sites as it is shown, and what is shown of one site.
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
  std::string cells[kSiteColumns];   ///< as people read them
  double values[kSiteColumns] = {};  ///< to sort by; of texts not used
};

/// One line a site, sorted; equal ones keep the order of most waiting time.
std::vector<SiteLine> site_table(const analyzer::Analysis& analysis, SiteColumn by, bool descending);

/// How long waits took: bins of equal width on a logarithmic scale, eight to a decade.
struct Histogram {
  struct Bin {
    TimeNs begin = 0, end = 0;
    std::uint64_t polling = 0, parked = 0, host = 0;
    std::uint64_t count() const { return polling + parked + host; }
  };
  std::vector<Bin> bins;      ///< without gaps, from the first that holds a wait to the last
  std::uint64_t most = 0;     ///< the fullest bin's count
  std::uint64_t instant = 0;  ///< waits shorter than the first bin can show (under 10 ns)
};
Histogram wait_histogram(const analyzer::TraceModel& model, SiteId site);

struct SiteDetail {
  SiteId site = 0;
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::pair<std::string, TimeNs>> percentiles;  ///< "p10" ...
  Histogram histogram;
  std::optional<SearchHit> longest;  ///< of its waits
};
std::optional<SiteDetail> site_detail(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                      SiteId site);

}  // namespace wicprof::gui
