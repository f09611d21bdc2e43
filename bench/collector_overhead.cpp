// The cost of recording a program: alternates between the bare program, a minimal CUPTI client
// (bench/collector/minimal_client.cpp) and `wic-prof run` in every round; reports medians over the rounds.
//
// tiny      10^5 empty launches, by one thread and by eight. Bars: what a launch takes longer than bare is at most
// 2,000 ns,
//           and at most 1.15 of what it takes longer under the minimal client.
// sampling  long kernels and c_h3d, at its own size and at 320^3, with pc sampling, against bare and against the same
// trace without it. Bars: 1.05. torch     a training loop that keeps the GPU busy (bar: 1.03 of bare) and one that the
// CPU limits (beside the minimal
//           client; no bar), by iterations; start-up is shown as well.
//
// The cost per launch uses the fastest round of each way. On a shared machine a process is in a slow or a fast state
// for its whole lifetime (a bare launch takes 3.1 or 4.0 us, a recorded launch 4.9 or 6.5 us), disturbances only add
// time, and medians of a few rounds would compare states rather than ways. The medians have separate rows. A recorded
// run uses the default of `wic-prof run`; rows name the recorded kinds in `trace`. Each table also states the number of
// lost records (bar: none). A table that this machine cannot run, and a claim that cannot be judged, have one row with
// the unit "could not look". So has a table with an incomplete trace or missing kernels, because such a trace is not a
// cheap recording.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/claim.h"
#include "bench/collector/run.h"
#include "protocol/trace_words.h"
#include "store/read/reader.h"
#include "store/sqlite/sqlite.h"

namespace {

using namespace wicprof::bench;

enum class Way { bare, minimal, recorded, sampled };
constexpr const char* kWayNames[] = {"bare", "minimal_client", "wic_prof", "wic_prof_sampling"};
std::string name_of(Way way) { return kWayNames[static_cast<int>(way)]; }

// The recorded kinds. The minimal client has the same CUPTI records, because `host` uses none.
std::string trace_of(Way way) {
  const std::string words(wicprof::kDefaultTrace);
  return way == Way::recorded ? words : way == Way::sampled ? words + ",pcsampling" : std::string();
}

// Why a table could not be measured; empty on success.
using Reason = std::string;

struct Figures {
  std::map<std::string, std::vector<double>> by_name;  // one value per round
  double lost = 0, events = 0, samples = 0;            // sums over all rounds

