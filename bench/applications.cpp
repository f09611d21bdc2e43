// The gallery's applications in all three ways of waiting. Steps alternate between the ways, in each order about
// equally often, so that disturbances of the machine affect all ways alike. Figures 12 and 16 of the WIC paper: the
// gain of parking over Algorithm 1 and over tuned polling, for each application's default size and for other numbers of
// consumer threads.
//
// Two instances of an application differ by a few percent for their whole lifetime, because of the placement of their
// memory and CPU threads. Polling and parking therefore swap between two instances with every step, and two steps make
// one ratio. Algorithm 1 is several times slower than both and takes nearly all of the time: it stops after its steps,
// and the other two, which differ by a few percent, continue.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps.h"
#include "bench/claim.h"
#include "bench/intervals.h"
#include "protocol/time.h"

namespace {

using sample::AppInfo;
using sample::AppOptions;
using sample::Way;
using wicprof::Mode;
using wicprof::Result;
using wicprof::bench::Claim;
using wicprof::bench::ClaimRow;
using wicprof::bench::geometric_mean;
using wicprof::bench::Middle;
using wicprof::bench::middle;
using wicprof::bench::Parameter;
using wicprof::bench::words_of;

struct Contender {
  const char* name;
  Mode mode;
};
constexpr std::array kContenders{Contender{"naive", Mode::poll}, Contender{"poll", Mode::poll},
                                 Contender{"park", Mode::park}};
constexpr std::size_t kNaive = 0, kPoll = 1, kPark = 2;

/// The instances that contenders run, selected by step. All instances have the same work per step.
constexpr std::array kInstances{Way::naive, Way::poll, Way::poll};
std::size_t instance_of(std::size_t contender, std::int64_t step) {
  if (contender == kNaive) return 0;
  return (contender == kPark) == (step % 2 == 0) ? 1 : 2;
}

struct Plan {
  std::string c_devices, g_devices;
  std::int64_t steps, warm_up;
  double seconds;  ///< polling and parking continue until their timed steps have taken this long in total
};

/// Times of each contender's steps, in ns; the i-th steps of all contenders were measured together. The number of
/// polled and parked steps is even.
using Times = std::array<std::vector<double>, kContenders.size()>;

class Race {
 public:
  static Result<Race> make(const AppInfo& info, const AppOptions& options, const std::string& devices) {
    Race race;
    wic::RuntimeOptions runtime;
    runtime.devices = devices;
    runtime.record = false;
    auto made = wic::Runtime::create(runtime);
    if (!made) return made.error();
    race.runtime_ = *std::move(made);
    if (race.runtime_->device_count() < info.min_devices) {
      return wicprof::unavailable(fmt::format("{} needs {} devices", info.name, info.min_devices));
    }
    for (std::size_t i = 0; i < kInstances.size(); ++i) {
      AppOptions own = options;
      own.way = kInstances[i];
      own.on_gpu = devices.starts_with("cuda:");
      own.prefix = fmt::format("{}.", i);
      for (const sample::AppOption& option : info.options) own.more.try_emplace(option.name, option.default_value);
      auto app = info.make(*race.runtime_, own);
      if (!app) return app.error();
      race.apps_[i] = *std::move(app);
    }
    return Result<Race>(std::move(race));
  }

  Result<Times> run(const Plan& plan) {
    Times times;
    double taken_ns = 0;
    const auto goes_on = [&](std::int64_t step) {
      return step < plan.warm_up + plan.steps || taken_ns < plan.seconds * 1e9 || (step - plan.warm_up) % 2 != 0;
    };
    std::array<std::size_t, kContenders.size()> order{kNaive, kPoll, kPark};
    for (std::int64_t step = 0; goes_on(step); ++step) {
      // Vary the order of contenders, but not between two steps that make one ratio.
      if ((step - plan.warm_up) % 2 == 0) std::next_permutation(order.begin(), order.end());
      for (const std::size_t c : order) {
        if (c == kNaive && step >= plan.warm_up + plan.steps) continue;
        const Mode mode = kContenders[c].mode;
        if (Result<> set = runtime_->set_wait(0, {mode, wicprof::default_strategy(mode)}); !set) return set.error();
        const wicprof::TimeNs begin = wicprof::now_ns();
        sample::App& app = *apps_[instance_of(c, step)];
        if (Result<> done = app.step(static_cast<std::uint32_t>(step + 1)); !done) return done.error();
        if (step < plan.warm_up) continue;
        times[c].push_back(static_cast<double>(wicprof::now_ns() - begin));
        if (c != kNaive) taken_ns += times[c].back();
      }
    }
    for (const auto& app : apps_) {
      if (Result<> right = app->check(); !right) return right.error();
    }
    return times;
  }

