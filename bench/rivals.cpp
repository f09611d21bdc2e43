// Figure 17 of the WIC paper: the gallery's applications with each rival's way of moving messages (samples/rivals),
// polling and parked, beside Algorithm 1, tuned polling and parking. One step of each contender in turn; each
// round begins with another, so that disturbances of the machine affect all alike.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps.h"
#include "bench/claim.h"
#include "bench/intervals.h"
#include "protocol/time.h"

namespace {

using sample::AppInfo;
using sample::AppOptions;
using sample::Rival;
using sample::Way;
using wicprof::Mode;
using wicprof::Result;
using wicprof::bench::Claim;
using wicprof::bench::ClaimRow;
using wicprof::bench::geometric_mean;
using wicprof::bench::Middle;
using wicprof::bench::middle;
using wicprof::bench::words_of;

struct Plan {
  std::string c_devices, g_devices;
  std::int64_t rounds, warm_up;
  std::int64_t seconds;  ///< per application: no round begins after them

  const std::string& devices_for(const AppInfo& info) const { return info.min_devices > 1 ? g_devices : c_devices; }
};

constexpr std::int64_t kFewestRounds = 5;  // for an interval of the ratios

/// A way of waiting with a way of moving messages.
struct Contender {
  std::string name;  ///< "park", "effshare", "effshare_park"
  Rival rival;
  Mode mode;
  std::size_t instance;      ///< polling and parking share one
  std::vector<double> ns{};  ///< of its steps
};

class Race {
 public:
  static Result<Race> make(const AppInfo& info, const Plan& plan) {
    Race race;
    wic::RuntimeOptions runtime;
    runtime.devices = plan.devices_for(info);
    runtime.record = false;
    auto made = wic::Runtime::create(runtime);
    if (!made) return made.error();
    race.runtime_ = *std::move(made);
    if (race.runtime_->device_count() < info.min_devices) {
      return wicprof::unavailable(fmt::format("{} needs {} devices", info.name, info.min_devices));
    }
    if (auto r = race.add(info, plan, Way::naive, Rival::none); !r) return r.error();
    if (auto r = race.add(info, plan, Way::poll, Rival::none); !r) return r.error();
    for (const sample::RivalInfo& rival : sample::kRivals) {
      if (rival.between_gpus != (info.min_devices > 1)) continue;
      if (auto r = race.add(info, plan, Way::poll, rival.rival); !r) return r.error();
    }
    return Result<Race>(std::move(race));
  }

