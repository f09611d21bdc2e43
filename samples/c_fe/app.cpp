#include "c_fe/app.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "c_fe/assemble.h"
#include "krylov/choice.h"
#include "krylov/krylov_app.h"

namespace sample {
namespace {

constexpr double kTolerance = 1e-8;
/// Allowed distance of the solution from the linear function, whose values range from -2 to 3.5. Accounts for the
/// residual at which the solve stops.
constexpr double kNodeTolerance = 1e-5;

std::string compare(const fe::Mesh& mesh, const std::vector<double>& x) {
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    const double right = fe::solution(mesh.place[mesh.free_nodes[i]]);
    if (std::abs(x[i] - right) <= kNodeTolerance) continue;
    return fmt::format("at node {} the solution is {} and should be {}", i, x[i], right);
  }
  return {};
}

wic::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(runtime.device_count()) + 1;
  const std::uint32_t n = options.size != 0 ? options.size : options.on_gpu ? 64 : 8;
  if (n < 2 || n > 250) return wic::bad_input(fmt::format("--size {}: 2 to 250 elements along each side", n));
  fe::Mesh mesh;
  const krylov::KrylovChoice choice = krylov::krylov_choice(options, ranks, "fe");
  mesh = fe::make_mesh(n, choice.seed);
  const std::uint32_t count = mesh.elements.count();
  if (auto fit = krylov::check_ranks(ranks, count, "elements"); !fit) return fit.error();

  krylov::Problem problem;
  problem.b.resize(mesh.unknowns());
  problem.matrix = fe::assemble(mesh, {0, count}, &problem.b).matrix;
  const std::vector<std::uint32_t> begin = krylov::shares_of(count, ranks, choice.cpu_percent);
  std::vector<krylov::Part> parts;
  for (std::uint32_t r = 0; r < ranks; ++r) parts.push_back(fe::assemble(mesh, {begin[r], begin[r + 1]}));
  problem.plans = krylov::sum_plans(parts, mesh.unknowns());
  problem.shape = fmt::format("{}^3 elements, {} nodes", n, mesh.unknowns());
  problem.check = [mesh = std::move(mesh)](const std::vector<double>& x) { return compare(mesh, x); };
  return krylov::KrylovApp::make(runtime, std::move(problem), {kTolerance, 2'000}, choice.cluster);
}

}  // namespace

const AppInfo& c_fe_info() {
  static const AppInfo info{
      "c_fe",
      "Laplace's equation by finite elements on an unstructured mesh, split between the CPU and devices",
      "elements along each side of the cube, 2 to 250 (default: 8, on GPUs 64)",
      "simt:1",
      1,
      krylov::krylov_options(),
      &make};
  return info;
}

}  // namespace sample
