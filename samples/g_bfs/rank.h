// One device of a search: its part of the graph and its kernel launches.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "common/transfer.h"
#include "g_bfs/kernels.h"
#include "g_bfs/part.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample::bfs {

/// Launch shapes of a device's kernels. The blocks of `Level` wait for each other.
struct Shapes {
  std::uint32_t threads = 0;
  std::uint32_t blocks = 0;   ///< per kernel
  std::uint32_t waiting = 0;  ///< of the blocks of `Level`
  bool agents = false;        ///< `LevelWithAgents` instead

  wic::LaunchShape push() const { return {blocks, threads, (threads + 1) * 4, false}; }
  wic::LaunchShape collect() const { return {blocks, threads, 2 * 4, false}; }
  wic::LaunchShape level() const { return {blocks, threads, Level::shared_bytes(threads), true}; }
};

class RowsMemory {
 public:
  static wic::Result<RowsMemory> make(wic::Device& device, wic::Stream& stream, const Rows& rows) {
    RowsMemory memory;
    if (auto r = fill(device, stream, memory.vertex_, rows.vertex); !r) return r.error();
    if (auto r = fill(device, stream, memory.begin_, rows.begin); !r) return r.error();
    if (auto r = fill(device, stream, memory.to_, rows.to); !r) return r.error();
    memory.count_ = static_cast<std::uint32_t>(rows.vertex.size());
    return wic::Result<RowsMemory>(std::move(memory));
  }
  RowsView view() const { return {vertex_.data(), begin_.data(), to_.data(), count_}; }

 private:
  static wic::Result<> fill(wic::Device& device, wic::Stream& stream, wic::Array<std::uint32_t>& array,
                            const std::vector<std::uint32_t>& values) {
    auto made = wic::Array<std::uint32_t>::make(device, std::max<std::size_t>(1, values.size()), wic::Memory::device);
    if (!made) return made.error();
    array = *std::move(made);
    return upload<std::uint32_t>(device, stream, array, values);
  }

  wic::Array<std::uint32_t> vertex_, begin_, to_;
  std::uint32_t count_ = 0;
};

class Rank {
 public:
  struct Spec {
    std::uint32_t number;
    Split split;
    std::uint32_t chunk;  ///< vertices per message
    Shapes shapes;
    wic::SiteId start_site;
    std::uint64_t timeout_ns;
  };

  /// `queue` receives the kernels; its work must end before the rank is destroyed. Errors: too little memory.
  static wic::Result<Rank> make(wic::Runtime& runtime, RankQueue& queue, const Graph& graph, const Spec& spec) {
    Rank rank;
    rank.queue_ = &queue;
    if (wic::Result<> opened = rank.open(runtime, graph, spec); !opened) return opened.error();
    return wic::Result<Rank>(std::move(rank));
  }

  /// Queues the start of a search. `peers`: the channel ends that the search uses.
  wic::Result<> begin(const Peers& peers, std::uint32_t search, Vertex source) {
    host_[0].peers = peers;
    if (auto r = queue_->stream().copy(peers_.data(), &host_[0].peers, sizeof(Peers)); !r) return r;
    return wic::launch(queue_->stream(), {1, 32, 0, false}, Begin{context_, search, source});
  }

  /// Queues a level. A level queued after the last level of a search does nothing.
  wic::Result<> queue_level(const Numbers& numbers) {
    if (auto r = wic::launch(queue_->stream(), shapes_.push(), Push{context_, numbers}); !r) return r;
    if (auto r = wic::launch(queue_->stream(), shapes_.collect(), Collect{context_, numbers}); !r) return r;
    const Level level{context_, numbers, runtime_->site(start_site_, timeout_ns_, context_.device), start_words_.data(),
                      shapes_.waiting};
    return shapes_.agents ? wic::launch(queue_->stream(), shapes_.level(), LevelWithAgents{level})
                          : wic::launch(queue_->stream(), shapes_.level(), level);
  }

  /// Queues the copy for state(), which is valid when the queue has finished.
  wic::Result<> queue_read() { return queue_->stream().copy(&host_[0].state, state_.data(), sizeof(State)); }
  const State& state() const { return host_[0].state; }

  /// Marks and parents of the device's own vertices. No kernel may be running.
  wic::Result<std::vector<std::uint32_t>> marks() {
    return download(*device_, queue_->stream(), mark_, first_, count_);
  }
  wic::Result<std::vector<std::uint32_t>> parents() {
    return download(*device_, queue_->stream(), parent_, first_, count_);
  }

 private:
  struct HostCopy {  // in pinned memory
    Peers peers;
    State state;
  };

  template <class T>
  wic::Result<> allocate(wic::Array<T>& array, std::size_t count, wic::Memory where) {
    auto made = wic::Array<T>::make(*device_, std::max<std::size_t>(1, count), where);
    if (!made) return made.error();
    array = *std::move(made);
    return wic::ok();
  }

  wic::Result<> open(wic::Runtime& runtime, const Graph& graph, const Spec& spec) {
    device_ = &runtime.device(spec.number);
    const Part part = part_of(graph, spec.split, spec.number);
    auto own = RowsMemory::make(*device_, queue_->stream(), part.own);
    if (!own) return own.error();
    auto foreign = RowsMemory::make(*device_, queue_->stream(), part.foreign);
    if (!foreign) return foreign.error();
    own_ = *std::move(own);
    foreign_ = *std::move(foreign);
    const std::size_t vertices = spec.split.vertices;
    if (auto r = allocate(mark_, vertices, wic::Memory::device); !r) return r;
    if (auto r = allocate(parent_, vertices, wic::Memory::device); !r) return r;
    if (auto r = allocate(lists_, vertices, wic::Memory::device); !r) return r;
    if (auto r = allocate(start_words_, std::size_t{kMaxDevices} * Level::kLine, wic::Memory::device); !r) return r;
    if (auto r = allocate(state_, 1, wic::Memory::device); !r) return r;
    if (auto r = allocate(peers_, 1, wic::Memory::device); !r) return r;
    if (auto r = allocate(host_, 1, wic::Memory::pinned_host); !r) return r;
    context_ = {spec.number,   spec.split.devices, spec.split.vertices, spec.split.each(), spec.chunk,
                own_.view(),   foreign_.view(),    mark_.data(),        parent_.data(),    lists_.data(),
                state_.data(), peers_.data(),      queue_->failure()};
    runtime_ = &runtime;
    first_ = spec.split.first(spec.number);
    count_ = spec.split.count(spec.number);
    shapes_ = spec.shapes;
    start_site_ = spec.start_site;
    timeout_ns_ = spec.timeout_ns;
    return wic::ok();
  }

  wic::Runtime* runtime_ = nullptr;
  wic::Device* device_ = nullptr;
  RankQueue* queue_ = nullptr;
  Context context_{};
  Vertex first_ = 0, count_ = 0;
  Shapes shapes_;
  wic::SiteId start_site_ = 0;
  std::uint64_t timeout_ns_ = 0;
  RowsMemory own_, foreign_;
  wic::Array<std::uint32_t> mark_, parent_, start_words_;
  wic::Array<Reached> lists_;
  wic::Array<State> state_;
  wic::Array<Peers> peers_;
  wic::Array<HostCopy> host_;
};

}  // namespace sample::bfs
