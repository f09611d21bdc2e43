#include "wic/tile_tuner.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

namespace wic {

namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Result<TunedPlan> TileTuner::choose(const std::string& shape, const std::vector<std::string>& plans,
                                    const std::function<Result<double>(std::size_t)>& measure) {
  if (plans.empty()) return bad_input("the tuner was given no plan for " + shape);
  const auto known = choices_.find(shape);
  if (known != choices_.end() && std::find(plans.begin(), plans.end(), known->second.plan) != plans.end()) {
    return known->second;
  }
  std::vector<std::vector<double>> ns(plans.size());
  std::vector<std::size_t> running(plans.size());
  std::iota(running.begin(), running.end(), std::size_t{0});
  const auto by_median = [&ns](std::size_t a, std::size_t b) { return median_of(ns[a]) < median_of(ns[b]); };
  const std::uint32_t all_rounds = std::max(1u, rounds_ / 3);
  for (std::uint32_t round = 0; round <= rounds_; ++round) {
    if (round == all_rounds + 1) {  // the warm-up was round 0
      std::sort(running.begin(), running.end(), by_median);
      running.resize((running.size() + 1) / 2);
      if (std::find(running.begin(), running.end(), std::size_t{0}) == running.end()) running.push_back(0);
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::size_t plan = running[(i + round) % running.size()];  // none always runs after the same other one
      const Result<double> took = measure(plan);
      if (!took) return took.error();
      if (round > 0) ns[plan].push_back(*took);
    }
  }
  std::size_t best = *std::min_element(running.begin(), running.end(), by_median);
  const double first = median_of(ns[0]);
  if (first < median_of(ns[best]) * kClearGain) best = 0;
  const TunedPlan choice{plans[best], median_of(ns[best]), first, static_cast<std::uint32_t>(ns[best].size())};
  choices_[shape] = choice;
  return choice;
}

Result<> TileTuner::save(const std::string& path) const {
  std::ofstream file(path);
  for (const auto& [shape, choice] : choices_) {
    file << shape << '\t' << choice.plan << '\t' << choice.ns << '\t' << choice.first_ns << '\t' << choice.rounds
         << '\n';
  }
  file.close();
  if (!file) return unavailable("the tuner's choices could not be written to " + path);
  return ok();
}

Result<> TileTuner::load(const std::string& path) {
  std::ifstream file(path);
  if (!file) return unavailable("the tuner's choices could not be read from " + path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    std::string shape;
    TunedPlan choice;
    if (!std::getline(fields, shape, '\t') || !std::getline(fields, choice.plan, '\t') ||
        !(fields >> choice.ns >> choice.first_ns >> choice.rounds)) {
      return bad_input(path + ", line " + std::to_string(number) + ": not a choice of the tuner; delete the file");
    }
    choices_[shape] = choice;
  }
  return ok();
}

}  // namespace wic
