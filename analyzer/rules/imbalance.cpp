// A job whose work differs between its ranks, but in turn: each is late at times, and none more often than the others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/rules/late_arrivals.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// A rank is late in its turn where it comes so much later than the median, as a share of the time since the collective
/// before: so many standard deviations of all arrivals, and this share at least. Not calibrated.
constexpr double kDeviations = 5, kLeastShare = 0.05;
/// Or this share alone, which equal ranks do not differ by: of two ranks, no arrivals tell how much equal ones differ.
constexpr double kSurelyLate = 0.5;
/// The standard deviation of a normal distribution, in medians of its absolute deviations.
constexpr double kOfMedian = 1.4826;
/// Where ranks lacked a CPU for such a share of what balance would gain, the scheduler's turns may have made them late.
/// Not calibrated.
constexpr double kByScheduler = 0.25;

/// A collective, or the same of a digest.
struct Meeting {
  std::vector<TimeNs> waits;  // of those that waited, as far as they count
  std::int32_t ranks = 0;
  TimeNs last = 0;  // when the last one came
  store::ProcessId late = 0;
  std::uint32_t weight = 1;
  double length = 0;  // from the last arrival before
};

std::vector<Meeting> meetings(const RuleInput& input) {
  std::map<CommunicatorId, std::int32_t> sizes;
  for (const store::MpiCommunicatorRow& row : input.model.mpi_communicators) sizes[row.communicator] = row.size;
  std::map<CollectiveKey, Meeting> by_key;
  for (const MpiWait& wait : input.mpi.waits) {
    if (wait.kind != MpiWaitKind::collective || mpi_flow(wait.operation) != MpiFlow::all_to_all) continue;
    const MpiOperation operation = is_nccl(wait.operation) ? wait.operation : MpiOperation::none;
    Meeting& meeting = by_key[{wait.communicator, operation, wait.sequence}];
    meeting.waits.push_back(wait.counted_ns);
    meeting.ranks = sizes[wait.communicator];
    meeting.last = std::max(meeting.last, wait.end);
    meeting.late = wait.late;
    meeting.weight = wait.weight;
  }
  std::vector<Meeting> all;
  for (auto& [key, meeting] : by_key) all.push_back(std::move(meeting));
  std::ranges::sort(all, {}, &Meeting::last);
  TimeNs before = input.ground.begin;
  for (Meeting& meeting : all) {
    meeting.length = static_cast<double>(std::max<TimeNs>(1, meeting.last - before));
    before = meeting.last;
    meeting.waits.resize(static_cast<std::size_t>(std::max(meeting.ranks, 2)));  // the others did not wait
    std::ranges::sort(meeting.waits);
  }
  return all;
}

/// How much later than the median the last one came; of two ranks, than the other one.
double lateness(const Meeting& meeting) {
  const std::size_t middle = meeting.waits.size() == 2 ? 1 : (meeting.waits.size() - 1) / 2;
  return static_cast<double>(meeting.waits[middle]) / meeting.length;
}

/// The standard deviation of arrivals around their median, from the median deviation: few late ones do not count.
double usual_deviation(const std::vector<Meeting>& all) {
  std::vector<double> deviations;
  for (const Meeting& meeting : all) {
    const double median = lateness(meeting);
    bool is_median = true;  // the median itself deviates from nothing
    for (const TimeNs wait : meeting.waits) {
      const double deviation = std::abs(median - static_cast<double>(wait) / meeting.length);
      if (deviation > 0 || !std::exchange(is_median, false)) deviations.push_back(deviation);
    }
  }
  if (deviations.empty()) return 0;
  const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
  std::nth_element(deviations.begin(), middle, deviations.end());
  return kOfMedian * *middle;
}

/// What the late ranks cost.
struct Turns {
  std::uint64_t collectives = 0, times = 0;
  double gain = 0, waited = 0;  // ns; gain: of each rank in the mean
  std::map<store::ProcessId, std::uint64_t> times_of;
};

