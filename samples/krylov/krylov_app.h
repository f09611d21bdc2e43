// The common part of c_cg and c_fe: a program that repeatedly solves A x = b on the CPU and devices. A step is one
// solve from x = 0 until the residual is small enough.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/app.h"
#include "krylov/cluster.h"

namespace sample::krylov {

/// The system to solve.
struct Problem {
  Csr matrix;  ///< the whole matrix, for the references
  std::vector<double> b;
  std::vector<RankPlan> plans;
  std::string shape;  ///< for the printed line, without the ranks
  /// An additional check of the solution; returns a description of the fault, or an empty string.
  std::function<std::string(const std::vector<double>& x)> check = {};
};

struct SolveOptions {
  double tolerance = 1e-8;  ///< of |b - A x| / |b|
  std::uint32_t max_iterations = 2'000;
};

class KrylovApp : public App {
 public:
  /// The runtime must outlive the app.
  static wic::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, Problem problem, const SolveOptions& solve,
                                                const ClusterOptions& options);

  wic::Result<> step(std::uint32_t step) override;
  wic::Result<> check() override;
  Traffic traffic() const override;
  std::string shape() const override;

 private:
  KrylovApp(Problem problem, const SolveOptions& solve);
  wic::Result<> check_residual(const std::vector<double>& x) const;
  wic::Result<> check_method() const;
  wic::Result<> check_bits();
  wic::Result<std::vector<double>> whole_x();

  const Problem problem_;
  const SolveOptions solve_;
  double goal_;  ///< for the square of the residual
  std::unique_ptr<Cluster> cluster_;
  std::vector<HistoryEntry> history_;  ///< of the first solve; all solves have the same history
  std::uint32_t solves_ = 0;
};

}  // namespace sample::krylov
