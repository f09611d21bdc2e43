// A one-shot all-reduce: every rank reads the values of all ranks in place, and adds them up by itself.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/neighbour.h"
#include "field/read_memory.h"
#include "wic/wait.h"

namespace sample::all_reduce {

inline constexpr std::uint32_t kMaxRanks = 4;
inline constexpr std::uint32_t kLineWords = 32;

/// The values of a rank in a round: their sum is known without making them.
struct Values {
  std::uint32_t first;

  WIC_DEVICE static constexpr Values of(std::uint32_t rank, std::uint32_t round) {
    return {scrambled(std::uint64_t{round} * kMaxRanks + rank)};
  }
  WIC_DEVICE constexpr std::uint32_t at(std::uint32_t word) const { return first + word * kStep; }
  constexpr std::uint32_t sum(std::uint32_t words) const {
    return words * first + static_cast<std::uint32_t>(std::uint64_t{words} * (words - 1) / 2) * kStep;
  }

 private:
  static constexpr std::uint32_t kStep = 0x9e3779b1;
};

/// What comes before: reads weights, and makes the rank's values.
struct Produce {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  std::uint32_t rank, round;
  const Quad* weights;
  std::uint32_t count, passes;
  Quad* values;
  std::uint32_t quads;
  std::uint32_t* sink;  ///< keeps the compiler from removing the work

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t sum = grid_sum_of_quads(thread, weights, count, passes);
    if (sum == 0x5eed5eedu) thread.store(sink, sum);
    const Values own = Values::of(rank, round);
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < quads;
         i += thread.block_count() * thread.block_size()) {
      for (std::uint32_t k = 0; k < 4; ++k) values[i].v[k] = own.at(4 * i + k);
      thread.step();
    }
  }
};

struct Times {
  std::uint64_t begin_ns, end_ns;
};

struct AllReduce {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  wic::Site site;                ///< of this rank
  wic::SiteId sites[kMaxRanks];  ///< of all ranks
  std::uint32_t rank, ranks;
  std::uint32_t round;              ///< from 1
  const Quad* values[kMaxRanks];    ///< of each rank, in its memory; those of the next round are elsewhere
  std::uint32_t* flags[kMaxRanks];  ///< in each rank's memory: the last round, a line per block and source
  std::uint32_t quads;
  Quad* sums;
  std::uint32_t* total;  ///< device memory: of all sums, over all rounds
  Times* times;          ///< of this round
  Failure* failure;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, round)) return;
    const std::uint64_t begin = thread.clock_ns();
    if (thread.index() == 0) announce(thread);
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      if (!site.wait(thread, round, flag(rank, peer, thread.block()), wic::AtLeast{round})) {
        if (thread.index() == 0) failure->report(thread, round, peer, thread.block(), false);
        return;
      }
    }
    add_up(thread);
    if (thread.block() != 0) return;
    thread.sync_block();
    if (thread.index() == 0) *times = {begin, thread.clock_ns()};
  }

 private:
  WIC_DEVICE std::uint32_t* flag(std::uint32_t of, std::uint32_t from, std::uint32_t block) const {
    return flags[of] + (std::size_t{block} * kMaxRanks + from) * kLineWords;
  }
  WIC_DEVICE void announce(const wic::Thread& thread) const {
    const auto bytes = static_cast<std::uint32_t>(quads * sizeof(Quad));
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      wic::signal(thread, site.view, sites[peer], round, flag(peer, rank, thread.block()), round,
                  wic::Payload::contiguous(0, bytes / thread.block_count()));
    }
  }
  WIC_DEVICE void add_up(const wic::Thread& thread) const {
    std::uint32_t mine = 0;
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < quads;
         i += thread.block_count() * thread.block_size()) {
      Quad sum{};
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const Quad theirs = values[r][i];
        for (std::uint32_t k = 0; k < 4; ++k) sum.v[k] += theirs.v[k];
      }
      sums[i] = sum;
      mine += sum.v[0] + sum.v[1] + sum.v[2] + sum.v[3];
      thread.step();
    }
    if (mine != 0) thread.fetch_add(total, mine);
  }
};

}  // namespace sample::all_reduce
