// The kernels of one level, queued in one stream per device: `Push` follows the edges to other devices' vertices,
// `Collect` lists the vertices found, `Level` sends the lists, follows the remaining edges (C1) and processes the
// received lists (C2).
//
// A vertex is marked with the number of the level that reached it. Level numbers keep counting over all searches, so
// marks need no clearing: marks below the current search's number are old.
#pragma once

#include "common/ranks.h"
#include "g_bfs/protocol.h"
#include "rivals/rival.h"
#include "wic/receiver.h"
#include "wic/sender.h"
#include "wic/site.h"

namespace sample::bfs {

/// The edges of Rows (part.h), in device memory.
struct RowsView {
  const std::uint32_t* vertex;
  const std::uint32_t* begin;
  const std::uint32_t* to;
  std::uint32_t count;
};

/// A device's state of the search, in device memory. The host reads it between levels.
struct State {
  std::uint32_t senders;   ///< of the next level, one bit per device
  std::uint32_t levels;    ///< completed in this search
  std::uint32_t found[2];  ///< index: level % 2; the last level that reached a vertex of this device
  std::uint32_t blocks_done;
  std::uint32_t listed[kMaxDevices];   ///< vertices listed for each device
  std::uint32_t sent[2][kMaxDevices];  ///< chunks so far, by way of waiting and device
  std::uint32_t received[2][kMaxDevices];
  ChunkHead heads[kMaxDevices];
  std::uint64_t vertices_sent;  ///< so far, over all searches
};

/// A device's channel ends for one search, in device memory; index: the other device.
struct Peers {
  wic::Sender senders[kMaxDevices];
  wic::Receiver receivers[kMaxDevices];
  // With LevelWithAgents: from this device's own blocks, and on to the other device.
  wic::Receiver ready[kMaxDevices];
  wic::Sender out[kMaxDevices];
  std::uint32_t way_out[kMaxDevices], way_in[kMaxDevices];  ///< 0 or 1
};

/// Common arguments of all kernels of a device.
struct Context {
  std::uint32_t device, devices;
  std::uint32_t vertices, each;  ///< of the whole graph; per device: device d owns vertices from d * each on
  std::uint32_t chunk;           ///< maximum vertices per chunk
  RowsView own, foreign;
  std::uint32_t* mark;    ///< one per vertex; another device's vertex is marked when it is listed
  std::uint32_t* parent;  ///< one per vertex
  Reached* lists;         ///< the list for device d starts at index first(d)
  State* state;
  const Peers* peers;
  Failure* failure;

  WIC_DEVICE std::uint32_t first(std::uint32_t d) const {
    const std::uint64_t at = std::uint64_t{d} * each;
    return at < vertices ? static_cast<std::uint32_t>(at) : vertices;
  }
  WIC_DEVICE std::uint32_t count(std::uint32_t d) const { return first(d + 1) - first(d); }
  /// Number of tags for messages to a device. Chunk q, counted over all searches, has tag q % tags.
  WIC_DEVICE std::uint32_t tags(std::uint32_t to) const { return chunks_for(count(to), chunk); }
};

/// One level of one search.
struct Numbers {
  std::uint32_t search;  ///< mark of the source; the levels' marks follow
  std::uint32_t level;   ///< mark of the vertices that this level reaches; above `search`

