// The parts of c_srs: PNG files, the tile set, the arithmetic of the pictures, and the detection of wrong messages.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "c_srs/filter.h"
#include "c_srs/pipeline.h"
#include "c_srs/radiometry.h"
#include "c_srs/reference.h"
#include "c_srs/resample.h"
#include "c_srs/scenery.h"
#include "c_srs/tile_set.h"
#include "tests/thread_sanitizer.h"

namespace sample::srs {
namespace {

namespace fs = std::filesystem;

std::vector<Pixel> noise(std::size_t count) {
  std::vector<Pixel> pixels(count);
  std::uint32_t state = 7;
  for (Pixel& pixel : pixels) pixel = static_cast<Pixel>((state = state * 1664525u + 1013904223u) >> 16);
  return pixels;
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "c_srs_test.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  void write(const char* name, std::span<const std::byte> data) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  }

 private:
  fs::path path_;
};

// 3 x 2 pixels, 8 bits: red, green, blue; black, grey 128, white.
std::vector<std::byte> colour_png() {
  constexpr unsigned char kPng[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
      0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0x12, 0x16, 0xf1,
      0x4d, 0x00, 0x00, 0x00, 0x16, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0xc0,
      0x00, 0xc3, 0x0c, 0x0d, 0x0d, 0x0d, 0xff, 0xff, 0xff, 0x07, 0x00, 0x3a, 0x61, 0x07, 0x7b, 0x02,
      0x9f, 0xdf, 0xf4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
  };
  const auto* const begin = reinterpret_cast<const std::byte*>(kPng);
  return {begin, begin + sizeof kPng};
}

TEST(SrsPng, GreyValuesSurviveARoundTrip) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {5u, 3u}, {64u, 64u}}) {
    const std::vector<Pixel> pixels = noise(std::size_t{width} * height);
    const auto png = encode_png(width, height, pixels);
    ASSERT_TRUE(png) << png.error().message;
    const auto image = decode_png(*png, "it");
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->width, width);
    EXPECT_EQ(image->height, height);
    EXPECT_EQ(image->pixels, pixels);
  }
}

TEST(SrsPng, ColoursBecomeTheirLuminance) {
  const auto image = decode_png(colour_png(), "colours");
  ASSERT_TRUE(image) << image.error().message;
  ASSERT_EQ(image->pixels.size(), 6u);
  const auto& p = image->pixels;
  EXPECT_LT(p[2], p[0]);  // blue is darker than red, red than green
  EXPECT_LT(p[0], p[1]);
  EXPECT_EQ(p[3], 0);
  EXPECT_NEAR(p[4], 128 * 257, 257);
  EXPECT_EQ(p[5], 65535);
}

TEST(SrsPng, DamagedFilesAreRefused) {
  const auto png = encode_png(8, 8, noise(64));
  ASSERT_TRUE(png);
  std::vector<std::byte> damaged = *png;
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{4}, std::size_t{20}, png->size() / 2, png->size() - 13}) {
    const auto image = decode_png(std::span(*png).first(length), "short.png");
    ASSERT_FALSE(image) << length;
    EXPECT_NE(image.error().message.find("short.png"), std::string::npos);
  }
  damaged[60] ^= std::byte{1};
  EXPECT_FALSE(decode_png(damaged, "flipped.png"));
  std::vector<Pixel> pixels(64);
  EXPECT_FALSE(decode_png_into(*png, 4, 16, pixels, "other size"));
  EXPECT_TRUE(decode_png_into(*png, 8, 8, pixels, "its size"));
}

TEST(SrsTileSet, LargeImagesAreCutAndPadded) {
  const Folder folder;
  const std::vector<Pixel> pixels = noise(5 * 3);
  folder.write("b.png", *encode_png(5, 3, pixels));
  folder.write("a.PNG", *encode_png(1, 1, noise(1)));
  folder.write("notes.txt", {});
  const auto set = TileSet::load(folder.path(), 2);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ((*set)->size(), 1u + 3 * 2);
  std::vector<Pixel> tile(4);
  ASSERT_TRUE((*set)->decode(0, tile));
  EXPECT_EQ(tile, std::vector<Pixel>(4, noise(1)[0]));
  ASSERT_TRUE((*set)->decode(2, tile));  // b.png, upper row, second tile
  EXPECT_EQ(tile, (std::vector<Pixel>{pixels[2], pixels[3], pixels[7], pixels[8]}));
  ASSERT_TRUE((*set)->decode(6, tile));  // its lower right corner
  EXPECT_EQ(tile, std::vector<Pixel>(4, pixels[14]));
}

