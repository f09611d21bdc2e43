// A rank of a job for which the others keep waiting in calls of MPI or NCCL.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/join.h"
#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/rules/late_arrivals.h"
#include "analyzer/rules/late_device.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/words/format.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {
namespace {

/// A rank that is so surely late by what it does itself is late wherever it runs. Not calibrated.
constexpr double kSureOfCause = 0.5;
/// What a digest says of a late rank of NCCL is sure where the rank did something longer for so much of what it cost
/// each of the others. Not calibrated.
constexpr double kBorneOut = 0.5;
/// Ranks named beside the worst one.
constexpr std::size_t kOthers = 7;

/// By process, the longest that a thread of it was ready to run without a CPU.
std::map<store::ProcessId, TimeNs> without_cpu(const TraceModel& model) {
  std::map<store::ProcessId, TimeNs> longest;
  for (const ThreadStats& thread : thread_stats(model)) {
    TimeNs& of_process = longest[thread.process];
    of_process = std::max(of_process, thread.run_delay_ns.value_or(0));
  }
  return longest;
}

/// Whether the rank was late since it had no CPU, as the other ranks had none: which of them that makes late changes
/// with the scheduler's turns, and one turn makes a rank late many times.
bool all_lack_cpus(const RuleInput& input, const RankCost& worst, TimeNs each) {
  const LateRankCause& why = input.mpi.why;
  if (why.cause != RankCause::no_cpu && why.confidence >= kSureOfCause) return false;
  std::map<store::ProcessId, TimeNs> longest = without_cpu(input.model);
  const TimeNs own = longest[worst.process];
  std::vector<TimeNs> others;
  for (const RankCost& rank : input.mpi.ranks) {
    if (rank.process != worst.process) others.push_back(longest[rank.process]);
  }
  return 2 * own >= each && own <= 2 * percentile(others, 50);
}

/// What the late rank did longer than the others, as the end of a sentence; empty: the trace does not show it.
std::string cause_text(RankCause cause, std::string_view between) {
  return fmt::format(fmt::runtime(words_of(cause).text), between);
}

/// Where the late rank spends its further time.
std::string place_text(const LateRankPlace& place) {
  return fmt::format(", most of that in the {} {} (confidence {:.2f})", place_kind_name(place.place.kind),
                     place.place.name, place.confidence);
}

std::string work_text(const MpiWaits& mpi, store::ProcessId late) {
  for (const RankWork& each : mpi.work) {
    if (each.process != late) continue;
    if (each.on_device) {
      return fmt::format(
          "; beside NCCL, its devices ran kernels for {}, only copies for {} and nothing for {}: {} longer "
          "than the median of the others, {} of that for this cause",
          format_duration(each.kernels), format_duration(each.copies), format_duration(each.idle),
          format_duration(mpi.why.longer_ns), format_duration(mpi.why.of_cause_ns));
    }
    if (!each.known) continue;
    return fmt::format(
        "; between calls of MPI it was {} on a CPU, {} ready without one and {} asleep: {} longer than "
        "the median of the others, {} of that for this cause",
        format_duration(each.cpu), format_duration(each.run_delay), format_duration(each.slept),
        format_duration(mpi.why.longer_ns), format_duration(mpi.why.of_cause_ns));
  }
  return "";
}

std::string evidence_of(const MpiWaits& mpi, const WorstArrivals& arrivals) {
  const RankCost& worst = mpi.ranks.front();
  const std::size_t others = mpi.ranks.size() - 1;
  std::string text = fmt::format(
      "most in {}; {} of others waited for it, {} on average and {} at most; of the {} that "
      "cost most, {} were its; waited for the others:",
      mpi_operation_name(worst.operation), count_of(worst.times, "call"),
      format_duration(worst.cost_ns / static_cast<TimeNs>(worst.times)), format_duration(worst.largest_ns),
      count_of(arrivals.all, "late arrival"), format_count(arrivals.of_rank));
  for (std::size_t i = 1; i <= std::min(others, kOthers); ++i) {
    text +=
        fmt::format("{} {} for rank {}", i == 1 ? "" : ",", format_duration(mpi.ranks[i].cost_ns), mpi.ranks[i].rank);
  }
  if (others > kOthers) text += fmt::format(", less for {}", count_of(others - kOthers, "more rank"));
  if (worst.beyond_waits_ns > 0) {
    text += fmt::format(
        "; {} of the cost are no waits: kernels of NCCL that waited slowed the kernels beside them, and held up "
        "collectives that would have run beside these",
        format_duration(worst.beyond_waits_ns));
  }
  if (mpi.why.cause != RankCause::unknown) text += work_text(mpi, worst.process);
  if (mpi.why.place)
    text += fmt::format("; {} of that in {}", format_duration(mpi.why.place->longer_ns), mpi.why.place->place.name);
  return text;
}

std::string trace_of(const TraceModel& model, store::ProcessId process) {
  const auto found = model.joined_trace.find(process);
  return found == model.joined_trace.end() ? "the same trace" : model.joined[found->second].name;
}

}  // namespace