  WIC_DEVICE std::uint32_t frontier() const { return level - 1; }
  WIC_DEVICE std::uint32_t iteration() const { return level - 1; }  ///< in the trace: from 1, counted over all searches
};

/// Marks a vertex as reached. True for exactly one of the threads that try, and only the first time in a search.
WIC_DEVICE inline bool claim(const wic::Thread& thread, const Context& context, const Numbers& numbers, std::uint32_t v,
                             std::uint32_t from) {
  if (thread.load(context.mark + v) >= numbers.search) return false;
  if (thread.exchange(context.mark + v, numbers.level) >= numbers.search) return false;
  context.parent[v] = from;
  return true;
}

/// Calls claim() for every edge of the rows whose vertex the previous level reached. Called by all blocks. `shared`:
/// one word per thread plus one. Returns whether this thread has reached a vertex.
WIC_DEVICE inline bool follow(const wic::Thread& thread, const Context& context, const Numbers& numbers,
                              const RowsView& rows, std::uint32_t* shared) {
  std::uint32_t* const count = shared;
  std::uint32_t* const active = shared + 1;
  const std::uint32_t warps = thread.block_size() / wic::kWarpSize;
  bool any = false;
  if (thread.index() == 0) *count = 0;
  thread.sync_block();
  for (std::uint64_t batch = thread.block(); batch * thread.block_size() < rows.count; batch += thread.block_count()) {
    const std::uint64_t mine = batch * thread.block_size() + thread.index();
    if (mine < rows.count && thread.load(context.mark + rows.vertex[mine]) == numbers.frontier()) {
      active[thread.fetch_add(count, 1)] = static_cast<std::uint32_t>(mine);
    }
    thread.sync_block();
    const std::uint32_t rows_now = *count;
    for (std::uint32_t k = thread.warp(); k < rows_now; k += warps) {
      const std::uint32_t row = active[k];
      const std::uint32_t from = rows.vertex[row], end = rows.begin[row + 1];
      for (std::uint32_t e = rows.begin[row] + thread.lane(); e < end; e += wic::kWarpSize) {
        if (claim(thread, context, numbers, rows.to[e], from)) any = true;
      }
    }
    thread.sync_block();
    if (thread.index() == 0) *count = 0;
    thread.sync_block();
  }
  return any;
}

/// Whether this device is a sender of the current level.
WIC_DEVICE inline bool is_sender(const Context& context) { return (context.state->senders >> context.device & 1) != 0; }

/// Starts a search, before the first level. Uses one thread.
struct Begin {
  Context context;
  std::uint32_t search;
  std::uint32_t source;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.block() != 0 || thread.index() != 0) return;
    const std::uint32_t owner = source / context.each;
    context.state->senders = 1u << owner;
    context.state->levels = 0;
    if (owner != context.device) return;
    context.mark[source] = search;
    context.parent[source] = source;
    context.state->found[search & 1] = search;
  }
};

struct Push {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  Context context;
  Numbers numbers;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!is_sender(context) || context.state->found[numbers.frontier() & 1] != numbers.frontier()) return;
    follow(thread, context, numbers, context.foreign, static_cast<std::uint32_t*>(thread.shared()));
  }
};

/// Lists the vertices that this level's Push has marked. Works in slices of a few vertices per thread; each slice
/// reserves its range of the list with one atomic addition.
struct Collect {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;
  static constexpr std::uint32_t kVerticesPerThread = 4;

  Context context;
  Numbers numbers;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!is_sender(context) || context.state->found[numbers.frontier() & 1] != numbers.frontier()) return;
    for (std::uint32_t d = 0; d < context.devices; ++d) {
      if (d != context.device) list_for(thread, d);
    }
  }

 private:
  WIC_DEVICE void list_for(const wic::Thread& thread, std::uint32_t d) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    std::uint32_t* const count = shared;
    std::uint32_t* const place = shared + 1;
    const std::uint32_t first = context.first(d), end = first + context.count(d);
    const std::uint32_t slice = thread.block_size() * kVerticesPerThread;
    for (std::uint64_t begin = first + std::uint64_t{thread.block()} * slice; begin < end;
         begin += std::uint64_t{thread.block_count()} * slice) {
      if (thread.index() == 0) *count = 0;
      thread.sync_block();
      bool here[kVerticesPerThread];
      std::uint32_t mine = 0;
      for (std::uint32_t i = 0; i < kVerticesPerThread; ++i) {
        const std::uint64_t v = begin + i * thread.block_size() + thread.index();
        here[i] = v < end && thread.load(context.mark + v) == numbers.level;
        mine += here[i] ? 1 : 0;
      }
      std::uint32_t at = mine != 0 ? thread.fetch_add(count, mine) : 0;
      thread.sync_block();
      if (thread.index() == 0 && *count != 0) *place = thread.fetch_add(&context.state->listed[d], *count);
      thread.sync_block();
      for (std::uint32_t i = 0; i < kVerticesPerThread; ++i) {
        if (!here[i]) continue;
        const auto v = static_cast<std::uint32_t>(begin + i * thread.block_size() + thread.index());
        context.lists[first + *place + at++] = {v, context.parent[v]};
      }
      thread.sync_block();
    }
  }
};

