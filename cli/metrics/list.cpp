#include "cli/metrics/list.h"

#include <array>

#include "protocol/time.h"
#include "store/format/stat_list.h"

namespace wicprof::cli {

namespace {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

void count(MetricSamples& samples, std::uint64_t value, Labels labels = {}) {
  samples.push_back({value, 1, std::move(labels)});
}
void time(MetricSamples& samples, std::uint64_t ns, Labels labels = {}) {
  samples.push_back({ns, kSecond, std::move(labels)});
}

void by_way(const MetricFacts& facts, const auto& sample) {
  for (const store::WaitSumOfSite& wait : facts.waits) {
    sample(wait.sum,
           Labels{{"site", wait.site}, {"side", side_name(wait.side)}, {"strategy", strategy_name(wait.strategy)}});
  }
}

/// Of the last decision of each side that has an interval.
void by_side(const MetricFacts& facts, const auto& sample) {
  for (const auto& [side, row] : facts.autopilot.measured) sample(side_name(side), row);
}

using Facts = MetricFacts;
using Samples = MetricSamples;
using Type = MetricType;

// Labels name no arguments and no environment, and have few values.
constexpr std::array kMetrics{
    Metric{Type::info, "wicprof.session", "", "The recording.",
           [](const Facts& facts, Samples& samples) {
             count(samples, 1, {{"session", facts.session}, {"app", facts.app}, {"version", WICPROF_VERSION}});
           }},
    Metric{Type::counter, "wicprof.waits", "{wait}",
           "Waits that have ended, by site, side and the strategy at their end.",
           [](const Facts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) { count(samples, sum.waits, labels); });
           }},
    Metric{Type::counter, "wicprof.wait.time", "s",
           "How long these waits took, summed over the groups of warps and the host threads that waited.",
           [](const Facts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) { time(samples, sum.waiting_ns, labels); });
           }},
    Metric{Type::counter, "wicprof.wait.cpu.time", "s", "Time on a CPU during waits of host threads.",
           [](const Facts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) {
               if (sum.cpu_ns) time(samples, *sum.cpu_ns, labels);
             });
           }},
    Metric{Type::counter, "wicprof.wakes", "{wait}",
           "Waits at wait sites whose signal was seen, by site, side and the strategy at their end.",
           [](const Facts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) {
               if (sum.wakes > 0) count(samples, sum.wakes, labels);
             });
           }},
    Metric{Type::counter, "wicprof.wake.time", "s",
           "Wake latency of these waits: from the signal, or from the arrival if that came later, until they went on.",
           [](const Facts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) {
               if (sum.wakes > 0) time(samples, sum.wake_ns, labels);
             });
           }},
    Metric{Type::counter, "wicprof.rank.late.time", "s",
           "How long the other ranks of an MPI job waited for this one at collectives, summed over them.",
           [](const Facts& facts, Samples& samples) {
             for (const store::RankSum& sum : facts.ranks) time(samples, sum.late_ns, {{"rank", sum.rank}});
           }},
    Metric{Type::counter, "wicprof.rank.late.arrivals", "{arrival}",
           "Collectives to which this rank came last, and others waited.",
           [](const Facts& facts, Samples& samples) {
             for (const store::RankSum& sum : facts.ranks) count(samples, sum.late_arrivals, {{"rank", sum.rank}});
           }},
    Metric{Type::counter, "wicprof.rank.wait.time", "s",
           "How long this rank waited at collectives for the last one to come.",
           [](const Facts& facts, Samples& samples) {
             for (const store::RankSum& sum : facts.ranks) time(samples, sum.waited_ns, {{"rank", sum.rank}});
           }},
    Metric{Type::gauge, "wicprof.parked", "", "1 while waits are wanted to park, 0 while they poll, by side.",
           [](const Facts& facts, Samples& samples) {
             count(samples, facts.device_mode == Mode::park, {{"side", "device"}});
             count(samples, facts.host_mode == Mode::park, {{"side", "host"}});
           }},
    Metric{Type::counter, "wicprof.interventions", "{intervention}",
           "Changes of how the program waits that took effect, by new mode.",
           [](const Facts& facts, Samples& samples) {
             for (const Mode mode : {Mode::poll, Mode::park})
               count(samples, facts.changes[static_cast<std::size_t>(mode)], {{"mode", mode_name(mode)}});
           }},
    Metric{Type::gauge, "wicprof.autopilot.on", "", "1 while the autopilot decides how the program waits.",
           [](const Facts& facts, Samples& samples) {
             if (facts.autopilot.begun) count(samples, facts.autopilot.running);
           }},
    Metric{Type::counter, "wicprof.autopilot.decisions", "{decision}",
           "What the autopilot decided, by side and decision.",
           [](const Facts& facts, Samples& samples) {
             for (const auto& [key, decisions] : facts.autopilot.decisions)
               count(samples, decisions, {{"side", side_name(key.first)}, {"decision", decision_name(key.second)}});
           }},
    Metric{Type::gauge, "wicprof.autopilot.ratio", "",
           "The last time per unit of work while polling over that while parked, and the ends of its interval.",
           [](const Facts& facts, Samples& samples) {
             by_side(facts, [&](std::string_view side, const store::DecisionRow& row) {
               for (const auto& [bound, ppm] : {std::pair("value", row.ratio_ppm), std::pair("low", row.low_ppm),
                                                std::pair("high", row.high_ppm)}) {
                 if (ppm)
                   samples.push_back({static_cast<std::uint64_t>(*ppm), 1'000'000, {{"side", side}, {"bound", bound}}});
               }
             });
           }},
    Metric{Type::gauge, "wicprof.autopilot.blocks", "{block}", "Pairs of phases that this ratio is from.",
           [](const Facts& facts, Samples& samples) {
             by_side(facts, [&](std::string_view side, const store::DecisionRow& row) {
               count(samples, row.blocks, {{"side", side}});
             });
           }},
    Metric{Type::gauge, "wicprof.autopilot.unit.time", "s",
           "Time of a unit of work in that measurement, typical and at the 99th percentile, by mode.",
           [](const Facts& facts, Samples& samples) {
             by_side(facts, [&](std::string_view side, const store::DecisionRow& row) {
               const auto add = [&](Mode mode, std::string_view of, const std::optional<TimeNs>& unit) {
                 if (unit)
                   time(samples, static_cast<std::uint64_t>(*unit),
                        {{"side", side}, {"mode", mode_name(mode)}, {"of", of}});
               };
               add(Mode::poll, "typical", row.poll);
               add(Mode::park, "typical", row.park);
               add(Mode::poll, "p99", row.poll_p99);
               add(Mode::park, "p99", row.park_p99);
             });
           }},
    Metric{Type::counter, "wicprof.cpu.throttled.time", "s",
           "Time for which CPU quotas of the program's control groups stopped its threads, summed over the CPUs.",
           [](const Facts& facts, Samples& samples) {
             if (facts.throttled_ns) time(samples, *facts.throttled_ns);
           }},
    Metric{Type::counter, "wicprof.cpu.throttled.periods", "{period}", "Periods in which such a quota was used up.",
           [](const Facts& facts, Samples& samples) {
             if (facts.throttled_periods) count(samples, *facts.throttled_periods);
           }},
    Metric{Type::counter, "wicprof.events", "{event}", "Events written to the trace.",
           [](const Facts& facts, Samples& samples) { count(samples, facts.progress.events); }},
    Metric{Type::counter, "wicprof.lost_events", "{event}", "Events lost on the way to the trace, by what lost them.",
           [](const Facts& facts, Samples& samples) {
             for (const auto& [stat, lost] : facts.losses)
               count(samples, lost, {{"reason", store::stat_info(stat).name}});
           }},
    Metric{Type::gauge, "wicprof.recording", "", "1 while the trace grows, 0 once writing has stopped.",
           [](const Facts& facts, Samples& samples) { count(samples, facts.progress.stopped.empty()); }},
    Metric{Type::gauge, "wicprof.trace.size", "By", "Size of the trace, or of its latest segment.",
           [](const Facts& facts, Samples& samples) { count(samples, facts.trace_bytes); }},
    Metric{Type::counter, "wicprof.own.cpu.time", "s",
           "CPU time of wic-prof: of wic-prof run (recorder), and of its threads in the program (collector).",
           [](const Facts& facts, Samples& samples) {
             time(samples, static_cast<std::uint64_t>(facts.recorder_cpu), {{"part", "recorder"}});
             if (facts.collector_cpu_ns) time(samples, *facts.collector_cpu_ns, {{"part", "collector"}});
           }},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

}  // namespace wicprof::cli
