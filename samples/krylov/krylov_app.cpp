#include "krylov/krylov_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krylov/message.h"
#include "krylov/replay.h"
#include "krylov/textbook.h"

namespace sample::krylov {
namespace {

using wic::failed;
using wic::ok;
using wic::Result;

/// Limit on multiplications by a reference, so that a check takes seconds.
constexpr double kMaxProducts = 2e9;

std::size_t affordable_iterations(const Csr& matrix) {
  return static_cast<std::size_t>(std::max(2.0, kMaxProducts / static_cast<double>(matrix.values.size())));
}

/// Methods that differ only in rounding drift apart with more iterations and a smaller residual. check_method()
/// compares residuals until they have fallen by kComparedDecline, with relative tolerance kMethodTolerance. Not
/// calibrated.
constexpr double kComparedDecline = 1e-10;  // of (r, r)
constexpr double kMethodTolerance = 1e-4;
/// Allowed excess of the recomputed residual's square, for the different order of summation. Not calibrated.
constexpr double kSummationSlack = 1.0001;

}  // namespace

KrylovApp::KrylovApp(Problem problem, const SolveOptions& solve)
    : problem_(std::move(problem)),
      solve_(solve),
      goal_(solve.tolerance * solve.tolerance * dot(problem_.b, problem_.b)) {}

Result<std::unique_ptr<App>> KrylovApp::make(wic::Runtime& runtime, Problem problem, const SolveOptions& solve,
                                             const ClusterOptions& options) {
  std::unique_ptr<KrylovApp> app(new KrylovApp(std::move(problem), solve));
  auto cluster = Cluster::make(runtime, app->problem_.plans, app->problem_.b, options);
  if (!cluster) return cluster.error();
  app->cluster_ = *std::move(cluster);
  return Result<std::unique_ptr<App>>(std::move(app));
}

Result<> KrylovApp::step(std::uint32_t step) {
  auto history = cluster_->solve(Schedule(goal_, solve_.max_iterations));
  if (!history) return history.error();
  ++solves_;
  if (solves_ == 1) {
    history_ = *std::move(history);
    return ok();
  }
  const auto differs = std::mismatch(history_.begin(), history_.end(), history->begin(), history->end()).first;
  if (differs == history_.end() && history->size() == history_.size()) return ok();
  return failed(
      fmt::format("solve {} differs from the first from iteration {} on", step, differs - history_.begin() + 1));
}

Result<> KrylovApp::check() {
  if (solves_ == 0) return ok();
  const auto x = whole_x();
  if (!x) return x.error();
  if (auto right = check_residual(*x); !right) return right;
  if (auto right = check_method(); !right) return right;
  if (auto right = check_bits(); !right) return right;
  if (!problem_.check) return ok();
  const std::string wrong = problem_.check(*x);
  return wrong.empty() ? ok() : Result<>(failed(wrong));
}

// Computed from scratch, without the ranks' matrices and residuals.
Result<> KrylovApp::check_residual(const std::vector<double>& x) const {
  const double square = residual_of(problem_.matrix, problem_.b, x);
  const double max_square = goal_ * kSummationSlack;
  if (square <= max_square) return ok();
  return failed(fmt::format("the solution's residual is {:.3g} of b's size and should be at most {:.3g}",
                            std::sqrt(square / dot(problem_.b, problem_.b)), solve_.tolerance));
}

Result<> KrylovApp::check_method() const {
  const std::vector<double> right =
      textbook_residuals(problem_.matrix, problem_.b, affordable_iterations(problem_.matrix), goal_);
  std::size_t k = 0;
  for (const HistoryEntry& entry : history_) {
    if (entry.kind != Kind::step || k == right.size() || right[k] < kComparedDecline * right[0]) continue;
    if (!(std::abs(entry.dots.gamma - right[k]) <= kMethodTolerance * right[k])) {
      return failed(fmt::format("in step {} of the conjugate gradients the residual's square is {} and should be {}",
                                k + 1, entry.dots.gamma, right[k]));
    }
    ++k;
  }
  return ok();
}

// Compares every bit. For a long solve on a large matrix only the first iterations are compared, and x is not.
Result<> KrylovApp::check_bits() {
  Replay replay(problem_.plans, problem_.b);
  Schedule schedule(goal_, solve_.max_iterations);
  const std::size_t count = std::min(history_.size(), affordable_iterations(problem_.matrix));
  for (std::size_t i = 0; i < count; ++i) {
    const HistoryEntry right{schedule.kind(), replay.iterate(schedule.kind(), schedule.first())};
    if (!(right == history_[i])) {
      return failed(fmt::format("in iteration {} the dot products are {} and {} and should be {} and {}", i + 1,
                                history_[i].dots.gamma, history_[i].dots.delta, right.dots.gamma, right.dots.delta));
    }
    schedule.next(right.dots);
  }
  if (count < history_.size()) return ok();
  for (std::size_t rank = 0; rank < problem_.plans.size(); ++rank) {
    const auto x = cluster_->read_x(rank);
    if (!x) return x.error();
    const auto [wrong, right] = std::mismatch(x->begin(), x->end(), replay.x(rank).begin());
    if (wrong == x->end()) continue;
    const auto row = static_cast<std::size_t>(wrong - x->begin());
    return failed(fmt::format("rank {}, row {} (number {} of the whole) of the solution is {} and should be {}", rank,
                              row, problem_.plans[rank].global[row], *wrong, *right));
  }
  return ok();
}

Result<std::vector<double>> KrylovApp::whole_x() {
  std::vector<double> whole(problem_.b.size());
  for (std::size_t rank = 0; rank < problem_.plans.size(); ++rank) {
    const auto x = cluster_->read_x(rank);
    if (!x) return x.error();
    for (std::size_t i = 0; i < x->size(); ++i) whole[problem_.plans[rank].global[i]] = (*x)[i];
  }
  return whole;
}

Traffic KrylovApp::traffic() const {
  Traffic traffic;
  for (const RankPlan& plan : problem_.plans) {
    for (const Outgoing& out : plan.outgoing) {
      traffic.messages += 1;
      traffic.bytes += message_bytes(static_cast<std::uint32_t>(out.from.size()));
    }
  }
  const auto iterations = static_cast<double>(history_.size());
  return {traffic.messages * iterations, traffic.bytes * iterations};
}

std::string KrylovApp::shape() const {
  const RankPlan& host = problem_.plans[0];
  return fmt::format("{}, {} of them the CPU's, {} ranks, {} iterations per solve", problem_.shape, host.rows(),
                     problem_.plans.size(), history_.size());
}

}  // namespace sample::krylov
