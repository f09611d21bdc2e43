#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/reports/format.h"
#include "analyzer/reports/html_charts.h"
#include "analyzer/reports/svg_axis.h"

namespace wicprof::analyzer {
namespace {

constexpr double kWidth = 1080;
constexpr double kLeft = 190, kRight = 12, kTop = 22, kBottom = 24;
constexpr int kLaneHeight = 20;
constexpr int kLaneGap = 4;
constexpr std::size_t kColumns = 440;   // columns of about two pixels
constexpr std::size_t kMaxSites = 4;    // with the most waiting time
constexpr std::size_t kLanesASite = 6;  // SMs, spread over all of the site's

enum class Doing { polling, parked, host, kernel };
constexpr std::string_view css_of(Doing doing) {
  switch (doing) {
    case Doing::polling:
      return "poll";
    case Doing::parked:
      return "park";
    case Doing::host:
      return "host";
    case Doing::kernel:
      break;
  }
  return "kernel";
}

struct Stretch {
  Interval when;
  Doing doing;
};

struct Lane {
  std::string name;
  std::vector<Stretch> stretches;
  double waiters = 1;  ///< at once, at most: what the lane's full height stands for
};

/// The lane with its columns filled: how much of each column's time each state takes, summed over waiters.
class Columns {
 public:
  Columns(const Lane& lane, Interval window) : window_(window) {
    for (const Stretch& stretch : lane.stretches) add(stretch);
    scale_ = 1.0 / (lane.waiters * width());
  }

  /// A filled outline of the states in `below` and `doing`, stacked from the bottom. Empty when `doing` never occurs.
  std::string outline(Doing doing, const std::vector<Doing>& below, const Axis& x, double top) const {
    const auto own = sums_.find(doing);
    if (own == sums_.end()) return {};
    std::string path;
    int drawn_base = -1, drawn_height = -1;
    double start = 0;
    const auto flush = [&](double end) {
      if (drawn_height <= 0) return;
      path += fmt::format("M{:.1f} {:.0f}H{:.1f}v-{}H{:.1f}Z", start, top + kLaneHeight - drawn_base, end, drawn_height,
                          start);
    };
    for (std::size_t i = 0; i <= kColumns; ++i) {
      int base = 0, height = 0;
      if (i < kColumns) {
        double sum_below = 0;
        for (const Doing other : below) sum_below += value(other, i);
        base = pixels(sum_below);
        height = pixels(sum_below + own->second[i]) - base;
      }
      const double at = x.first + (x.last - x.first) * static_cast<double>(i) / static_cast<double>(kColumns);
      if (i < kColumns && base == drawn_base && height == drawn_height) continue;
      flush(at);
      start = at;
      drawn_base = base;
      drawn_height = height;
    }
    return path;
  }

 private:
  double width() const { return static_cast<double>(window_.end - window_.begin) / static_cast<double>(kColumns); }
  double value(Doing doing, std::size_t column) const {
    const auto found = sums_.find(doing);
    return found == sums_.end() ? 0 : found->second[column];
  }
  int pixels(double sum) const { return static_cast<int>(std::min(1.0, sum * scale_) * kLaneHeight + 0.5); }

  void add(const Stretch& stretch) {
    const double begin = static_cast<double>(std::max(stretch.when.begin, window_.begin) - window_.begin) / width();
    const double end = static_cast<double>(std::min(stretch.when.end, window_.end) - window_.begin) / width();
    if (end <= begin) return;
    std::vector<double>& sums = sums_.try_emplace(stretch.doing, kColumns, 0.0).first->second;
    for (auto column = static_cast<std::size_t>(begin); column < kColumns && static_cast<double>(column) < end;
         ++column) {
      const double from = std::max(begin, static_cast<double>(column));
      const double to = std::min(end, static_cast<double>(column) + 1);
      sums[column] += (to - from) * width();
    }
  }

