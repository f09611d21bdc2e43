// A persistent kernel as a server: one block per queue, fed through doorbells in host memory.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/neighbour.h"
#include "wic/site.h"

namespace sample::queues {

inline constexpr std::uint32_t kKeys = 128;  ///< per request

/// One request per queue is in flight, so a queue has one slot. In pinned host memory.
struct alignas(128) Request {
  std::uint32_t keys[kKeys];
  /// The number of the doorbell at which the block ends. A flag would do only if no request were in flight: threads of
  /// a block that answers one would see the flag or not.
  std::uint32_t stop;
};
struct alignas(128) Response {
  std::uint32_t values[kKeys];
};

/// The value of a key: a walk of `hops` lookups in a table that holds scrambled(i) at place i.
template <class Lookup>
WIC_DEVICE std::uint32_t walk(std::uint32_t key, std::uint32_t hops, std::uint32_t entries, const Lookup& lookup) {
  std::uint32_t value = key;
  for (std::uint32_t hop = 0; hop < hops; ++hop) value = lookup(value % entries) + hop;
  return value;
}

struct FillTable {
  std::uint32_t* table;
  std::uint32_t entries;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < entries;
         i += thread.block_count() * thread.block_size()) {
      table[i] = scrambled(i);
      thread.step();
    }
  }
};

struct Serve {
  static constexpr int kMaxThreads = kKeys, kMinBlocksPerSm = 8;

  wic::Site doorbell_site, done_site;
  const std::uint32_t* doorbells;  ///< pinned host memory, one per queue: the number of requests sent
  std::uint32_t doorbell_stride;   ///< words from one to the next
  std::uint32_t* done;             ///< pinned host memory, a line per queue: the number of requests answered
  const Request* requests;
  Response* responses;
  std::uint32_t* served;  ///< device memory, one per queue: doorbells of all launches
  const std::uint32_t* table;
  std::uint32_t entries, hops;
  Failure* failure;
  NeighbourStop neighbour;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t queue = thread.block();
    std::uint32_t number = served[queue];
    thread.sync_block();
    for (;;) {
      ++number;
      if (!doorbell_site.wait(thread, number, &doorbells[std::size_t{queue} * doorbell_stride], wic::AtLeast{number})) {
        if (thread.index() == 0) failure->report(thread, number, 0, queue, false);
        break;
      }
      if (requests[queue].stop == number) break;
      answer(thread, requests[queue], responses[queue]);
      thread.sync_block();
      if (thread.index() == 0) {
        done_site.signal(thread, number, &done[std::size_t{queue} * 32], number,
                         wic::Payload::contiguous(std::uint64_t{queue} * sizeof(Response), sizeof(Response)));
      }
    }
    if (thread.index() != 0) return;
    served[queue] = number;
    neighbour.block_ends(thread);
  }

 private:
  WIC_DEVICE void answer(const wic::Thread& thread, const Request& request, Response& response) const {
    for (std::uint32_t i = thread.index(); i < kKeys; i += thread.block_size()) {
      response.values[i] = walk(request.keys[i], hops, entries, [this](std::uint32_t place) { return table[place]; });
      thread.step();
    }
  }
};

}  // namespace sample::queues
