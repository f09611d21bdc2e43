// Time and memory of `wic-prof analyze`, `report` and `compare` on a trace of N events, each in its own process, beside
// a bare loop of SQLite over the same rows in the same run. Generating the trace (made_trace.h) is not timed.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/bare_select.h"
#include "bench/claim.h"
#include "bench/made_trace.h"
#include "protocol/time.h"

namespace {

using namespace wicprof;
using bench::kEventsPerIteration;

constexpr double kTimeBar = 2.5;  // times the bare loop
constexpr double kMegabytesPer10M = 800, kMegabytesPer100M = 6'000;

struct Cost {
  std::vector<double> seconds, cpu_seconds, peak_bytes;
};

/// Runs `work` in a process of its own, so that its peak memory covers this work alone.
bool measure(const std::function<bool()>& work, Cost& cost) {
  std::fflush(nullptr);
  const TimeNs begin = now_ns();
  const pid_t pid = fork();
  if (pid == 0) _exit(work() ? 0 : 1);
  int status = 0;
  rusage used{};
  if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0) return false;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  cost.seconds.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
  cost.cpu_seconds.push_back(seconds(used.ru_utime) + seconds(used.ru_stime));
  cost.peak_bytes.push_back(static_cast<double>(used.ru_maxrss) * 1024);
  return true;
}

/// Replaces this process by wic-prof, which lies beside this program, with its output discarded.
bool run_wic_prof(const std::vector<std::string>& arguments) {
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "wic-prof").string();
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  execv(program.c_str(), words.data());
  return false;
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
  const std::vector<std::int64_t> sizes = numbers(claim.option("events", std::string("1000000,10000000")));
  const std::int64_t repetitions = claim.option("repetitions", 3);
  const std::string folder = claim.option("folder", std::string("/tmp"));
  if (sizes.empty()) {
    std::fprintf(stderr, "analyze_speed: --events needs comma-separated numbers of at least 16\n");
    return 2;
  }
  for (const std::int64_t events : sizes) {
    const std::string path = folder + "/analyze_speed." + std::to_string(getpid()) + ".wicprof";
    const std::string report = path + ".html";
    struct Verb {
      const char* name;
      std::vector<std::string> arguments;
      Cost cost;
    };
    std::array verbs{Verb{"analyze", {"analyze", path, "--format", "json"}, {}},
                     Verb{"report", {"report", path, "--format", "html", "-f", "-o", report}, {}},
                     Verb{"compare", {"compare", path, "--format", "json"}, {}}};
    Cost bare, making;
    bool good = measure([&] { return bench::make_trace(path, events); }, making);
    for (std::int64_t i = 0; good && i < repetitions; ++i) {
      good = measure(
          [&] {
            const auto rows = bench::bare_select(path);
            return rows && *rows >= static_cast<std::uint64_t>(events);
          },
          bare);
      for (Verb& verb : verbs) good = good && measure([&] { return run_wic_prof(verb.arguments); }, verb.cost);
    }
    for (const char* suffix : {"", "-wal", "-shm", ".html"}) unlink((path + suffix).c_str());
    if (!good) {
      std::fprintf(stderr, "analyze_speed: cannot generate or read the trace of %lld events\n",
                   static_cast<long long>(events));
      return 2;
    }
    const std::string size = std::to_string(events);
    const std::map<std::string, bench::Parameter> params = {{"events", events}, {"repetitions", repetitions}};
    const double bare_seconds = bench::median(bare.seconds);
    const double bare_cpu = bench::median(bare.cpu_seconds);
    claim.add({"bare_" + size, params, bare_seconds, "s"});
    claim.add({"bare_cpu_" + size, params, bare_cpu, "s"});
    for (const Verb& verb : verbs) {
      const std::string name = std::string(verb.name) + "_";
      const double seconds = bench::median(verb.cost.seconds), megabytes = bench::median(verb.cost.peak_bytes) / 1e6;
      claim.add({name + size, params, seconds, "s", "bare_" + size, seconds / bare_seconds, kTimeBar, true});
      const double cpu = bench::median(verb.cost.cpu_seconds);
      claim.add({name + "cpu_" + size, params, cpu, "s", "bare_cpu_" + size, cpu / bare_cpu});
      bench::ClaimRow peak{name + "peak_" + size, params, megabytes, "MB"};
      if (events >= 10'000'000) {
        const double bar = events < 100'000'000 ? kMegabytesPer10M : kMegabytesPer100M;
        peak.compared_to = std::to_string(static_cast<int>(bar)) + " MB";
        peak.ratio = megabytes / bar;
        peak.bar = 1;
        peak.at_most = true;
      }
      claim.add(peak);
    }
  }
  return claim.write();
}