/// The first `waiting` blocks send and receive. The others are independent: they follow edges and never wait.
struct Level {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;
  /// Shared memory: the larger of follow()'s words and place_of()'s three words per thread.
  static constexpr std::uint32_t shared_bytes(std::uint32_t threads) { return (threads * 3 + 1) * 4; }

  Context context;
  Numbers numbers;
  wic::Site start;             ///< where blocks wait until block 0 knows a sender's number of chunks
  std::uint32_t* start_words;  ///< one per sender, kLine words apart; the iteration whose chunk count is known
  std::uint32_t waiting;

  static constexpr std::uint32_t kLine = 32;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [] { return true; });
  }

 protected:
  /// `push`: called by all blocks once they have sent their messages. False: a deadline passed.
  template <class Push>
  WIC_DEVICE void run(const wic::Thread& thread, const Push& push) const {
    const State& state = *context.state;
    const std::uint32_t senders = state.senders;
    if (senders == 0 || context.failure->stops(thread, numbers.iteration())) return;
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    const bool waits = thread.block() < waiting;
    bool in_time = !waits || !is_sender(context) || send_all(thread, shared);
    in_time = push() && in_time;
    bool any = false;
    if (state.found[numbers.frontier() & 1] == numbers.frontier())
      any = follow(thread, context, numbers, context.own, shared);
    for (std::uint32_t d = 0; waits && in_time && d < context.devices; ++d) {
      if (d != context.device && (senders >> d & 1) != 0) in_time = receive_all(thread, d, any);
    }
    if (any) thread.store(&context.state->found[numbers.level & 1], numbers.level);
    finish(thread);
  }

  WIC_DEVICE wic::Cycle cycle_of(std::uint32_t chunk, std::uint32_t tags) const {
    return {chunk / tags + 1, numbers.iteration()};
  }

  WIC_DEVICE bool report(const wic::Thread& thread, std::uint32_t d, std::uint32_t chunk, bool for_space) const {
    if (thread.index() == 0) context.failure->report(thread, numbers.iteration(), d, chunk, for_space);
    return false;
  }

 private:
  WIC_DEVICE ChunkHead own_head() const {
    const State& state = *context.state;
    ChunkHead head{0, 0, state.found[numbers.frontier() & 1] == numbers.frontier() ? 0u : 1u, 0};
    for (std::uint32_t d = 0; d < context.devices; ++d) {
      if (d != context.device && state.listed[d] != 0) head.wakes |= 1u << d;
    }
    return head;
  }

  WIC_DEVICE bool send_all(const wic::Thread& thread, std::uint32_t* shared) const {
    ChunkHead head = own_head();
    for (std::uint32_t d = 0; d < context.devices; ++d) {
      if (d == context.device) continue;
      head.chunks = chunks_for(context.state->listed[d], context.chunk);
      for (std::uint32_t c = thread.block(); c < head.chunks; c += waiting) {
        if (!send(thread, d, c, head, shared)) return false;
      }
    }
    return true;
  }

  WIC_DEVICE bool send(const wic::Thread& thread, std::uint32_t d, std::uint32_t c, ChunkHead head,
                       std::uint32_t* shared) const {
    const wic::Group group = wic::block_group(thread);
    const std::uint32_t tags = context.tags(d);
    const std::uint32_t number = context.state->sent[context.peers->way_out[d]][d] + c;
    const wic::Cycle cycle = cycle_of(number, tags);
    const wic::Sender& sender = context.peers->senders[d];
    const wic::Place place = sender.place(thread, group, number % tags, cycle, start.timeout_ns);
    if (place.data == nullptr) return report(thread, d, c, true);
    const std::uint32_t begin = c * context.chunk, listed = context.state->listed[d];
    head.count = listed - begin < context.chunk ? listed - begin : context.chunk;
    auto* const to = reinterpret_cast<ChunkHead*>(place.data);
    auto* const vertices = reinterpret_cast<Reached*>(to + 1);
    const Reached* const from = context.lists + context.first(d) + begin;
    if (thread.index() == 0) *to = head;
    for (std::uint32_t i = thread.index(); i < head.count; i += thread.block_size()) {
      vertices[i] = from[i];
      thread.step();
    }
    // Only the trace needs the payload.
    wic::Payload payload;
    if (sender.view.records != nullptr && head.count != 0) payload = place_of(thread, from, head.count, shared);
    const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(ChunkHead) + head.count * sizeof(Reached));
    sender.publish(thread, group, number % tags, cycle, bytes, payload);
    return true;
  }

  // Describes where a message's vertices are in the array of all vertices (8 bytes each): the lowest, the highest, and
  // the number of runs of consecutive vertices. Called by all threads of the block; the result is valid in thread 0.
  WIC_DEVICE static wic::Payload place_of(const wic::Thread& thread, const Reached* from, std::uint32_t count,
                                          std::uint32_t* shared) {
    std::uint32_t* const lowest = shared;
    std::uint32_t* const highest = lowest + thread.block_size();
    std::uint32_t* const runs = highest + thread.block_size();
    const std::uint32_t me = thread.index();
    lowest[me] = 0xffffffffu;
    highest[me] = runs[me] = 0;
    for (std::uint32_t i = me; i < count; i += thread.block_size()) {
      const std::uint32_t v = from[i].vertex;
      lowest[me] = v < lowest[me] ? v : lowest[me];
      highest[me] = v > highest[me] ? v : highest[me];
      if (i == 0 || from[i - 1].vertex + 1 != v) ++runs[me];
    }
    for (std::uint32_t width = thread.block_size(); width > 1;) {
      thread.sync_block();
      const std::uint32_t half = (width + 1) / 2;
      if (me + half < width) {
        lowest[me] = lowest[me + half] < lowest[me] ? lowest[me + half] : lowest[me];
        highest[me] = highest[me + half] > highest[me] ? highest[me + half] : highest[me];
        runs[me] += runs[me + half];
      }
      width = half;
    }
    wic::Payload place;
    if (me == 0) {
      constexpr std::uint64_t kBytes = sizeof(Reached);
      place = wic::Payload::scattered(lowest[0] * kBytes, (std::uint64_t{highest[0]} - lowest[0] + 1) * kBytes,
                                      count * std::uint32_t{kBytes}, runs[0]);
    }
    thread.sync_block();
    return place;
  }

  // Block 0 receives the first chunk and publishes the number of chunks, because each message may be received and
  // released only once.
  WIC_DEVICE bool receive_all(const wic::Thread& thread, std::uint32_t d, bool& any) const {
    const ChunkHead& head = context.state->heads[d];
    if (thread.block() != 0) {
      const std::uint32_t iteration = numbers.iteration();
      if (!start.wait(thread, iteration, start_words + d * kLine, wic::AtLeast{iteration})) {
        return report(thread, d, 0, false);
      }
    }
    for (std::uint32_t c = thread.block(); c == 0 || c < head.chunks; c += waiting) {
      if (!receive(thread, d, c, any)) return false;
    }
    return true;
  }

  WIC_DEVICE bool receive(const wic::Thread& thread, std::uint32_t d, std::uint32_t c, bool& any) const {
    const wic::Group group = wic::block_group(thread);
    const wic::Receiver& receiver = context.peers->receivers[d];
    const std::uint32_t tags = context.tags(context.device);
    const std::uint32_t number = context.state->received[context.peers->way_in[d]][d] + c;
    const wic::Cycle cycle = cycle_of(number, tags);
    const wic::Message message = receiver.receive(thread, group, number % tags, cycle, start.timeout_ns);
    if (message.data == nullptr) return report(thread, d, c, false);
    const auto* const from = reinterpret_cast<const ChunkHead*>(message.data);
    if (c == 0) {
      if (thread.index() == 0) {
        context.state->heads[d] = *from;
        start.signal(thread, numbers.iteration(), start_words + d * kLine, numbers.iteration());
      }
      thread.sync_block();
    }
    const auto* const vertices = reinterpret_cast<const Reached*>(from + 1);
    const std::uint32_t count = from->count;
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      if (claim(thread, context, numbers, vertices[i].vertex, vertices[i].parent)) any = true;
    }
    receiver.release(thread, group, number % tags, cycle);
    return true;
  }

  // The last block to finish ends the level.
  WIC_DEVICE void finish(const wic::Thread& thread) const {
    thread.sync_block();
    if (thread.index() != 0) return;
    State& state = *context.state;
    if (thread.fetch_add_acq_rel(&state.blocks_done, 1) + 1 != thread.block_count()) return;
    state.blocks_done = 0;
    const std::uint32_t senders = state.senders;
    state.heads[context.device] = own_head();
    for (std::uint32_t d = 0; d < context.devices; ++d) {
      if (d == context.device) continue;
      if (is_sender(context)) state.sent[context.peers->way_out[d]][d] += chunks_for(state.listed[d], context.chunk);
      if ((senders >> d & 1) != 0) state.received[context.peers->way_in[d]][d] += state.heads[d].chunks;
      state.vertices_sent += state.listed[d];
      state.listed[d] = 0;
    }
    state.senders = next_senders(senders, state.heads, context.devices);
    ++state.levels;
  }
};

