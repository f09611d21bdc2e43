// The whole program: tiles, ground, stations, and the digest of each batch.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_srs/ground.h"
#include "c_srs/reference.h"
#include "c_srs/station.h"
#include "common/app.h"

namespace sample::srs {

struct PipelineOptions {
  StationShape station;
  std::uint32_t batches = 4;  ///< per step
  std::uint32_t threads = 1;  ///< CPU threads
  std::string name;           ///< prefix of the lanes' site names
  wic::Way way = wic::Way::poll;
  Rival rival = Rival::none;
  std::uint64_t timeout_ns = 10'000'000'000;
  std::optional<Ground::CorruptedTile> corrupted = {};
};

class Pipeline final : public App {
 public:
  static constexpr std::uint32_t kMaxBatches = Station::kDigests / 2;
  /// Limit on the batches of different tiles that check() compares (the last ones), because the reference takes far
  /// longer than the stations.
  static constexpr std::size_t kMaxDifferent = 64;

  static wic::Result<std::unique_ptr<Pipeline>> make(wic::Runtime& runtime, std::shared_ptr<const TileSet> tiles,
                                                     const PipelineOptions& options) {
    std::unique_ptr<Pipeline> pipeline(new Pipeline(tiles, options));
    for (std::uint32_t d = 0; d < runtime.device_count(); ++d) {
      LaneSpec spec;
      spec.name = options.name + (d == 0 ? "" : std::to_string(d));
      spec.producer = wic::End::cpu();
      spec.consumer = wic::End::on(static_cast<int>(d));
      spec.tags = options.station.batch.tiles;
      spec.max_bytes = options.station.batch.tile_bytes();
      spec.way = options.way;
      spec.rival = options.rival;
      auto lane = Lane::make(runtime, spec);
      if (!lane) return lane.error();
      pipeline->lanes_.push_back(*std::move(lane));
      auto station = Station::make(runtime.device(d), options.station, *pipeline->lanes_.back());
      if (!station) return station.error();
      pipeline->stations_.push_back(*std::move(station));
    }
    pipeline->digests_.resize(pipeline->stations_.size());
    return wic::Result<std::unique_ptr<Pipeline>>(std::move(pipeline));
  }

  wic::Result<> step(std::uint32_t) override {
    const std::uint32_t first = done_ + 1;
    std::optional<wic::Error> not_sent;
    for (std::uint32_t i = 0; i < options_.batches && !not_sent; ++i) {
      const std::uint32_t batch = ++done_;
      for (const auto& station : stations_) {
        if (auto r = station->launch(batch, options_.timeout_ns); !r) return r;
      }
      if (auto sent = ground_.send(stations_, batch, options_.timeout_ns); !sent) not_sent = sent.error();
    }
    for (std::size_t s = 0; s < stations_.size(); ++s) {
      const auto failure = stations_[s]->settle();
      if (!failure) return failure.error();
      if (failure->missed != 0) return missed(*stations_[s], *failure);
      // The next batch's kernel, or check(), makes the products of the last batch.
      for (std::uint32_t batch = std::max(first, 2u) - 1; batch < done_; ++batch) keep_digest(s, batch);
    }
    if (not_sent) return *not_sent;
    return wic::ok();
  }

  wic::Result<> check() override {
    Reference reference(tiles_, options_.station.batch);
    for (std::uint32_t s = 0; s < stations_.size(); ++s) {
      const auto shades = stations_[s]->distribute_last();
      if (!shades) return shades.error();
      if (done_ == 0) continue;
      keep_digest(s, done_);
      const auto different = reference.difference(s, done_, *shades);
      if (!different) return different.error();
      if (*different) return wrong(s, done_, **different);
      for (std::uint32_t batch = done_; batch > 0; --batch) {
        if (!reference.knows(s, batch) && reference.known() >= kMaxDifferent) continue;
        const auto right = reference.digest(s, batch);
        if (!right) return right.error();
        if (digests_[s][batch - 1] != *right) return wrong(s, batch, "the digest of its products differs");
      }
    }
    return wic::ok();
  }

  Traffic traffic() const override {
    const double messages = static_cast<double>(stations_.size()) * options_.batches * options_.station.batch.tiles;
    return {messages, messages * options_.station.batch.tile_bytes()};
  }

  std::string shape() const override {
    const StationShape& station = stations_.front()->shape();
    return std::to_string(options_.batches) + " batches of " + std::to_string(station.batch.tiles) + " tiles of " +
           std::to_string(station.batch.edge) + "^2 pixels, " + std::to_string(options_.threads) + " CPU threads, " +
           std::to_string(station.receivers()) + " of " + std::to_string(station.blocks) + " blocks of " +
           std::to_string(station.threads) + " threads wait";
  }

 private:
  Pipeline(std::shared_ptr<const TileSet> tiles, const PipelineOptions& options)
      : options_(options), tiles_(tiles), ground_(tiles, options.station.batch, options.threads, options.corrupted) {}

  void keep_digest(std::size_t station, std::uint32_t batch) {
    std::vector<std::uint64_t>& all = digests_[station];
    if (all.size() < batch) all.resize(batch);
    all[batch - 1] = stations_[station]->digest(batch);
  }

  wic::Error missed(const Station& station, const DeviceFailure& failure) const {
    return wic::failed("deadline passed: tile " + std::to_string(failure.tile) + " of batch " +
                       std::to_string(failure.failed_at) + " did not arrive at " +
                       station.lane().turn(failure.failed_at).channel->spec().name + ".data, and " +
                       std::to_string(failure.missed - 1) + " more; raise --timeout if the machine is busy");
  }
  wic::Error wrong(std::uint32_t station, std::uint32_t batch, const std::string& what) const {
    return wic::failed("station " + std::to_string(station) + ", batch " + std::to_string(batch) + ": " + what);
  }

  PipelineOptions options_;
  std::shared_ptr<const TileSet> tiles_;
  std::uint32_t done_ = 0;  // batches
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::vector<std::uint64_t>> digests_;  // per station and batch
  std::vector<std::unique_ptr<Station>> stations_;   // after the members that their kernels use
  Ground ground_;
};

}  // namespace sample::srs
