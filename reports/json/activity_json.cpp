#include "reports/json/activity_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/digest_totals.h"
#include "analyzer/ranks/join.h"
#include "analyzer/ranks/rank_times.h"
#include "analyzer/waits/turn_sums.h"
#include "reports/json/pairs_json.h"

namespace wicprof::reports {
namespace {

Json process_or_null(store::ProcessId process) { return process == 0 ? Json(nullptr) : Json(process); }

Json processes_value(const TraceModel& model) {
  Json list = Json::array();
  for (const store::ProcessRow& process : model.processes) {
    list.push_back({{"pid", process.id},
                    {"parent", process.parent},
                    {"name", process.name},
                    {"command", process.command},
                    {"rank", or_null(process.rank)},
                    {"ranks", or_null(process.ranks)},
                    {"local_rank", or_null(process.local_rank)},
                    {"job", process.job.empty() ? Json(nullptr) : Json(process.job)},
                    {"seen_ns", process.seen},
                    {"own", is_own(process)}});
  }
  return list;
}

Json kernel_value(const KernelStats& kernel) {
  Json value = {
      {"name", kernel.name},
      {"count", kernel.count},
      {"total_ns", kernel.total_ns},
      {"p50_ns", kernel.p50_ns},
      {"p99_ns", kernel.p99_ns},
      {"max_ns", kernel.max_ns},
      {"share", kernel.share},
      {"shapes", kernel.shapes},
      {"blocks", kernel.blocks},
      {"threads_per_block", kernel.threads_per_block},
      {"registers_per_thread", kernel.registers_per_thread},
      {"shared_bytes_per_block", kernel.shared_bytes_per_block},
      {"blocks_per_cluster", kernel.blocks_per_cluster == 0 ? Json(nullptr) : Json(kernel.blocks_per_cluster)},
      {"occupancy", nullptr},
      {"waves", nullptr},
      {"last_wave_fill", nullptr}};
  if (kernel.occupancy) {
    const Occupancy& o = *kernel.occupancy;
    value["occupancy"] = {{"value", o.occupancy},
                          {"blocks_per_sm", o.blocks_per_sm},
                          {"limit", occupancy_limit_name(o.limit)},
                          {"by_threads", o.by_threads},
                          {"by_blocks", o.by_blocks},
                          {"by_registers", or_null(o.by_registers)},
                          {"by_shared_memory", or_null(o.by_shared_memory)}};
  }
  if (kernel.waves) {
    value["waves"] = kernel.waves->waves;
    value["last_wave_fill"] = kernel.waves->last_wave_fill;
  }
  return value;
}

Json parts_value(const HostWaitParts& parts) {
  return {{"waits", parts.waits},
          {"waiting_ns", parts.waiting_ns},
          {"queued_ns", parts.queued_ns},
          {"launching_ns", parts.launching_ns},
          {"running_ns", parts.running_ns},
          {"completing_ns", parts.completing_ns},
          {"without_cpu_ns", or_null(parts.without_cpu_ns)}};
}

Json host_wait_value(const HostWaitStats& stats, const std::vector<HostWaitParts>& all_parts) {
  const auto parts = std::find_if(all_parts.begin(), all_parts.end(), [&](const HostWaitParts& one) {
    return one.site == stats.site && one.name == stats.name;
  });
  return {{"call", stats.call.empty() ? Json(nullptr) : Json(stats.call)},
          {"site", stats.site == 0 ? Json(nullptr) : Json(stats.name)},
          {"place", stats.place.empty() ? Json(nullptr) : Json(stats.place)},
          {"count", stats.count},
          {"total_ns", stats.total_ns},
          {"p50_ns", stats.p50_ns},
          {"p99_ns", stats.p99_ns},
          {"max_ns", stats.max_ns},
          {"cpu_ns", or_null(stats.cpu_ns)},
          {"way", waiting_way_name(stats.way())},
          {"run_delay_ns", or_null(stats.run_delay_ns)},
          {"involuntary_switches", or_null(stats.involuntary_switches)},
          {"parts", parts == all_parts.end() ? Json(nullptr) : parts_value(*parts)}};
}

Json polling_value(const HostPolling& polling) {
  return {{"process", process_or_null(polling.process)},
          {"thread", polling.thread},
          {"call", polling.call},
          {"runs", polling.runs},
          {"queries", polling.queries},
          {"not_ready", polling.not_ready},
          {"total_ns", polling.total_ns},
          {"longest_ns", polling.longest_ns},
          {"queries_per_second", polling.queries_per_second},
          {"cpu_ns", or_null(polling.cpu_ns)}};
}

Json interrupted_kernels_value(const TraceModel& model, const InterruptedKernels& found) {
  return {{"process", process_or_null(found.process)},
          {"context", found.context},
          {"device", model.device_key(found.device)},
          {"launches", found.kernels},
          {"late_starts", found.late_starts},
          {"turn_ns", found.turn_ns},
          {"lost_ns", found.lost_ns},
          {"shapes", found.kinds},
          {"shortest_ns", found.shortest_ns},
          {"longest_ns", found.longest_ns},
          {"others", found.others},
          {"sure", found.sure}};
}

Json stream_value(const StreamKey& stream) {
  return {{"process", process_or_null(stream.process)}, {"context", stream.context}, {"stream", stream.stream}};
}

Json stream_waits_value(const TraceModel& model, const StreamWaitTable& table) {
  Json list = Json::array();
  for (const StreamWaits& waits : table.rows) {
    list.push_back({{"waiter", stream_value(waits.waiter)},
                    {"signaller", stream_value(waits.signaller)},
                    {"device", model.device_key(waits.device)},
                    {"behind", waits.behind.empty() ? Json(nullptr) : Json(waits.behind)},
                    {"count", waits.count},
                    {"timed", waits.timed},
                    {"idle_ns", waits.idle_ns},
                    {"idle_p50_ns", waits.idle_p50_ns},
                    {"idle_max_ns", waits.idle_max_ns}});
  }
  return list;
}

Json clock_value(const TraceModel& model, const ClockBounds& bounds) {
  const store::DeviceRow* device = model.device(bounds.device);
  Json value = {{"device", model.device_key(bounds.device)},
                {"low_ns", or_null(bounds.low)},
                {"high_ns", or_null(bounds.high)},
                {"proven_error_ns", bounds.proven_error},
                {"proven_drift_ns", bounds.proven_drift},
                {"clock_error_ns", device != nullptr ? or_null(device->clock_error_ns) : Json(nullptr)}};
  value["windows"] = Json::array();
  for (const ClockWindow& window : bounds.windows) {
    value["windows"].push_back({{"begin_ns", window.begin},
                                {"end_ns", window.end},
                                {"low_ns", or_null(window.low)},
                                {"high_ns", or_null(window.high)},
                                {"lows", window.lows},
                                {"highs", window.highs},
                                {"contradictory", window.contradictory()}});
  }
  return value;
}

Json thread_value(const ThreadStats& thread) {
  return {{"process", process_or_null(thread.process)},
          {"thread", thread.thread},
          {"name", thread.name},
          {"own", thread.own},
          {"sampled_ns", thread.sampled_ns},
          {"cpu_ns", thread.cpu_ns},
          {"run_delay_ns", or_null(thread.run_delay_ns)},
          {"voluntary_switches", thread.voluntary_switches},
          {"involuntary_switches", thread.involuntary_switches}};
}

Json own_cost_value(const OwnCost& cost) {
  Json value = {{"cpu_ns", nullptr},       {"in_program_ns", nullptr}, {"in_tool_ns", nullptr},
                {"threads", cost.threads}, {"over_ns", nullptr},       {"share", nullptr}};
  if (cost.sampled) {
    value["cpu_ns"] = cost.cpu_ns();
    value["in_program_ns"] = cost.in_program_ns;
    value["in_tool_ns"] = cost.in_tool_ns;
    value["over_ns"] = cost.over_ns;
    value["share"] = cost.share;
  }
  value["overheads"] = Json::array();
  for (const OverheadStats& overhead : cost.overheads) {
    value["overheads"].push_back({{"what", overhead.what}, {"count", overhead.count}, {"total_ns", overhead.total_ns}});
  }
  return value;
}

template <class Rows, class ToJson>
Json array_of(const Rows& rows, ToJson&& to_json) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return list;
}

Json graph_value(const GraphStats& graph) {
  return {{"name", graph.name},
          {"launches", graph.launches},
          {"kernels_per_launch", graph.launches == 0 ? Json(nullptr) : Json(graph.kernels_per_launch)},
          {"parts", array_of(graph.parts, [](const GraphPart& part) {
             return Json{{"name", part.name}, {"share", part.share}};
           })}};
}

/// Delays in the document, the latest ones: enough for minutes of a program that is late now and then.
constexpr std::size_t kMostDelays = 1'000;

Json late_sum_value(const LateSum& sum) {
  return {{"cause", late_cause_name(sum.cause)},
          {"count", sum.count},
          {"sure", sum.sure},
          {"late_ns", sum.late_ns},
          {"error_ns", sum.error_ns},
          {"idle_ns", sum.idle_ns}};
}

Json site_or_null(const TraceModel& model, SiteId site) {
  return site == 0 ? Json(nullptr) : Json(model.site_name(site));
}

Json lateness_value(const TraceModel& model, const Analysis& analysis) {
  const Lateness& lateness = analysis.lateness;
  Json value = {{"steps", lateness.steps}, {"causes", array_of(lateness.sums, late_sum_value)}};
  value["by_site"] = array_of(lateness.by_site, [&](const LateSum& sum) {
    Json one = late_sum_value(sum);
    one["site"] = site_or_null(model, sum.site);
    return one;
  });
  value["delays"] = Json::array();
  const std::size_t count = lateness.delays.size();
  for (std::size_t i = count - std::min(count, kMostDelays); i < count; ++i) {
    const Delay& delay = lateness.delays[i];
    value["delays"].push_back({{"cause", late_cause_name(delay.cause)},
                               {"sure", delay.sure},
                               {"begin_ns", delay.begin},
                               {"end_ns", delay.end},
                               {"late_ns", delay.late_ns},
                               {"error_ns", delay.error_ns},
                               {"idle_ns", delay.idle_ns},
                               {"thread", delay.thread},
                               {"site", site_or_null(model, delay.site)}});
  }
  const std::optional<Gain>& gain = analysis.host_park_gain;
  value["park_host"] = gain ? Json{{"value", gain->value}, {"low", gain->low}, {"high", gain->high}} : Json(nullptr);
  return value;
}

std::string hexadecimal(CommunicatorId communicator) { return fmt::format("{:016x}", communicator); }

Json rank_times_value(const analyzer::RankTimes& times) {
  const bool none = times.column == 0;
  return {
      {"begin_ns", none ? Json(nullptr) : Json(times.begin)},
      {"column_ns", none ? Json(nullptr) : Json(times.column)},
      {"ranks", array_of(times.ranks, [](const analyzer::RankTimesRow& row) -> Json {
         return {
             {"rank", row.rank}, {"pid", row.process}, {"waited_ns", row.waited}, {"waited_for_ns", row.waited_for}};
       })}};
}

/// What the process did between its calls of MPI.
Json outside_value(const MpiWaits& mpi, store::ProcessId process) {
  for (const analyzer::RankWork& each : mpi.work) {
    if (each.process != process || !each.known) continue;
    return {{"total_ns", each.cpu + each.run_delay + each.slept},
            {"cpu_ns", each.cpu},
            {"run_delay_ns", each.run_delay},
            {"slept_ns", each.slept}};
  }
  return nullptr;
}

/// What the rank's devices did beside kernels of NCCL.
Json beside_nccl_value(const MpiWaits& mpi, store::ProcessId process) {
  for (const analyzer::RankWork& each : mpi.work) {
    if (each.process != process || !each.on_device) continue;
    return {
        {"total_ns", each.outside}, {"kernels_ns", each.kernels}, {"copies_ns", each.copies}, {"idle_ns", each.idle}};
  }
  return nullptr;
}

Json slower_value(const analyzer::LateRankCause& why) {
  if (!why.slower) return nullptr;
  return {{"times", why.slower->times},
          {"longer_ns", why.slower->longer_ns},
          {"kinds", why.slower->kinds},
          {"most", why.slower->most},
          {"most_times", why.slower->most_times},
          {"sm_clock_share", why.devices ? Json(why.devices->clock_share()) : Json(nullptr)}};
}

Json late_place_value(const analyzer::LateRankCause& why) {
  if (!why.place) return nullptr;
  return {{"kind", analyzer::place_kind_name(why.place->place.kind)},
          {"name", why.place->place.name},
          {"longer_ns", why.place->longer_ns},
          {"confidence", why.place->confidence}};
}

Json efficiency_value(const std::optional<analyzer::RankEfficiency>& of) {
  if (!of) return nullptr;
  return {{"parallel", of->parallel},           {"load_balance", of->load_balance},
          {"communication", of->communication}, {"serialisation", of->serialisation},
          {"transfer", of->transfer},           {"run_ns", of->run_ns}};
}

Json mpi_value(const TraceModel& model, const MpiWaits& mpi) {
  std::map<store::ProcessId, std::int32_t> rank_of;
  for (const RankCost& cost : mpi.ranks) rank_of[cost.process] = cost.rank;
  const auto rank = [&](store::ProcessId process) { return rank_of.at(process); };
  Json value = {{"calls", analyzer::count_mpi_calls(model)},
                {"messages", mpi.messages},
                {"unmatched", mpi.unmatched},
                {"collectives", mpi.collectives.size()},
                {"incomplete", mpi.incomplete},
                {"without_kernel", mpi.without_kernel}};
  value["operations"] = array_of(mpi.operations, [](const MpiOperationStats& of) -> Json {
    return {{"operation", mpi_operation_name(of.operation)},
            {"calls", of.calls},
            {"total_ns", of.total_ns},
            {"waited_ns", of.waited_ns},
            {"max_ns", of.max_ns}};
  });
  value["ranks"] = array_of(mpi.ranks, [&](const RankCost& cost) -> Json {
    return {{"rank", cost.rank},
            {"pid", cost.process},
            {"cost_ns", cost.cost_ns},
            {"max_ns", cost.largest_ns},
            {"times", cost.times},
            {"times_last", cost.collectives},
            {"waited_ns", cost.waited_ns},
            {"outside_mpi", outside_value(mpi, cost.process)},
            {"beside_nccl", beside_nccl_value(mpi, cost.process)},
            {"most_in", cost.cost_ns == 0 ? Json(nullptr) : Json(mpi_operation_name(cost.operation))}};
  });
  value["late_cause"] =
      mpi.why.cause == analyzer::RankCause::unknown
          ? Json(nullptr)
          : Json{{"rank", mpi.ranks.front().rank},     {"cause", analyzer::words_of(mpi.why.cause).name},
                 {"confidence", mpi.why.confidence},   {"longer_ns", mpi.why.longer_ns},
                 {"of_cause_ns", mpi.why.of_cause_ns}, {"place", late_place_value(mpi.why)},
                 {"slower", slower_value(mpi.why)}};
  value["efficiency"] = efficiency_value(mpi.efficiency);
  value["rank_times"] = rank_times_value(analyzer::rank_times(model, mpi));
  value["missing_ranks"] = analyzer::missing_ranks(model);
  value["traces"] = array_of(model.joined, [](const analyzer::JoinedTrace& trace) -> Json {
    return {{"trace", trace.name},
            {"host", trace.host},
            {"clock", trace.clock},
            {"shift_ns", trace.shift},
            {"error_ns", trace.error},
            {"aligned_by", trace.clock == 0 ? Json(nullptr) : Json(trace.aligned_by_mpi ? "mpi" : "time of day")}};
  });
  value["late_collectives"] = Json::array();
  for (const MpiCollective& each : mpi.collectives) {
    if (value["late_collectives"].size() >= kMostDelays || each.waited_ns < kShortestMpiWait) break;
    value["late_collectives"].push_back({{"operation", mpi_operation_name(each.operation)},
                                         {"communicator", hexadecimal(each.communicator)},
                                         {"sequence", each.sequence},
                                         {"last_rank", rank(each.last)},
                                         {"late_ns", each.late_ns},
                                         {"waited_ns", each.waited_ns}});
  }
  std::vector<const MpiWait*> waits;
  for (const MpiWait& wait : mpi.waits) waits.push_back(&wait);
  std::stable_sort(waits.begin(), waits.end(),
                   [](const MpiWait* a, const MpiWait* b) { return a->length() > b->length(); });
  if (waits.size() > kMostDelays) waits.resize(kMostDelays);
  value["longest_waits"] = array_of(waits, [&](const MpiWait* wait) -> Json {
    return {{"kind", mpi_wait_kind_name(wait->kind)},
            {"operation", mpi_operation_name(wait->operation)},
            {"communicator", hexadecimal(wait->communicator)},
            {"sequence", wait->sequence},
            {"begin_ns", wait->begin},
            {"end_ns", wait->end},
            {"rank", rank(wait->waiter)},
            {"late_rank", rank(wait->late)}};
  });
  return value;
}

Json digest_value(const TraceModel& model, const MpiWaits& mpi, const std::vector<std::string_view>& missing) {
  std::map<store::ProcessId, std::int32_t> rank_of;
  for (const RankCost& cost : mpi.ranks) rank_of[cost.process] = cost.rank;
  const auto digests =
      std::count_if(model.joined.begin(), model.joined.end(), [](const auto& each) { return each.digest; });
  const auto rank = [&](store::ProcessId process) {
    const auto known = rank_of.find(process);
    return known == rank_of.end() ? Json(nullptr) : Json(known->second);
  };
  return {{"digests", model.joined.empty() ? 1 : digests},
          {"mpi_calls", analyzer::count_mpi_calls(model)},
          {"kept_mpi_calls", model.mpi_calls.size()},
          {"not_in_digest", missing},
          {"sums", array_of(analyzer::digest_totals(model), [&](const analyzer::DigestTotal& total) -> Json {
             return {{"of", analyzer::sum_of_name(total.of)},
                     {"name", total.name.empty() ? Json(nullptr) : Json(total.name)},
                     {"count", total.rows},
                     {"total_ns", total.total_ns},
                     {"rank_p50_ns", total.p50_ns},
                     {"rank_max_ns", total.max_ns},
                     {"max_rank", rank(total.most)}};
           })}};
}

Json counted_waits_value(const CountedWaits& counted) {
  return {{"site", counted.name},
          {"at_least", counted.at_least},
          {"counted", or_null(counted.counted)},
          {"standard_error", or_null(counted.standard_error)},
          {"longer", counted.longer},
          {"recorded", counted.recorded},
          {"sampled", counted.sampled},
          {"one_in", counted.one_in},
          {"estimated_rounds", or_null(counted.rounds)},
          {"estimated_mean_ns", or_null(counted.mean_ns)},
          {"estimated_ns", or_null(counted.time_ns)}};
}

Json site_energy_value(const SiteEnergy& site) {
  return {{"site", site.site.empty() ? Json(nullptr) : Json(site.site)},
          {"waiters", site.waiters},
          {"watts", site.polling.watts.value},
          {"watts_low", site.polling.watts.low},
          {"watts_high", site.polling.watts.high},
          {"joules_per_iteration", estimate_value(site.polling.joules_per_iteration)},
          {"below_resolution", !site.is_resolved()},
          {"joules", site.is_resolved() ? Json(site.joules) : Json(nullptr)}};
}

Json energy_value(const EnergyUse& use) {
  const auto watts = [&](double (EnergyUse::*of)() const) { return use.ratio ? Json((use.*of)()) : Json(nullptr); };
  return {{"meter", use.meter},
          {"time_ns", use.time},
          {"joules", use.joules},
          {"watts", use.watts()},
          {"poll_watts", or_null(use.poll_watts)},
          {"park_watts", or_null(use.park_watts)},
          {"poll_segments", use.poll_segments},
          {"park_segments", use.park_segments},
          {"poll_joules_per_iteration", or_null(use.poll_joules_per_iteration)},
          {"park_joules_per_iteration", or_null(use.park_joules_per_iteration)},
          {"polling_watts", watts(&EnergyUse::more_watts)},
          {"polling_watts_low", watts(&EnergyUse::least_watts)},
          {"polling_watts_high", watts(&EnergyUse::most_watts)},
          {"below_resolution", use.ratio ? Json(!use.is_resolved()) : Json(nullptr)},
          {"polling_joules", use.is_resolved() ? Json(use.polling_joules()) : Json(nullptr)},
          {"sites", array_of(use.sites, site_energy_value)}};
}

}  // namespace