  const sample::App& app() const { return *apps_.back(); }

 private:
  std::unique_ptr<wic::Runtime> runtime_;  // outlives the applications
  std::array<std::unique_ptr<sample::App>, kInstances.size()> apps_;
};

/// Ratios from pairs of steps between which polling and parking swapped instances.
struct Crossing {
  double first_poll, first_park, second_poll, second_park;
};
template <class Ratio>
Middle of_crossings(const Times& times, const Ratio& ratio) {
  const std::vector<double>&poll = times[kPoll], &park = times[kPark];
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 1 < park.size(); i += 2)
    ratios.push_back(ratio(Crossing{poll[i], park[i], poll[i + 1], park[i + 1]}));
  return middle(std::move(ratios));
}
Middle gain_over_poll(const Times& times) {
  return of_crossings(times, [](const Crossing& c) {
    return std::sqrt(c.first_poll * c.second_poll / (c.first_park * c.second_park));
  });
}
/// The difference between two instances of the same application: an apparent gain without a cause.
Middle instance_over_instance(const Times& times) {
  return of_crossings(times, [](const Crossing& c) {
    return std::sqrt(c.first_poll * c.second_park / (c.first_park * c.second_poll));
  });
}
Middle gain_over_naive(const Times& times) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times[kNaive].size(); ++i) ratios.push_back(times[kNaive][i] / times[kPark][i]);
  return middle(std::move(ratios));
}

struct Gains {
  double over_naive, over_poll;
};

Gains add_rows(Claim& claim, const std::string& name, const Times& times, std::map<std::string, Parameter> params,
               std::optional<double> bar_over_naive, std::optional<double> bar_over_poll) {
  for (std::size_t c = 0; c < kContenders.size(); ++c) {
    const Middle step = middle(times[c]);
    ClaimRow row;
    row.name = name + "_" + kContenders[c].name;
    row.params = params;
    row.params["timed_steps"] = static_cast<std::int64_t>(times[c].size());
    row.params["low_ms"] = step.low * 1e-6;
    row.params["high_ms"] = step.high * 1e-6;
    row.value = step.value * 1e-6;
    row.unit = "ms per step";
    claim.add(std::move(row));
  }
  const auto add = [&](const std::string& what, const Middle& ratio, const std::string& compared_to,
                       std::optional<double> bar) {
    ClaimRow row;
    row.name = name + "_over_" + what;
    row.params = params;
    if (what == "naive") row.params["timed_steps"] = static_cast<std::int64_t>(times[kNaive].size());
    row.params["low"] = ratio.low;
    row.params["high"] = ratio.high;
    row.value = middle(times[kPark]).value * 1e-6;
    row.unit = "ms a step, parked";
    row.compared_to = compared_to;
    row.ratio = ratio.value;
    row.bar = bar;
    claim.add(std::move(row));
    return ratio.value;
  };
  add("itself", instance_over_instance(times), "another instance of the same, polled and parked as often", {});
  return {add("naive", gain_over_naive(times), name + "_naive (its time over this one's, step by step: the speed-up)",
              bar_over_naive),
          add("poll", gain_over_poll(times),
              name + "_poll (the speed-up, by two steps in which instances change places)", bar_over_poll)};
}

std::uint32_t size_in(const std::string& word) {
  return static_cast<std::uint32_t>(std::stoul(word.substr(word.find('=') + 1)));
}

const std::string& devices_for(const AppInfo& info, const Plan& plan) {
  return info.min_devices > 1 ? plan.g_devices : plan.c_devices;
}

