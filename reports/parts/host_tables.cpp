#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ranks/digest_totals.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports {
namespace {

std::string stream_name(const TraceModel& model, const StreamKey& stream) {
  const bool several = model.program_processes() > 1 && stream.process != 0;
  return "stream " + std::to_string(stream.stream) + (several ? " of " + std::to_string(stream.process) : "");
}

template <class Number>
Cell number_or_dash(const std::optional<Number>& number) {
  return cell::known(number, [](Number known) { return std::to_string(known); });
}

}  // namespace

Table host_waits_table(const Analysis& analysis, std::size_t most) {
  using Row = HostWaitStats;
  return table_of<Row>("call", host_calls(analysis), most,
                       {{"host wait", 'l', [](const Row& c) { return cell::name(name_at(c.name, c.place)); }},
                        {"calls", 'r', [](const Row& c) { return cell::count(c.count); }},
                        {"total", 'r', [](const Row& c) { return cell::duration(c.total_ns); }},
                        {"p50", 'r', [](const Row& c) { return cell::duration(c.p50_ns); }},
                        {"max", 'r', [](const Row& c) { return cell::duration(c.max_ns); }},
                        {"CPU time", 'r', [](const Row& c) { return cell::duration(c.cpu_ns); }},
                        {"how", 'l', [](const Row& c) { return c.cpu_ns ? waiting_way_name(c.way()) : "-"; }}});
}

Table lateness_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = LateSum;
  const auto place = [&](const Row& sum) {
    return sum.site == 0 ? Cell("-") : cell::name(name_at(model.site_name(sum.site), model.site_place(sum.site)));
  };
  return table_of<Row>("cause", analysis.lateness.by_site, most,
                       {{"host wait", 'w', place},
                        {"late because", 'l', [](const Row& s) { return late_cause_words(s.cause); }},
                        {"delays", 'r', [](const Row& s) { return cell::count(s.count); }},
                        {"late", 'r', [](const Row& s) { return cell::duration(s.late_ns); }},
                        {"error", 'r', [](const Row& s) { return "+-" + format_duration(s.error_ns); }},
                        {"GPU idle", 'r', [](const Row& s) { return cell::duration(s.idle_ns); }}});
}

Table threads_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = ThreadStats;
  std::vector<Row> threads = analysis.threads;
  std::erase_if(threads, [](const Row& thread) { return thread.own; });
  const std::optional<Interval> run = recorded_run(model);
  const TimeNs length = run ? run->end - run->begin : analysis.own_cost.over_ns;
  const ThreadNames names(model);
  const auto of_the_run = [&](const Row& t) {
    return length > 0 ? cell::percent(static_cast<double>(t.cpu_ns) / static_cast<double>(length)) : Cell("-");
  };
  return table_of<Row>("thread", threads, most,
                       {{"host thread", 'l', [&](const Row& t) { return names.of(t.process, t.thread); }},
                        {"on a CPU", 'r', [](const Row& t) { return cell::duration(t.cpu_ns); }},
                        {"of the run", 'r', of_the_run},
                        {"without a CPU", 'r', [](const Row& t) { return cell::duration(t.run_delay_ns); }}});
}

Table processes_table(const TraceModel& model, std::size_t most) {
  using Row = store::ProcessRow;
  std::vector<Row> processes = model.processes;
  std::erase_if(processes, is_own);
  return table_of<Row>("process", processes, most,
                       {{"process", 'r', [](const Row& p) { return std::to_string(p.id); }},
                        {"rank", 'r', [](const Row& p) { return number_or_dash(p.rank); }},
                        {"local rank", 'r', [](const Row& p) { return number_or_dash(p.local_rank); }},
                        {"command", 'l', [](const Row& p) { return p.command.empty() ? p.name : p.command; }}});
}

Head rank_head(const MpiWaits& mpi) { return only_nccl(mpi) ? Head("rank") : Head("MPI rank"); }

Table mpi_calls_table(const Analysis& analysis, std::size_t most) {
  using Row = MpiOperationStats;
  return table_of<Row>("call", analysis.mpi.operations, most,
                       {{only_nccl(analysis.mpi) ? Head("NCCL call") : Head("MPI call"), 'l',
                         [](const Row& o) { return cell::name(std::string(mpi_operation_name(o.operation))); }},
                        {"calls", 'r', [](const Row& o) { return cell::count(o.calls); }},
                        {"total", 'r', [](const Row& o) { return cell::duration(o.total_ns); }},
                        {"for late ranks", 'r', [](const Row& o) { return cell::duration(o.waited_ns); }},
                        {"max", 'r', [](const Row& o) { return cell::duration(o.max_ns); }}});
}