  double least(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? 0 : *std::min_element(found->second.begin(), found->second.end());
  }
  double middle(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? 0 : median(found->second);
  }
};

struct Program {
  std::string name;
  std::string command;
  int seconds = 60;                            // deadline
  std::vector<std::string> prints;             // figures that the program must print
  std::int64_t kernels = 1;                    // minimum number of launched kernels
  std::function<void(RunOutcome&)> read = {};  // extracts figures from other output
};

class Bench {
 public:
  Bench(Claim& claim, std::int64_t rounds) : claim_(claim), rounds_(rounds) {
    std::string name = (std::filesystem::temp_directory_path() / "wicprof-overhead-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~Bench() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Measures the program's figures per way; runs each way once per round.
  Reason measure(const Program& program, const std::vector<Way>& ways, std::map<Way, Figures>& all) {
    if (folder_.empty()) return "no folder for temporary files";
    for (std::int64_t round = 0; round < rounds_; ++round) {
      for (const Way way : ways) {
        RunOutcome outcome = run_for(program.seconds, command_of(program, way));
        if (program.read) program.read(outcome);
        std::fprintf(stderr, "%s, round %d, %s:", program.name.c_str(), static_cast<int>(round) + 1,
                     name_of(way).c_str());
        for (const auto& [name, value] : outcome.figures) std::fprintf(stderr, " %s %g", name.c_str(), value);
        std::fputs("\n", stderr);
        if (outcome.status != 0) return failure(program, way, outcome);
        if (way == Way::minimal && outcome.figures["minimal_client_bytes"] <= 0) {
          return "the minimal client recorded nothing of " + program.name;
        }
        for (const std::string& name : program.prints) {
          if (!outcome.figures.contains(name)) return program.name + " did not print " + name;
          all[way].by_name[name].push_back(outcome.figures[name]);
        }
        if (way != Way::bare && way != Way::minimal) {
          if (Reason reason = read_trace(program, all[way]); !reason.empty()) return reason;
        }
      }
    }
    return {};
  }

  void could_not_look(const std::string& name, const Reason& reason) {
    std::fprintf(stderr, "%s: could not look: %s\n", name.c_str(), reason.c_str());
    claim_.add({.name = name, .params = {{"reason", reason}}, .unit = "could not look"});
  }

  void value(const std::string& name, double value, const std::string& unit) {
    claim_.add({.name = name, .params = {{"rounds", rounds_}}, .value = value, .unit = unit});
  }

  /// Adds a row for the ratio value / to, measured in `way`, with an optional bar.
  void beside(const std::string& name, Way way, double value, const std::string& unit, double to,
              const std::string& what, std::optional<double> bar) {
    if (bar && to <= 0) return could_not_look(name, "nothing to compare with: " + what + " is " + std::to_string(to));
    ClaimRow row{.name = name, .params = {{"rounds", rounds_}}, .value = value, .unit = unit, .compared_to = what};
    if (const std::string trace = trace_of(way); !trace.empty()) row.params["trace"] = trace;
    row.params["of"] = to;
    if (to > 0) row.ratio = value / to;
    row.bar = bar;
    row.at_most = true;
    claim_.add(std::move(row));
  }

  void lost(const std::string& name, Way way, const Figures& figures) {
    claim_.add({.name = name,
                .params = {{"rounds", rounds_},
                           {"events", figures.events},
                           {"samples", figures.samples},
                           {"trace", trace_of(way)}},
                .value = figures.lost,
                .unit = "records lost",
                .compared_to = "1 record",
                .ratio = figures.lost,
                .bar = 0,
                .at_most = true});
  }

 private:
  std::string trace() const { return folder_ + "/run.wicprof"; }
  static std::string minimal_client() { return quoted(own_folder() + "../lib/libwicprof_minimal_client.so"); }

  std::string command_of(const Program& program, Way way) const {
    const std::string run = quoted(own_folder() + "wic-prof") + " run -q -f -o " + quoted(trace());
    switch (way) {
      case Way::minimal:
        return "env CUDA_INJECTION64_PATH=" + minimal_client() + " NVTX_INJECTION64_PATH=" + minimal_client() + " " +
               program.command;
      case Way::recorded:
      case Way::sampled:
        return run + " --trace " + trace_of(way) + " -- " + program.command;
      case Way::bare:
        break;
    }
    return "env -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH " + program.command;
  }

  static Reason failure(const Program& program, Way way, const RunOutcome& outcome) {
    std::string last = outcome.output.substr(0, outcome.output.find_last_not_of('\n') + 1);
    last = last.substr(last.rfind('\n') + 1);
    return program.name + " (" + name_of(way) + ") ended with status " + std::to_string(outcome.status) + ": " + last;
  }

  // Why the trace does not cover the whole program; empty if it does.
  Reason read_trace(const Program& program, Figures& figures) const {
    const auto reader = wicprof::store::Reader::open(trace());
    if (!reader) return reader.error().message;
    const auto meta = reader->meta();
    if (!meta) return meta.error().message;
    const auto state = meta->find("state");
    if (state == meta->end() || state->second != "complete") return "the trace of " + program.name + " is not complete";
    const auto stats = reader->stats();
    if (!stats) return stats.error().message;
    std::int64_t lost = 0;
    for (const wicprof::store::StatRow& stat : *stats) {
      if (stat.severity == wicprof::store::StatRow::Severity::error && stat.value > 0) {
        return "recording " + program.name + " failed: " + stat.name + " " + stat.detail;
      }
      if (stat.severity == wicprof::store::StatRow::Severity::data_loss) {
        lost += stat.value;
        figures.lost += static_cast<double>(stat.value);
        if (stat.value > 0) std::fprintf(stderr, "lost: %s (%s)\n", stat.name.c_str(), stat.detail.c_str());
      }
      if (stat.name == "events") figures.events += static_cast<double>(stat.value);
    }
    wicprof::store::Database database;
    if (database.open(trace(), wicprof::store::OpenMode::read_only) != 0) return "cannot read " + trace();
    // Lost records have a separate row with a bar.
    const std::int64_t kernels = database.integer("SELECT count(*) FROM kernel");
    if (kernels + lost < program.kernels) {
      return "the trace of " + program.name + " holds " + std::to_string(kernels) + " kernels of " +
             std::to_string(program.kernels);
    }
    figures.samples += static_cast<double>(database.integer("SELECT coalesce(sum(samples), 0) FROM pc_sample"));
    return {};
  }

  Claim& claim_;
  std::int64_t rounds_;
  std::string folder_;
};

void tiny(Bench& bench, std::int64_t launches) {
  for (const int threads : {1, 8}) {
    const std::string name = "tiny_" + std::to_string(threads) + (threads == 1 ? "_thread" : "_threads");
    const std::int64_t each = threads == 1 ? launches : launches / 8 + 1;
    const Program program{name,
                          quoted(own_folder() + "bench_tiny_launches") + " --launches " + std::to_string(each) +
                              " --threads " + std::to_string(threads),
                          30,
                          {"ns_per_launch"},
                          each * threads};
    std::map<Way, Figures> all;
    const Reason reason = bench.measure(program, {Way::bare, Way::minimal, Way::recorded}, all);
    if (!reason.empty()) {
      bench.could_not_look(name, reason);
      continue;
    }
    for (const auto& [way, figures] : all) {
      bench.value(name + "_" + name_of(way) + "_median", figures.middle("ns_per_launch"),
                  "ns a launch, the median of the rounds");
    }
    const double bare = all[Way::bare].least("ns_per_launch");
    const double minimal = all[Way::minimal].least("ns_per_launch");
    const double recorded = all[Way::recorded].least("ns_per_launch");
    bench.value(name + "_bare", bare, "ns a launch");
    bench.beside(name + "_minimal_client", Way::minimal, minimal, "ns a launch", bare, "bare", {});
    bench.beside(name + "_wic_prof", Way::recorded, recorded, "ns a launch", bare, "bare", {});
    // Only one thread has bars: the requirement names that case.
    const bool claimed = threads == 1;
    bench.beside(name + "_added", Way::recorded, recorded - bare, "ns a launch", 2000,
                 "2,000 ns; the value is wic-prof's less bare's", claimed ? std::optional(1.0) : std::nullopt);
    bench.beside(name + "_added_beside_minimal", Way::recorded, recorded - bare, "ns a launch", minimal - bare,
                 "the minimal client's less bare's; the value is wic-prof's less bare's",
                 claimed ? std::optional(1.15) : std::nullopt);
    bench.lost(name + "_lost", Way::recorded, all[Way::recorded]);
  }
}

// Reads "step p50 12.3 us" from the sample's output line.
void read_iteration(RunOutcome& outcome) {
  const std::string key = "step p50 ";
  const std::size_t at = outcome.output.find(key);
  if (at != std::string::npos) outcome.figures["us"] = std::strtod(outcome.output.c_str() + at + key.size(), nullptr);
}

void sampling(Bench& bench, std::int64_t launches) {
  const auto halo_exchange = [](const std::string& name, const std::string& more) {
    return Program{
        name, quoted(own_folder() + "c_h3d") + " --devices cuda:0 --seconds 1" + more, 30, {"us"}, 1, read_iteration};
  };
  const Program programs[] = {{"long_kernel",
                               quoted(own_folder() + "bench_long_kernel") + " --launches " + std::to_string(launches),
                               30,
                               {"ms"},
                               launches},
                              halo_exchange("c_h3d", ""),
                              halo_exchange("c_h3d_320", " --size 320")};
  for (const Program& program : programs) {
    std::map<Way, Figures> all;
    Reason reason = bench.measure(program, {Way::bare, Way::recorded, Way::sampled}, all);
    if (reason.empty() && all[Way::sampled].samples == 0) reason = "the trace holds no samples of program counters";
    if (!reason.empty()) {
      bench.could_not_look(program.name, reason);
      continue;
    }
    const std::string& figure = program.prints.front();
    const std::string unit = figure == "us" ? "us an iteration" : "ms";
    const double bare = all[Way::bare].middle(figure), recorded = all[Way::recorded].middle(figure),
                 sampled = all[Way::sampled].middle(figure);
    bench.value(program.name + "_bare", bare, unit);
    bench.beside(program.name + "_wic_prof", Way::recorded, recorded, unit, bare, "bare", {});
    bench.beside(program.name + "_sampling", Way::sampled, sampled, unit, bare, "bare", 1.05);
    bench.beside(program.name + "_sampling_beside_wic_prof", Way::sampled, sampled, unit, recorded,
                 "wic-prof without pc sampling", 1.05);
    bench.lost(program.name + "_sampling_lost", Way::sampled, all[Way::sampled]);
  }
}

void torch(Bench& bench, const std::string& script) {
  if (run_for(120, "python3 -c 'import torch'").status != 0)
    return bench.could_not_look("torch", "python3 finds no torch");
  const Program program{"torch",
                        "python3 " + quoted(script) + " --busy 50 --launch-bound 200",
                        120,
                        {"startup_ms", "busy_ms", "launch_bound_ms"}};
  std::map<Way, Figures> all;
  const Reason reason = bench.measure(program, {Way::bare, Way::minimal, Way::recorded}, all);
  if (!reason.empty()) return bench.could_not_look("torch", reason);
  for (const std::string figure : {"busy", "launch_bound", "startup"}) {
    const std::string key = figure + "_ms", unit = figure == "startup" ? "ms" : "ms an iteration";
    const double bare = all[Way::bare].middle(key), minimal = all[Way::minimal].middle(key),
                 recorded = all[Way::recorded].middle(key);
    const std::string name = "torch_" + figure;
    bench.value(name + "_bare", bare, unit);
    bench.beside(name + "_minimal_client", Way::minimal, minimal, unit, bare, "bare", {});
    bench.beside(name + "_wic_prof", Way::recorded, recorded, unit, bare, "bare",
                 figure == "busy" ? std::optional(1.03) : std::nullopt);
    if (figure == "launch_bound") {
      bench.beside(name + "_beside_minimal", Way::recorded, recorded, unit, minimal, "the minimal client", {});
    }
  }
  bench.lost("torch_lost", Way::recorded, all[Way::recorded]);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("collector_overhead", "programs bare, under a minimal CUPTI client, and under wic-prof run", argc, argv);
  const std::string tables = "," + claim.option("tables", "tiny,sampling") + ",";
  const std::int64_t rounds = claim.option("rounds", 5);
  const std::int64_t launches = claim.option("launches", 100'000);
  const std::int64_t long_launches = claim.option("long-launches", 10);
  const std::string script = claim.option("torch-script", "bench/collector/torch_train.py");
  std::string rest = tables;
  for (const std::string known : {"tiny", "sampling", "torch"}) {
    const std::size_t at = rest.find("," + known + ",");
    if (at != std::string::npos) rest.erase(at, known.size() + 1);
  }
  if (rest != ",") {
    std::fprintf(stderr, "collector_overhead: --tables takes a comma-separated list of tiny, sampling and torch\n");
    return 2;
  }
  Bench bench(claim, rounds);
  if (tables.find(",tiny,") != std::string::npos) tiny(bench, launches);
  if (tables.find(",sampling,") != std::string::npos) sampling(bench, long_launches);
  if (tables.find(",torch,") != std::string::npos) torch(bench, script);
  return claim.write();
}