TEST(SrsTileSet, NamesTheFaultOfAFolder) {
  const Folder folder;
  const auto none = TileSet::load(folder / "missing", 8);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("missing"), std::string::npos);
  EXPECT_FALSE(TileSet::load(folder.path(), 8));
  folder.write("broken.png", std::as_bytes(std::span("no image")));
  const auto broken = TileSet::load(folder.path(), 8);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("broken.png"), std::string::npos);
}

TEST(SrsTileSet, GeneratedTilesAreReproducibleAndDiffer) {
  const auto set = TileSet::generate(4, 16), again = TileSet::generate(4, 16);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_TRUE(again);
  std::set<std::vector<Pixel>> different;
  for (std::uint32_t t = 0; t < 4; ++t) {
    std::vector<Pixel> tile(256), other(256);
    ASSERT_TRUE((*set)->decode(t, tile));
    ASSERT_TRUE((*again)->decode(t, other));
    EXPECT_EQ(tile, other);
    EXPECT_EQ(tile, landscape(t, 16).pixels);
    different.insert(tile);
  }
  EXPECT_EQ(different.size(), 4u);
}

// Batches that use, or used before, the same message buffers start with different tiles.
TEST(SrsTileSet, ABatchDiffersFromTheTwoBeforeIt) {
  for (std::uint32_t batch = 1; batch <= 100; ++batch) {
    const std::uint32_t count = tiles_for_batches_of(batch);
    EXPECT_NE(batch % count, 0u) << batch;
    EXPECT_NE(2 * batch % count, 0u) << batch;
  }
}

TEST(SrsRadiometry, ValuesStayInRangeAndColumnsDiffer) {
  const Calibration calibration(100);
  std::vector<Pixel> out(200);
  calibration.correct(std::vector<Pixel>(200, 0), out.data());
  EXPECT_EQ(out, std::vector<Pixel>(200, 0));
  calibration.correct(std::vector<Pixel>(200, 30000), out.data());
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 100, out.begin() + 100));  // both rows are equal
  EXPECT_GT(std::set<Pixel>(out.begin(), out.end()).size(), 50u);
  for (const Pixel value : out) EXPECT_NEAR(value, 30000, 30000 * 0.03 + 512 * 1.03);
  calibration.correct(std::vector<Pixel>(200, 65535), out.data());
  EXPECT_EQ(*std::max_element(out.begin(), out.end()), 65535);
}

// A single bright pixel spreads by the weights 1 4 6 4 1 along both axes.
TEST(SrsFilter, AnImpulseSpreadsByTheWeights) {
  constexpr std::uint32_t kEdge = 7, kWeights[5] = {1, 4, 6, 4, 1};
  std::vector<Pixel> tile(kEdge * kEdge);
  tile[3 * kEdge + 3] = 256;
  for (std::uint32_t y = 0; y < kEdge; ++y) {
    for (std::uint32_t x = 0; x < kEdge; ++x) {
      const bool near = x >= 1 && x <= 5 && y >= 1 && y <= 5;
      EXPECT_EQ(filtered(tile.data(), kEdge, x, y), near ? kWeights[x - 1] * kWeights[y - 1] : 0u) << x << ' ' << y;
    }
  }
}

TEST(SrsFilter, TheKernelsFilterMatchesTheReference) {
  for (const std::uint32_t edge : {1u, 2u, 3u, 4u, 9u, 32u}) {
    std::vector<Pixel> tile = noise(edge * edge);
    tile[0] = 65535;
    std::vector<Pixel> mine(tile.size());
    for (std::uint32_t i = 0; i < tile.size(); ++i) mine[i] = filtered(tile.data(), edge, i % edge, i / edge);
    EXPECT_EQ(mine, smoothed(tile, edge)) << edge;
    EXPECT_EQ(smoothed(std::vector<Pixel>(edge * edge, 65535), edge), std::vector<Pixel>(edge * edge, 65535));
  }
}

