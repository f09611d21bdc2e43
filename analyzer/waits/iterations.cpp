#include "analyzer/waits/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/trace/wait_view.h"
#include "analyzer/waits/waiters.h"

namespace wicprof::analyzer {

std::string place_of(const TraceModel& model, const Iterations& iterations) {
  return fmt::format("{} on {}", iterations.site_name, model.device_name(iterations.device));
}

std::uint32_t RunBoundaries::run_of(TimeNs arrival) const {
  return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), arrival) - starts.begin());
}

RunBoundaries boundaries_of(std::vector<Restart> restarts) {
  // Each waiter brackets a restart between two of its arrivals. The program's restarts are the smallest set of times
  // that has one in each bracket: sort brackets by right end, and take the right end of each that has no time yet.
  std::sort(restarts.begin(), restarts.end(), [](const Restart& a, const Restart& b) { return a.upto < b.upto; });
  RunBoundaries boundaries;
  for (const Restart& restart : restarts) {
    const bool hit = !boundaries.starts.empty() && boundaries.starts.back() > restart.after;
    if (!hit) boundaries.starts.push_back(restart.upto);
  }
  return boundaries;
}

namespace {

/// Whether half of the time of kernels and copies lies within; also where the trace holds none.
bool holds_the_work(const TraceModel& model, Interval window) {
  TimeNs inside = 0, all = 0;
  const auto add = [&](TimeNs begin, TimeNs end) {
    all += std::max<TimeNs>(0, end - begin);
    inside += std::max<TimeNs>(0, std::min(end, window.end) - std::max(begin, window.begin));
  };
  for (const store::KernelRow& kernel : model.kernels) add(kernel.start, kernel.end);
  for (const store::CopyRow& copy : model.copies) add(copy.start, copy.end);
  return inside >= all / 2;
}

}  // namespace

std::optional<Interval> iteration_window(const TraceModel& model, const std::vector<Iterations>& iterations) {
  std::optional<Interval> found;
  const auto cover = [&](TimeNs begin, TimeNs end) {
    found = Interval{std::min(found.value_or(Interval{begin, end}).begin, begin),
                     std::max(found.value_or(Interval{begin, end}).end, end)};
  };
  for (const Iterations& place : iterations) cover(place.list.front().begin, place.list.back().end);
  for (const store::DigestSumRow& sum : model.digest_sums) {
    if (sum.of == store::SumOf::iteration) cover(sum.begin, sum.end);
  }
  if (!found) return std::nullopt;
  Interval window = *found;
  bool at_sites = model.is_digest();
  for_each_wait(model, [&](const WaitView& wait) {
    if (wait.in_call) return;
    at_sites = true;
    window.end = std::max(window.end, wait.end);
  });
  if (!at_sites && !holds_the_work(model, window)) return std::nullopt;
  return window;
}

std::vector<Iterations> find_iterations(const TraceModel& model) { return find_iterations(model, Waiters(model)); }

std::vector<Iterations> find_iterations(const TraceModel& model, const Waiters& waiters) {
  std::vector<const IterationSlot*> slots;
  slots.reserve(waiters.slots().size());
  for (const IterationSlot& slot : waiters.slots()) slots.push_back(&slot);
  const auto place = [](const IterationSlot& s) { return std::tuple(s.site, s.device, s.run, s.number); };
  std::sort(slots.begin(), slots.end(), [&](const auto* a, const auto* b) { return place(*a) < place(*b); });

  std::vector<Iterations> all;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const IterationSlot& slot = *slots[i];
    if (i == 0 || slots[i - 1]->site != slot.site || slots[i - 1]->device != slot.device) {
      all.emplace_back();
      all.back().site = slot.site;
      all.back().site_name = model.site_name(slot.site);
      all.back().device = slot.device;
    }
    all.back().runs = slot.run + 1;
    if (i + 1 == slots.size()) continue;
    const IterationSlot& next = *slots[i + 1];
    // If a number is missing, its records were lost; if a successor does not begin later, its first arrivals were lost.
    const bool follows = place(next) == std::tuple(slot.site, slot.device, slot.run, slot.number + 1);
    if (follows && next.first_arrival > slot.first_arrival) {
      all.back().list.push_back({slot.run, slot.number, slot.first_arrival, next.first_arrival});
    }
  }
  std::erase_if(all, [](const Iterations& found) { return found.list.empty(); });
  // Ties: the earlier begin first, so that the order does not depend on the numbering of devices.
  std::stable_sort(all.begin(), all.end(), [](const Iterations& a, const Iterations& b) {
    if (a.list.size() != b.list.size()) return a.list.size() > b.list.size();
    return std::pair(a.list.front().begin, a.site) < std::pair(b.list.front().begin, b.site);
  });
  return all;
}

}  // namespace wicprof::analyzer
