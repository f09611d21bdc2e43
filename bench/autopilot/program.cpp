#include "bench/autopilot/program.h"

#include <algorithm>

namespace wicprof::bench {

namespace {

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
double log_uniform(std::mt19937_64& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}
bool coin(std::mt19937_64& random) { return random() % 2 == 0; }

double gain_of(std::mt19937_64& random) { return log_uniform(random, 1.02, 3); }
double loss_of(std::mt19937_64& random) { return 1 / log_uniform(random, 1.02, 3); }

}  // namespace

MadeProgram::MadeProgram(std::uint64_t seed, TimeNs length) : random_(seed), length_(length) {
  kind_ = kProgramKinds[seed % kProgramKinds.size()];
  for (int i = 0; i < 10; ++i) random_();
  unit_ns_ = log_uniform(random_, 3e5, 5e7);
  spread_ = log_uniform(random_, 0.01, 0.3);
  slow_ = log_uniform(random_, 0.002, 0.05);
  slow_time_ = std::llround(log_uniform(random_, 1e7, 1e9));
  const bool equal = kind_ == ProgramKind::equal || (kind_ >= ProgramKind::heavy_tail && coin(random_));
  double ratio = equal ? 1 : gain_of(random_);
  if (kind_ == ProgramKind::loss || (!equal && kind_ >= ProgramKind::correlated && coin(random_)))
    ratio = loss_of(random_);
  if (kind_ == ProgramKind::drift) {
    drift_ = uniform(random_, -1, 1);
    if (coin(random_)) ratio = coin(random_) ? 1 : loss_of(random_);
  }
  regimes_.push_back({0, 1, 1 / ratio});
  if (kind_ == ProgramKind::heavy_tail || kind_ == ProgramKind::worse_tail) {
    often_ = log_uniform(random_, 0.005, 0.05);
    far_ = log_uniform(random_, 2, 10);
  }
  if (kind_ == ProgramKind::worse_tail) {
    often_ = log_uniform(random_, 0.015, 0.05);
    worse_ = log_uniform(random_, 1.1, 3) * ratio;
  }
  if (kind_ == ProgramKind::correlated) correlation_ = uniform(random_, 0.8, 0.99);
  if (kind_ == ProgramKind::bursts) {
    burst_ = std::llround(log_uniform(random_, 2e8, 2e10));
    quiet_ = std::llround(log_uniform(random_, 5e7, 2e10));
  }
  TimeNs from = 0;
  while (changes_sign() && (from += std::llround(log_uniform(random_, 2e10, 2e11))) < length) {
    Regime next = regimes_.back();
    next.from = from;
    const double wanted = next.polled > next.parked ? loss_of(random_) : gain_of(random_);
    if (kind_ == ProgramKind::parked_slower) {
      next.parked = next.polled / wanted;
    } else {
      next.polled = next.parked * wanted;
    }
    regimes_.push_back(next);
  }
}

const Regime& MadeProgram::regime(TimeNs at) const {
  const auto after = std::upper_bound(regimes_.begin(), regimes_.end(), at,
                                      [](TimeNs time, const Regime& regime) { return time < regime.from; });
  return *std::prev(after);
}

bool MadeProgram::is_equal() const {
  return worse_ == 1 && std::all_of(regimes_.begin(), regimes_.end(),
                                    [](const Regime& regime) { return regime.polled == regime.parked; });
}

double MadeProgram::level(TimeNs at) const {
  return unit_ns_ * std::exp(drift_ * static_cast<double>(at) / static_cast<double>(length_));
}

double MadeProgram::tail(Mode mode) const { return far_ * (mode == Mode::park ? worse_ : 1); }

double MadeProgram::expected(Mode mode, TimeNs at) const {
  const Regime& now = regime(at);
  return level(at) * (mode == Mode::poll ? now.polled : now.parked) * (1 + often_ * (tail(mode) - 1));
}

MadeProgram::Unit MadeProgram::next(Mode mode, TimeNs at) {
  Unit unit;
  if (quiet_ > 0 && at % (burst_ + quiet_) >= burst_) {
    unit.pause = burst_ + quiet_ - at % (burst_ + quiet_);
    at += unit.pause;
  }
  const double keeps = std::exp(-static_cast<double>(at - at_) / static_cast<double>(slow_time_));
  at_ = at;
  slow_now_ = slow_now_ * keeps + slow_ * std::sqrt(1 - keeps * keeps) * normal_(random_);
  unit_now_ = correlation_ * unit_now_ + std::sqrt(1 - correlation_ * correlation_) * spread_ * normal_(random_);
  const Regime& now = regime(at);
  double length = level(at) * (mode == Mode::poll ? now.polled : now.parked);
  length *= std::exp(slow_now_ + unit_now_ - (slow_ * slow_ + spread_ * spread_) / 2);
  if (often_ > 0 && uniform(random_, 0, 1) < often_) length *= tail(mode);
  unit.length = std::max<TimeNs>(1000, std::llround(length));
  return unit;
}

}  // namespace wicprof::bench