TEST(SrsResample, SmallPicturesByHand) {
  const std::vector<Pixel> tile = {0,   300, 600,  //
                                   300, 600, 900,  //
                                   600, 900, 1200};
  // Two pixels over three: their centres are at a quarter and three quarters between source pixels.
  const Target map{Resampling::bilinear, 2, 64};
  EXPECT_EQ(resampled(tile.data(), 3, map, 0, 0), 150u);
  EXPECT_EQ(resampled(tile.data(), 3, map, 1, 0), 600u);
  EXPECT_EQ(resampled(tile.data(), 3, map, 1, 1), 1050u);
  EXPECT_EQ(resampled(tile.data(), 3, {Resampling::area, 1, 16}, 0, 0), 600u);
  EXPECT_EQ(resampled(tile.data(), 3, {Resampling::none, 3, 256}, 2, 1), 900u);
}

TEST(SrsResample, AreasCoverEveryPixelOnce) {
  for (std::uint32_t edge = 1; edge < 40; ++edge) {
    const BatchShape shape{edge, 1};
    const Target target = shape.target(2);
    std::uint32_t covered = 0;
    for (std::uint32_t x = 0; x < target.edge; ++x) covered += (x + 1) * edge / target.edge - x * edge / target.edge;
    EXPECT_EQ(covered, edge);
    const std::vector<Pixel> white(edge * edge, 65535);
    for (std::uint32_t t = 0; t < kTargets; ++t) {
      const Target any = shape.target(t);
      ASSERT_GT(any.edge, 0u);
      EXPECT_EQ(resampled(white.data(), edge, any, any.edge - 1, any.edge - 1), 65535u) << edge << " target " << t;
    }
  }
}

TEST(SrsProduct, TheStretchExcludesTheEnds) {
  std::vector<std::uint32_t> histogram(kBins);
  histogram[0] = 1;
  histogram[10] = 49;
  histogram[20] = 49;
  histogram[255] = 1;
  const Stretch range = stretch_of(histogram.data(), 100);  // two of a hundred values may be cut at each end
  EXPECT_EQ(range.low, 10u * 256);
  EXPECT_EQ(range.high, 20u * 256 + 255);
  EXPECT_EQ(range.shade(0, 16), 0);
  EXPECT_EQ(range.shade(range.low, 16), 0);
  EXPECT_EQ(range.shade((range.low + range.high) / 2 + 1, 16), 8);
  EXPECT_EQ(range.shade(range.high, 16), 15);
  EXPECT_EQ(range.shade(65535, 256), 255);
  std::fill(histogram.begin(), histogram.end(), 0);
  histogram[255] = 4;
  EXPECT_EQ(stretch_of(histogram.data(), 4).low, 255u * 256);
  histogram[255] = 0;
  histogram[0] = 4;
  EXPECT_EQ(stretch_of(histogram.data(), 4).high, 255u);
}

TEST(SrsProduct, PicturesAreConsecutive) {
  for (const std::uint32_t edge : {1u, 2u, 5u, 128u}) {
    const BatchShape shape{edge, 3};
    std::uint32_t begin = 0, rows = 0;
    for (std::uint32_t t = 0; t < kTargets; ++t) {
      EXPECT_EQ(shape.product_begin(t), begin);
      begin += shape.target(t).edge * shape.target(t).edge;
      rows += shape.target(t).edge;
    }
    EXPECT_EQ(shape.product_pixels(), begin);
    EXPECT_EQ(shape.product_rows(), rows);
  }
}

TEST(SrsProduct, TheDigestDistinguishesPositionsAndShades) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t place = 0; place < 64; ++place) {
    for (int shade = 0; shade < 256; ++shade) seen.insert(digest_of(place, static_cast<Shade>(shade)));
  }
  EXPECT_EQ(seen.size(), 64u * 256);
}

