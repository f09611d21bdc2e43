// A program that solves A x = b with the CPU and devices, again and again: what c_cg and c_fe have in common. A step is
// a solve from x = 0 until the residual is small enough.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/app.h"
#include "krylov/cluster.h"

namespace sample::krylov {

/// What is solved.
struct Problem {
  Csr matrix;  ///< as a whole, for the references
  std::vector<double> b;
  std::vector<RankPlan> plans;
  std::string shape;  ///< for the printed line, without the ranks
  /// What the program knows of the solution beyond A x = b; empty, or what is wrong with it.
  std::function<std::string(const std::vector<double>& x)> check = {};
};

struct SolveOptions {
  double tolerance = 1e-8;  ///< of |b - A x| / |b|
  std::uint32_t max_iterations = 2'000;
};

class KrylovApp : public App {
 public:
  /// The runtime must outlive it.
  static wicprof::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, Problem problem, const SolveOptions& solve,
                                                    const ClusterOptions& options);

  wicprof::Result<> step(std::uint32_t step) override;
  wicprof::Result<> check() override;
  Traffic traffic() const override;
  std::string shape() const override;

 private:
  KrylovApp(Problem problem, const SolveOptions& solve);
  wicprof::Result<> check_residual(const std::vector<double>& x) const;
  wicprof::Result<> check_method() const;
  wicprof::Result<> check_bits();
  wicprof::Result<std::vector<double>> whole_x();

  const Problem problem_;
  const SolveOptions solve_;
  double goal_;  ///< of the residual's square
  std::unique_ptr<Cluster> cluster_;
  std::vector<HistoryEntry> history_;  ///< of the first solve; all are alike
  std::uint32_t solves_ = 0;
};

}  // namespace sample::krylov
