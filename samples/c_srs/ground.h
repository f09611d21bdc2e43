// The CPU's part: a thread team that decodes tiles, corrects them and sends them to the stations.
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

#include "c_srs/radiometry.h"
#include "c_srs/reference.h"
#include "c_srs/station.h"
#include "common/host_team.h"

namespace sample::srs {

/// Byte offset of a tile within a pass of the satellite. A pass has as many whole batches as fit 8 GiB, so that offsets
/// in an endless stream stay meaningful in a trace.
inline std::uint64_t place_in_pass(const BatchShape& shape, std::uint32_t batch, std::uint32_t tile) {
  const std::uint64_t batch_bytes = std::uint64_t{shape.tiles} * shape.tile_bytes();
  const std::uint64_t batches = std::max<std::uint64_t>((std::uint64_t{8} << 30) / batch_bytes, 1);
  return (batch - 1) % batches * batch_bytes + std::uint64_t{tile} * shape.tile_bytes();
}

class Ground {
 public:
  /// A message to corrupt on purpose, to test that check() detects it.
  struct CorruptedTile {
    std::uint32_t batch, tile;
  };

  Ground(std::shared_ptr<const TileSet> tiles, const BatchShape& shape, std::uint32_t threads,
         std::optional<CorruptedTile> corrupted = {})
      : tiles_(std::move(tiles)), shape_(shape), calibration_(shape.edge), corrupted_(corrupted), team_(threads) {}

  /// Sends one batch to every station and returns when it is sent. Error: a station has not freed a buffer in time; the
  /// rest of the batch is then not sent.
  wic::Result<> send(std::span<const std::unique_ptr<Station>> stations, std::uint32_t batch,
                     std::uint64_t timeout_ns) {
    next_ = 0;
    const std::uint32_t all = static_cast<std::uint32_t>(stations.size()) * shape_.tiles;
    team_.run([&](std::uint32_t, std::uint32_t) {
      std::vector<Pixel> measured(shape_.tile_pixels());
      for (std::uint32_t i; (i = next_.fetch_add(1)) < all && !failed_;) {
        // Alternate between the stations, so that no station waits for all tiles of another.
        const auto station = static_cast<std::uint32_t>(i % stations.size());
        const auto tile = static_cast<std::uint32_t>(i / stations.size());
        const auto sent = send_tile(*stations[station], station, batch, tile, measured, timeout_ns);
        if (!sent) fail(sent.error());
      }
    });
    const std::lock_guard lock(mutex_);
    if (error_) return *error_;
    return wic::ok();
  }

 private:
  wic::Result<> send_tile(const Station& to, std::uint32_t station, std::uint32_t batch, std::uint32_t tile,
                          std::vector<Pixel>& measured, std::uint64_t timeout_ns) {
    const std::uint32_t number = tile_in_stream(*tiles_, shape_, station, batch, tile);
    if (auto r = tiles_->decode(number, measured); !r) return r;
    const Lane::Turn turn = to.lane().turn(batch);
    const auto place = turn.channel->place(tile, turn.cycle, static_cast<wic::TimeNs>(timeout_ns));
    if (place.data.empty()) {
      return wic::failed("deadline passed: no buffer space for tile " + std::to_string(tile) + " of batch " +
                         std::to_string(batch) + " at " + turn.channel->spec().name +
                         ".room; raise --timeout if the machine is busy");
    }
    auto* const reflected = reinterpret_cast<Pixel*>(place.data.data());
    calibration_.correct(measured, reflected);
    if (corrupted_ && corrupted_->batch == batch && corrupted_->tile == tile)
      reflected[0] = static_cast<Pixel>(~reflected[0]);
    return turn.channel->publish(tile, turn.cycle, shape_.tile_bytes(),
                                 wic::Payload::contiguous(place_in_pass(shape_, batch, tile), shape_.tile_bytes()));
  }

  void fail(const wic::Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    failed_ = true;
  }

  std::shared_ptr<const TileSet> tiles_;
  BatchShape shape_;
  Calibration calibration_;
  std::optional<CorruptedTile> corrupted_;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<wic::Error> error_;
  HostTeam<> team_;
};

}  // namespace sample::srs