// One tile of four equal pixels: after the correction the filter changes nothing where all columns are equal, and every
// target's picture has a single shade, the brightest or the darkest.
TEST(SrsReference, ATinyBatchByHand) {
  const Folder folder;
  const std::vector<Pixel> dark(1, 2000), bright(1, 50000);
  folder.write("0.png", *encode_png(1, 1, dark));
  folder.write("1.png", *encode_png(1, 1, bright));
  const auto set = TileSet::load(folder.path(), 1);
  ASSERT_TRUE(set);
  Reference reference(*set, BatchShape{1, 2});
  const auto shades = reference.products(0, 1);
  ASSERT_TRUE(shades);
  EXPECT_EQ(*shades, (std::vector<Shade>{0, 0, 0, 255, 63, 15}));
  // Another station starts one batch later, which here contains the same tiles.
  EXPECT_EQ(*reference.digest(1, 1), *reference.digest(0, 1));
  std::vector<Shade> wrong = *shades;
  EXPECT_EQ(*reference.difference(0, 1, wrong), std::nullopt);
  wrong[4] = 62;
  const auto difference = reference.difference(0, 1, wrong);
  ASSERT_TRUE(difference);
  ASSERT_TRUE(*difference);
  EXPECT_EQ(**difference, "tile 1 for target 1, pixel (0, 0) has shade 62, not 63");
}

// The whole pipeline on the CPU device.

PipelineOptions small(std::uint32_t edge, std::uint32_t tiles) {
  PipelineOptions options;
  options.name = "srs.tiles";
  options.station.batch = {edge, tiles};
  options.station.threads = 32;
  options.batches = 3;
  options.timeout_ns = 60'000'000'000;
  return options;
}

struct Running {
  std::unique_ptr<wic::Runtime> runtime;
  std::shared_ptr<const TileSet> tiles;
  std::unique_ptr<Pipeline> pipeline;
};

Running start(const PipelineOptions& options, const std::string& devices = "simt:1") {
  wic::RuntimeOptions of_runtime;
  of_runtime.devices = devices;
  of_runtime.mode = options.way == wic::Way::park ? wicprof::Mode::park : wicprof::Mode::poll;
  Running running;
  running.runtime = *wic::Runtime::create(of_runtime);
  const BatchShape& batch = options.station.batch;
  running.tiles = *TileSet::generate(tiles_for_batches_of(batch.tiles), batch.edge);
  auto pipeline = Pipeline::make(*running.runtime, running.tiles, options);
  if (pipeline) running.pipeline = *std::move(pipeline);
  return running;
}

TEST(SrsPipeline, EveryWayMatchesTheReference) {
  for (const wic::Way way : {wic::Way::naive, wic::Way::poll, wic::Way::park}) {
    PipelineOptions options = small(9, 3);
    options.way = way;
    if (wicprof::kThreadSanitizer) options.station.blocks = 4;
    const Running running = start(options);
    ASSERT_NE(running.pipeline, nullptr);
    for (std::uint32_t step = 1; step <= 3; ++step) ASSERT_TRUE(running.pipeline->step(step));
    const auto checked = running.pipeline->check();
    EXPECT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(running.pipeline->traffic().messages, 9);
    EXPECT_EQ(running.pipeline->traffic().bytes, 9 * 9 * 9 * 2);
  }
}

TEST(SrsPipeline, AwkwardSizes) {
  struct Case {
    std::uint32_t edge, tiles, blocks, threads;
  };
  for (const Case& c : {Case{1, 1, 1, 32}, {2, 5, 1, 64}, {33, 1, 3, 32}, {5, 2, 50, 32}, {7, 33, 9, 96}}) {
    PipelineOptions options = small(c.edge, c.tiles);
    options.station.blocks = c.blocks;
    options.station.threads = c.threads;
    const Running running = start(options);
    ASSERT_NE(running.pipeline, nullptr);
    for (std::uint32_t step = 1; step <= 2; ++step) ASSERT_TRUE(running.pipeline->step(step));
    const auto checked = running.pipeline->check();
    EXPECT_TRUE(checked) << c.edge << ' ' << c.tiles << ' ' << c.blocks << ": " << checked.error().message;
  }
}

