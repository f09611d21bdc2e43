#include "c_cg/app.h"

#include <string>

#include "c_cg/stencil_matrix.h"
#include "krylov/choice.h"
#include "krylov/krylov_app.h"

namespace sample {
namespace {

wic::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(runtime.device_count()) + 1;
  const std::uint32_t n = options.size != 0 ? options.size : options.on_gpu ? 96 : 8;
  if (n > 300) return wic::bad_input("--size " + std::to_string(n) + ": at most 300 points along each side");
  const krylov::Grid grid{n, n, n};
  if (auto fit = krylov::check_ranks(ranks, grid.count(), "rows"); !fit) return fit.error();
  const krylov::KrylovChoice choice = krylov::krylov_choice(options, ranks, "cg");

  cg::System system = cg::stencil_system(grid, choice.seed);
  krylov::Problem problem;
  problem.plans = krylov::halo_plans(system.matrix, krylov::shares_of(grid.count(), ranks, choice.cpu_percent));
  problem.matrix = std::move(system.matrix);
  problem.b = std::move(system.b);
  problem.shape = std::to_string(n) + "^3 rows";
  return krylov::KrylovApp::make(runtime, std::move(problem), {1e-8, 2'000}, choice.cluster);
}

}  // namespace

const AppInfo& c_cg_info() {
  static const AppInfo info{
      "c_cg",
      "conjugate gradients on a 27-point matrix in unstructured order, split between the CPU and devices",
      "points along each side of the grid, 2 to 300 (default: 8, on GPUs 96)",
      "simt:1",
      1,
      krylov::krylov_options(),
      &make};
  return info;
}

}  // namespace sample