/// EffShare (rivals/relay.h): the first of the blocks that never wait for another device push ready messages before
/// they follow edges. They are a part of this kernel because only it knows how many messages a level has.
struct LevelWithAgents : Level {
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [&] { return push_all(thread); });
  }

 private:
  WIC_DEVICE bool push_all(const wic::Thread& thread) const {
    const std::uint32_t others = thread.block_count() - waiting;
    const std::uint32_t agents = others < kAgentBlocks ? others : kAgentBlocks;
    if (thread.block() < waiting || thread.block() - waiting >= agents || !is_sender(context)) return true;
    for (std::uint32_t d = 0; d < context.devices; ++d) {
      if (d == context.device) continue;
      const std::uint32_t chunks = chunks_for(context.state->listed[d], context.chunk);
      for (std::uint32_t c = thread.block() - waiting; c < chunks; c += agents) {
        if (!push(thread, d, c)) return report(thread, d, c, true);
      }
    }
    return true;
  }

  WIC_DEVICE bool push(const wic::Thread& thread, std::uint32_t d, std::uint32_t c) const {
    const wic::Group group = wic::block_group(thread);
    const std::uint32_t tags = context.tags(d);
    const std::uint32_t number = context.state->sent[context.peers->way_out[d]][d] + c;
    const wic::Tag tag = number % tags;
    const wic::Cycle cycle = cycle_of(number, tags);
    const wic::Receiver& ready = context.peers->ready[d];
    const wic::Message message = ready.receive(thread, group, tag, cycle, start.timeout_ns);
    if (message.data == nullptr) return false;
    if (!context.peers->out[d].send(thread, group, tag, cycle, message.data, message.bytes, start.timeout_ns)) {
      return false;
    }
    ready.release(thread, group, tag, cycle);
    return true;
  }
};

}  // namespace sample::bfs