// The guarantee of tiles_for_batches_of() also holds with several stations.
TEST(SrsPipeline, SeveralStationsGetSeparateStreams) {
  const Running running = start(small(8, 2), "simt:2");
  ASSERT_NE(running.pipeline, nullptr);
  EXPECT_NE(tile_in_stream(*running.tiles, {8, 2}, 0, 1, 0), tile_in_stream(*running.tiles, {8, 2}, 1, 1, 0));
  ASSERT_TRUE(running.pipeline->step(1));
  const auto checked = running.pipeline->check();
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(running.pipeline->traffic().messages, 12);
}

TEST(SrsPipeline, TheStreamHasNoGapsWithinAPass) {
  const BatchShape shape{128, 256};
  std::uint64_t end = 0;
  std::uint32_t batch = 1;
  for (; place_in_pass(shape, batch, 0) == end; ++batch) {
    EXPECT_EQ(place_in_pass(shape, batch, 1), end + shape.tile_bytes());
    end = place_in_pass(shape, batch, 255) + shape.tile_bytes();
  }
  EXPECT_EQ(place_in_pass(shape, batch, 0), 0u);
  EXPECT_EQ(end, std::uint64_t{8} << 30);
  EXPECT_EQ(place_in_pass({1024, 65536}, 2, 0), 0u);  // a batch larger than a pass
}

TEST(SrsPipeline, CanContinueAfterACheck) {
  const Running running = start(small(8, 2));
  ASSERT_TRUE(running.pipeline->check());
  for (std::uint32_t step = 1; step <= 3; ++step) {
    ASSERT_TRUE(running.pipeline->step(step));
    for (int times = 0; times < 2; ++times) {
      const auto checked = running.pipeline->check();
      ASSERT_TRUE(checked) << checked.error().message;
    }
  }
}

TEST(SrsPipeline, AWrongMessageIsFound) {
  for (const std::uint32_t batch : {1u, 2u, 6u}) {  // 6: the last batch
    PipelineOptions options = small(8, 4);
    options.corrupted = Ground::CorruptedTile{batch, 2};
    const Running running = start(options);
    for (std::uint32_t step = 1; step <= 2; ++step) ASSERT_TRUE(running.pipeline->step(step));
    const auto checked = running.pipeline->check();
    ASSERT_FALSE(checked) << batch;
    EXPECT_EQ(checked.error().kind, wicprof::ErrorKind::failed);
    EXPECT_NE(checked.error().message.find("batch " + std::to_string(batch)), std::string::npos)
        << checked.error().message;
    if (batch < 6) continue;
    // All pictures of the last batch differ, because a wrong value changes the batch's range of shades.
    EXPECT_NE(checked.error().message.find("has shade"), std::string::npos) << checked.error().message;
  }
}

TEST(SrsPipeline, AMissingTileIsReportedOnce) {
  const Running running = start(small(8, 2));
  auto lane = Lane::make(*running.runtime, {"other", wic::End::cpu(), wic::End::on(0), 2, 128});
  ASSERT_TRUE(lane);
  auto station = Station::make(running.runtime->device(0), {{8, 2}, 2, 32}, **lane);
  ASSERT_TRUE(station) << station.error().message;
  // One block waits for both tiles. After the first missed deadline no block waits, not even in later kernels.
  ASSERT_TRUE((*station)->launch(1, 1'000'000));
  ASSERT_TRUE((*station)->launch(2, 3'600'000'000'000));
  const auto failure = (*station)->settle();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->missed, 1u);
  EXPECT_EQ(failure->failed_at, 1u);
  EXPECT_EQ(failure->tile, 0u);
}

TEST(SrsPipeline, AStationThatReceivesNothingEndsTheSending) {
  const Running running = start(small(8, 2));
  auto lane = Lane::make(*running.runtime, {"other", wic::End::cpu(), wic::End::on(0), 2, 128});
  ASSERT_TRUE(lane);
  std::vector<std::unique_ptr<Station>> stations;
  stations.push_back(*Station::make(running.runtime->device(0), {{8, 2}, 2, 32}, **lane));
  Ground ground(running.tiles, {8, 2}, 2);
  EXPECT_TRUE(ground.send(stations, 1, 1'000'000));
  EXPECT_TRUE(ground.send(stations, 2, 1'000'000));
  const auto third = ground.send(stations, 3, 1'000'000);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(third.error().message.find("other.room"), std::string::npos) << third.error().message;
}

}  // namespace
}  // namespace sample::srs
