// What two kernels, of which the second one reads the first one's results, could gain if the second one did not wait
// for the whole first one. The only place of these formulas: numbers in, numbers out, so that a benchmark can compare
// the gain that they predict with the gain that it measures.
#pragma once

#include <cstdint>
#include <optional>

namespace wicprof::analyzer {

/// A kernel as blocks that run in waves.
struct WavedKernel {
  /// The blocks of the grid. Of a persistent kernel, whose blocks compute several tiles each: the tiles, where they are
  /// known.
  std::uint64_t blocks = 0;
  std::uint32_t blocks_per_sm = 0;  ///< at once
  double time_ns = 0;               ///< from the kernel's start to its end in stream order
};

/// The second kernel starts `gap_ns` after the first one's end.
struct KernelPair {
  WavedKernel producer, consumer;
  std::uint32_t sm_count = 0;
  double gap_ns = 0;
  /// How much of an SM blocks of both kernels fill at most at once, in SMs full of one kind: the largest n / (blocks of
  /// the producer that fit) + (blocks of the consumer that fit beside n) / (those that fit alone). At least 1.
  double packing = 1;
  /// The consumer needs the producer's tiles in this many groups, one after the other: with the policy `Row`, the rows
  /// of tiles. 0: not known; tile i of n then needs the first (i + 1) / n of the producer's tiles.
  std::uint64_t groups = 0;
};

/// Between no gain and the most that is possible.
struct Bound {
  double value = 0;          ///< as the docstring of the member says
  double low = 0, high = 0;  ///< low <= value <= high
};

/// Times in ns per pair of launches. The second kernel must read the first one's results tile by tile, in the order in
/// which they are computed: a recording does not show whether it does, so that no gain is always possible (`low` is 0).
/// Costs of waiting and signalling are not contained: with them, starting early can also be slower (cuSync's worst
/// case took 38 % longer).
struct PairGain {
  /// SM time without a block of the producer in its last wave, in ns times SMs. Value: blocks that all take the same
  /// time. Low: the SMs for which the grid has no block. High: see `tiles.high`.
  Bound idle_sm_ns;
  /// The part of the consumer that needs no data of the producer, as far as it can run before the producer's end:
  /// unknown, from 0 to this, the time of a block.
  double prologue_at_most_ns = 0;
  /// Tile synchronization. Value: blocks that all take the same time; the consumer's blocks start in the producer's
  /// last wave where an SM has room, as far as the tiles that they need were done before that wave. High: until both
  /// kernels are done, no SM is idle, if the longest block takes at most kUneven times the mean.
  Bound tiles;
  /// Programmatic dependent launch, after which the consumer waits for the whole producer. Value: it hides the gap, and
  /// nothing else, since the prologue is unknown. High: it also hides the longest possible prologue.
  Bound dependent;
  /// As `tiles`, but some SMs are the consumer's alone from the start. Value: of the best number of SMs.
  Bound carve_out;
  std::uint32_t carve_out_sms = 0;  ///< that number; 0: the producer needs all
};

/// The longest block of a kernel takes at most this many times as long as the mean. A trace does not show blocks, so
/// this is the most that bench_block_times measured, in 40 grids of eight kernels, rounded up: 1.43 where all blocks
/// have equal work, 2.09 where a block's work grows with its number, as with a causal mask (block_times.h100.json).
/// Work that the data distributes worse is beyond it. The bounds also hold for persistent kernels whose blocks compute
/// at least two tiles each.
inline constexpr double kUneven = 2.1;

/// Source: list scheduling. A kernel of G blocks on P places (SMs times blocks per SM) whose blocks all take t ends
/// after ceil(G / P) t. If the mean block takes m and the longest at most u m, the time T of greedy placement is at
/// most G m / P + u m (1 - 1 / P) (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969), so its blocks
/// fill at least T / (1 + u (P - 1) / G) of the device's time. Waves, and starting the second kernel in the last wave
/// of the first one: Jangda et al., "A Framework for Fine-Grained Synchronization of Dependent GPU Kernels" (cuSync),
/// CGO 2024.
///
/// Empty if a kernel has no blocks, no place or no time, or if the device has no SMs.
std::optional<PairGain> pair_gain(const KernelPair& pair);

/// The gain if how many blocks fit at once is not known: only of programmatic dependent launch. Its high is the gap and
/// the shorter kernel, since all of the second one may be prologue.
Bound dependent_gain(const KernelPair& pair);

/// A kernel beside another one whose blocks hold `held_sms` SMs, of which it gets no part, for its whole time: a
/// carve-out for the other one. `beside_ns`, `alone_ns`: the kernel's time beside it and alone. Value: its blocks are
/// spread evenly over the SMs that are left, so that it takes S / (S - held) times as long as alone; a grid made for
/// all SMs needs an extra wave. High: as alone. Held SMs of all count as none left: value 0.
Bound crowded_gain(double beside_ns, double alone_ns, std::uint32_t sm_count, std::uint32_t held_sms);

}  // namespace wicprof::analyzer
