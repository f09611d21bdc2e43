// The programs of samples/field in their ways of waiting, by what a user of them feels: rates, latencies, what works
// beside them, and the CPUs that the process takes; where kernels wait, too, also with host threads parked alone. The
// ways take turns of some tenths of a second, in each round in another order, so that disturbances of the machine
// affect all alike. Polling and parking share an instance; Algorithm 1 of the WIC paper, where a program has it, has
// its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/claim.h"
#include "bench/intervals.h"
#include "common/measure.h"
#include "field/apps.h"
#include "protocol/time.h"

namespace {

using sample::AppInfo;
using sample::AppOptions;
using sample::Way;
using wicprof::Mode;
using wicprof::Result;
using wicprof::TimeNs;
using wicprof::bench::Claim;
using wicprof::bench::ClaimRow;
using wicprof::bench::Middle;
using wicprof::bench::middle;
using wicprof::bench::words_of;

constexpr std::int64_t kFewestRounds = 5;  // for an interval of the ratios

/// A program with some of its options.
struct Case {
  const char* name;
  const AppInfo& (*info)();
  std::uint32_t size;  ///< on a GPU; the CPU device has its default
  std::map<std::string, std::string> more;
};

const std::vector<Case>& all_cases() {
  using Options = std::map<std::string, std::string>;
  static const std::vector<Case> cases{
      {"queues_1", &sample::queues_info, 1, Options{{"clients", "1"}}},
      {"queues_32", &sample::queues_info, 32, {}},
      {"queues_1024", &sample::queues_info, 1024, {}},
      {"queues_1024_host", &sample::queues_info, 1024, Options{{"neighbour", "host"}}},
      {"engine", &sample::engine_info, 0, Options{{"engines", "4"}}},
      {"engine_2_cpus", &sample::engine_info, 0, Options{{"engines", "4"}, {"cpus", "2"}}},
      {"parameter_server", &sample::parameter_server_info, 0, Options{{"workers", "4"}, {"shards", "4"}}},
      {"parameter_server_2_cpus", &sample::parameter_server_info, 0,
       Options{{"workers", "4"}, {"shards", "4"}, {"cpus", "2"}}},
      {"storage", &sample::storage_info, 0, {}},
      {"storage_file", &sample::storage_info, 0, Options{{"folder", "/tmp"}}},
      {"expert_dispatch", &sample::expert_dispatch_info, 0, {}},
      {"expert_dispatch_1_cpu", &sample::expert_dispatch_info, 0, Options{{"cpus", "1"}}},
      {"all_reduce", &sample::all_reduce_info, 0, {}},
      {"megakernel", &sample::megakernel_info, 0, {}},
      {"locks_test_and_set", &sample::locks_info, 0, Options{{"lock", "test-and-set"}}},
      {"locks_ticket", &sample::locks_info, 0, Options{{"lock", "ticket"}}},
      {"locks_read_write", &sample::locks_info, 0, Options{{"lock", "read-write"}}},
      {"locks_queue", &sample::locks_info, 0, Options{{"lock", "queue"}}},
  };
  return cases;
}

struct Plan {
  std::string devices, pair;  ///< of programs for one device, and for two and more
  TimeNs turn_ns;

  const std::string& devices_for(const AppInfo& info) const { return info.min_devices > 1 ? pair : devices; }
};

/// What one turn showed.
enum Figure : std::size_t { kRate, kP50, kP99, kBeside, kCpus, kFigures };
using Turn = std::array<double, kFigures>;
constexpr std::array<const char*, kFigures> kFigureNames{"rate", "p50", "p99", "beside", "cpus"};
constexpr bool higher_is_better(std::size_t figure) { return figure == kRate || figure == kBeside; }

constexpr std::size_t kNaive = 1;

enum class Parked : std::uint8_t { nobody, host_threads, all };

struct Contender {
  const char* name;
  Parked parked;
  std::size_t instance;  ///< kNaive: that of Way::naive
  std::vector<Turn> turns{};
};

class Race {
 public:
  static Result<Race> make(const Case& which, const Plan& plan) {
    Race race;
    race.turn_ns_ = plan.turn_ns;
    wic::RuntimeOptions runtime;
    runtime.devices = plan.devices_for(which.info());
    runtime.record = false;
    auto made = wic::Runtime::create(runtime);
    if (!made) return made.error();
    race.runtime_ = *std::move(made);
    const AppInfo& info = which.info();
    race.contenders = {{"poll", Parked::nobody, 0}, {"park", Parked::all, 0}};
    if (auto r = race.add(which, plan, Way::poll); !r) return r.error();
    if (!race.app().host_sites().empty()) race.contenders.push_back({"park_host", Parked::host_threads, 0});
    if (info.no_naive == nullptr) {
      race.contenders.push_back({"naive", Parked::nobody, kNaive});
      if (auto r = race.add(which, plan, Way::naive); !r) return r.error();
    }
    return Result<Race>(std::move(race));
  }

