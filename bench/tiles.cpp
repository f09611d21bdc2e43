// Dependent kernels one after the other, by dependent launch, and tile by tile (wic/tiles.h), at the shapes of the
// cuSync paper: parts of GPT-3 and ResNet-38, and pairs of vector kernels. Per shape, in one run and in turns: the
// fastest plan in stream order, the fastest one by dependent launch, the fastest one tile by tile, the same with parked
// tiles, that plan's kernels in stream order, the tuner's choice, and cuBLAS's products in stream order.
//
// Tables: `shapes` (the networks; `--shapes mlp_7` selects those that begin so), `vector`, `neighbours` (a kernel
// beside polling and parked tiles), `launches` (random chains beside a kernel that holds SMs), `faults` (chains that
// break the rules). What the gain of tiles should be is predicted from the kernels' waves and times in stream order
// (analyzer/work/tile_gain.h).
#include <cstdio>
#include <string>
#include <vector>

#include "bench/tiles/bench.h"
#include "bench/tiles/shapes.h"
#include "bench/tiles/tables.h"

namespace {

using namespace wicprof::bench;
using wicprof::Result;

Result<> run(TilesBench& bench) {
  if (auto r = bench.prepare(); !r) return r;
  const auto wanted = [&](const char* table) {
    return ("," + bench.options.only + ",").find("," + std::string(table) + ",") != std::string::npos;
  };
  if (wanted("shapes")) {
    for (const TileShape& shape : tile_shapes(!bench.gpu)) {
      if (!shape.name.starts_with(bench.options.shapes)) continue;
      if (auto r = add_network(bench, shape); !r) {
        std::fprintf(stderr, "tiles: %s\n", r.error().message.c_str());
        bench.claim.add({shape.name + "_failed", {{"error", r.error().message}}, 0, "", "1: nothing failed", 0, 1.0});
      }
    }
  }
  if (wanted("vector")) {
    for (const std::uint32_t columns : bench.gpu ? std::vector{25u, 17u, 13u, 9u} : std::vector{5u}) {
      if (auto r = add_vectors(bench, columns); !r) return r;
    }
  }
  bench.totals.add_to(bench.claim);
  if (wanted("neighbours")) {
    if (auto r = add_neighbours(bench); !r) return r;
  }
  if (wanted("launches")) {
    if (auto r = add_launches(bench); !r) return r;
  }
  if (wanted("faults")) {
    if (auto r = add_faults(bench); !r) return r;
  }
  return bench.tuner.save(bench.options.choices);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("tiles", "dependent kernels in stream order and tile by tile", argc, argv);
  TilesOptions options;
  options.devices = claim.option("devices", std::string("simt:1"));
  options.only = claim.option("only", std::string("shapes,vector,neighbours,launches,faults"));
  options.shapes = claim.option("shapes", std::string(""));
  options.rounds = claim.option("rounds", std::int64_t{15});
  options.launches = claim.option("launches", std::int64_t{1000});
  options.launch_seconds = claim.option("launch-seconds", std::int64_t{60});
  options.faults = claim.option("faults", std::int64_t{8});
  options.cublas = claim.option("cublas", std::string("libcublas.so.13"));
  options.choices = claim.option("choices", std::string("/dev/null"));
  TilesBench bench(options, claim);
  const Result<> ran = run(bench);
  if (!ran) {
    std::fprintf(stderr, "tiles: %s\n", ran.error().message.c_str());
    // What was measured before the failure is written all the same.
    claim.add({"failed", {{"error", ran.error().message}}, 0, "", "1: nothing failed", 0, 1.0});
  }
  return claim.write();
}
