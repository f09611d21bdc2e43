// The CPU's part: a team of threads that decodes tiles, corrects them and sends them to the stations.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_h3d/host_team.h"
#include "c_srs/radiometry.h"
#include "c_srs/reference.h"
#include "c_srs/station.h"

namespace sample::srs {

/// Bytes from the beginning of a pass of the satellite to a tile: passes have as many whole batches as fit 8 GiB, so
/// that a stream without an end has places that a trace can tell.
inline std::uint64_t place_in_pass(const BatchShape& shape, std::uint32_t batch, std::uint32_t tile) {
  const std::uint64_t batch_bytes = std::uint64_t{shape.tiles} * shape.tile_bytes();
  const std::uint64_t batches = std::max<std::uint64_t>((std::uint64_t{8} << 30) / batch_bytes, 1);
  return (batch - 1) % batches * batch_bytes + std::uint64_t{tile} * shape.tile_bytes();
}

class Ground {
 public:
  /// Where a message is spoilt on purpose, for a test that check() finds it.
  struct Spoilt {
    std::uint32_t batch, tile;
  };

  Ground(std::shared_ptr<const TileSet> tiles, const BatchShape& shape, std::uint32_t threads,
         std::optional<Spoilt> spoilt = {})
      : tiles_(std::move(tiles)), shape_(shape), calibration_(shape.edge), spoilt_(spoilt), team_(threads) {}

  /// Sends a batch to each of the stations; returns once it is sent. Error: a station has left no room in time, in
  /// words; then the rest of the batch is not sent.
  wicprof::Result<> send(std::span<const std::unique_ptr<Station>> stations, std::uint32_t batch,
                         std::uint64_t timeout_ns) {
    next_ = 0;
    const std::uint32_t all = static_cast<std::uint32_t>(stations.size()) * shape_.tiles;
    team_.run([&](std::uint32_t, std::uint32_t) {
      std::vector<Pixel> measured(shape_.tile_pixels());
      for (std::uint32_t i; (i = next_.fetch_add(1)) < all && !failed_;) {
        // The stations in turn, so that none of them waits for all the others' tiles.
        const auto station = static_cast<std::uint32_t>(i % stations.size());
        const auto tile = static_cast<std::uint32_t>(i / stations.size());
        const auto sent = send_tile(*stations[station], station, batch, tile, measured, timeout_ns);
        if (!sent) fail(sent.error());
      }
    });
    const std::lock_guard lock(mutex_);
    if (error_) return *error_;
    return wicprof::ok();
  }

 private:
  wicprof::Result<> send_tile(const Station& to, std::uint32_t station, std::uint32_t batch, std::uint32_t tile,
                              std::vector<Pixel>& measured, std::uint64_t timeout_ns) {
    const std::uint32_t number = tile_in_stream(*tiles_, shape_, station, batch, tile);
    if (auto r = tiles_->decode(number, measured); !r) return r;
    const Lane::Turn turn = to.lane().turn(batch);
    const auto place = turn.channel->place(tile, turn.cycle, static_cast<wicprof::TimeNs>(timeout_ns));
    if (place.data.empty()) {
      return wicprof::failed("deadline passed: no room for tile " + std::to_string(tile) + " of batch " +
                             std::to_string(batch) + " at " + turn.channel->spec().name +
                             ".room; raise --timeout if the machine is busy");
    }
    auto* const reflected = reinterpret_cast<Pixel*>(place.data.data());
    calibration_.correct(measured, reflected);
    if (spoilt_ && spoilt_->batch == batch && spoilt_->tile == tile) reflected[0] = static_cast<Pixel>(~reflected[0]);
    return turn.channel->publish(tile, turn.cycle, shape_.tile_bytes(),
                                 wic::Payload::contiguous(place_in_pass(shape_, batch, tile), shape_.tile_bytes()));
  }

  void fail(const wicprof::Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    failed_ = true;
  }

  std::shared_ptr<const TileSet> tiles_;
  BatchShape shape_;
  Calibration calibration_;
  std::optional<Spoilt> spoilt_;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<wicprof::Error> error_;
  h3d::HostTeam team_;
};

}  // namespace sample::srs