void add_digest(const TraceModel& model, const Analysis& analysis, Json& value) {
  value["digest"] = nullptr;
  if (!model.is_digest()) return;
  static constexpr std::string_view kMissing[] = {
      "classification",  "sites",         "choices",      "pc_sampling",
      "stalls",          "polling_loops", "wait_model",   "interference",
      "overlap",         "critical_path", "prediction",   "kernels",
      "graphs",          "host_waits",    "lateness",     "dependent_kernels",
      "crowded_kernels", "host_polling",  "stream_waits", "stream_waits_without_event",
      "clocks",          "parties",       "decisions",    "counted_waits",
      "energy",          "mbarrier_waits"};
  std::vector<std::string_view> missing(std::begin(kMissing), std::end(kMissing));
  if (analyzer::lacks_turns(model)) missing.emplace_back("interrupted_kernels");
  for (const std::string_view key : missing) value[std::string(key)] = nullptr;
  value["digest"] = digest_value(model, analysis.mpi, missing);
}

void add_activity(const TraceModel& model, const Analysis& analysis, Json& value) {
  value["counted_waits"] = array_of(analysis.counted_waits, counted_waits_value);
  value["energy"] = array_of(analysis.energy, energy_value);
  value["processes"] = processes_value(model);
  value["kernels"] = array_of(analysis.kernels, kernel_value);
  value["graphs"] = array_of(analysis.graphs, graph_value);
  value["dependent_kernels"] = dependent_kernels_value(model, analysis.dependent_kernels);
  value["crowded_kernels"] = array_of(
      analysis.crowded_kernels, [&](const CrowdedKernel& crowded) { return crowded_kernel_value(model, crowded); });
  value["interrupted_kernels"] = array_of(analysis.interrupted_kernels, [&](const InterruptedKernels& found) {
    return interrupted_kernels_value(model, found);
  });
  value["host_waits"] = array_of(analysis.host_waits, [&](const HostWaitStats& stats) {
    return host_wait_value(stats, analysis.host_wait_parts);
  });
  value["lateness"] = lateness_value(model, analysis);
  value["mpi"] = mpi_value(model, analysis.mpi);
  value["host_polling"] = array_of(analysis.host_polling, polling_value);
  value["stream_waits"] = stream_waits_value(model, analysis.stream_waits);
  value["stream_waits_without_event"] = analysis.stream_waits.without_event;
  value["clocks"] = array_of(analysis.clocks, [&](const ClockBounds& bounds) { return clock_value(model, bounds); });
  value["threads"] = array_of(analysis.threads, thread_value);
  value["own_cost"] = own_cost_value(analysis.own_cost);
}

}  // namespace wicprof::reports
