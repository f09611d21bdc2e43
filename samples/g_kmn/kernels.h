// A round of k-means: `Produce` on the first device generates points and streams them, `Consume` on the other devices
// clusters them.
#pragma once

#include "common/ranks.h"
#include "g_kmn/points.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::kmn {

inline constexpr std::uint32_t kMaxConsumers = 7;
inline constexpr std::uint32_t kMaxClusters = 256;  ///< a label is one byte

/// The division of the points: a tile has one part per tag; a part is a message of `part` points.
struct Cut {
  std::uint64_t points = 0;
  std::uint32_t part = 0;
  std::uint32_t tags = 0;

  WIC_DEVICE std::uint32_t tiles() const {
    const std::uint64_t tile = std::uint64_t{part} * tags;
    return static_cast<std::uint32_t>((points + tile - 1) / tile);
  }
  WIC_DEVICE std::uint64_t first(std::uint32_t tile, std::uint32_t tag) const {
    return (std::uint64_t{tile} * tags + tag) * part;
  }
  /// Points in a message; fewer, or none, at the end.
  WIC_DEVICE std::uint32_t count(std::uint32_t tile, std::uint32_t tag) const {
    const std::uint64_t begin = first(tile, tag);
    if (begin >= points) return 0;
    return points - begin < part ? static_cast<std::uint32_t>(points - begin) : part;
  }
};

/// The channel cycle and program-wide iteration of a round's tile 0; the other tiles count on from there.
struct Numbers {
  std::uint32_t cycle = 0, iteration = 0;
  WIC_DEVICE wic::Cycle of(std::uint32_t tile) const { return {cycle + tile, iteration + tile}; }
};

struct Produce {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  Cut cut;
  std::uint64_t seed;
  std::uint32_t consumers;
  wic::Sender senders[kMaxConsumers];
  Numbers numbers[kMaxConsumers];
  Failure* failure;
  std::uint64_t timeout_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, numbers[0].iteration)) return;
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t tile = 0; tile < cut.tiles(); ++tile) {
      for (std::uint32_t tag = thread.block(); tag < cut.tags; tag += thread.block_count()) {
        for (std::uint32_t c = 0; c < consumers; ++c) {
          if (!send(thread, group, c, tile, tag)) return;
        }
      }
    }
  }

 private:
  WIC_DEVICE bool send(const wic::Thread& thread, const wic::Group& group, std::uint32_t c, std::uint32_t tile,
                       std::uint32_t tag) const {
    const wic::Cycle cycle = numbers[c].of(tile);
    const wic::Place place = senders[c].place(thread, group, tag, cycle, timeout_ns);
    if (place.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, cycle.iteration, c + 1, tag, true);
      return false;
    }
    auto* const to = reinterpret_cast<Point*>(place.data);
    const std::uint64_t first = cut.first(tile, tag);
    const std::uint32_t count = cut.count(tile, tag);
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      to[i] = make_point(seed, first + i);
      thread.step();
    }
    const std::uint32_t bytes = count * static_cast<std::uint32_t>(sizeof(Point));
    senders[c].publish(thread, group, tag, cycle, bytes, wic::Payload::contiguous(first * sizeof(Point), bytes));
    return true;
  }
};

/// A consumer's clusters, in device memory. Rounds count from 1.
struct Clusters {
  std::uint32_t count;   ///< 1 to kMaxClusters
  Point* centroids;      ///< two sets, for even and odd rounds
  std::uint64_t* sums;   ///< three sets: read (last round), being added to (this round), being zeroed (next round)
  std::uint8_t* labels;  ///< of the last received part of each tag

  WIC_DEVICE std::uint32_t values() const { return count * kSumsOfCluster; }
  WIC_DEVICE std::uint64_t* sums_of(std::uint32_t round) const { return sums + std::size_t{round % 3} * values(); }
  WIC_DEVICE Point* centroids_of(std::uint32_t round) const { return centroids + std::size_t{round & 1} * count; }
  /// Per block: the centroids and 32-bit sums.
  WIC_DEVICE std::uint32_t shared_bytes() const {
    return count * static_cast<std::uint32_t>(sizeof(Point)) +
           values() * static_cast<std::uint32_t>(sizeof(std::uint32_t));
  }
};

/// A block first computes the centroids. Before it waits for a part it adds up the previous part (C1); after the wait
/// it assigns the part's points to centroids (C2).
struct Consume {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;
  /// A block's 32-bit sums cannot overflow up to this many points.
  static constexpr std::uint32_t kMaxGathered = 0xffffffffu / kMaxCoordinate;