template <>
RuleOutcome apply<struct LateRank>(const RuleInput& input) {
  RuleOutcome outcome;
  const MpiWaits& mpi = input.mpi;
  if (std::optional<Finding> finding = late_device(input)) outcome.findings.push_back(*std::move(finding));
  if (input.model.mpi_calls.empty()) return outcome;
  if (mpi.ranks.size() < 2) {
    outcome.refused =
        "the trace holds one rank; name the traces of all ranks (wic-prof analyze trace.*.wicprof), or record all in "
        "one (wic-prof run -- mpirun ..., or torchrun ...)";
    return outcome;
  }
  if (mpi.collectives.empty() && mpi.messages == 0) {
    outcome.refused = fmt::format("no call of MPI or NCCL has all its ranks in the trace; {} lack some",
                                  count_of(mpi.incomplete + mpi.unmatched, "collective or message"));
    if (mpi.without_kernel > 0)
      outcome.refused += fmt::format("; {} of NCCL have no kernel in the trace, which --trace cuda,nccl records",
                                     count_of(mpi.without_kernel, "call"));
    if (const std::vector<std::int32_t> missing = missing_ranks(input.model); !missing.empty())
      outcome.refused += fmt::format("; the first rank that is missing is {}", missing.front());
    return outcome;
  }
  const RankCost& worst = mpi.ranks.front();
  const std::size_t others = mpi.ranks.size() - 1;
  const TimeNs each = worst.cost_ns / static_cast<TimeNs>(others);
  const double share = input.ground_ns() > 0 ? static_cast<double>(each) / static_cast<double>(input.ground_ns()) : 0;
  const WorstArrivals arrivals = worst_arrivals(mpi, worst.process);
  if (share < kWorthNaming || arrivals.chance > kByChance) return outcome;
  if (all_lack_cpus(input, worst, each)) {
    outcome.refused = fmt::format(
        "the ranks had too few CPUs: rank {} came last most often, when it had no CPU, and the others lacked CPUs as "
        "long",
        worst.rank);
    return outcome;
  }
  Finding finding;
  finding.severity = share < kWarning ? Severity::info : Severity::warning;
  finding.text =
      fmt::format(fmt::runtime(worst.beyond_waits_ns > 0 ? "rank {} came late: that cost {} {} in all, {} each"
                                                         : "rank {} came late: {} waited {} for it in all, {} each"),
                  worst.rank, others == 1 ? "the other rank" : fmt::format("the other {} ranks", others),
                  format_duration(worst.cost_ns), format_duration(each));
  // Without the devices' times, waits count in full that repeat one delay or that hide behind other work.
  const LateRankCause& why = mpi.why;
  const bool borne_out =
      why.cause != RankCause::unknown && static_cast<double>(why.longer_ns) >= kBorneOut * static_cast<double>(each);
  const bool at_most = is_nccl(worst.operation) && input.model.is_digest() && !borne_out;
  if (at_most) {
    finding.severity = Severity::info;
    finding.text += ", at most: the digests do not have what shows which of these waits repeat one delay";
  }
  const std::string_view between = is_nccl(worst.operation) ? "between calls of NCCL" : "between calls of MPI";
  if (why.cause != RankCause::unknown)
    finding.text += fmt::format("; {} (confidence {:.2f})", cause_text(why.cause, between), why.confidence);
  if (why.place) finding.text += place_text(*why.place);
  finding.cost = Cost{Cost::Unit::time, std::min(1.0, share)};
  finding.evidence = evidence_of(mpi, arrivals);
  const std::string first(words_of(why.cause).remedy);
  finding.remedy = fmt::format(
      "{}{}compare what rank {} does before {} with what the other ranks do there: its kernels, "
      "ranges and share of a CPU are in {}",
      first.empty() ? "" : first + "; ", at_most ? "analyze the traces of some of these ranks, which have it; " : "",
      worst.rank, mpi_operation_name(worst.operation), trace_of(input.model, worst.process));
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
