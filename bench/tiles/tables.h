// The tables of bench_tiles. Each adds its rows to the claim. Errors: no memory; a kernel that failed; wrong results.
#pragma once

#include <cstdint>

#include "bench/tiles/bench.h"
#include "bench/tiles/shapes.h"

namespace wicprof::bench {

/// A network's kernels in all ways.
Result<> add_network(TilesBench& bench, const TileShape& shape);
/// Two vector kernels, of `columns` x 16 tiles on a GPU.
Result<> add_vectors(TilesBench& bench, std::uint32_t columns);
/// The time of a kernel of one block per SM beside chains that run all the time.
Result<> add_neighbours(TilesBench& bench);
/// Random chains beside a kernel that holds SMs.
Result<> add_launches(TilesBench& bench);
/// Chains that break the rules.
Result<> add_faults(TilesBench& bench);

}  // namespace wicprof::bench