  Cut cut;
  wic::Receiver receiver;
  Numbers numbers;
  Clusters clusters;
  std::uint32_t round;
  Failure* failure;
  std::uint64_t timeout_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, numbers.iteration)) return;
    const wic::Group group = wic::block_group(thread);
    auto* const centroids = static_cast<Point*>(thread.shared());
    auto* const gathered = reinterpret_cast<std::uint32_t*>(centroids + clusters.count);
    begin_round(thread, centroids, gathered);
    std::uint32_t points = 0;  // since the last hand_over()
    for (std::uint32_t tile = 0; tile <= cut.tiles(); ++tile) {
      for (std::uint32_t tag = thread.block(); tag < cut.tags; tag += thread.block_count()) {
        if (tile > 0) {
          points += cut.count(tile - 1, tag);
          add_up(thread, group, tile - 1, tag, gathered);
          if (points > kMaxGathered - cut.part) {
            hand_over(thread, gathered);
            points = 0;
          }
        }
        if (tile < cut.tiles() && !assign(thread, group, tile, tag, centroids)) return;
      }
    }
    hand_over(thread, gathered);
  }

 private:
  WIC_DEVICE void begin_round(const wic::Thread& thread, Point* centroids, std::uint32_t* gathered) const {
    const std::uint64_t* const last = clusters.sums_of(round - 1);
    const Point* const before = clusters.centroids_of(round - 1);
    for (std::uint32_t i = thread.index(); i < clusters.count * kDims; i += thread.block_size()) {
      const std::uint32_t k = i / kDims, d = i % kDims;
      const std::uint64_t* const sums = last + std::size_t{k} * kSumsOfCluster;
      const std::uint16_t value = next_coordinate(sums[d], sums[kDims], before[k].at[d]);
      centroids[k].at[d] = value;
      if (thread.block() == 0) clusters.centroids_of(round)[k].at[d] = value;
      thread.step();
    }
    for (std::uint32_t i = thread.index(); i < clusters.values(); i += thread.block_size()) {
      gathered[i] = 0;
      if (thread.block() == 0) clusters.sums_of(round + 1)[i] = 0;
    }
    thread.sync_block();
  }

  WIC_DEVICE bool assign(const wic::Thread& thread, const wic::Group& group, std::uint32_t tile, std::uint32_t tag,
                         const Point* centroids) const {
    const wic::Cycle cycle = numbers.of(tile);
    const wic::Message message = receiver.receive(thread, group, tag, cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, cycle.iteration, 0, tag, false);
      return false;
    }
    const auto* const points = reinterpret_cast<const Point*>(message.data);
    const std::uint32_t count = message.bytes / static_cast<std::uint32_t>(sizeof(Point));
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      labels_of(tag)[i] = static_cast<std::uint8_t>(nearest(points[i], centroids, clusters.count));
      thread.step();
    }
    thread.sync_block();
    return true;
  }

  // The part stays in its message buffer until it has been added up.
  WIC_DEVICE void add_up(const wic::Thread& thread, const wic::Group& group, std::uint32_t tile, std::uint32_t tag,
                         std::uint32_t* gathered) const {
    const wic::Cycle cycle = numbers.of(tile);
    const wic::Message message = receiver.message({wic::WaitStatus::satisfied, 0}, tag, cycle);
    const auto* const points = reinterpret_cast<const Point*>(message.data);
    // One thread per coordinate: neighbouring threads add to different words.
    const std::uint32_t values = message.bytes / static_cast<std::uint32_t>(sizeof(std::uint16_t));
    for (std::uint32_t i = thread.index(); i < values; i += thread.block_size()) {
      const std::uint32_t d = i % kDims;
      std::uint32_t* const sums = gathered + labels_of(tag)[i / kDims] * kSumsOfCluster;
      thread.fetch_add(sums + d, points[i / kDims].at[d]);
      if (d == 0) thread.fetch_add(sums + kDims, 1);
    }
    receiver.release(thread, group, tag, cycle);
  }

  WIC_DEVICE void hand_over(const wic::Thread& thread, std::uint32_t* gathered) const {
    thread.sync_block();
    for (std::uint32_t i = thread.index(); i < clusters.values(); i += thread.block_size()) {
      if (gathered[i] != 0) thread.add(clusters.sums_of(round) + i, gathered[i]);
      gathered[i] = 0;
    }
    thread.sync_block();
  }

  WIC_DEVICE std::uint8_t* labels_of(std::uint32_t tag) const { return clusters.labels + std::size_t{tag} * cut.part; }
};

}  // namespace sample::kmn
