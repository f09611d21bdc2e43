#include "analyzer/work/tile_gain.h"

#include <algorithm>
#include <cmath>

namespace wicprof::analyzer {
namespace {

/// Quotients of times that are meant to be whole may be a little too small.
double whole(double quotient) { return std::floor(quotient * (1 + 1e-12) + 1e-9); }
double ceiling(double quotient) { return std::max(0.0, std::ceil(quotient * (1 - 1e-12) - 1e-9)); }

/// A kernel on the device alone.
struct Alone {
  double blocks, places, time, waves, block_time;

  Alone(const WavedKernel& kernel, double sm_count)
      : blocks(static_cast<double>(kernel.blocks)),
        places(sm_count * kernel.blocks_per_sm),
        time(kernel.time_ns),
        waves(std::ceil(blocks / places)),
        block_time(time / waves) {}

  /// The part of the device's time that its blocks fill at least, whatever block takes how long (see pair_gain()).
  double least_work() const {
    const double spread = time / (1 + kUneven * (places - 1) / blocks);
    return blocks > places ? spread : std::max(spread, time * blocks / places / kUneven);
  }
  double equal_work() const { return time * blocks / places / waves; }
  double longest_block() const { return std::min(time, kUneven * time * places / blocks); }
};

/// Places that become free at the same time.
struct Places {
  double count, free;
};

/// When `blocks` blocks of `time` each are done, on the first place that is free each.
template <std::size_t kCount>
double all_done(const Places (&places)[kCount], double blocks, double time) {
  if (blocks <= 0) return 0;
  const auto done_by = [&](double end) {
    double done = 0;
    for (const Places& some : places) done += some.count * std::max(0.0, whole((end - some.free) / time));
    return done;
  };
  double earliest = -1;
  for (const Places& some : places) {
    if (some.count <= 0) continue;
    double low = 0, high = blocks;  // blocks in turn on one of these places; `high` suffices
    while (high - low > 1) {
      const double middle = std::floor(low + (high - low) / 2);
      if (middle <= low || middle >= high) break;  // beyond the whole numbers that a double has
      (done_by(some.free + middle * time) >= blocks ? high : low) = middle;
    }
    const double end = some.free + high * time;
    if (earliest < 0 || end < earliest) earliest = end;
  }
  return earliest;
}

/// When the consumer is done that starts early on some places.
struct EarlyStart {
  double places;  ///< free for the consumer from `begin` on
  double begin, producer_end;
  double ready;  ///< blocks whose data is there at `begin`

  double consumer_end(const Alone& consumer) const {
    const double early = std::min(places, consumer.places), time = consumer.block_time;
    const double in_turn = early > 0 ? ceiling((producer_end - begin) / time) : 0;
    const double started = std::min({consumer.blocks, ready, early * in_turn});
    const double each = early > 0 ? std::floor(started / early) : 0, one_more = started - each * early;
    const double last = begin + (each + (one_more > 0 ? 1 : 0)) * time;
    const Places all[] = {{consumer.places - early, producer_end},
                          {one_more, std::max(producer_end, begin + (each + 1) * time)},
                          {early - one_more, std::max(producer_end, begin + each * time)}};
    return std::max({producer_end, started > 0 ? last : 0, all_done(all, consumer.blocks - started, time)});
  }
};

/// The consumer's blocks that need only the first `done` tiles of the producer.
double ready_blocks(const KernelPair& pair, double done) {
  const double tiles = static_cast<double>(pair.producer.blocks), blocks = static_cast<double>(pair.consumer.blocks);
  if (pair.groups == 0) return whole(blocks * done / tiles);
  const double groups = static_cast<double>(pair.groups);
  return whole(whole(done * groups / tiles) * blocks / groups);
}

/// The consumer's places in the producer's last wave. Its blocks are spread evenly over the SMs, and a block of either
/// kernel takes its share of an SM.
double places_in_last_wave(const KernelPair& pair, const Alone& producer) {
  const double sms = pair.sm_count, fit = pair.producer.blocks_per_sm, own = pair.consumer.blocks_per_sm;
  const double rest = producer.blocks - (producer.waves - 1) * producer.places;
  const double each = std::floor(rest / sms), one_more = rest - each * sms;
  const auto room = [&](double blocks) { return std::max(0.0, whole((fit - blocks) / fit * own)); };
  return one_more * room(each + 1) + (sms - one_more) * room(each);
}

Bound between(double value, double high) {
  return {std::clamp(value, 0.0, std::max(0.0, high)), 0, std::max(0.0, high)};
}

}  // namespace

std::optional<PairGain> pair_gain(const KernelPair& pair) {
  for (const WavedKernel* kernel : {&pair.producer, &pair.consumer})
    if (kernel->blocks == 0 || kernel->blocks_per_sm == 0 || !(kernel->time_ns > 0)) return std::nullopt;
  if (pair.sm_count == 0) return std::nullopt;
  const double sms = pair.sm_count, gap = std::max(0.0, pair.gap_ns);
  const Alone producer(pair.producer, sms), consumer(pair.consumer, sms);
  const double in_order = producer.time + gap + consumer.time;
  // Neither kernel becomes faster than alone, and no SM does more than its blocks fill.
  const double fastest = std::max(
      {producer.time, consumer.time, (producer.least_work() + consumer.least_work()) / std::max(1.0, pair.packing)});
  const double most = in_order - fastest;

  PairGain gain;
  const double idle_at_most = sms * (producer.time - producer.least_work());
  const double without_block = std::max(0.0, sms - producer.blocks) * producer.time;
  gain.idle_sm_ns = between(sms * (producer.time - producer.equal_work()), idle_at_most);
  gain.idle_sm_ns.low = std::min(without_block, gain.idle_sm_ns.value);

  const double before_last = producer.time - producer.block_time;
  const EarlyStart tiles{places_in_last_wave(pair, producer), before_last, producer.time,
                         ready_blocks(pair, (producer.waves - 1) * producer.places)};
  gain.tiles = between(in_order - tiles.consumer_end(consumer), most);

  gain.prologue_at_most_ns = std::min(producer.longest_block(), consumer.longest_block());
  gain.dependent = between(gap, gap + gain.prologue_at_most_ns);

  double best = 0;
  for (std::uint32_t reserved = 1; reserved < pair.sm_count; ++reserved) {
    const double places = (sms - reserved) * pair.producer.blocks_per_sm;
    const double waves = std::ceil(producer.blocks / places);
    const double end = waves * producer.block_time;
    if (in_order - end <= best) break;  // more SMs for the consumer delay the producer's end further
    const EarlyStart start{static_cast<double>(reserved) * pair.consumer.blocks_per_sm, producer.block_time, end,
                           ready_blocks(pair, (waves - 1) * places)};
    const double saved = in_order - std::max(end, start.consumer_end(consumer));
    if (saved <= best) continue;
    best = saved;
    gain.carve_out_sms = reserved;
  }
  gain.carve_out = between(best, most);
  return gain;
}

Bound crowded_gain(double beside_ns, double alone_ns, std::uint32_t sm_count, std::uint32_t held_sms) {
  const double high = beside_ns - alone_ns;
  if (held_sms >= sm_count) return between(0, high);
  return between(beside_ns - alone_ns * sm_count / (sm_count - held_sms), high);
}

Bound dependent_gain(const KernelPair& pair) {
  const double gap = std::max(0.0, pair.gap_ns);
  return between(gap, gap + std::max(0.0, std::min(pair.producer.time_ns, pair.consumer.time_ns)));
}

}  // namespace wicprof::analyzer