Result<Gains> race(Claim& claim, const AppInfo& info, const AppOptions& options, const Plan& plan,
                   const std::string& name, std::optional<double> bar_over_naive, std::optional<double> bar_over_poll) {
  auto race = Race::make(info, options, devices_for(info, plan));
  if (!race) return race.error();
  const auto times = race->run(plan);
  if (!times) return times.error();
  const sample::Traffic traffic = race->app().traffic();
  return add_rows(claim, name, *times,
                  {{"devices", devices_for(info, plan)},
                   {"shape", race->app().shape()},
                   {"messages_a_step", traffic.messages},
                   {"bytes_a_step", traffic.bytes},
                   {"timed_steps", static_cast<std::int64_t>((*times)[kPark].size())}},
                  bar_over_naive, bar_over_poll);
}

void add_mean(Claim& claim, const char* name, const std::vector<double>& gains, std::optional<double> bar) {
  ClaimRow row;
  row.name = name;
  row.params = {{"applications", static_cast<std::int64_t>(gains.size())}};
  row.value = geometric_mean(gains);
  row.unit = "geometric mean of the speed-ups";
  row.compared_to = "1";
  row.ratio = row.value;
  row.bar = bar;
  claim.add(std::move(row));
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("applications", "the ten applications in three ways of waiting", argc, argv);
  Plan plan;
  plan.c_devices = claim.option("c-devices", "simt:1");
  plan.g_devices = claim.option("g-devices", "simt:2");
  plan.steps = std::max<std::int64_t>(claim.option("steps", 30), 1);
  plan.warm_up = claim.option("warm-up", 3);
  plan.seconds = static_cast<double>(claim.option("seconds", 0));
  const std::vector<std::string> wanted = words_of(claim.option("apps", ""));
  const std::vector<std::string> swept = words_of(claim.option("threads-apps", "c_srs,c_cg,g_bfs,g_stn"));
  const std::vector<std::string> threads = words_of(claim.option("threads", ""));
  const std::vector<std::string> sizes = words_of(claim.option("sizes", ""));  // "c_cg=64", repeatable
  // Like `sizes`, for the sweep over threads, once per application; others use their default size.
  const std::vector<std::string> threads_sizes = words_of(claim.option("threads-sizes", ""));

  std::vector<double> over_naive, over_poll;
  int failures = 0;
  for (const AppInfo* info : sample::all_apps()) {
    const std::string name = info->name;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    std::fprintf(stderr, "applications: %s\n", info->name);
    const auto gains = race(claim, *info, {}, plan, name, name == "c_h3d" ? 1.30 : 0.98, 0.98);
    if (!gains) {
      std::fprintf(stderr, "applications: %s: %s\n", info->name, gains.error().message.c_str());
      ++failures;
      continue;
    }
    over_naive.push_back(gains->over_naive);
    over_poll.push_back(gains->over_poll);
    std::fprintf(stderr, "applications: %s: over naive %.3f, over poll %.3f\n", info->name, gains->over_naive,
                 gains->over_poll);
    for (const std::string& size : sizes) {
      if (!size.starts_with(name + "=")) continue;
      AppOptions options;
      options.size = size_in(size);
      const auto done = race(claim, *info, options, plan, fmt::format("{}_size_{}", name, options.size), {}, {});
      if (!done) std::fprintf(stderr, "applications: %s: %s\n", size.c_str(), done.error().message.c_str());
    }
    if (std::find(swept.begin(), swept.end(), name) == swept.end()) continue;
    for (const std::string& count : threads) {
      const auto all = static_cast<std::uint32_t>(std::stoul(count));
      AppOptions options;
      for (const std::string& size : threads_sizes) {
        if (size.starts_with(name + "=")) options.size = size_in(size);
      }
      options.block_size = std::clamp(all, 32u, 256u);
      options.blocks = std::max(all / options.block_size, 1u);
      const auto done = race(claim, *info, options, plan, fmt::format("{}_threads_{}", name, all), {}, {});
      if (!done)
        std::fprintf(stderr, "applications: %s, %s threads: %s\n", info->name, count.c_str(),
                     done.error().message.c_str());
    }
  }
  add_mean(claim, "geometric_mean_over_naive", over_naive, 1.13);
  add_mean(claim, "geometric_mean_over_poll", over_poll, {});
  const int status = claim.write();
  return failures > 0 ? 3 : status;
}