  /// At least kFewestRounds; no round begins after `end`.
  Result<> run(TimeNs end) {
    std::vector<std::size_t> order(contenders.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::int64_t round = 0; round < kFewestRounds || wicprof::now_ns() < end; ++round) {
      for (const std::size_t c : order) {
        // It may be many times slower than the others, and would take nearly all of the time.
        if (contenders[c].instance == kNaive && round >= kFewestRounds) continue;
        const auto turn = take_turn(contenders[c]);
        if (!turn) return wicprof::failed(fmt::format("{}: {}", contenders[c].name, turn.error().message));
        contenders[c].turns.push_back(*turn);
      }
      std::next_permutation(order.begin(), order.end());
    }
    for (const auto& app : apps_) {
      if (Result<> right = app->check(); !right) return right;
    }
    return wicprof::ok();
  }

  const sample::App& app() const { return *apps_.front(); }
  const sample::Felt& last() const { return last_; }

  std::vector<Contender> contenders;

 private:
  Result<> add(const Case& which, const Plan& plan, Way way) {
    const AppInfo& info = which.info();
    AppOptions options;
    options.way = way;
    options.on_gpu = plan.devices_for(info).starts_with("cuda:");
    options.size = options.on_gpu ? which.size : 0;
    options.prefix = fmt::format("{}.", apps_.size());
    options.more = which.more;
    for (const sample::AppOption& option : info.options) options.more.try_emplace(option.name, option.default_value);
    auto app = info.make(*runtime_, options);
    if (!app) return app.error();
    apps_.push_back(*std::move(app));
    steps_.push_back(0);
    return wicprof::ok();
  }

  Result<> park(const Contender& contender) {
    const auto set = [this](wic::SiteId site, Mode mode) {
      return runtime_->set_wait(site, {mode, wicprof::default_strategy(mode)});
    };
    if (Result<> all = set(0, contender.parked == Parked::all ? Mode::park : Mode::poll); !all) return all;
    if (contender.parked != Parked::host_threads) return wicprof::ok();
    for (const wic::SiteId site : apps_[contender.instance]->host_sites()) {
      if (Result<> one = set(site, Mode::park); !one) return one;
    }
    return wicprof::ok();
  }

  // The first step after a change of the way does not count.
  Result<Turn> take_turn(const Contender& contender) {
    if (Result<> set = park(contender); !set) return set.error();
    sample::App& app = *apps_[contender.instance];
    std::uint32_t& step = steps_[contender.instance];
    if (Result<> done = app.step(++step); !done) return done.error();
    app.take_felt();
    const TimeNs begin = wicprof::now_ns(), cpu = sample::process_cpu_ns();
    do {
      if (Result<> done = app.step(++step); !done) return done.error();
    } while (wicprof::now_ns() < begin + turn_ns_);
    const auto wall = static_cast<double>(wicprof::now_ns() - begin);
    const auto cpus = static_cast<double>(sample::process_cpu_ns() - cpu) / wall;
    last_ = app.take_felt();
    return Turn{last_.work / wall * 1e9, sample::at_share(last_.latency_ns, 0.5) * 1e-3,
                sample::at_share(last_.latency_ns, 0.99) * 1e-3, last_.beside / wall * 1e9, cpus};
  }

  TimeNs turn_ns_ = 0;
  std::unique_ptr<wic::Runtime> runtime_;  // outlives the applications
  std::vector<std::unique_ptr<sample::App>> apps_;
  std::vector<std::uint32_t> steps_;
  sample::Felt last_;  // its units are those of all turns
};

Middle of(const Contender& contender, std::size_t figure) {
  std::vector<double> values;
  for (const Turn& turn : contender.turns) values.push_back(turn[figure]);
  return middle(std::move(values));
}

/// Round by round, above 1 where `contender` is better.
Middle gain(const Contender& contender, const Contender& other, std::size_t figure) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < contender.turns.size(); ++i) {
    const double mine = contender.turns[i][figure], others = other.turns[i][figure];
    ratios.push_back(higher_is_better(figure) ? mine / others : others / mine);
  }
  return middle(std::move(ratios));
}