  Result<> run(const Plan& plan) {
    std::vector<std::size_t> order(contenders.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::vector<std::uint32_t> steps(apps_.size(), 0);
    const wicprof::TimeNs end = wicprof::now_ns() + plan.seconds * 1'000'000'000;
    for (std::int64_t round = 0; round < plan.warm_up + plan.rounds; ++round) {
      if (round >= plan.warm_up + kFewestRounds && wicprof::now_ns() > end) break;
      for (const std::size_t c : order) {
        Contender& contender = contenders[c];
        const wicprof::TimeNs begin = wicprof::now_ns();
        if (Result<> done = step(contender, steps[contender.instance]); !done) {
          return wicprof::failed(contender.name + ": " + done.error().message);
        }
        if (round >= plan.warm_up) contender.ns.push_back(static_cast<double>(wicprof::now_ns() - begin));
      }
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    for (std::size_t i = 0; i < apps_.size(); ++i) {
      if (Result<> right = apps_[i]->check(); !right) return right;
    }
    return wicprof::ok();
  }

  const sample::App& app() const { return *apps_.back(); }

  std::vector<Contender> contenders;
  std::vector<std::string> refused;  ///< rivals that the application does not run with, with the reasons

 private:
  Result<> add(const AppInfo& info, const Plan& plan, Way way, Rival rival) {
    AppOptions options;
    options.way = way;
    options.rival = rival;
    options.on_gpu = plan.devices_for(info).starts_with("cuda:");
    options.prefix = fmt::format("{}.", apps_.size());
    for (const sample::AppOption& option : info.options) options.more.try_emplace(option.name, option.default_value);
    if (Result<> accepted = check_rival(info, options); !accepted) {
      refused.push_back(accepted.error().message);
      return wicprof::ok();
    }
    auto app = info.make(*runtime_, options);
    if (!app) return app.error();
    const std::string movement = rival == Rival::none ? "" : sample::rival_info(rival).name;
    if (way == Way::naive) {
      contenders.push_back({"naive", rival, Mode::poll, apps_.size()});
    } else {
      contenders.push_back({movement.empty() ? "poll" : movement, rival, Mode::poll, apps_.size()});
      contenders.push_back({movement.empty() ? "park" : movement + "_park", rival, Mode::park, apps_.size()});
    }
    apps_.push_back(*std::move(app));
    return wicprof::ok();
  }

  Result<> step(const Contender& contender, std::uint32_t& step) {
    if (Result<> set = runtime_->set_wait(0, {contender.mode, wicprof::default_strategy(contender.mode)}); !set) {
      return set;
    }
    return apps_[contender.instance]->step(++step);
  }

  std::unique_ptr<wic::Runtime> runtime_;  // outlives the applications
  std::vector<std::unique_ptr<sample::App>> apps_;
};

/// The median of one contender's time over another's, round by round.
Middle over(const Contender& other, const Contender& contender) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < contender.ns.size(); ++i) ratios.push_back(other.ns[i] / contender.ns[i]);
  return middle(std::move(ratios));
}

const Contender* fastest(const std::vector<Contender>& contenders, Mode mode, bool rivals_alone) {
  const Contender* best = nullptr;
  for (const Contender& each : contenders) {
    if (each.mode != mode || (rivals_alone && each.rival == Rival::none)) continue;
    if (best == nullptr || middle(each.ns).value < middle(best->ns).value) best = &each;
  }
  return best;
}

/// Adds an application's rows. Returns its parked gain over the best rival, if it runs with one.
std::optional<double> add_rows(Claim& claim, const AppInfo& info, const Plan& plan, const Race& race) {
  ClaimRow row;
  row.params = {{"devices", plan.devices_for(info)},
                {"shape", race.app().shape()},
                {"timed_steps", static_cast<std::int64_t>(race.contenders.front().ns.size())}};
  for (std::size_t i = 0; i < race.refused.size(); ++i) row.params[fmt::format("refused_{}", i)] = race.refused[i];
  const auto add = [&](const std::string& name, const Contender& contender, const Contender& other,
                       const std::string& compared_to, std::optional<double> bar) {
    const Middle ratio = over(other, contender);
    row.name = fmt::format("{}_{}", info.name, name);
    row.value = middle(contender.ns).value * 1e-6;
    row.unit = "ms per step";
    row.params["low"] = ratio.low;
    row.params["high"] = ratio.high;
    row.compared_to = compared_to + " (its time over this one's, step by step: the speed-up)";
    row.ratio = ratio.value;
    row.bar = bar;
    claim.add(row);
    return ratio.value;
  };
  const Contender& naive = race.contenders.front();
  for (const Contender& each : race.contenders) add(each.name, each, naive, fmt::format("{}_naive", info.name), {});
  const Contender* const rival = fastest(race.contenders, Mode::poll, true);
  if (rival == nullptr) return std::nullopt;
  const Contender& parked = *fastest(race.contenders, Mode::park, false);
  row.params["parked_as"] = parked.name;
  return add("parked_over_best_rival", parked, *rival, fmt::format("{}_{}", info.name, rival->name), 1.0);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("rivals", "the ten applications with the data movement of figure 17's rivals, polling and parked", argc,
              argv);
  Plan plan;
  plan.c_devices = claim.option("c-devices", "simt:1");
  plan.g_devices = claim.option("g-devices", "simt:2");
  plan.rounds = claim.option("rounds", 30);
  plan.warm_up = claim.option("warm-up", 3);
  plan.seconds = claim.option("seconds", 60);
  const std::vector<std::string> wanted = words_of(claim.option("apps", ""));
  std::vector<double> gains;
  int failures = 0;
  for (const AppInfo* info : sample::all_apps()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), info->name) == wanted.end()) continue;
    std::fprintf(stderr, "rivals: %s\n", info->name);
    auto race = Race::make(*info, plan);
    const Result<> done = race ? race->run(plan) : Result<>(race.error());
    if (!done) {
      std::fprintf(stderr, "rivals: %s: %s\n", info->name, done.error().message.c_str());
      ++failures;
      continue;
    }
    if (const auto gain = add_rows(claim, *info, plan, *race)) gains.push_back(*gain);
  }
  ClaimRow mean;
  mean.name = "geometric_mean_parked_over_best_rival";
  mean.params = {{"applications", static_cast<std::int64_t>(gains.size())}};
  mean.value = geometric_mean(gains);
  mean.unit = "geometric mean of the speed-ups";
  mean.compared_to = "1";
  mean.ratio = mean.value;
  mean.bar = 1.15;
  claim.add(std::move(mean));
  const int status = claim.write();
  return failures > 0 ? 3 : status;
}