  Interval window_;
  std::map<Doing, std::vector<double>> sums_;
  double scale_ = 1;
};

/// A wait is split where it noticed a change of strategy.
void add_wait(Lane& lane, const store::WaitRow& wait) {
  const Doing at_end = every_waiter_polls(wait.strategy) ? Doing::polling : Doing::parked;
  if (!wait.switched) {
    lane.stretches.push_back({{wait.arrived, wait.resumed}, at_end});
    return;
  }
  const Doing at_first = at_end == Doing::polling ? Doing::parked : Doing::polling;
  lane.stretches.push_back({{wait.arrived, *wait.switched}, at_first});
  lane.stretches.push_back({{*wait.switched, wait.resumed}, at_end});
}

bool overlaps(TimeNs begin, TimeNs end, Interval window) { return begin < window.end && end > window.begin; }

using Place = std::tuple<DeviceId, std::uint32_t>;  // device, SM

/// At most kLanesASite places, evenly spread over all.
template <class Map>
std::vector<typename Map::key_type> spread(const Map& map) {
  std::vector<typename Map::key_type> all;
  for (const auto& entry : map) all.push_back(entry.first);
  if (all.size() <= kLanesASite) return all;
  std::vector<typename Map::key_type> chosen;
  for (std::size_t i = 0; i < kLanesASite; ++i) chosen.push_back(all[i * (all.size() - 1) / (kLanesASite - 1)]);
  return chosen;
}

double most_at_once(const Lane& lane) {
  std::vector<Interval> intervals;
  for (const Stretch& stretch : lane.stretches) intervals.push_back(stretch.when);
  return std::max(1.0, static_cast<double>(max_at_once(intervals)));
}

void finish(Lane& lane, std::string name) {
  lane.waiters = most_at_once(lane);
  lane.name = std::move(name);
}

void add_site_lanes(const TraceModel& model, const SiteStats& site, Interval window, std::vector<Lane>& lanes) {
  std::map<Place, Lane> by_place;
  std::map<DeviceId, bool> devices;
  for (const store::WaitRow& wait : model.waits) {
    if (wait.site != site.site || !overlaps(wait.arrived, wait.resumed, window)) continue;
    add_wait(by_place[{wait.device, wait.sm}], wait);
    devices[wait.device] = true;
  }
  for (const Place& place : spread(by_place)) {
    Lane& lane = by_place[place];
    const auto [device, sm] = place;
    const std::string where = devices.size() > 1 ? fmt::format("dev {} SM {}", device, sm) : fmt::format("SM {}", sm);
    finish(lane, fmt::format("{}, {}", shorten(one_line(site.name), 17), where));
    lanes.push_back(std::move(lane));
  }
  Lane host;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site == site.site && overlaps(wait.begin, wait.end, window))
      host.stretches.push_back({{wait.begin, wait.end}, Doing::host});
  }
  if (host.stretches.empty()) return;
  finish(host, fmt::format("{}, CPU", shorten(one_line(site.name), 17)));
  lanes.push_back(std::move(host));
}

void add_kernel_lanes(const TraceModel& model, Interval window, std::vector<Lane>& lanes) {
  std::map<DeviceId, Lane> by_device;
  for (const store::KernelRow& kernel : model.kernels) {
    if (overlaps(kernel.start, kernel.end, window))
      by_device[kernel.device].stretches.push_back({{kernel.start, kernel.end}, Doing::kernel});
  }
  for (auto& [device, lane] : by_device) {
    finish(lane, fmt::format("kernels, {}", shorten(one_line(model.device_name(device)), 18)));
    lanes.push_back(std::move(lane));
  }
}

std::string draw_lane(const Lane& lane, Interval window, const Axis& x, double top) {
  std::string out = fmt::format("<rect class=\"lane\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{}\"/>",
                                x.first, top, x.last - x.first, kLaneHeight);
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", x.first - 8, top + 14,
                     escape_html(lane.name));
  const Columns columns(lane, window);
  std::vector<Doing> below;
  for (const Doing doing : {Doing::polling, Doing::parked, Doing::host, Doing::kernel}) {
    const std::string path = columns.outline(doing, below, x, top);
    if (!path.empty()) out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_of(doing), path);
    below.push_back(doing);
  }
  return out;
}

std::string draw_marks(const TraceModel& model, Interval window, const Axis& x, double bottom) {
  std::string out;
  double labelled_to = 0;
  for (const store::InterventionRow& row : model.interventions) {
    if (row.effective < window.begin || row.effective > window.end) continue;
    const double at = x.at(row.effective);
    out += fmt::format("<line class=\"cut\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>", at, at,
                       kTop - 6, bottom);
    if (at < labelled_to || at > kWidth - 40) continue;  // no room for a label
    out += fmt::format("<text class=\"strong\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", at + 4, kTop - 8,
                       mode_name(row.new_mode));
    labelled_to = at + 40;
  }
  return out;
}

std::string draw_times(Interval window, TimeNs zero, const Axis& x, double at) {
  std::string out;
  const TimeNs step = tick_step(window.end - window.begin, 9);
  for (TimeNs time = (window.begin - zero + step - 1) / step * step; time <= window.end - zero; time += step) {
    const double position = x.at(time + zero);
    const char* anchor = position > kWidth - 30 ? "end" : "middle";
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>", position, at, anchor,
                       tick_label(time, step, window.end - zero));
  }
  return out + "\n";
}

}  // namespace

std::string wait_timeline(const TraceModel& model, const Analysis& analysis, Interval window) {
  if (window.end <= window.begin) return {};
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < std::min(kMaxSites, analysis.sites.size()); ++i)
    add_site_lanes(model, analysis.sites[i], window, lanes);
  if (lanes.empty()) return {};
  add_kernel_lanes(model, window, lanes);
  const Axis x{window.begin, window.end, kLeft, kWidth - kRight};
  const double bottom = kTop + static_cast<double>(lanes.size()) * (kLaneHeight + kLaneGap);
  std::string out = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Waits over time\">\n",
                                kWidth, bottom + kBottom);
  double top = kTop;
  for (const Lane& lane : lanes) {
    out += draw_lane(lane, window, x, top);
    top += kLaneHeight + kLaneGap;
  }
  return out + draw_marks(model, window, x, bottom) + draw_times(window, model.begin, x, bottom + 14) + "</svg>\n";
}

}  // namespace wicprof::analyzer
