#include "c_srs/app.h"

#include <algorithm>
#include <thread>

#include "c_srs/pipeline.h"

namespace sample {

namespace {

wic::Result<std::shared_ptr<const srs::TileSet>> tiles_of(const std::string& folder, const srs::BatchShape& batch) {
  if (!folder.empty()) return srs::TileSet::load(folder, batch.edge);
  return srs::TileSet::generate(srs::tiles_for_batches_of(batch.tiles), batch.edge);
}

wic::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& app) {
  const auto choice = [](std::uint32_t given, std::uint32_t otherwise) { return given != 0 ? given : otherwise; };
  srs::PipelineOptions options;
  options.name = app.prefix + "srs.tiles";
  options.way = app.way;
  options.rival = app.rival;
  options.timeout_ns = app.timeout_ns;
  options.batches = app.number("batches");
  options.threads = choice(app.number("threads"), std::clamp(std::thread::hardware_concurrency() / 2, 1u, 8u));
  options.station.batch.edge = choice(app.size, app.on_gpu ? 128 : 24);
  options.station.batch.tiles = choice(app.number("tiles"), app.on_gpu ? 256 : 8);
  options.station.blocks = app.blocks;
  options.station.threads = choice(app.block_size, app.on_gpu ? 256 : 64);
  if (options.station.batch.edge > srs::kMaxEdge) {
    return wic::bad_input("--size is at most " + std::to_string(srs::kMaxEdge) + " pixels per tile edge");
  }
  if (options.station.threads > srs::Receive::kMaxThreads) {
    return wic::bad_input("--block-size is at most " + std::to_string(srs::Receive::kMaxThreads));
  }
  auto tiles = tiles_of(app.more.at("input"), options.station.batch);
  if (!tiles) return tiles.error();
  auto pipeline = srs::Pipeline::make(runtime, *std::move(tiles), options);
  if (!pipeline) return pipeline.error();
  return std::unique_ptr<App>(*std::move(pipeline));
}

}  // namespace

const AppInfo& c_srs_info() {
  static const AppInfo info{
      "c_srs",
      "satellite images: the CPU reads and corrects tiles, GPUs filter them and make pictures",
      "pixels per tile edge, at most 1024 (default: 24, on GPUs 128)",
      "simt:1",
      1,
      {{"tiles", "tiles per batch; 0 = 8, on GPUs 256", "0", 0, 65'536},
       {"batches", "batches per step", "4", 1, srs::Pipeline::kMaxBatches},
       {"threads", "CPU threads; 0 = half of the cores, at most 8", "0", 0, 256},
       {"input", "a folder of PNG images to cut into tiles (default: a generated landscape)", "", 0, 0}},
      make};
  return info;
}

}  // namespace sample