Turns find_turns(const RuleInput& input) {
  const std::vector<Meeting> all = meetings(input);
  const double usual = usual_deviation(all);
  Turns turns;
  for (const MpiCollective& each : input.mpi.collectives) turns.collectives += each.weight;
  for (const Meeting& meeting : all) {
    const double late = lateness(meeting);
    const bool in_turn = meeting.waits.size() > 2 && late > std::max(kDeviations * usual, kLeastShare);
    if (!in_turn && late <= kSurelyLate) continue;
    double waited = 0;
    for (const TimeNs wait : meeting.waits) waited += static_cast<double>(wait);
    turns.times += meeting.weight;
    turns.waited += waited * meeting.weight;
    turns.gain += waited * meeting.weight / static_cast<double>(meeting.waits.size());
    turns.times_of[meeting.late] += meeting.weight;
  }
  return turns;
}

/// Of each rank in the mean: between calls, or of a thread in all, since those that wait in calls lack CPUs, too.
double without_cpu_each(const RuleInput& input) {
  double sum = 0;
  std::map<store::ProcessId, TimeNs> threads;
  for (const ThreadStats& thread : thread_stats(input.model))
    threads[thread.process] = std::max(threads[thread.process], thread.run_delay_ns.value_or(0));
  for (const RankWork& work : input.mpi.work)
    sum += static_cast<double>(std::max(work.run_delay, threads[work.process]));
  return input.mpi.work.empty() ? 0 : sum / static_cast<double>(input.mpi.work.size());
}

std::string efficiency_text(const RankEfficiency& of) {
  return fmt::format(
      "parallel efficiency {:.2f} = load balance {:.2f} x communication {:.2f}, which is serialisation {:.2f} x "
      "transfer {:.2f}",
      of.parallel, of.load_balance, of.communication, of.serialisation, of.transfer);
}

}  // namespace

template <>
RuleOutcome apply<struct Imbalance>(const RuleInput& input) {
  RuleOutcome outcome;
  const MpiWaits& mpi = input.mpi;
  if (mpi.ranks.size() < 2 || mpi.collectives.empty() || input.ground_ns() <= 0) return outcome;
  if (worst_arrivals(mpi, mpi.ranks.front().process).chance <= kByChance) return outcome;  // late_rank names it
  const Turns turns = find_turns(input);
  const double share = turns.gain / static_cast<double>(input.ground_ns());
  if (share < kWorthNaming || turns.times_of.size() < 2) return outcome;
  const bool known = !mpi.work.empty() && std::all_of(mpi.work.begin(), mpi.work.end(),
                                                      [](const RankWork& of) { return of.known || of.on_device; });
  if (!known) {
    outcome.refused =
        "the trace does not show what the ranks did between calls: whether their work differs, or other programs kept "
        "them from their CPUs";
    return outcome;
  }
  if (without_cpu_each(input) >= kByScheduler * turns.gain) {
    outcome.refused = "the ranks lacked CPUs: which of them comes late changes with the scheduler's turns";
    return outcome;
  }
  std::map<store::ProcessId, std::int32_t> rank_of;
  for (const RankCost& cost : mpi.ranks) rank_of[cost.process] = cost.rank;
  const auto most = std::ranges::max_element(turns.times_of, {}, [](const auto& of) { return of.second; });
  Finding finding;
  finding.severity = share < kWarning ? Severity::info : Severity::warning;
  finding.text = fmt::format(
      "the ranks' work differs in turn: in {} of {}, one of {} ranks came late, and the others waited {} in all; with "
      "equal work in each step the job would take at most {:.1f} % less time",
      format_count(turns.times), count_of(turns.collectives, "collective"), turns.times_of.size(),
      format_duration(static_cast<TimeNs>(turns.waited)), 100 * std::min(1.0, share));
  finding.cost = Cost{Cost::Unit::time, std::min(1.0, share)};
  finding.evidence = fmt::format("rank {} was late most often, {} times", rank_of[most->first], most->second);
  if (mpi.efficiency) finding.evidence += "; " + efficiency_text(*mpi.efficiency);
  finding.remedy =
      "divide the work of each step evenly, or let ranks go on without the others: fewer collectives, or ones that do "
      "not block";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