Table mpi_ranks_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = RankCost;
  const auto most_in = [](const Row& r) {
    return r.cost_ns == 0 ? Cell("-") : cell::name(std::string(mpi_operation_name(r.operation)));
  };
  std::vector<Field<Row>> fields{{rank_head(analysis.mpi), 'r', [](const Row& r) { return std::to_string(r.rank); }},
                                 {"cost the others", 'r', [](const Row& r) { return cell::duration(r.cost_ns); }},
                                 {"max", 'r', [](const Row& r) { return cell::duration(r.largest_ns); }},
                                 {"times last", 'r', [](const Row& r) { return cell::count(r.collectives); }},
                                 {"waited itself", 'r', [](const Row& r) { return cell::duration(r.waited_ns); }},
                                 {"most in", 'l', most_in}};
  if (!model.joined.empty()) {
    fields.push_back({"in trace", 'l',
                      [&](const Row& r) { return cell::name(model.joined[model.joined_trace.at(r.process)].name); }});
  }
  return table_of<Row>("rank", analysis.mpi.ranks, most, fields);
}

Table digest_totals_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = analyzer::DigestTotal;
  std::map<store::ProcessId, std::int32_t> rank_of;
  for (const RankCost& cost : analysis.mpi.ranks) rank_of[cost.process] = cost.rank;
  const auto what = [](const Row& t) {
    const std::string_view kind = analyzer::sum_of_name(t.of);
    return t.name.empty() ? Cell(kind) : cell::name(fmt::format("{} {}", kind, function_name(one_line(t.name))));
  };
  const auto rank = [&](const Row& t) {
    const auto known = rank_of.find(t.most);
    return known == rank_of.end() ? Cell("-") : Cell(std::to_string(known->second));
  };
  return table_of<Row>("sum", analyzer::digest_totals(model), most,
                       {{"summed up", 'w', what},
                        {"times", 'r', [](const Row& t) { return cell::count(t.rows); }},
                        {"total", 'r', [](const Row& t) { return cell::duration(t.total_ns); }},
                        {"rank p50", 'r', [](const Row& t) { return cell::duration(t.p50_ns); }},
                        {"rank max", 'r', [](const Row& t) { return cell::duration(t.max_ns); }},
                        {"at rank", 'r', rank}});
}

Table polling_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = HostPolling;
  const ThreadNames names(model);
  return table_of<Row>("thread", analysis.host_polling, most,
                       {{"host polling", 'l', [](const Row& p) { return cell::name(p.call); }},
                        {"thread", 'l', [&](const Row& p) { return names.of(p.process, p.thread); }},
                        {"runs", 'r', [](const Row& p) { return cell::count(p.runs); }},
                        {"queries", 'r', [](const Row& p) { return cell::count(p.queries); }},
                        {"time", 'r', [](const Row& p) { return cell::duration(p.total_ns); }},
                        {"queries/s", 'r', [](const Row& p) { return cell::number(p.queries_per_second); }},
                        {"CPU time", 'r', [](const Row& p) { return cell::duration(p.cpu_ns); }}});
}

Table stream_waits_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = StreamWaits;
  const auto timed = [](const Row& w, TimeNs ns) { return w.timed > 0 ? cell::duration(ns) : Cell("-"); };
  return table_of<Row>(
      "pair", analysis.stream_waits.rows, most,
      {{"waiting stream", 'l', [&](const Row& w) { return stream_name(model, w.waiter); }},
       {"for", 'l', [&](const Row& w) { return stream_name(model, w.signaller); }},
       {"behind", 'l', [](const Row& w) { return w.behind.empty() ? "-" : function_name(one_line(w.behind)); }},
       {"waits", 'r', [](const Row& w) { return cell::count(w.count); }},
       {"idle", 'r', [&](const Row& w) { return timed(w, w.idle_ns); }},
       {"max", 'r', [&](const Row& w) { return timed(w, w.idle_max_ns); }}});
}

}  // namespace wicprof::reports
