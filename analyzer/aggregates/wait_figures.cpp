#include "analyzer/aggregates/wait_figures.h"

#include <algorithm>

#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

std::string_view way_key(WaitWay way) {
  switch (way) {
    case WaitWay::polling:
      return "poll";
    case WaitWay::parked:
      return "park";
    case WaitWay::host:
      break;
  }
  return "host";
}

State state_of_way(WaitWay way) {
  switch (way) {
    case WaitWay::polling:
      return State::polling;
    case WaitWay::parked:
      return State::parked;
    case WaitWay::host:
      break;
  }
  return State::host_waiting;
}

WaitWay way_of(const WaitView& wait) {
  if (wait.host) return WaitWay::host;
  return every_waiter_polls(wait.strategy) ? WaitWay::polling : WaitWay::parked;
}

TimeNs WaitFilter::part(TimeNs begin, TimeNs end) const {
  if (window) {
    begin = std::max(begin, window->begin);
    end = std::min(end, window->end);
  }
  return std::max<TimeNs>(0, end - begin);
}

std::optional<double> WaitFigures::polls_per_wait() const {
  if (waits_with_polls == 0) return std::nullopt;
  return static_cast<double>(polls) / static_cast<double>(waits_with_polls);
}

void FigureSums::add(const WorstWait& wait, TimeNs part, std::optional<std::uint64_t> polls) {
  const TimeNs took = std::max<TimeNs>(0, wait.end - wait.begin);
  ++figures_.waits;
  figures_.waiting_ns += part;
  times_.add(took);
  if (polls) {
    figures_.polls += *polls;
    ++figures_.waits_with_polls;
  }
  if (!figures_.worst || took > figures_.worst->end - figures_.worst->begin) figures_.worst = wait;
}

WaitFigures FigureSums::figures() const {
  WaitFigures result = figures_;
  const TypicalLengths typical = times_.typical();
  result.p50_ns = typical.p50;
  result.p99_ns = typical.p99;
  result.max_ns = typical.max;
  return result;
}

}  // namespace wicprof::analyzer
