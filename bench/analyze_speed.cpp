// Time and memory to read and analyse a trace of N events, like `wic-prof analyze --format json`, in a separate process
// per N. Generating the trace (made_trace.h) is not timed.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "bench/claim.h"
#include "bench/made_trace.h"
#include "cli/files/process_memory.h"
#include "protocol/time.h"
#include "reports/json/answers.h"

namespace {

using namespace wicprof;
using bench::kEventsPerIteration;

struct Cost {
  bool good = false;
  double seconds = 0, cpu_seconds = 0, load_seconds = 0, peak_bytes = 0;
};

// The child's report on its pipe.
struct Told {
  double load = 0, whole = 0;
  std::uint64_t waits = 0;
};

bool analyse(const std::string& path, int pipe) {
  Told told;
  cli::keep_freed_memory();  // like load_trace() of wic-prof
  const TimeNs begin = now_ns();
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return false;
  const Result<analyzer::TraceModel> model = analyzer::load(*reader, "trace");
  if (!model) return false;
  told.load = static_cast<double>(now_ns() - begin) * 1e-9;
  const std::string answer = reports::analysis_json(*model, analyzer::analyze(*model));
  told.whole = static_cast<double>(now_ns() - begin) * 1e-9;
  told.waits = answer.empty() ? 0 : model->waits.size();
  return write(pipe, &told, sizeof told) == sizeof told;
}

// Runs in a separate process, so that its peak memory covers this work alone and not the generation of the trace.
bool in_child(const auto& work, rusage& used) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return pid > 0 && wait4(pid, &status, 0, &used) == pid && status == 0;
}

Cost measure(const std::string& path, std::int64_t events) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  rusage used{};
  Told told;
  Cost cost;
  cost.good = in_child([&] { return analyse(path, ends[1]); }, used) &&
              read(ends[0], &told, sizeof told) == sizeof told &&
              told.waits == static_cast<std::uint64_t>(events / kEventsPerIteration * bench::kWaitsPerIteration);
  close(ends[0]);
  close(ends[1]);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  cost.seconds = told.whole;
  cost.load_seconds = told.load;
  cost.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  cost.peak_bytes = static_cast<double>(used.ru_maxrss) * 1024;
  return cost;
}

std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> all;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    const long long number = std::atoll(word.c_str());
    if (number < kEventsPerIteration) return {};
    all.push_back(number / kEventsPerIteration * kEventsPerIteration);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("analyze_speed", "time and memory to analyse a trace, by number of events", argc, argv);
  const std::vector<std::int64_t> sizes = numbers(claim.option("events", std::string("100000,1000000,10000000")));
  const std::int64_t repetitions = claim.option("repetitions", 3);
  const std::string folder = claim.option("folder", std::string("/tmp"));
  if (sizes.empty()) {
    std::fprintf(stderr, "analyze_speed: --events needs comma-separated numbers of at least 16\n");
    return 2;
  }
  double before = 0;  // ns per event of the previous size
  for (const std::int64_t events : sizes) {
    const std::string path = folder + "/analyze_speed." + std::to_string(getpid()) + ".wicprof";
    rusage unused{};
    bool good = in_child([&] { return bench::make_trace(path, events); }, unused);
    std::vector<double> seconds, cpu, load, peak;
    for (std::int64_t i = 0; good && i < repetitions; ++i) {
      const Cost cost = measure(path, events);
      good = cost.good;
      seconds.push_back(cost.seconds);
      cpu.push_back(cost.cpu_seconds);
      load.push_back(cost.load_seconds);
      peak.push_back(cost.peak_bytes);
    }
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
    if (!good) {
      std::fprintf(stderr, "analyze_speed: cannot generate or analyse the trace of %lld events\n",
                   static_cast<long long>(events));
      return 2;
    }
    const std::map<std::string, bench::Parameter> params = {{"events", events}, {"repetitions", repetitions}};
    const std::string name = std::to_string(events);
    const double took = bench::median(seconds), an_event = took * 1e9 / static_cast<double>(events);
    // The claim covers 10 M events; for smaller traces the cost must grow at most in proportion.
    const bool promised = events >= 10'000'000;
    const auto bar = [&](double value) { return promised ? std::optional(value) : std::nullopt; };
    claim.add({"seconds_" + name, params, took, "s", promised ? "5 s" : "",
               promised ? std::optional(took / 5) : std::nullopt, bar(1), true});
    claim.add({"cpu_seconds_" + name, params, bench::median(cpu), "s"});
    claim.add({"load_seconds_" + name, params, bench::median(load), "s"});
    const double bytes = bench::median(peak);
    claim.add({"peak_" + name, params, bytes / 1e6, "MB", promised ? "1.5 GB" : "",
               promised ? std::optional(bytes / 1.5e9) : std::nullopt, bar(1), true});
    bench::ClaimRow each{"ns_an_event_" + name, params, an_event, "ns"};
    if (before > 0) {
      each.compared_to = "the size before";
      each.ratio = an_event / before;
      each.bar = 1.25;
      each.at_most = true;
    }
    claim.add(each);
    before = an_event;
  }
  return claim.write();
}