/// The words that run the polled case under any other tool.
std::string command_of(const Case& which, const Plan& plan) {
  std::string words = fmt::format("{} --devices {}", which.info().name, plan.devices_for(which.info()));
  if (which.size != 0 && plan.devices_for(which.info()).starts_with("cuda:"))
    words += fmt::format(" --size {}", which.size);
  for (const auto& [name, value] : which.more) words += fmt::format(" --{} {}", name, value);
  return words;
}

std::string unit_of(const sample::Felt& felt, std::size_t figure) {
  if (figure == kRate) return fmt::format("{} per second", felt.unit);
  if (figure == kBeside) return fmt::format("{} per second", felt.beside_unit);
  return figure == kCpus ? "CPUs" : "us";
}

void add_rows(Claim& claim, const Case& which, const Plan& plan, const Race& race) {
  const sample::Felt& felt = race.last();
  const Contender& poll = race.contenders.front();
  for (std::size_t figure = 0; figure < kFigures; ++figure) {
    if (figure == kBeside && felt.beside_unit == nullptr) continue;
    if ((figure == kP50 || figure == kP99) && felt.latency_ns.empty()) continue;
    for (const Contender& contender : race.contenders) {
      const Middle own = of(contender, figure);
      ClaimRow row;
      row.name = fmt::format("{}_{}_{}", which.name, kFigureNames[figure], contender.name);
      row.params = {{"devices", plan.devices_for(which.info())},
                    {"shape", race.app().shape()},
                    {"turns", static_cast<std::int64_t>(contender.turns.size())},
                    {"value_low", own.low},
                    {"value_high", own.high},
                    {"command", command_of(which, plan)}};
      for (const auto& [name, value] : which.more) row.params[name] = value;
      row.value = own.value;
      row.unit = unit_of(felt, figure);
      if (&contender != &poll) {
        const Middle ratio = gain(contender, poll, figure);
        row.params["low"] = ratio.low;
        row.params["high"] = ratio.high;
        row.compared_to =
            fmt::format("{}_{}_poll (round by round, above 1 where this is better)", which.name, kFigureNames[figure]);
        row.ratio = ratio.value;
        std::fprintf(stderr, "field: %-23s %-7s %-9s %10.4g, polled %10.4g %s: gain %.3f (%.3f to %.3f)\n", which.name,
                     kFigureNames[figure], contender.name, own.value, of(poll, figure).value, row.unit.c_str(),
                     ratio.value, ratio.low, ratio.high);
      }
      claim.add(std::move(row));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim(
      "field",
      "the programs of samples/field, polling and parked, by what a user of them feels\n"
      "Example: bench_field --devices cuda:0 --pair cuda:0,cuda:0 --limit 150 --cases queues,engine -o field.json\n"
      "  --pair: devices of programs for two and more; --cases: those whose names begin with one of these words; "
      "--limit: seconds in all;\n"
      "  --turn-ms: how long a way of waiting runs before the next takes its turn",
      argc, argv);
  Plan plan;
  plan.devices = claim.option("devices", "simt:1");
  plan.pair = claim.option("pair", "simt:2");
  plan.turn_ns = claim.option("turn-ms", 300) * wicprof::kMillisecond;
  const TimeNs begin = wicprof::now_ns(), limit = claim.option("limit", 150) * wicprof::kSecond;
  const std::vector<std::string> wanted = words_of(claim.option("cases", ""));
  std::vector<const Case*> cases;
  for (const Case& each : all_cases()) {
    const auto named = [&](const std::string& word) { return std::string(each.name).starts_with(word); };
    if (wanted.empty() || std::any_of(wanted.begin(), wanted.end(), named)) cases.push_back(&each);
  }
  int failures = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    // What is left of the time, in equal parts.
    const TimeNs now = wicprof::now_ns();
    const TimeNs end = now + (begin + limit - now) / static_cast<TimeNs>(cases.size() - i);
    auto race = Race::make(*cases[i], plan);
    const Result<> done = race ? race->run(end) : Result<>(race.error());
    if (!done) {
      std::fprintf(stderr, "field: %s: %s\n", cases[i]->name, done.error().message.c_str());
      ++failures;
      continue;
    }
    add_rows(claim, *cases[i], plan, *race);
  }
  const int status = claim.write();
  return failures > 0 ? 3 : status;
}
